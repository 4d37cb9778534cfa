"""The watchdog's rule: what is found in one look, and what is rightly left alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

from protocol.checks import CheckDefinition
from protocol.projects import ProjectSettings
from protocol.states import State
from protocol.watch import (
    CheckFact,
    Finding,
    Heal,
    LineFact,
    LiveFact,
    LostFact,
    QueuedFact,
    StandFact,
    WatchFacts,
    WatchKind,
)
from rules.watch import findings

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TWO_CHECKS = ProjectSettings(
    test="make", timeout_sec=600, named_checks=[CheckDefinition(name="lint", command="l")]
)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def queued(number: int, waits_sec: float = 60, **more: Any) -> QueuedFact:
    at = ago(waits_sec)
    given = {"id": f"i{number}", "number": number, "state": State.QUEUED, "queued_at": at, "state_since": at}
    return QueuedFact(**{**given, **more})


def line(*queue: QueuedFact, **more: Any) -> LineFact:
    given = dict.fromkeys(("paused", "stopped_by", "switched_at", "moved_at", "landing_since"))
    return LineFact(
        **{
            **given,
            "project_id": "p",
            "host": "h",
            "name": "main",
            "settings": TWO_CHECKS,
            "queue": list(queue),
            "lost": False,
            **more,
        }
    )


def check(begun_sec: float, **more: Any) -> CheckFact:
    given: dict[str, Any] = {"id": "chk", "project_id": "p", "host": "h", "line": "main", "name": "test"}
    given |= {
        "settings": TWO_CHECKS,
        "numbers": [4],
        "started_at": ago(begun_sec),
        "began_at": ago(begun_sec),
    }
    return CheckFact(**{**given, "wrote_at": ago(1), **more})


def live(number: int, state: State = State.ACTIVE, idle_sec: float = 60, **more: Any) -> LiveFact:
    given = {"id": f"i{number}", "project_id": "p", "number": number, "line": "main", "state": state}
    return LiveFact(**{**given, "state_since": ago(idle_sec), "moved_at": ago(idle_sec), **more})


def look(**facts: Any) -> list[Finding]:
    return findings(WatchFacts(now=NOW, **facts))


def kinds(**facts: Any) -> list[WatchKind]:
    return [one.kind for one in look(**facts)]


def test_what_is_green_and_does_not_land_is_found_and_the_queue_is_woken() -> None:
    green = queued(4, green=["test", "lint"], green_at=ago(16))
    [found] = look(lines=[line(green)])
    assert (found.kind, found.number, found.heal) == (WatchKind.GREEN_NOT_LANDED, 4, Heal.LINE)
    assert found.since == ago(16)
    assert "#4 is green and next on main, and it does not land" in found.said
    # However much runs: a green prefix lands beside it.
    assert kinds(lines=[line(green, running=2)]) == [WatchKind.GREEN_NOT_LANDED]
    assert kinds(lines=[line(green)], checks=[check(5, line="other")]) == [WatchKind.GREEN_NOT_LANDED]
    assert kinds(lines=[line(queued(4, green=["test", "lint"], green_at=ago(14)))]) == []


def test_what_lacks_a_result_is_not_called_green() -> None:
    assert kinds(lines=[line(queued(4, green=["lint"], green_at=ago(60)))]) == [WatchKind.NOT_TESTED]


def test_a_queue_that_has_something_to_do_or_did_it_just_now_is_left_alone() -> None:
    assert kinds(lines=[line(queued(4), running=1)], checks=[check(60)]) == []
    assert kinds(lines=[line(queued(4), moved_at=ago(10))]) == []
    # Between two tests of a search.
    assert kinds(lines=[line(queued(4), tested_at=ago(10))]) == []
    assert kinds(lines=[line(queued(4), switched_at=ago(10))]) == []
    assert kinds(lines=[line(queued(4), landing_since=ago(10))]) == []
    assert kinds(lines=[line(queued(4, waits_sec=10))]) == []
    # It waits for a slot that somebody else's check takes; only when that lasts is it told.
    assert kinds(lines=[line(queued(4))], checks=[check(60, line="other")]) == []
    [late] = look(lines=[line(queued(4, waits_sec=700))], checks=[check(60, line="other")])
    assert "waits for a check slot of host h" in late.said


def test_a_landing_that_does_not_end_is_found_even_while_the_line_is_paused() -> None:
    [found] = look(lines=[line(landing_since=ago(20), paused="release", stopped_by="owner")])
    assert (found.kind, found.heal) == (WatchKind.GREEN_NOT_LANDED, Heal.LINE)


def test_a_line_without_its_workflow_is_found_and_nothing_else_is_said_of_it() -> None:
    [found] = look(lines=[line(queued(4), lost=True)])
    assert (found.kind, found.heal) == (WatchKind.WORKFLOW_MISSING, Heal.LINE)
    assert kinds(lines=[line(queued(4, waits_sec=3), lost=True)]) == []
    assert kinds(lines=[line(queued(4), lost=None, running=1)]) == []


def test_a_paused_line_is_found_when_work_waited_long_and_sooner_when_nobody_paused_it() -> None:
    paused = {"paused": "a release", "stopped_by": "owner", "switched_at": ago(7200)}
    assert kinds(lines=[line(queued(4, waits_sec=3700), **paused)]) == [WatchKind.PAUSED_LONG]
    assert kinds(lines=[line(queued(4, waits_sec=3500), **paused)]) == []
    assert kinds(lines=[line(**paused)]) == []
    [red] = look(lines=[line(queued(4, waits_sec=700), **{**paused, "stopped_by": "line"})])
    assert "fails its own checks" in red.said


def test_what_was_queued_after_a_drain_began_waits_rightly() -> None:
    assert kinds(lines=[line(queued(4, waits_sec=60), draining_since=ago(90))]) == []


def test_a_queue_that_waits_for_one_that_nobody_moves_says_whom() -> None:
    behind = queued(5, goes_after=["i3"])
    stand = StandFact(id="i3", number=3, state=State.HELD, queued=False, held_by=["i2"])
    other = StandFact(id="i2", number=2, state=State.ACTIVE, queued=False)
    gone = live(2, gone="its agent's token was revoked", gone_at=ago(50))
    found = look(lines=[line(behind)], stands=[stand, other], lives=[gone])
    assert [(one.kind, one.number) for one in found] == [
        (WatchKind.QUEUE_WAITS_ON_ITSELF, 5),
        (WatchKind.NOBODY_MOVES, 2),
    ]
    assert found[0].said.startswith(
        "#5 is queued and waits for #3 and #2; #2 will not move: its agent's token was revoked. Give another agent"
    )
    assert look(lines=[line(behind)], stands=[stand, other], lives=[]) == []


def test_a_circle_of_holds_and_dependencies_is_found() -> None:
    held = StandFact(id="i3", number=3, state=State.HELD, queued=False, held_by=["i5"])
    [found] = look(lines=[line(queued(5, goes_after=["i3"]))], stands=[held])
    assert "#5 is queued and waits for #3, which waits for #5 again" in found.said


def test_an_intent_whose_token_ended_is_found_until_another_agent_does_something() -> None:
    gone = {"gone": "its agent's token was revoked", "gone_at": ago(50)}
    [found] = look(lives=[live(3, **gone, waited_on_by=[7, 9])])
    assert (found.kind, found.since) == (WatchKind.NOBODY_MOVES, ago(50))
    assert "#3 is active, and its agent's token was revoked. #7 and #9 wait for it." in found.said
    assert look(lives=[live(3, **gone, idle_sec=20)]) == []
    # What waits for a person needs no agent.
    assert look(lives=[live(3, State.PLAN_REVIEW, **gone)]) == []
    assert kinds(lives=[live(3, State.PLAN_REVIEW, **gone, sent_back=True)]) == [WatchKind.NOBODY_MOVES]


def test_an_intent_that_nobody_touched_for_hours_is_found_a_held_one_much_later() -> None:
    hours = 3600
    assert kinds(lives=[live(3, idle_sec=5 * hours)]) == [WatchKind.NOBODY_MOVES]
    assert kinds(lives=[live(3, idle_sec=3 * hours)]) == []
    assert kinds(lives=[live(3, State.HELD, idle_sec=23 * hours)]) == []
    assert kinds(lives=[live(3, State.HELD, idle_sec=25 * hours)]) == [WatchKind.NOBODY_MOVES]


def test_a_check_beyond_its_limit_is_found_and_closed_when_nobody_ended_it() -> None:
    assert look(checks=[check(610)]) == []
    [found] = look(checks=[check(620)])
    assert (found.kind, found.heal) == (WatchKind.CHECK_SILENT, None)
    assert "beyond its limit of 600 s" in found.said
    assert look(checks=[check(700)])[0].heal is Heal.CHECK
    # Its last try began later than the run.
    assert look(checks=[check(620, began_at=ago(100))]) == []


def test_a_check_without_output_and_one_whose_worker_is_silent_are_found() -> None:
    assert look(checks=[check(400, wrote_at=ago(290))]) == []
    [quiet] = look(checks=[check(400, wrote_at=ago(310))])
    assert "prints nothing" in quiet.said
    [dead] = look(checks=[check(60)], heard={"h": ago(25)})
    assert "the worker of host h is silent" in dead.said
    assert look(checks=[check(60)], heard={"h": ago(12)}) == []


def test_work_that_is_checked_before_a_person_decides_is_watched_too() -> None:
    [found] = look(lives=[live(3, State.VERIFYING, idle_sec=20)])
    assert (found.kind, found.heal) == (WatchKind.NOT_TESTED, Heal.INTENT)
    assert look(lives=[live(3, State.VERIFYING, idle_sec=20, checks_running=True)]) == []
    assert look(lives=[live(3, State.VERIFYING, idle_sec=20, checked_at=ago(5))]) == []


def test_a_live_intent_without_a_workflow_is_found() -> None:
    lost = LostFact(id="i3", project_id="p", number=3, line="main", since=ago(40))
    [found] = look(lost=[lost])
    assert (found.kind, found.heal, found.intent_id) == (WatchKind.WORKFLOW_MISSING, Heal.INTENT, "i3")
