"""The semantic graph made of a record."""

from datetime import timedelta

from protocol.foremerge.agents import Agent
from protocol.foremerge.changesets import ChangeSet, Decision, DecisionInput, TestEvidence
from protocol.foremerge.claims import Claim
from protocol.foremerge.conflicts import Conflict, ConflictDetection
from protocol.foremerge.intents import Assessment, Intent, Task
from protocol.foremerge.ledger import Graph
from protocol.foremerge.scopes import PlainScope
from protocol.foremerge.validations import ValidationAttempt
from protocol.foremerge.words import (
    AssessmentAction,
    AssessmentVerdict,
    ChangeSetStatus,
    ClaimStatus,
    ConflictKind,
    IntentStatus,
    ScopeKind,
    Severity,
)
from rules.foremerge.graph import Recorded, Resolved, graph_of
from tests.rules.foremerge.samples import NOW


def _intent(number: int, *depends_on: str) -> Intent:
    return Intent(
        id=f"int_{number}",
        agent_id="agt_1",
        task_id="tsk_1",
        task="t",
        summary=f"Summary {number}",
        depends_on=list(depends_on),
        status=IntentStatus.CLAIMED,
        created_at=NOW + timedelta(seconds=number),
        updated_at=NOW,
    )


def _claim(number: int, intent: str, key: str, status: ClaimStatus = ClaimStatus.ACTIVE) -> Claim:
    return Claim(
        id=f"clm_{number}",
        agent_id="agt_1",
        intent_id=intent,
        scope=PlainScope(kind=ScopeKind.SYMBOL, key=key),
        status=status,
        lease_expires_at=NOW,
        created_at=NOW + timedelta(minutes=number),
    )


_DECISION = DecisionInput(title="Use a trait", rationale="Both fit")
_CHANGESET = ChangeSet(
    id="chg_1",
    agent_id="agt_1",
    task_id="tsk_1",
    intent_id="int_1",
    summary="c",
    tests=[TestEvidence(command="make", status="passed")],
    decisions=[_DECISION],
    provenance={"declared": {"a": 1}},
    fingerprint="f",
    status=ChangeSetStatus.VALIDATED,
    created_at=NOW,
    updated_at=NOW,
)
_SEEN = {
    "severity": Severity.HIGH,
    "score": 0.97,
    "scope": None,
    "explanation": "e",
    "suggestion": "s",
    "evidence": {},
    "detected_at": NOW,
}


def _attempt(number: int, authoritative: bool) -> ValidationAttempt:
    return ValidationAttempt(
        id=f"val_{number}",
        changeset_id="chg_1",
        command=["make", "test"],
        passed=True,
        exit_code=0,
        stdout="",
        stderr="",
        duration_ms=1,
        run_at=NOW,
        expected_fingerprint="f",
        observed_fingerprint="f",
        authoritative=authoritative,
        exclusion_ruleset_digest="d",
    )


def _decided(number: int, title: str, changeset: str | None = None) -> Decision:
    return Decision(
        id=f"dec_{number}",
        changeset_id=changeset,
        intent_id="int_1",
        title=title,
        rationale="Both fit",
        created_at=NOW,
    )


def _assessed(number: int, verdict: AssessmentVerdict) -> Assessment:
    return Assessment(
        id=f"asm_{number}",
        agent_id="agt_1",
        intent_id="int_1",
        related_intent_id="int_2",
        verdict=verdict,
        rationale="r",
        action=AssessmentAction.WAITING,
        created_at=NOW,
    )


RECORD = Recorded(
    agents=[Agent(id="agt_1", name="stripe", registered_at=NOW)],
    tasks=[Task(id="tsk_1", task_key="k", title="t", created_by_agent_id="agt_1", created_at=NOW)],
    intents=[_intent(1, "int_2", "redis"), _intent(2)],
    claims=[
        _claim(1, "int_1", r"App\Billing\Report::render"),
        _claim(2, "int_2", "Report::render", ClaimStatus.EXPIRED),
    ],
    changesets=[_CHANGESET],
    attempts=[_attempt(1, True), _attempt(2, False)],
    decisions=[
        Resolved(_decided(1, "split scopes"), "cfl_1"),
        Resolved(_decided(2, "override", "chg_1"), None),
        Resolved(_decided(3, "Use a trait", "chg_1"), None),
    ],
    conflicts=[
        Conflict(
            id="cfl_1",
            kind=ConflictKind.DIVERGENT_REWRITE,
            source_intent_id="int_1",
            target_intent_id="int_2",
            **_SEEN,
        )
    ],
    detections=[ConflictDetection(id="dtn_1", conflict_id="cfl_1", previously_settled=False, **_SEEN)],
    assessments=[_assessed(1, AssessmentVerdict.CONFLICTS), _assessed(2, AssessmentVerdict.COMPATIBLE)],
)


def edges(graph: Graph) -> set[str]:
    """Each edge as `KIND key -> key`."""
    keys = {node.id: node.key for node in graph.nodes}
    assert len(keys) == len(graph.nodes)
    return {f"{edge.kind} {keys[edge.source]} -> {keys[edge.target]}" for edge in graph.edges}


def test_every_kind_of_node_and_edge_comes_of_the_record() -> None:
    graph = graph_of(RECORD)
    assert edges(graph) == {
        "WORKS_ON agt_1 -> tsk_1",
        "HAS_INTENT tsk_1 -> int_1",
        "HAS_INTENT tsk_1 -> int_2",
        "DEPENDS_ON int_1 -> int_2",
        "DEPENDS_ON int_1 -> redis",
        "MAKES_CLAIM int_1 -> clm_1",
        "MAKES_CLAIM int_2 -> clm_2",
        "CLAIMS clm_1 -> symbol:report::render",
        "CLAIMS clm_2 -> symbol:report::render",
        "AFFECTS_DEPENDENCY symbol:report::render -> int_2",
        "AFFECTS_DEPENDENCY symbol:report::render -> redis",
        "PRODUCES int_1 -> chg_1",
        "HAS_PROVENANCE chg_1 -> chg_1:provenance",
        "REPORTS_TEST chg_1 -> chg_1:reported-test:0",
        "HAS_RESULT chg_1:reported-test:0 -> chg_1:reported-test:0:result",
        "RUNS_TEST chg_1 -> val_1:validation",
        "HAS_RESULT val_1:validation -> val_1",
        "RECORDS_DECISION chg_1 -> chg_1:0",
        "RECORDS_DECISION chg_1 -> dec_2",
        "HAS_CONFLICT int_1 -> cfl_1",
        "CONFLICTS_WITH cfl_1 -> int_2",
        "OCCURRENCE_OF dtn_1 -> cfl_1",
        "RESOLVED_BY cfl_1 -> dec_1",
        "ASSESSED int_1 -> int_2",
    }
    assert len({edge.kind for edge in graph.edges}) == 17
    assert {node.kind for node in graph.nodes} == {
        "Agent",
        "Task",
        "Intent",
        "Claim",
        "ChangeSet",
        "Conflict",
        "ConflictDetection",
        "Symbol",
        "Dependency",
        "Provenance",
        "Test",
        "Result",
        "Decision",
    }


def test_a_lapsed_lease_shows_and_of_two_judgements_the_first_stands() -> None:
    graph = graph_of(RECORD)
    data = {node.key: node.data for node in graph.nodes}
    assert (data["clm_1"]["status"], data["clm_2"]["status"]) == ("ACTIVE", "EXPIRED")
    (assessed,) = [edge for edge in graph.edges if edge.kind == "ASSESSED"]
    assert assessed.data == {"verdict": "conflicts", "action": "waiting"}


def test_a_scope_is_a_node_only_when_it_is_claimed_and_no_symbol_is_a_scope() -> None:
    config = _claim(3, "int_1", "retry").model_copy(
        update={"scope": PlainScope(kind=ScopeKind.CONFIG, key="Retry")}
    )
    graph = graph_of(RECORD._replace(claims=[config]))
    found = [(node.kind, node.key) for node in graph.nodes if node.kind in ("Symbol", "Scope")]
    assert found == [("Scope", "config:retry")]


def test_the_same_thing_has_the_same_id_in_every_answer_and_everything_has_its_place() -> None:
    graph = graph_of(RECORD)
    assert graph == graph_of(RECORD)
    for found in (graph.nodes, graph.edges):
        assert [(one.created_at, one.id) for one in found] == sorted(
            (one.created_at, one.id) for one in found
        )
    assert all(node.id.startswith("nod_") and len(node.id) == 36 for node in graph.nodes)
    wire = graph.model_dump(by_alias=True)
    assert {"from", "to"} <= set(wire["edges"][0])
    smaller = {node.id for node in graph_of(RECORD._replace(changesets=[], decisions=[])).nodes}
    assert smaller < {node.id for node in graph.nodes}
