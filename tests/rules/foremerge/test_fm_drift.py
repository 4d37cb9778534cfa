"""What lies outside of the declared scopes, and the names that a patch is read for."""

from protocol.foremerge.scopes import PlainScope
from protocol.foremerge.words import ScopeKind
from rules.foremerge.drift import Drift, drift
from rules.foremerge.inference import symbols_of
from rules.foremerge.scopes import parse_scope


def outside(
    *scopes: str, files: tuple[str, ...] = (), symbols: tuple[str, ...] = (), contracts: tuple[str, ...] = ()
) -> Drift:
    """The drift of a ChangeSet from these scopes."""
    named: list[PlainScope] = [parse_scope(scope) for scope in scopes]
    return drift(named, files=files, symbols=symbols, contracts=contracts)


def test_files_are_compared_by_folder_and_by_case() -> None:
    files = ("app/a.py", "app/b/c.py", "App/a.py", "lib/x.py", "apple.py")
    assert outside("file:app/", files=files).files == ("App/a.py", "lib/x.py", "apple.py")
    assert outside("file:app", "file:lib/x.py", files=files).files == ("App/a.py", "apple.py")


def test_symbols_are_covered_by_their_class_their_member_and_any_namespace() -> None:
    found = outside(
        r"symbol:App\Cart::total",
        symbols=("total", "Cart", "Cart::clear", "shop.Cart::total", "helper", "Totals"),
    )
    assert found.symbols == ("helper", "Totals")


def test_a_kind_that_nobody_declared_is_not_compared() -> None:
    found = outside("component:Docs", files=("a.py",), symbols=("f",), contracts=("api",))
    assert found == Drift(())
    assert found.shown() == {"compared": [], "files": [], "symbols": [], "contracts": [], "total": 0}
    named = outside("contract:Cart-API", files=("a.py",), contracts=("cart-api", "tax"))
    assert (named.compared, named.files, named.contracts) == ((ScopeKind.CONTRACT,), (), ("tax",))


def test_what_is_shown_is_bounded_and_says_how_much_there_is() -> None:
    shown = outside("file:app/", files=tuple(f"lib/{n}-{'x' * 400}" for n in range(500))).shown()
    assert (len(shown["files"]), shown["total"]) == (200, 500)
    assert max(map(len, shown["files"])) == 300


def test_names_are_read_from_changed_lines_alone() -> None:
    patch = b"""diff --git a/x.py b/x.py
--- a/class Header
+++ b/class Header
@@ -3,2 +3,3 @@ class Around:
-def gone(self):
-    return "class of its own"
+    async def made(self):
+class Made(Base): pass
+--- fn sneaky
\\ No newline at end of file
@@ -9 +10 @@
-pub fn old_name() {}
+export function newName() {}
""".split(b"\n")
    assert symbols_of(patch) == ["Made", "gone", "made", "newName", "of", "old_name", "sneaky"]
    assert symbols_of([b"@@ -0,0 +1 @@", b"+" + b"x" * 5_000_000 + b" class Far"]) == []
