"""Which language a file is written in, and the description of each."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from tree_sitter import Language

from rules.symbols.grammar import Grammar

# Raised whenever the same content would give other symbols or imports: what is remembered is then read anew.
EXTRACTOR = 1

_ENDINGS: Mapping[str, str] = {
    "py": "python",
    "pyi": "python",
    "js": "javascript",
    "cjs": "javascript",
    "mjs": "javascript",
    "jsx": "javascript",
    "ts": "typescript",
    "cts": "typescript",
    "mts": "typescript",
    "tsx": "tsx",
    "go": "go",
    "rs": "rust",
    "java": "java",
    "c": "c",
    # C reads as C++; the reverse does not hold.
    "h": "cpp",
    "cc": "cpp",
    "cpp": "cpp",
    "cxx": "cpp",
    "hh": "cpp",
    "hpp": "cpp",
    "hxx": "cpp",
    "cs": "csharp",
    "rb": "ruby",
    "rake": "ruby",
    "php": "php",
}
_FOUND_IN: Mapping[str, tuple[str, str]] = {
    "python": ("python", "GRAMMAR"),
    "javascript": ("ecma", "JAVASCRIPT"),
    "typescript": ("ecma", "TYPESCRIPT"),
    "tsx": ("ecma", "TSX"),
    "go": ("go", "GRAMMAR"),
    "rust": ("rust", "GRAMMAR"),
    "java": ("java", "GRAMMAR"),
    "c": ("c_family", "C"),
    "cpp": ("c_family", "CPP"),
    "csharp": ("csharp", "GRAMMAR"),
    "ruby": ("ruby", "GRAMMAR"),
    "php": ("php", "GRAMMAR"),
}
LANGUAGES = frozenset(_FOUND_IN)


def language_of(path: str) -> str | None:
    """The language of a file by its ending, None for one that gitring does not read."""
    return _ENDINGS.get(path.rpartition("/")[2].rpartition(".")[2].lower()) if "." in path else None


@cache
def grammar_of(language: str) -> tuple[Grammar, Language]:
    """A language's description and its parser's tables, loaded at the first need. Raises KeyError."""
    module, name = _FOUND_IN[language]
    grammar: Grammar = getattr(import_module(f"rules.symbols.grammars.{module}"), name)
    return grammar, Language(grammar.load())
