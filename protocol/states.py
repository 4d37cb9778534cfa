"""The states of an intent and the other closed word lists."""

from enum import StrEnum


class State(StrEnum):
    """Where an intent is in its life; the value is the wire form."""

    PLAN_REVIEW = "plan_review"
    ACTIVE = "active"
    HELD = "held"
    VERIFYING = "verifying"
    AWAITING_APPROVAL = "awaiting_approval"
    QUEUED = "queued"
    MERGED = "merged"
    WITHDRAWN = "withdrawn"

    @property
    def final(self) -> bool:
        """True when nothing can happen to the intent any more."""
        return self in (State.MERGED, State.WITHDRAWN)

    @property
    def text(self) -> str:
        """The state as texts write it: `Awaiting approval`."""
        return self.value.replace("_", " ").capitalize()


class Priority(StrEnum):
    """Who goes first among equals (rule R3)."""

    NORMAL = "normal"
    HIGH = "high"


class Risk(StrEnum):
    """How much a person should look (`docs/rules.md`, Risk)."""

    LOW = "low"
    HIGH = "high"


class WaitsFor(StrEnum):
    """Whom an intent waits for; computed from the record alone."""

    YOU = "you"
    PERSON = "person"
    CHECKS = "checks"
    MERGE = "merge"
    OTHER_INTENT = "other_intent"
    NOTHING = "nothing"


class Verdict(StrEnum):
    """What a conflict asks of the intent that goes second."""

    HOLD = "hold"
    NARROW = "narrow"
    ADAPT = "adapt"
    WATCH = "watch"
    SHOWN = "shown"


class Mediation(StrEnum):
    """What happens to the later of two intents that change the same place."""

    HOLD = "hold"
    NARROW = "narrow"


class When(StrEnum):
    """When a project's rule asks a person."""

    NEVER = "never"
    HIGH = "high"
    ALWAYS = "always"
