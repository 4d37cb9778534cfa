"""The tables of the documents say what the code says."""

import ast
import re
from collections.abc import Iterator

import pytest

import protocol.refusals
from protocol.events import EventType
from tests.docs.pages import HISTORY, PROTOCOL, ROOT, rows
from tests.docs.tables import TABLES, written

_STATUS = re.compile(r"^    (\d{3})  ")
_CODE = re.compile(r"[a-z]+(?:_[a-z]+)*")


@pytest.mark.parametrize("name", TABLES)
def test_a_table_made_from_the_code_is_up_to_date(name: str) -> None:
    assert written(name) == TABLES[name][1](), "run `python -m tests.docs`"


def tree_of_codes() -> dict[str, int]:
    """The codes and statuses of the tree at the top of protocol/refusals.py."""
    found: dict[str, int] = {}
    status = 0
    for line in str(protocol.refusals.__doc__).splitlines():
        if head := _STATUS.match(line):
            status = int(head[1])
        if status:
            words = line[9:].partition("(")[0]
            found |= dict.fromkeys(_CODE.findall(words), status)
    return found


def documented_codes() -> dict[str, int]:
    return {cells[0].strip("`"): int(cells[1]) for cells in rows(PROTOCOL, "code")}


def refused_codes() -> Iterator[tuple[str, str]]:
    """Each code that the rooms raise as a literal, with the file that does."""
    for room in ("protocol", "rules", "activities", "gateway"):
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    yield from ((code, path.name) for code in _literal_codes(node, node.func.id))


def _literal_codes(call: ast.Call, name: str) -> Iterator[str]:
    given: list[ast.expr] = []
    if name == "refused":
        given = call.args[:1]
    elif name == "Refusal":
        given = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
    for node in given:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_every_code_of_the_tree_is_documented_with_its_status() -> None:
    documented = documented_codes()
    tree = tree_of_codes()
    assert {"invalid_input", "busy", "dependency_cycle"} <= tree.keys()
    assert {code: documented.get(code) for code in tree} == tree


def test_every_code_that_is_raised_is_documented() -> None:
    raised = dict(refused_codes())
    assert {"wrong_state", "unknown_line", "internal_error"} <= raised.keys()
    assert {code: where for code, where in raised.items() if code not in documented_codes()} == {}


def test_every_event_type_is_documented_and_no_other() -> None:
    documented = [cells[0].strip("`") for cells in rows(PROTOCOL, "type")]
    assert documented == [str(event_type) for event_type in EventType]


def test_every_patch_of_a_workflow_has_a_row() -> None:
    sources = "\n".join(path.read_text() for path in (ROOT / "workflows").glob("*.py"))
    patches = set(re.findall(r"(?:patched|deprecate_patch)\(\s*\"([^\"]+)\"", sources))
    documented = {cells[0].strip("`") for cells in rows(HISTORY, "id")}
    assert "version 1" in documented
    assert patches - documented == set()
