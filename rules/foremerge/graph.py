"""The semantic graph of a project, made of its record: what every node and edge is, and what it is called.

Nothing of it is kept. A node's id is a digest of its kind and key, so the same thing has the same id in every answer.
"""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from protocol.foremerge.agents import Agent
from protocol.foremerge.changesets import ChangeSet, Decision
from protocol.foremerge.claims import Claim
from protocol.foremerge.conflicts import Conflict, ConflictDetection
from protocol.foremerge.intents import Assessment, Intent, Task
from protocol.foremerge.ledger import Graph, GraphEdge, GraphNode
from protocol.foremerge.validations import ValidationAttempt
from protocol.foremerge.words import ScopeKind
from rules.foremerge.scopes import alias

_MOST_LABEL = 200


class Resolved(NamedTuple):
    """A decision, and the conflict that it settled if it settled one."""

    decision: Decision
    conflict_id: str | None


class Recorded(NamedTuple):
    """All of a project that the graph is made of."""

    agents: Sequence[Agent] = ()
    tasks: Sequence[Task] = ()
    intents: Sequence[Intent] = ()
    claims: Sequence[Claim] = ()
    changesets: Sequence[ChangeSet] = ()
    attempts: Sequence[ValidationAttempt] = ()
    decisions: Sequence[Resolved] = ()
    conflicts: Sequence[Conflict] = ()
    detections: Sequence[ConflictDetection] = ()
    assessments: Sequence[Assessment] = ()


def graph_of(record: Recorded) -> Graph:
    """The graph, nodes and edges each by time and then by id."""
    made = _Made()
    _add_work(made, record)
    _add_claims(made, record)
    for changeset in record.changesets:
        _add_changeset(made, changeset)
    for attempt in record.attempts:
        _add_validation(made, attempt)
    _add_conflicts(made, record)
    _add_decisions(made, record)
    for one in record.assessments:
        data = {"verdict": one.verdict.value, "action": one.action.value}
        made.edge(
            "ASSESSED", ("Intent", one.intent_id), ("Intent", one.related_intent_id), one.created_at, data
        )
    return made.graph()


_Ref = tuple[str, str]


class _Made:
    """What was made so far; of two nodes or edges that are the same, the first stands."""

    def __init__(self) -> None:
        self._nodes: dict[_Ref, GraphNode] = {}
        self._edges: dict[tuple[str, _Ref, _Ref], GraphEdge] = {}

    def node(self, kind: str, key: str, label: str, at: datetime, data: dict[str, Any] | None = None) -> _Ref:
        ref = (kind, key)
        if ref not in self._nodes:
            node_id = _digest("nod", kind, key)
            self._nodes[ref] = GraphNode(
                id=node_id, kind=kind, key=key, label=label[:_MOST_LABEL], data=data or {}, created_at=at
            )
        return ref

    def edge(
        self, kind: str, source: _Ref, target: _Ref, at: datetime, data: dict[str, Any] | None = None
    ) -> None:
        if source in self._nodes and target in self._nodes and (kind, source, target) not in self._edges:
            self._edges[(kind, source, target)] = GraphEdge.model_validate(
                {
                    "id": _digest("edg", kind, *source, *target),
                    "from": self._nodes[source].id,
                    "to": self._nodes[target].id,
                    "kind": kind,
                    "data": data or {},
                    "created_at": at,
                }
            )

    def graph(self) -> Graph:
        return Graph(nodes=_in_order(self._nodes.values()), edges=_in_order(self._edges.values()))


def _in_order(found: Iterable[Any]) -> list[Any]:
    return sorted(found, key=lambda one: (one.created_at, one.id))


def _digest(prefix: str, *parts: str) -> str:
    text = "|".join(f"{len(part)}:{part}" for part in parts)
    return f"{prefix}_{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def _add_work(made: _Made, record: Recorded) -> None:
    for agent in record.agents:
        made.node("Agent", agent.id, agent.name, agent.registered_at, {"model": agent.model})
    for task in record.tasks:
        made.node("Task", task.id, task.title, task.created_at)
    for intent in record.intents:
        data = {"status": intent.status.value, "agent_id": intent.agent_id}
        node = made.node("Intent", intent.id, intent.summary, intent.created_at, data)
        task_node = ("Task", intent.task_id)
        made.edge("WORKS_ON", ("Agent", intent.agent_id), task_node, intent.created_at)
        made.edge("HAS_INTENT", task_node, node, intent.created_at)
        for text in intent.depends_on:
            on = made.node("Dependency", text, text, intent.created_at)
            made.edge("DEPENDS_ON", node, on, intent.created_at)


def _add_claims(made: _Made, record: Recorded) -> None:
    depends = {intent.id: intent.depends_on for intent in record.intents}
    for claim in record.claims:
        at = claim.created_at
        data = {"status": claim.status.value, "lease_expires_at": claim.lease_expires_at.isoformat()}
        node = made.node("Claim", claim.id, claim.scope.text, at, data)
        kind = "Symbol" if claim.scope.kind is ScopeKind.SYMBOL else "Scope"
        scope = made.node(kind, alias(claim.scope), claim.scope.text, at)
        made.edge("MAKES_CLAIM", ("Intent", claim.intent_id), node, at)
        made.edge("CLAIMS", node, scope, at)
        for text in depends.get(claim.intent_id, []):
            made.edge("AFFECTS_DEPENDENCY", scope, ("Dependency", text), at)


def _add_changeset(made: _Made, changeset: ChangeSet) -> None:
    at, key = changeset.created_at, changeset.id
    node = made.node("ChangeSet", key, changeset.summary, at, {"status": changeset.status.value})
    made.edge("PRODUCES", ("Intent", changeset.intent_id), node, at)
    provenance = made.node("Provenance", f"{key}:provenance", "provenance", at, changeset.provenance)
    made.edge("HAS_PROVENANCE", node, provenance, at)
    for number, test in enumerate(changeset.tests):
        test_key = f"{key}:reported-test:{number}"
        reported = made.node("Test", test_key, test.command, at, {"reported": True})
        said = {"status": test.status, "summary": test.summary}
        result = made.node("Result", f"{test_key}:result", test.status, at, said)
        made.edge("REPORTS_TEST", node, reported, at)
        made.edge("HAS_RESULT", reported, result, at)
    for number, decision in enumerate(changeset.decisions):
        data = {"rationale": decision.rationale, "alternatives": decision.alternatives}
        decided = made.node("Decision", f"{key}:{number}", decision.title, at, data)
        made.edge("RECORDS_DECISION", node, decided, at)


def _add_validation(made: _Made, attempt: ValidationAttempt) -> None:
    if not attempt.authoritative:
        return
    at = attempt.run_at
    test = made.node("Test", f"{attempt.id}:validation", " ".join(attempt.command), at, {"reported": False})
    data = {"passed": attempt.passed, "exit_code": attempt.exit_code, "duration_ms": attempt.duration_ms}
    result = made.node("Result", attempt.id, "passed" if attempt.passed else "failed", at, data)
    made.edge("RUNS_TEST", ("ChangeSet", attempt.changeset_id), test, at)
    made.edge("HAS_RESULT", test, result, at)


def _add_conflicts(made: _Made, record: Recorded) -> None:
    for conflict in record.conflicts:
        at = conflict.detected_at
        data = {"severity": conflict.severity.value, "status": conflict.status.value, "score": conflict.score}
        node = made.node("Conflict", conflict.id, conflict.kind.value, at, data)
        if conflict.source_intent_id:
            made.edge("HAS_CONFLICT", ("Intent", conflict.source_intent_id), node, at)
        made.edge("CONFLICTS_WITH", node, ("Intent", conflict.target_intent_id), at)
    for seen in record.detections:
        data = {"severity": seen.severity.value, "previously_settled": seen.previously_settled}
        node = made.node("ConflictDetection", seen.id, seen.severity.value, seen.detected_at, data)
        made.edge("OCCURRENCE_OF", node, ("Conflict", seen.conflict_id), seen.detected_at)


def _add_decisions(made: _Made, record: Recorded) -> None:
    """Resolutions and overrides; the decisions of a ChangeSet itself are nodes already."""
    own = {(c.id, one.title, one.rationale) for c in record.changesets for one in c.decisions}
    for decision, conflict_id in record.decisions:
        if (decision.changeset_id, decision.title, decision.rationale) in own:
            continue
        data = {"rationale": decision.rationale, "alternatives": decision.alternatives}
        node = made.node("Decision", decision.id, decision.title, decision.created_at, data)
        if conflict_id:
            made.edge("RESOLVED_BY", ("Conflict", conflict_id), node, decision.created_at)
        if decision.changeset_id:
            made.edge("RECORDS_DECISION", ("ChangeSet", decision.changeset_id), node, decision.created_at)
