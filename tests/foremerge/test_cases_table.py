"""The table of acceptance cases names each of the 38, and only tests that are there."""

import ast
from pathlib import Path

from tests.foremerge.cases import CASES

TESTS = Path(__file__).parents[1]


def test_every_case_is_proved_by_tests_that_are_there() -> None:
    assert list(CASES) == list(range(1, 39))
    names: dict[str, set[str]] = {}
    for case, proofs in CASES.items():
        assert proofs, case
        for proof in proofs:
            file, _, name = proof.partition("::")
            if file not in names:
                tree = ast.parse((TESTS / file).read_text())
                kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
                names[file] = {node.name for node in tree.body if isinstance(node, kinds)}
            assert name in names[file], f"case {case}: {proof}"
        assert not all(proof.startswith("rules/") for proof in proofs), (
            f"case {case} is proved by pure rules alone"
        )
