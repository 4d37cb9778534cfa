"""The pure parts: the picture of the order, patches, plan differences, texts that are made visible."""

from datetime import UTC, datetime, timedelta
from difflib import unified_diff

from hypothesis import given
from hypothesis import strategies as st

from gateway.web.diffs import read_patch
from gateway.web.graph import BOX_WIDTH, edges_of, graph_of
from gateway.web.plans import compared, versions
from gateway.web.reasons import ORDER_RULES
from gateway.web.remarks import follow
from gateway.web.shown import ago, environment, output
from protocol.answers import BoardEntry
from protocol.records import PlanRow
from protocol.scopes import Scope, ScopeItem
from protocol.states import State
from rules.order import RULES

NOW = datetime(2026, 11, 8, 12, 0, tzinfo=UTC)


def entry(number: int, after: list[int] | None = None, **more: object) -> BoardEntry:
    lists = ("waiting_on", "dependents", "folders", "keeps", "yields")
    values = {
        "id": f"int_{number}", "number": number, "title": "T", "state": State.ACTIVE, "line": "main",
        "acts_for": "Ana", "agent": "a", "waits_for": "you", "depends_on": after or [],
        **{name: [] for name in lists}, **more,
    }  # fmt: skip
    return BoardEntry(**values)  # type: ignore[arg-type]


def test_nobody_who_waits_is_no_picture() -> None:
    assert graph_of([entry(1), entry(2)]) is None


def test_whoever_goes_after_stands_right_of_all_it_goes_after() -> None:
    graph = graph_of([entry(1), entry(2, [1]), entry(3, [1, 2]), entry(4, [9])])
    assert graph is not None
    at = {box.number: box.x for box in graph.boxes}
    assert at[1] < at[2] < at[3] and at[9] < at[4]
    assert [box.number for box in graph.boxes if box.entry is None] == [9]
    assert max(at.values()) + BOX_WIDTH <= graph.width


def test_a_hold_says_more_than_an_order() -> None:
    assert edges_of([entry(2, [1], waiting_on=[1])]) == [(1, 2, "hold")]


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12)), min_size=1, max_size=40))
def test_any_order_even_a_circle_is_drawn_and_no_two_boxes_meet(pairs: list[tuple[int, int]]) -> None:
    graph = graph_of([entry(second, [first]) for first, second in pairs])
    assert graph is not None
    assert len({(box.x, box.y) for box in graph.boxes}) == len(graph.boxes)


PATCH = """diff --git a/src/a.py b/src/a.py
index 111..222 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,3 @@ def f():
 one
-two
---- a/evil
+diff --git a/x b/x
+@@ -1 +1 @@
 
diff --git a/old name.txt b/new name.txt
similarity index 90%
rename from old name.txt
rename to new name.txt
diff --git a/logo.png b/logo.png
new file mode 100644
Binary files /dev/null and b/logo.png differ
"""


def test_a_patch_is_read_by_its_counts_so_that_no_line_passes_for_a_heading() -> None:
    patch = read_patch(PATCH.replace("@@ -1,3 +1,3 @@", "@@ -1,4 +1,4 @@"), False)
    first, renamed, binary = patch.files
    assert (first.path, first.added, first.removed) == ("src/a.py", 2, 2)
    assert [(line.kind, line.old, line.new) for line in first.lines] == [
        ("hunk", None, None), ("same", 1, 1), ("del", 2, None), ("del", 3, None), ("add", None, 2), ("add", None, 3),
        ("same", 4, 4),
    ]  # fmt: skip
    assert (renamed.old_path, renamed.path, renamed.notes) == ("old name.txt", "new name.txt", ["renamed"])
    assert (binary.path, binary.notes, binary.lines) == (
        "logo.png",
        ["new file", "binary: its content is not shown"],
        [],
    )


MODES = """diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/link b/link
new file mode 120000
index 0000000..1111111
--- /dev/null
+++ b/link
@@ -0,0 +1 @@
+../../etc/passwd
\\ No newline at end of file
diff --git a/vendor/lib b/vendor/lib
index 1111111..2222222 160000
--- a/vendor/lib
+++ b/vendor/lib
@@ -1 +1 @@
-Subproject commit 1111111111111111111111111111111111111111
+Subproject commit 2222222222222222222222222222222222222222
diff --git "a/caf\\303\\251 b/x.txt" "b/caf\\303\\251 b/x.txt"
index 1111111..2222222 100644
--- "a/caf\\303\\251 b/x.txt"
+++ "b/caf\\303\\251 b/x.txt"
@@ -1 +1 @@
-a
+a\r
diff --git a/one.txt b/two.txt
similarity index 100%
rename from one.txt
rename to two.txt
diff --git "a/\\377\\ttab" "b/\\377\\ttab"
deleted file mode 100644
"""


def test_what_lines_do_not_show_is_said_in_words() -> None:
    patch = read_patch(MODES.replace("\\\\", "\\"), False)
    assert {file.path: file.notes for file in patch.files} == {
        "run.sh": ["made executable"],
        "link": ["new symbolic link"],
        "vendor/lib": ["submodule moved to another commit"],
        "café b/x.txt": ["line ends changed"],
        "two.txt": ["renamed, content unchanged"],
        "%FF\ttab": ["deleted"],
    }
    assert patch.files[1].lines[-1] == ("note", None, None, "No newline at end of file")


@given(st.lists(st.integers(0, 9), max_size=12), st.lists(st.integers(0, 9), max_size=12), st.data())
def test_followed_lines_are_the_same_lines(old: list[int], new: list[int], data: st.DataObject) -> None:
    before, after = [f"{one}\n" for one in old], [f"{one}\n" for one in new]
    text = "".join(["diff --git a/x b/x\n", *unified_diff(before, after, "a/x", "b/x", n=0)])
    first = data.draw(st.integers(1, len(old) or 1))
    last = data.draw(st.integers(first, max(first, len(old))))
    found = follow(read_patch(text, False), "x", first, last)
    if found is not None:
        assert after[found[0] - 1 : found[1]] == before[first - 1 : last]
    elif old == new:
        raise AssertionError("nothing changed, and yet the lines were lost")


def test_lines_are_lost_when_something_was_put_between_them_and_only_then() -> None:
    moved = read_patch("diff --git a/x b/x\n@@ -5,0 +6,2 @@\n+new\n+new\n@@ -20 +22,0 @@\n-gone\n", False)
    spots = {(4, 5): (4, 5), (5, 6): None, (6, 7): (8, 9), (19, 21): None, (21, 22): (22, 23)}
    assert {spot: follow(moved, "x", *spot) for spot in spots} == spots


@given(st.text(alphabet="+- @\\ab\n", max_size=300))
def test_any_text_can_be_read_as_a_patch(text: str) -> None:
    patch = read_patch("diff --git a/x b/x\n@@ -1,5 +1,5 @@\n" + text, True)
    assert patch.cut and sum(len(file.lines) for file in patch.files) <= text.count("\n") + 3


def test_a_long_patch_is_cut() -> None:
    body = "\n".join("+x" for _ in range(9000))
    patch = read_patch(f"diff --git a/x b/x\n@@ -0,0 +1,9000 @@\n{body}", False)
    assert patch.cut and patch.added == 5998


def test_versions_of_a_plan_are_told_by_their_differences() -> None:
    def plan(version: int, steps: list[str]) -> PlanRow:
        return PlanRow(
            intent_id="i", version=version, summary="S", steps=steps, checks=[], reason=None, created_at=NOW,
            scope=Scope(change=[ScopeItem(path="a.py")]),
        )  # fmt: skip

    plans = [plan(3, ["four"]), plan(2, ["one", "three"]), plan(1, ["one", "two"])]
    _, second, first = versions(plans)
    assert first.lines == []
    assert [line for line in second.lines if line.kind != "same"] == [
        ("del", "step: two"),
        ("add", "step: three"),
    ]
    any_two = compared(plans, 1, 3)
    assert any_two is not None and [line for line in any_two.lines if line.kind != "same"] == [
        ("del", "step: one"),
        ("del", "step: two"),
        ("add", "step: four"),
    ]
    assert compared(plans, 1, 9) is None and compared(plans, 2, 2) is None


def test_every_rule_of_the_order_has_its_sentence() -> None:
    assert set(ORDER_RULES) == set(RULES)


@given(st.text(max_size=200))
def test_no_control_or_bidirectional_character_reaches_a_page(text: str) -> None:
    page = environment().from_string("{{ text }}").render(text=text)
    assert all(char.isprintable() or char == "\n" for char in page)
    assert "<" not in page


def test_a_log_loses_its_colours_and_keeps_its_end() -> None:
    shown = output(b"first\n" * 100 + b"\x1b[31mred\x1b[0m <b>\r\n\x1b]0;title\x07end\x1b[", 40)
    assert shown.startswith("…\n") and "red &lt;b&gt;\nend" in shown and "\x1b" not in shown


def test_how_long_ago_is_told_in_one_unit() -> None:
    told = [ago(NOW - timedelta(seconds=s), NOW) for s in (0, 59, 60, 3599, 7200, 86_400 * 3, 86_400 * 90)]
    assert told == ["0 s", "59 s", "1 min", "59 min", "2 h", "3 d", "2026-08-10"]
