"""Where imports lead, language by language."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.symbols.hints import MANIFESTS, Hints, hints_of
from rules.symbols.imports import resolve
from rules.symbols.languages import LANGUAGES
from rules.symbols.layout import Layout
from tests.rules.symbols.samples import SAMPLES

FILES = [
    "src/shop/__init__.py",
    "src/shop/cart.py",
    "src/shop/money/__init__.py",
    "src/shop/money/rates.py",
    "tests/test_cart.py",
    "web/src/app.ts",
    "web/src/lib/index.ts",
    "web/src/lib/money.tsx",
    "web/src/types.d.ts",
    "web/src/data.json",
    "packages/ui/src/index.ts",
    "packages/ui/src/button.tsx",
    "svc/main.go",
    "svc/cart/cart.go",
    "svc/cart/items.go",
    "svc/cart/cart_test.go",
    "crates/core/src/lib.rs",
    "crates/core/src/money.rs",
    "crates/core/src/shop/mod.rs",
    "crates/core/src/shop/cart.rs",
    "crates/app/src/main.rs",
    "java/src/main/java/com/shop/Cart.java",
    "java/src/main/java/com/shop/money/Money.java",
    "java/src/main/java/com/shop/money/Rate.java",
    "java/src/test/java/com/shop/CartTest.java",
    "c/src/cart.c",
    "c/src/cart.h",
    "c/include/shop/money.h",
    "net/Shop.Core/Money/Money.cs",
    "net/Shop.Core/Money/Rate.cs",
    "net/Shop.Core/Cart.cs",
    "net/a/Twice/One.cs",
    "net/b/Twice/Two.cs",
    "ruby/lib/shop/cart.rb",
    "ruby/lib/shop/money.rb",
    "ruby/spec/cart_spec.rb",
    "php/src/Models/Cart.php",
    "php/src/helpers.php",
    "php/index.php",
]
HINTS = hints_of(
    {
        "svc/go.mod": b"// the service\nmodule example.com/shop\n\ngo 1.22\n",
        "web/tsconfig.json": b'{ // loose\n "compilerOptions": {"baseUrl": "./src", "paths": {"@/*": ["./*"], "data": ["./data.json"],},},}',
        "packages/ui/package.json": b'{"name": "@shop/ui"}',
        "crates/core/Cargo.toml": b'[package]\nname = "shop-core"\n',
        "php/composer.json": json.dumps({"autoload": {"psr-4": {"App\\": "src/"}}}).encode(),
    }
)
LAYOUT = Layout(FILES, HINTS)


@pytest.mark.parametrize(
    ("path", "raw", "targets"),
    [
        ("src/shop/cart.py", ".money:rates", ["src/shop/money/rates.py"]),
        ("src/shop/cart.py", ".:money", ["src/shop/money/__init__.py"]),
        ("src/shop/money/rates.py", "..cart:Cart", ["src/shop/cart.py"]),
        ("src/shop/money/rates.py", "..:cart", ["src/shop/cart.py"]),
        ("src/shop/money/rates.py", ".:MAX", ["src/shop/money/__init__.py"]),
        ("src/shop/cart.py", ".money:*", ["src/shop/money/__init__.py"]),
        ("tests/test_cart.py", "shop.cart:Cart", ["src/shop/cart.py"]),
        ("tests/test_cart.py", "shop.money.rates", ["src/shop/money/rates.py"]),
        ("tests/test_cart.py", "shop", ["src/shop/__init__.py"]),
        ("tests/test_cart.py", "os.path:join", []),
        ("src/shop/cart.py", ".....far:x", []),
        ("web/src/app.ts", "./lib", ["web/src/lib/index.ts"]),
        ("web/src/app.ts", "./lib/money", ["web/src/lib/money.tsx"]),
        ("web/src/app.ts", "./lib/money.js", ["web/src/lib/money.tsx"]),
        ("web/src/app.ts", "./types", ["web/src/types.d.ts"]),
        ("web/src/app.ts", "./data.json", ["web/src/data.json"]),
        ("web/src/lib/index.ts", "../app", ["web/src/app.ts"]),
        ("web/src/lib/index.ts", ".", []),
        ("web/src/lib/money.tsx", "@/app", ["web/src/app.ts"]),
        ("web/src/lib/money.tsx", "lib/money", []),
        ("web/src/app.ts", "lib/money", ["web/src/lib/money.tsx"]),
        ("web/src/app.ts", "data", ["web/src/data.json"]),
        ("web/src/app.ts", "@shop/ui", ["packages/ui/src/index.ts"]),
        ("web/src/app.ts", "@shop/ui/button", ["packages/ui/src/button.tsx"]),
        ("web/src/app.ts", "react", []),
        ("web/src/app.ts", "../../../../etc/passwd", []),
        ("svc/main.go", "example.com/shop/cart", ["svc/cart/cart.go", "svc/cart/items.go"]),
        ("svc/main.go", "example.com/shopping/cart", []),
        ("svc/main.go", "fmt", []),
        ("crates/core/src/lib.rs", "mod money", ["crates/core/src/money.rs"]),
        ("crates/core/src/shop/mod.rs", "mod cart", ["crates/core/src/shop/cart.rs"]),
        ("crates/core/src/shop/cart.rs", "crate::money::Money", ["crates/core/src/money.rs"]),
        ("crates/core/src/shop/cart.rs", "super::super::money", ["crates/core/src/money.rs"]),
        ("crates/core/src/shop/cart.rs", "super::Shop", ["crates/core/src/shop/mod.rs"]),
        ("crates/core/src/money.rs", "crate::shop::cart::Cart", ["crates/core/src/shop/cart.rs"]),
        ("crates/app/src/main.rs", "shop_core::shop::Shop", ["crates/core/src/shop/mod.rs"]),
        ("crates/app/src/main.rs", "shop_core::VERSION", ["crates/core/src/lib.rs"]),
        ("crates/app/src/main.rs", "std::fmt::Display", []),
        ("java/src/test/java/com/shop/CartTest.java", "com.shop.Cart", ["java/src/main/java/com/shop/Cart.java"]),
        ("java/src/main/java/com/shop/Cart.java", "com.shop.money.Money.ZERO", ["java/src/main/java/com/shop/money/Money.java"]),
        ("java/src/main/java/com/shop/Cart.java", "com.shop.money.*", ["java/src/main/java/com/shop/money/Money.java", "java/src/main/java/com/shop/money/Rate.java"]),
        ("java/src/main/java/com/shop/Cart.java", "java.util.List", []),
        ("c/src/cart.c", '"cart.h"', ["c/src/cart.h"]),
        ("c/src/cart.c", '"shop/money.h"', ["c/include/shop/money.h"]),
        ("c/src/cart.c", "<shop/money.h>", ["c/include/shop/money.h"]),
        ("c/src/cart.c", "<stdio.h>", []),
        ("net/Shop.Core/Cart.cs", "Shop.Core.Money", ["net/Shop.Core/Money/Money.cs", "net/Shop.Core/Money/Rate.cs"]),
        ("net/Shop.Core/Cart.cs", "Shop.Core.Money.Rate", ["net/Shop.Core/Money/Rate.cs"]),
        ("net/Shop.Core/Cart.cs", "Twice", []),
        ("net/Shop.Core/Cart.cs", "System", []),
        ("ruby/lib/shop/cart.rb", "./money", ["ruby/lib/shop/money.rb"]),
        ("ruby/spec/cart_spec.rb", "shop/cart", ["ruby/lib/shop/cart.rb"]),
        ("ruby/spec/cart_spec.rb", "json", []),
        ("php/index.php", "./src/helpers.php", ["php/src/helpers.php"]),
        ("php/index.php", "App\\Models\\Cart", ["php/src/Models/Cart.php"]),
        ("php/index.php", "Vendor\\Thing", []),
        ("README.md", "anything", []),
    ],
)  # fmt: skip
def test_an_import_leads_to_files_of_the_repository_or_nowhere(path, raw, targets):
    assert resolve(path, [raw], LAYOUT) == targets


def test_a_file_does_not_import_itself_and_targets_come_once():
    assert resolve(
        "src/shop/cart.py", [".cart:Cart", ".:cart", ".money:rates", ".money.rates:X"], LAYOUT
    ) == ["src/shop/money/rates.py"]


def test_of_two_packages_of_one_name_the_nearest_is_meant():
    layout = Layout(["a/tool/x.py", "a/run.py", "b/tool/x.py", "b/run.py"], Hints())
    assert resolve("b/run.py", ["tool.x"], layout) == ["b/tool/x.py"]
    assert resolve("a/run.py", ["tool:x"], layout) == ["a/tool/x.py"]


@settings(deadline=None)
@given(
    st.sampled_from(sorted(LANGUAGES)),
    st.lists(st.text(max_size=40) | st.text("./\\:*<>\"' a@#", max_size=30), max_size=5),
)
def test_any_import_leads_into_the_repository_or_nowhere(language, raw):
    found = resolve(SAMPLES[language].path, raw, LAYOUT)
    assert set(found) <= LAYOUT.files


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from([f"a/{name}" for name in MANIFESTS]), st.binary(max_size=200)))
def test_any_manifest_is_read_without_an_error(manifests):
    hints_of(manifests)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b"/*" * 100_000,
        b'"\\' * 100_000,
        b"\n" * 250_000,
        b'{"compilerOptions": {"paths": 3, "baseUrl": ["x"]}, "name": 4, "autoload": []}',
        b'{"compilerOptions": {"paths": {"@/*": [1, null, "../../../../x"]}, "baseUrl": "../../.."}}',
    ],
)
def test_hostile_manifests_say_nothing_that_leads_out(content):
    hints = hints_of({f"a/{name}": content for name in MANIFESTS})
    layout = Layout(["a/x.ts", "x.ts"], hints)
    assert set(resolve("a/x.ts", ["@/x", "x", "../x"], layout)) <= {"x.ts"}
