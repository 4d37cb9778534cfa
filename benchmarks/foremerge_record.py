"""A record with thousands of published intents of the Foremerge face, written in bulk.

Publishing as many through the door would take some twenty minutes. What the answers and the comparison read is
written as the product writes it (names, hashes and keys of likeness come from its own functions), with `COPY`. What they
do not read is left out: these intents have no events, no workflow and no branch, and gitring's half of each says merged,
so that nothing begins to make workflows for them while the clock runs.
"""

import random
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from protocol.foremerge.scopes import ScopeClaim
from protocol.foremerge.words import IntentStatus, Operation, ScopeKind
from protocol.ids import new_id
from protocol.records import IntentRow
from rules.foremerge.alike import SUMMARIES_ALIKE, kept_under
from rules.foremerge.faces import declared_by_foremerge
from rules.foremerge.likeness import words
from rules.foremerge.stored import new_scope
from rules.places import ancestors
from storage.sql import intents
from storage.sql.foremerge import agents
from storage.sql.foremerge.hashes import short_hash
from storage.sql.pool import prepare_connection

HOT = "Checkout::total"
INTENTS_EACH = 100
FIRST_NUMBER = 1_000_001

_VERBS = ("Add", "Replace", "Extend", "Rework", "Guard", "Trace", "Simplify", "Rename", "Move", "Cache")
_ASPECTS = (
    "retries",
    "timeouts",
    "rounding",
    "paging",
    "locking",
    "totals",
    "filters",
    "discounts",
    "refunds",
    "audit",
)
_PARTS = (
    "Cart",
    "Order",
    "Invoice",
    "Ledger",
    "Mail",
    "Stock",
    "Tax",
    "Search",
    "Session",
    "Report",
    "Price",
    "Coupon",
)
_ROLES = (
    "Service",
    "Client",
    "Store",
    "Reader",
    "Writer",
    "Policy",
    "Queue",
    "Gateway",
    "Parser",
    "Mapper",
    "Index",
)
_OPERATIONS = (Operation.EXTEND, Operation.MODIFY, Operation.ADD, Operation.REPLACE)
_STATUSES = (IntentStatus.INTENT, IntentStatus.CLAIMED, IntentStatus.INTENT, IntentStatus.IN_PROGRESS)


async def fill(address: str, real_id: str, count: int) -> list[str]:
    """Write `count` active intents beside the published one, whose row theirs are made from; their agents' ids."""
    async with _connected(address) as connection:
        await prepare_connection(connection)
        real = await intents.get(connection, real_id)
        if real is None:
            raise LookupError(f"{real_id} is not in the record")
        made = await _agents(connection, real, max(1, count // INTENTS_EACH))
        task = await _task(connection, real, made[0])
    rows = _Rows(real, made, task, datetime.now(UTC) - timedelta(days=1))
    rows.add(count)
    async with _connected(address) as connection, connection.transaction():
        for table, records in rows.tables.items():
            await connection.copy_records_to_table(
                table, columns=list(records[0]), records=[tuple(one.values()) for one in records]
            )
        await connection.execute("ANALYZE")  # as autovacuum would, within a minute
    return made


@asynccontextmanager
async def _connected(address: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(address)
    try:
        yield connection
    finally:
        await connection.close()


async def _agents(connection: asyncpg.Connection, real: IntentRow, count: int) -> list[str]:
    known = (await agents.of_project(connection, real.project_id))[0]
    made = [known.model_copy(update={"id": new_id("agt"), "name": f"agent-{n}"}) for n in range(count)]
    for one in made:
        await agents.add(connection, one)
    return [one.id for one in made]


async def _task(connection: asyncpg.Connection, real: IntentRow, agent_id: str) -> str:
    return await agents.task(
        connection,
        task_id=new_id("tsk"),
        project_id=real.project_id,
        key="benchmark",
        title="benchmark",
        agent_id=agent_id,
        now=datetime.now(UTC),
    )


class _Rows:
    """The rows of each table, in the order in which they refer to each other."""

    def __init__(self, real: IntentRow, owners: Sequence[str], task: str, began: datetime) -> None:
        self._real, self._owners, self._task, self._began = real, owners, task, began
        self._dice = random.Random(11)
        self._before: str | None = None
        names = ("intent", "plan", "fm_intent", "fm_scope", "place", "fm_claim", "fm_conflict")
        self.tables: dict[str, list[dict[str, Any]]] = {name: [] for name in names}

    def add(self, count: int) -> None:
        """So many intents, a second apart."""
        for number in range(count):
            self._one(number)

    def _one(self, number: int) -> None:
        intent_id, at = new_id("int"), self._began + timedelta(seconds=number)
        status = _STATUSES[(number // len(self._owners)) % len(_STATUSES)]
        owner = self._owners[number % len(self._owners)]
        subject = f"{self._dice.choice(_PARTS)}{self._dice.choice(_ROLES)}{number // 7}"
        summary = f"{self._dice.choice(_VERBS)} {self._dice.choice(_ASPECTS)} of {subject}"
        common = {"intent_id": intent_id, "project_id": self._real.project_id}
        self.tables["intent"].append(self._intent(intent_id, FIRST_NUMBER + number, summary, at))
        self.tables["plan"].append(_plan(intent_id, summary, at))
        depends_on = [self._before] if self._before and number % 10 == 3 else []
        work = {"agent_id": owner, "task_id": self._task, "summary": summary, "depends_on": depends_on}
        likes = kept_under(words(summary), SUMMARIES_ALIKE)
        times = {"scopes_since": at, "created_at": at, "updated_at": at}
        self.tables["fm_intent"].append(
            common | work | {"status": status, "summary_likes": likes, "live": True} | times
        )
        scopes = list(_scopes(common, self._claims_of(number, subject)))
        self.tables["fm_scope"].extend(scopes)
        self.tables["place"].extend(self._places(intent_id, scopes))
        if status is not IntentStatus.INTENT:
            self.tables["fm_claim"].append(_claim(common, owner, scopes[0], at))
        if self._before and number % 10 == 7:
            self.tables["fm_conflict"].append(_conflict(common, self._before, scopes[0], at))
        self._before = intent_id

    def _claims_of(self, number: int, subject: str) -> list[ScopeClaim]:
        """A class of its own, a file, and for every tenth one that all of those extend."""
        operation = self._dice.choice(_OPERATIONS)
        path = f"app/area{number % 40:02}/{subject.lower()}.py"
        found = [
            ScopeClaim(kind=ScopeKind.SYMBOL, key=f"{subject}::run", operation=operation),
            ScopeClaim(kind=ScopeKind.FILE, key=path, operation=Operation.MODIFY),
        ]
        if number % 10 == 0:
            found.append(ScopeClaim(kind=ScopeKind.SYMBOL, key=HOT, operation=Operation.EXTEND))
        return found

    def _places(self, intent_id: str, scopes: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for path in (scope["path"] for scope in scopes if scope["path"]):
            where = {"project_id": self._real.project_id, "line": self._real.line, "role": "change"}
            at = {"source": "declared", "path": path, "symbol": "", "ancestors": ancestors(path)}
            yield {"intent_id": intent_id} | where | at

    def _intent(self, intent_id: str, number: int, summary: str, at: datetime) -> dict[str, Any]:
        kept = (
            "project_id",
            "landing",
            "line",
            "base",
            "plan_version",
            "risk",
            "person_id",
            "token_id",
            "agent_name",
        )
        fields = self._real.model_dump(include=set(kept))
        own = {"id": intent_id, "number": number, "title": summary, "goal": "benchmark", "state": "merged"}
        return fields | own | {"created_at": at, "state_since": at}


def _plan(intent_id: str, summary: str, at: datetime) -> dict[str, Any]:
    empty: list[str] = []
    head = {"intent_id": intent_id, "version": 1, "summary": summary, "created_at": at}
    return head | {"steps": empty, "checks": empty, "scope": "{}"}


def _scopes(common: dict[str, Any], claims: Sequence[ScopeClaim]) -> Iterator[dict[str, Any]]:
    for position, declared in enumerate(declared_by_foremerge(claims)):
        one = new_scope(declared)
        fields = {name: value for name, value in one._asdict().items() if name != "lower_key"}
        hashes = {
            "precise_hash": short_hash(one.precise),
            "alias_hash": short_hash(one.alias),
            "key_hash": short_hash(one.lower_key),
        }
        yield common | {"position": position, "live": True} | fields | hashes


def _claim(common: dict[str, Any], owner: str, scope: dict[str, Any], at: datetime) -> dict[str, Any]:
    same = {name: scope[name] for name in ("kind", "key", "precise_hash", "alias_hash")}
    lease = at + timedelta(days=30)
    return (
        common | same | {"id": new_id("clm"), "agent_id": owner, "lease_expires_at": lease, "created_at": at}
    )


def _conflict(common: dict[str, Any], before: str, scope: dict[str, Any], at: datetime) -> dict[str, Any]:
    source, target = sorted((before, common["intent_id"]))
    texts = {"explanation": "two builds on one contract", "suggestion": "agree on an order", "evidence": "{}"}
    key = {"source_id": source, "target_id": target, "kind": "shared_contract", "scopes": scope["precise"]}
    seen = {"severity": "MEDIUM", "score": 0.873, "scope_kind": scope["kind"], "scope_key": scope["key"]}
    state = {"status": "OPEN", "detected_at": at, "scopes_hash": scope["precise_hash"]}
    return {"id": new_id("cfl"), "project_id": common["project_id"]} | key | seen | texts | state
