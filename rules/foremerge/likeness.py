"""Words of a text, and how alike two sets of words are."""

import re

_HUMP = re.compile("(?<=[a-z])(?=[A-Z])")
_WORD = re.compile("[A-Za-z0-9]+")
_STOP = frozenset(["a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "on", "the", "to", "with"])


def words(text: str) -> frozenset[str]:
    """ASCII words in lower case, `camelCase` taken apart, single characters and little words left out."""
    found = (word.lower() for word in _WORD.findall(_HUMP.sub(" ", text)))
    return frozenset(word for word in found if len(word) > 1 and word not in _STOP)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared words by all words, 0 to 1; two empty sets have nothing in common."""
    return len(one & other) / len(one | other) if one and other else 0.0
