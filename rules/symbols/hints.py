"""What a repository's own manifests say about where imports lead. Everything in them is a stranger's: bounded, and
a manifest that cannot be read says nothing."""

import json
import re
import tomllib
from collections.abc import Mapping
from posixpath import join, normpath

from protocol.wire import Record

MANIFESTS = frozenset(
    {"go.mod", "tsconfig.json", "jsconfig.json", "composer.json", "Cargo.toml", "package.json"}
)
MANIFEST_BYTES = 256 * 1024
MOST_MANIFESTS = 200
_MOST_ENTRIES = 100
_MODULE = re.compile(r"^[ \t]*module[ \t]+\"?([^\s\"]+)", re.MULTILINE)
# What is left open runs to the end, so that no text makes the search start over and over.
_COMMENT = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_LOOSE_COMMA = re.compile(r",(?=\s*[}\]])")


class Alias(Record):
    """In files below `scope`, an import that starts with `prefix` leads to one of `targets` (folders or files)."""

    scope: str
    prefix: str
    whole: bool
    targets: list[str]


class Hints(Record):
    """What the manifests say; every path from the repository root, a folder as `src/`, the root as ''."""

    go_modules: dict[str, str] = {}  # module path → folder
    aliases: list[Alias] = []  # longest prefix first
    packages: dict[str, str] = {}  # JavaScript package name → folder
    psr4: dict[str, list[str]] = {}  # PHP namespace prefix → folders
    crates: dict[str, str] = {}  # Rust crate name → folder


def hints_of(manifests: Mapping[str, bytes]) -> Hints:
    """Read manifests by path; others are passed over."""
    modules: dict[str, str] = {}
    aliases: list[Alias] = []
    packages: dict[str, str] = {}
    psr4: dict[str, list[str]] = {}
    crates: dict[str, str] = {}
    for path in sorted(manifests)[:MOST_MANIFESTS]:
        folder, name = _split(path)
        content = manifests[path][:MANIFEST_BYTES].decode("utf-8", "replace")
        if name == "go.mod":
            modules.update(dict.fromkeys(_MODULE.findall(content)[:1], folder))
        elif name == "Cargo.toml":
            crates.update({crate.replace("-", "_"): folder for crate in _crate(content)})
        elif name in MANIFESTS:
            _read_json(name, folder, _json(content), aliases, packages, psr4)
    aliases.sort(key=lambda alias: (-len(alias.scope), -len(alias.prefix)))
    return Hints(go_modules=modules, aliases=aliases, packages=packages, psr4=psr4, crates=crates)


def _read_json(
    name: str,
    folder: str,
    found: Mapping[str, object],
    aliases: list[Alias],
    packages: dict[str, str],
    psr4: dict[str, list[str]],
) -> None:
    if name == "package.json":
        if isinstance(found.get("name"), str):
            packages[str(found["name"])] = folder
    elif name == "composer.json":
        for part in ("autoload", "autoload-dev"):
            for prefix, folders in _entries(_mapping(_mapping(found.get(part)).get("psr-4"))):
                psr4.setdefault(prefix, []).extend(_folder(folder, one) for one in folders)
    else:
        aliases.extend(_aliases(folder, _mapping(found.get("compilerOptions"))))


def _aliases(folder: str, options: Mapping[str, object]) -> list[Alias]:
    given = options.get("baseUrl")
    root = _folder(folder, given) if isinstance(given, str) else folder
    found = [
        Alias(
            scope=folder,
            prefix=pattern.partition("*")[0],
            whole="*" not in pattern,
            targets=[_path(root, target.partition("*")[0]) for target in targets],
        )
        for pattern, targets in _entries(_mapping(options.get("paths")))
    ]
    if isinstance(given, str):
        found.append(Alias(scope=folder, prefix="", whole=False, targets=[root]))
    return found


def _entries(found: Mapping[str, object]) -> list[tuple[str, list[str]]]:
    rows = []
    for key, value in list(found.items())[:_MOST_ENTRIES]:
        values = value if isinstance(value, list) else [value]
        rows.append((key, [one for one in values[:_MOST_ENTRIES] if isinstance(one, str)]))
    return rows


def _json(content: str) -> Mapping[str, object]:
    """JSON as configuration files write it: comments and loose commas allowed."""
    plain = _LOOSE_COMMA.sub("", _COMMENT.sub(lambda match: match[1] or "", content))
    try:
        return _mapping(json.loads(plain))
    except (ValueError, RecursionError):
        return {}


def _crate(content: str) -> list[str]:
    try:
        name = _mapping(tomllib.loads(content).get("package")).get("name")
    except (ValueError, RecursionError):
        return []
    return [name] if isinstance(name, str) else []


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _split(path: str) -> tuple[str, str]:
    folder, slash, name = path.rpartition("/")
    return folder + slash, name


def _path(folder: str, relative: str) -> str:
    """`relative` seen from `folder`; a trailing slash is kept, and nothing leads out of the repository."""
    joined = normpath(join(folder or ".", relative))
    inside = "" if joined == "." else joined
    return inside + "/" if inside and (relative.endswith("/") or relative in ("", ".", "./")) else inside


def _folder(folder: str, relative: str) -> str:
    return _path(folder, relative.rstrip("/") + "/")
