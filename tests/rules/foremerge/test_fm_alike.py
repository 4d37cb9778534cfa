"""The index keys of likeness: whatever is alike is found, and small sets find nothing else."""

import random

import pytest

from rules.foremerge.alike import SCOPES_ALIKE, SUMMARIES_ALIKE, kept_under, sought_under
from rules.foremerge.likeness import jaccard, words

WORDS = [f"{letter * length}{number}" for length in (1, 4, 8) for letter in "ab" for number in range(6)]


@pytest.mark.parametrize("least", [SCOPES_ALIKE, SUMMARIES_ALIKE])
def test_every_set_that_is_alike_is_found_and_small_ones_find_nothing_else(least: float) -> None:
    chance = random.Random(7)
    found = alike = 0
    for _ in range(6_000):
        one = set(chance.sample(WORDS, chance.randint(1, 14)))
        other = set(chance.sample(sorted(one), chance.randint(1, len(one))))
        other |= set(chance.sample(WORDS, chance.randint(0, 3)))
        is_alike = jaccard(frozenset(one), frozenset(other)) >= least
        meets = bool(set(sought_under(one, least)) & set(kept_under(other, least)))
        assert meets or not is_alike, (one, other)
        if max(len(one), len(other)) <= 7:
            assert meets == is_alike, (one, other)
        found, alike = found + meets, alike + is_alike
    assert alike > 1_000


def test_the_keys_of_a_set_are_few_and_nothing_has_none() -> None:
    assert kept_under((), SCOPES_ALIKE) == sought_under((), SCOPES_ALIKE) == []
    assert len(kept_under(WORDS[:7], SUMMARIES_ALIKE)) < 70
    assert len(sought_under(WORDS[:7], SUMMARIES_ALIKE)) < 200
    assert len(kept_under(WORDS, SUMMARIES_ALIKE)) < 20


def test_two_files_of_one_folder_do_not_find_each_other() -> None:
    one, other = words("src/m1.py"), words("src/m2.py")
    assert not set(sought_under(one, SCOPES_ALIKE)) & set(kept_under(other, SCOPES_ALIKE))
