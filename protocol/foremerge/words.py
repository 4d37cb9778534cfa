"""Closed word lists of the Foremerge protocol; each value is the wire form."""

from enum import StrEnum


class ScopeKind(StrEnum):
    """What a scope names."""

    SYMBOL = "symbol"
    API = "api"
    SCHEMA = "schema"
    CONFIG = "config"
    INFRA = "infra"
    TEST = "test"
    MIGRATION = "migration"
    ENV = "env"
    FILE = "file"
    COMPONENT = "component"
    CONTRACT = "contract"
    DOMAIN = "domain"


class Operation(StrEnum):
    """What an intent does to a scope: the first three keep what others rely on, the other four do not."""

    ADD = "add"
    EXTEND = "extend"
    MODIFY = "modify"
    REPLACE = "replace"
    REMOVE = "remove"
    RENAME = "rename"
    MIGRATE = "migrate"

    @property
    def destructive(self) -> bool:
        """True when work that relies on the scope may break."""
        return self in _DESTRUCTIVE


_DESTRUCTIVE = frozenset({Operation.REPLACE, Operation.REMOVE, Operation.RENAME, Operation.MIGRATE})


class IntentStatus(StrEnum):
    """Where an intent is in its life, in the order of that life."""

    INTENT = "INTENT"
    CLAIMED = "CLAIMED"
    IN_PROGRESS = "IN_PROGRESS"
    PROVISIONAL = "PROVISIONAL"
    VALIDATED = "VALIDATED"
    ACCEPTED = "ACCEPTED"
    COMMITTED = "COMMITTED"
    DISCARDED = "DISCARDED"

    @property
    def active(self) -> bool:
        """True while other work is compared with it."""
        return self not in _SETTLED


_SETTLED = frozenset({IntentStatus.ACCEPTED, IntentStatus.COMMITTED, IntentStatus.DISCARDED})


class ChangeSetStatus(StrEnum):
    """Where a ChangeSet is, in the order of its life."""

    PROVISIONAL = "PROVISIONAL"
    VALIDATED = "VALIDATED"
    ACCEPTED = "ACCEPTED"
    COMMITTED = "COMMITTED"
    SUPERSEDED = "SUPERSEDED"


class AgentStatus(StrEnum):
    """An agent that registered; there is no other status."""

    ACTIVE = "ACTIVE"


class ClaimStatus(StrEnum):
    """`EXPIRED` is only shown, never kept: an active claim whose lease has passed."""

    ACTIVE = "ACTIVE"
    RELEASED = "RELEASED"
    EXPIRED = "EXPIRED"


class ConflictKind(StrEnum):
    """What a finding says of two intents, one rule each (FM-C001 to FM-C005)."""

    DESTRUCTIVE_VS_ADDITIVE = "destructive_vs_additive"
    DIVERGENT_REWRITE = "divergent_rewrite"
    SHARED_CONTRACT = "shared_contract"
    DUPLICATE_WORK = "duplicate_work"
    OVERLAPPING_CLAIM = "overlapping_claim"


class Severity(StrEnum):
    """Only an open HIGH conflict blocks, and only at acceptance. No rule gives LOW."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


class ConflictStatus(StrEnum):
    """What became of a stored conflict."""

    OPEN = "OPEN"
    COORDINATING = "COORDINATING"
    RESOLVED = "RESOLVED"
    OVERRIDDEN = "OVERRIDDEN"
    DISMISSED = "DISMISSED"

    @property
    def settled(self) -> bool:
        """True when somebody has decided; nothing reopens it."""
        return self not in (ConflictStatus.OPEN, ConflictStatus.COORDINATING)


class AssessmentVerdict(StrEnum):
    """What an agent thinks of two intents that touch each other."""

    CONFLICTS = "conflicts"
    COMPATIBLE = "compatible"
    DUPLICATE = "duplicate"
    DEPENDS_ON = "depends_on"


class AssessmentAction(StrEnum):
    """What the agent does about it."""

    PROCEEDING = "proceeding"
    RESCOPING = "rescoping"
    WAITING = "waiting"
    ABANDONING = "abandoning"


class Verification(StrEnum):
    """What the newest authoritative validation says of a ChangeSet as it stands."""

    VERIFIED = "VERIFIED"
    FAILED = "FAILED"
    UNVERIFIED = "UNVERIFIED"


class AcceptancePolicy(StrEnum):
    """Whether a ChangeSet that was never validated may be accepted without an override."""

    STRICT = "strict"
    ADVISORY = "advisory"


class BaseResolution(StrEnum):
    """How the commit was chosen that a ChangeSet is compared with."""

    CALLER_SUPPLIED = "caller_supplied"
    FIRST_PARENT = "first_parent"
    ROOT_COMMIT = "root_commit"
    SHALLOW_BOUNDARY = "shallow_boundary"
    UNBORN_WORKTREE = "unborn_worktree"


class LandingMethod(StrEnum):
    """How a landing commit was recognised: by history, or by holding every change."""

    ANCESTOR = "ancestor"
    CONTENT = "content"


class MessageStatus(StrEnum):
    """A message as its inbox shows it; `READ` once its agent said so."""

    UNREAD = "UNREAD"
    READ = "READ"
