"""Lists of checks that go together, the paths they read, and what their runs mean for a tree."""

import pytest

from protocol.checks import MAX_CHECKS, CheckDefinition, CheckState
from protocol.projects import ProjectSettings
from protocol.queue import CheckRunOutcome
from rules.check_outcomes import outcome_of, tried
from rules.check_paths import literal_part, matcher
from rules.check_plan import definitions_of, problem_of

OLD_ROW = {"test": "make test", "timeout_sec": 60, "environment": ["A"], "network": True}


def check(name: str, *needs: str, **more: object) -> CheckDefinition:
    return CheckDefinition.model_validate({"name": name, "command": "true", "needs": needs, **more})


def test_settings_stored_before_there_were_named_checks_give_the_check_named_test() -> None:
    [found] = definitions_of(ProjectSettings.model_validate(OLD_ROW))
    assert (found.name, found.command, found.timeout_sec) == ("test", "make test", 60)
    assert (found.environment, found.network, found.retries, found.slots) == (("A",), True, 0, 1)
    assert definitions_of(ProjectSettings()) == []


def test_the_test_command_stands_before_the_named_checks() -> None:
    settings = ProjectSettings.model_validate({**OLD_ROW, "named_checks": [check("lint", "test")]})
    assert [found.name for found in definitions_of(settings)] == ["test", "lint"]
    assert problem_of(definitions_of(settings)) is None


@pytest.mark.parametrize(
    ("checks", "said"),
    [
        ([check("a"), check("a")], "Two checks are named a."),
        ([check("a", "b")], "a needs b, and there is no check of that name."),
        (
            [check("d", "a"), check("a", "b"), check("b", "c"), check("c", "a")],
            "Checks that need each other never begin: a needs b needs c needs a.",
        ),
        ([check("a", "a")], "Checks that need each other never begin: a needs a."),
        ([check(f"c{n}") for n in range(MAX_CHECKS + 1)], "A project has at most 32 checks; these are 33."),
        ([check("a", paths=("**/x/**/y/**/z",))], "A path of a holds ** more than 2 times: **/x/**/y/**/z."),
    ],
)
def test_checks_that_do_not_go_together_are_told_apart(checks: list[CheckDefinition], said: str) -> None:
    assert problem_of(checks) == said


def test_a_digest_follows_what_can_change_a_result_and_nothing_else() -> None:
    assert check("a").digest() == check("a", "b", slots=4).digest()
    others = [
        check("b"), check("a", retries=1), check("a", paths=("x/",)), check("a", network=True), check("a", cpu_sec=9)
    ]  # fmt: skip
    assert len({check("a").digest(), *(other.digest() for other in others)}) == 6


@pytest.mark.parametrize(
    ("path", "literal", "covered", "left_out"),
    [
        ("src/", "src", ["src/a", "src/b/c"], ["src", "srcs/a", "x/src/a"]),
        ("Makefile", "Makefile", ["Makefile"], ["x/Makefile", "Makefile/x"]),
        ("app/[id]/x.ts", "app/[id]/x.ts", ["app/[id]/x.ts"], ["app/i/x.ts"]),
        ("*.py", "", ["a.py", ".py"], ["x/a.py", "a.pyc"]),
        ("pkg/*/lib/", "pkg", ["pkg/a/lib/x", "pkg/a/lib/x/y"], ["pkg/a/b/lib/x", "pkg/lib/x"]),
        ("**/a?c", "", ["abc", "x/y/abc"], ["a/c", "ac"]),
        ("docs/**", "docs", ["docs/a", "docs/a/b"], ["docs", "doc/a"]),
        ("t/a*b*c", "t", ["t/abc", "t/a_b_bc"], ["t/acb", "t/ab/c"]),
    ],
)
def test_a_path_covers_what_it_says(path: str, literal: str, covered: list[str], left_out: list[str]) -> None:
    reads = matcher([path])
    assert literal_part(path) == literal
    assert [name for name in covered + left_out if reads(name)] == covered


def test_a_hostile_name_does_not_hold_a_glob_up() -> None:
    assert not matcher(["*a" * 50 + "b"])("a" * 4000)  # would not end if it looked back


def run(name: str, state: str, **more: object) -> CheckRunOutcome:
    values = {"name": name, "check_id": f"chk_{name}", "state": state, "summary": f"{name} {state}"}
    return CheckRunOutcome.model_validate({**values, **more})


def test_the_first_failed_check_speaks_for_the_tree_and_an_error_only_when_none_failed() -> None:
    errors = [run("a", "error"), run("b", "skipped")]
    told = outcome_of([*errors, run("c", "failed"), run("d", "failed", reused=True)])
    assert (told.check_id, told.state, told.reused) == ("chk_c", "failed", False)
    assert told.summary == "c failed (also: d, a)"
    assert (outcome_of(errors).state, outcome_of(errors).good) == ("error", False)


def test_a_green_tree_says_how_many_checks_passed_and_which_only_on_a_later_try() -> None:
    told = outcome_of([run("a", "passed"), run("b", "passed", tries=2, flaky=["x"], reused=True)])
    assert (told.summary, told.good, told.reused) == ("2 checks passed (b on try 2)", True, False)
    assert outcome_of([run("a", "passed")]).summary == "a passed"


def test_a_run_of_several_tries_says_so() -> None:
    assert tried("a passed", CheckState.PASSED, 2, ["x", "y"]) == "a passed on try 2; flaky: x, y"
    assert tried("a failed", CheckState.FAILED, 3, []) == "a failed (on each of 3 tries)"
    assert tried("a could not run", CheckState.ERROR, 2, []) == "a could not run (on try 2)"
