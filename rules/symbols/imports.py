"""Which files of the repository a file's raw imports lead to. What leads out of it, or is ambiguous, is left out."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from rules.symbols import resolving, scripts
from rules.symbols.languages import language_of
from rules.symbols.layout import Layout

_MOST_TARGETS = 1_000

_RESOLVERS: Mapping[str, Callable[[str, str, Layout], Iterable[str]]] = {
    "python": resolving.python,
    "javascript": scripts.script,
    "typescript": scripts.script,
    "tsx": scripts.script,
    "go": resolving.go,
    "rust": resolving.rust,
    "java": resolving.java,
    "c": resolving.include,
    "cpp": resolving.include,
    "csharp": resolving.csharp,
    "ruby": resolving.ruby,
    "php": resolving.php,
}
# Here an import names a folder or a namespace, so that a file that comes or goes beside a target changes the answer.
BY_FOLDER = frozenset({"go", "csharp"})


def resolve(path: str, raw_imports: Sequence[str], layout: Layout) -> list[str]:
    """The files that `path` imports, sorted, itself left out; at most 1,000."""
    resolver = _RESOLVERS.get(language_of(path) or "")
    if resolver is None:
        return []
    found: set[str] = set()
    for raw in raw_imports:
        found.update(resolver(path, raw, layout))
        if len(found) > _MOST_TARGETS:
            break
    return sorted(found - {path})[:_MOST_TARGETS]
