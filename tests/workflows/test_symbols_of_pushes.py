"""Pushes at the level of symbols: whom they meet, and what they make risky."""

from protocol.intents import IntentInput
from protocol.states import Risk, State, Verdict
from tests.support.engine import Engine

CART = (
    "class Cart:\n    def add(self, item):\n        return item\n\n    def total(self):\n        return 0\n"
)
FILES = {"shop/cart.py": CART, "shop/page.py": "from shop.cart import Cart\n", "shop/__init__.py": ""}


async def test_two_that_push_into_different_symbols_of_a_file_only_watch_each_other(engine: Engine) -> None:
    project = await engine.project(test="true", files=FILES)
    first = await project.declare_symbols(("shop/cart.py", "Cart.add"))
    second = await project.declare_symbols(("shop/cart.py", "Cart.total"))
    assert [(c.range, c.verdict) for c in second.conflicts] == [(2, Verdict.WATCH)]
    await project.push(first, {"shop/cart.py": CART.replace("return item", "return [item]")})
    await project.push(second, {"shop/cart.py": CART.replace("return 0", "return 1")})
    for intent in (first, second):
        now = await project.status(intent)
        assert (now.intent.state, [c.range for c in now.conflicts]) == (State.ACTIVE, [2])


async def test_a_push_that_reaches_a_symbol_of_another_meets_it_there(engine: Engine) -> None:
    project = await engine.project(test="true", files=FILES)
    first = await project.declare_symbols(("shop/cart.py", "Cart.add"))
    second = await project.declare_symbols(("shop/cart.py", "Cart.total"))
    await project.push(second, {"shop/cart.py": CART.replace("return item", "return None")})
    held = await project.status(first)
    assert (held.intent.state, held.conflicts[0].rule) == (State.HELD, "R4")
    assert held.conflicts[0].places == ["shop/cart.py#Cart.add"]


async def test_a_changed_exported_signature_makes_the_risk_high_and_asks_a_person(engine: Engine) -> None:
    project = await engine.project(test="true", files=FILES)
    intent = await project.declare_symbols(("shop/cart.py", "Cart.add"))
    assert intent.intent.risk is Risk.LOW
    await project.push(intent, {"shop/cart.py": CART.replace("add(self, item)", "add(self, item, qty)")})
    now = await project.status(intent)
    assert now.intent.risk_reasons == ["changes the exported signature of Cart.add in shop/cart.py"]
    await project.submit(intent)
    await project.until(intent, State.AWAITING_APPROVAL)


async def test_intents_one_import_apart_see_each_other_and_nothing_is_asked(engine: Engine) -> None:
    project = await engine.project(test="true", files=FILES)
    await project.indexed()
    cart = await project.declare("shop/cart.py")
    page = await project.declare("shop/page.py")
    assert (cart.conflicts, page.conflicts) == ([], [])
    seen = await engine.operations.nearby(project.agent, IntentInput(intent_id=cart.intent.id))
    assert [(one.number, one.range, one.text) for one in seen.intents] == [
        (2, 3, "Range 3: One import apart (shop/page.py imports shop/cart.py). No action.")
    ]
    back = await engine.operations.nearby(project.agent, IntentInput(intent_id=page.intent.id))
    assert [(one.number, one.range) for one in back.intents] == [(1, 3)]
