"""Where an import of JavaScript or TypeScript leads: relative paths, aliases of tsconfig, packages of the workspace."""

from rules.symbols.layout import Layout, beside

_ENDINGS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs")
# TypeScript's own modules import `./x.js` and mean `./x.ts`.
_WRITTEN_AS = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}


def script(path: str, raw: str, layout: Layout) -> list[str]:
    """The file that `raw` means in `path`; what comes from outside of the repository gives nothing."""
    if raw.startswith("."):
        stem = beside(path, raw)
        return [] if stem is None else _file(stem, layout)
    return _by_alias(path, raw, layout) or _by_package(raw, layout)


def _file(stem: str, layout: Layout) -> list[str]:
    named = [stem] if "." in stem.rpartition("/")[2] else []
    for ending, meant in _WRITTEN_AS.items():
        if stem.endswith(ending):
            named.extend(stem.removesuffix(ending) + other for other in meant)
    folder = stem + "/" if stem else ""
    whole = [stem + ending for ending in _ENDINGS] if stem else []
    return layout.first(*named, *whole, *(f"{folder}index{ending}" for ending in _ENDINGS))


def _by_alias(path: str, raw: str, layout: Layout) -> list[str]:
    for alias in layout.hints.aliases:
        if not path.startswith(alias.scope):
            continue
        if raw != alias.prefix if alias.whole else not raw.startswith(alias.prefix):
            continue
        rest = raw[len(alias.prefix) :]
        for target in alias.targets:
            if found := _file((target + rest).rstrip("/"), layout):
                return found
    return []


def _by_package(raw: str, layout: Layout) -> list[str]:
    """A package of the same repository: its `src/` first, since built files are rarely kept."""
    parts = raw.split("/")
    length = 2 if raw.startswith("@") else 1
    folder = layout.hints.packages.get("/".join(parts[:length]))
    if folder is None:
        return []
    rest = "/".join(parts[length:])
    for inner in ("src/", "", "lib/"):
        if found := _file((folder + inner + rest).rstrip("/"), layout):
            return found
    return []
