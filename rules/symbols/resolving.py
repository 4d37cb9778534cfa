"""One resolver per language: the importing path, one raw import and the layout in, files out."""

from rules.symbols.layout import Layout, above, beside, split

_SOURCE_FOLDERS = ("", "src/", "lib/", "python/")


def python(path: str, raw: str, layout: Layout) -> list[str]:
    """Relative imports from their package; absolute ones from each folder above, and `src/` and `lib/` in it."""
    module, _, name = raw.partition(":")
    dots = len(module) - len(module.lstrip("."))
    if dots:
        folders = above(path)
        bases = folders[dots - 1 : dots]
    else:
        bases = [folder + source for folder in above(path) for source in _SOURCE_FOLDERS]
    tail = module.lstrip(".").replace(".", "/")
    for base in bases:
        if found := _module(base + tail, name, layout):
            return found
    return []


def _module(stem: str, name: str, layout: Layout) -> list[str]:
    """`from stem import name` may mean a module of a package, or what a module holds."""
    package = stem if stem.endswith("/") or not stem else stem + "/"
    inner = layout.first(f"{package}{name}.py", f"{package}{name}/__init__.py") if name else []
    own = layout.first(f"{stem}.py", f"{stem}.pyi") if not stem.endswith("/") and stem else []
    return inner or layout.first(f"{package}__init__.py") or own


def go(path: str, raw: str, layout: Layout) -> list[str]:
    """All files of the package's folder except its tests, by the module paths that `go.mod` files declare."""
    for module, folder in layout.hints.go_modules.items():
        if raw == module or raw.startswith(module + "/"):
            inside = raw[len(module) + 1 :]
            package = folder + (inside + "/" if inside else "")
            files = layout.in_folder(package)
            if files:
                return [one for one in files if one.endswith(".go") and not one.endswith("_test.go")]
    return []


def rust(path: str, raw: str, layout: Layout) -> list[str]:
    """The file of the longest part of the path that is a module."""
    folder, name = split(path)
    own = folder if name in ("mod.rs", "lib.rs", "main.rs") else f"{folder}{name.removesuffix('.rs')}/"
    if raw.startswith("mod "):
        return _rust_module(own, raw.removeprefix("mod ").split("::"), layout, 1)
    first, *rest = raw.split("::")
    root = _crate_root(path, layout)
    if first == "self":
        return _rust_module(own, rest, layout, 1)
    if first == "super":
        while rest[:1] == ["super"]:
            own, rest = split(own.rstrip("/"))[0], rest[1:]
        up = split(own.rstrip("/"))[0]
        return _rust_module(up, rest, layout, 1) or _rust_own(up, layout)
    if first == "crate":
        return _rust_module(root, rest, layout, 1) or layout.first(root + "lib.rs", root + "main.rs")
    crate = layout.hints.crates.get(first)
    if crate is not None:
        return _rust_module(f"{crate}src/", rest, layout, 1) or layout.first(f"{crate}src/lib.rs")
    return _rust_module(own, [first, *rest], layout, 1)


def _rust_module(folder: str, parts: list[str], layout: Layout, least: int) -> list[str]:
    for length in range(min(len(parts), 20), least - 1, -1):
        stem = folder + "/".join(parts[:length])
        if found := layout.first(f"{stem}.rs", f"{stem}/mod.rs"):
            return found
    return []


def _rust_own(folder: str, layout: Layout) -> list[str]:
    """The file of the module whose children stand in `folder`."""
    stem = folder.rstrip("/")
    return layout.first(f"{folder}mod.rs", f"{stem}.rs", f"{folder}lib.rs", f"{folder}main.rs")


def _crate_root(path: str, layout: Layout) -> str:
    for folder in above(path):
        if f"{folder}lib.rs" in layout.files or f"{folder}main.rs" in layout.files:
            return folder
    return split(path)[0]


def java(path: str, raw: str, layout: Layout) -> list[str]:
    """The class's file, or every file of a package imported with `*`; inner classes and static members too."""
    parts = raw.split(".")
    if parts[-1] == "*":
        tail = "/".join(parts[:-1])
        if found := layout.ending_in(f"{tail}.java"):
            return found
        return _package(path, tail + "/", layout)
    for length in range(len(parts), 1, -1):
        if found := layout.ending_in("/".join(parts[:length]) + ".java"):
            return found
    return []


def _package(path: str, tail: str, layout: Layout) -> list[str]:
    for folder in above(path):
        if files := [one for one in layout.in_folder(folder + tail) if one.endswith(".java")]:
            return files
    return []


def include(path: str, raw: str, layout: Layout) -> list[str]:
    """Beside the file, then in the include folders of each folder above, then the one file of that path."""
    name = raw.strip('"<>')
    near = beside(path, name) if raw.startswith('"') else None
    if near is not None and near in layout.files:
        return [near]
    if name.startswith("..") or "/../" in name:
        return []
    roots = [folder + inner for folder in above(path) for inner in ("", "include/", "inc/", "src/")]
    if found := layout.first(*(root + name for root in roots)):
        return found
    return layout.ending_in(name) if raw.startswith('"') or "/" in name else []


def csharp(path: str, raw: str, layout: Layout) -> list[str]:
    """The files of the namespace's folder; of a type, its file, where only one folder can be meant."""
    if files := layout.in_namespace(raw):
        return files
    namespace, _, name = raw.rpartition(".")
    wanted = f"/{name}.cs"
    return [one for one in layout.in_namespace(namespace) if ("/" + one).endswith(wanted)]


def ruby(path: str, raw: str, layout: Layout) -> list[str]:
    """`./x` beside the file; a plain name in the `lib/` or `app/` folders of the folders above."""
    name = raw if raw.endswith(".rb") else raw + ".rb"
    if raw.startswith("./"):
        near = beside(path, name)
        return layout.first(near) if near else []
    roots = (folder + inner for folder in above(path) for inner in ("lib/", "", "app/"))
    return layout.first(*(root + name for root in roots))


def php(path: str, raw: str, layout: Layout) -> list[str]:
    """A literal file beside this one or from the root; a class by the PSR-4 folders of `composer.json`."""
    if raw.startswith("./"):
        near = beside(path, raw)
        return layout.first(*(one for one in (near, raw[2:]) if one))
    for prefix, folders in sorted(layout.hints.psr4.items(), key=lambda item: -len(item[0])):
        if raw.startswith(prefix):
            tail = raw[len(prefix) :].replace("\\", "/").strip("/")
            if found := layout.first(*(f"{folder}{tail}.php" for folder in folders)):
                return found
    return []
