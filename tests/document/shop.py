"""The shop of the document's examples: a small TypeScript repository, its plans, and agents that read what they are told."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import mcp_types as types

from protocol.tools import BY_NAME
from tests.support.agent import Agent, Answer, Owner, Work

MONEY = """\
export class Money {
  constructor(readonly amount: number) {}

  add(other: Money): Money {
    return new Money(this.amount + other.amount);
  }
}
"""
CART = """\
import { Money } from "../money";

export class Cart {
  private items: Money[] = [];

  add(item: Money): void {
    this.items.push(item);
  }

  total(): Money {
    return this.items.reduce((sum, item) => sum.add(item), new Money(0));
  }
}
"""
PRICE = """\
import { Money } from "../money";

export function formatPrice(price: Money): string {
  return price.amount.toFixed(2);
}
"""
SHOP = {
    "src/money.ts": MONEY,
    "src/money.test.ts": 'import { Money } from "./money";\n',
    "src/cart/cart.ts": CART,
    "src/cart/cache.ts": "export const seconds = 60;\n",
    "src/format/price.ts": PRICE,
    "src/refunds.ts": "export function refund(amount: number): number {\n  return Math.round(amount);\n}\n",
    "src/payments/charge.ts": "export function charge(amount: number): void {}\n",
    "docs/DECISIONS.md": "# Decisions\n",
    "README.md": "# Storefront\n",
}
CURRENCY: Answer = {
    "title": "Add a currency field to Money",
    "goal": "Prices carry their currency, so carts in two currencies cannot be added by mistake.",
    "plan": {
        "summary": "Add a currency code to Money and refuse to add two amounts in different currencies.",
        "steps": ["Add currency to Money", "Check currencies in Money.add", "Test mixed currencies"],
        "scope": {
            "change": [{"path": "src/money.ts", "symbol": "Money"}],
            "use": [{"path": "src/cart/cart.ts", "symbol": "Cart.total"}],
        },
        "checks": ["pnpm test src/money.test.ts"],
    },
}
PRICED: Answer = {
    "plan": {
        "summary": CURRENCY["plan"]["summary"],
        "steps": [*CURRENCY["plan"]["steps"], "Format prices with their currency"],
        "scope": {
            "change": [
                {"path": "src/money.ts", "symbol": "Money"},
                {"path": "src/format/price.ts", "symbol": "formatPrice"},
            ],
            "use": [{"path": "src/cart/cart.ts", "symbol": "Cart.total"}],
        },
        "checks": ["pnpm test src/money.test.ts src/format"],
    },
    "reason": "Prices must show their currency, so formatPrice changes too.",
}
TYPED = {"src/money.ts": MONEY.replace("other.amount", "other.amount /* same currency */")}
TESTED = "test -f src/money.ts"


@dataclass(frozen=True)
class Told:
    """What one tool said: the first text block, the same as JSON, and whether it was refused."""

    text: str
    data: Answer
    refused: bool

    @property
    def lines(self) -> list[str]:
        """The lines of the text, blocks included."""
        return self.text.split("\n")

    def line(self, begins: str) -> str:
        """The one line that begins so."""
        found = [line for line in self.lines if line.startswith(begins)]
        assert len(found) == 1, (begins, self.text)
        return found[0]

    @property
    def id(self) -> str:
        """The intent's id."""
        found: str = self.data["intent"]["id"]
        return found

    @property
    def seq(self) -> int:
        """`afterSeq`, which the text must say as well."""
        found: int = self.data["afterSeq"]
        assert self.line("afterSeq: ") == f"afterSeq: {found}"
        return found


async def ask(agent: Agent, tool: str, **arguments: Any) -> Told:
    """Call a tool over MCP; both text blocks and the structured content must say the same."""
    assert agent.mcp
    result = await agent.mcp.call_tool(tool, arguments)
    first, second = result.content
    assert isinstance(first, types.TextContent) and isinstance(second, types.TextContent)
    if result.is_error:
        error: Answer = json.loads(second.text)["error"]
        assert first.text == f"{error['code']}: {error['message']} {error['next']}"
        return Told(first.text, error, True)
    data = result.structured_content
    assert isinstance(data, dict) and json.loads(second.text) == data
    BY_NAME[tool].answer.model_validate(data)
    return Told(first.text, data, False)


@dataclass
class Shop:
    """One project of the stack, with two agents that are connected over MCP."""

    owner: Owner
    project: Answer
    ana: Agent
    priya: Agent

    @property
    def slug(self) -> str:
        """What people call it."""
        found: str = self.project["slug"]
        return found

    async def pushed(self, agent: Agent, told: Told, files: dict[str, str]) -> str:
        """Do the work of an intent and push it with the printed line; its commit."""
        return await (await self.work(agent, told)).pushed(files)

    async def work(self, agent: Agent, told: Told) -> Work:
        """A checkout for an intent."""
        return await agent.checkout(told.data)

    async def landed(self, agent: Agent, told: Told, files: dict[str, str]) -> None:
        """Push, submit, and wait until it is merged."""
        await self.pushed(agent, told, files)
        submitted = await ask(agent, "gitring_submit", intentId=told.id)
        await agent.wait_until(submitted.data, "merged")

    async def decide(self, told: Told, decision: str, subject: str, **more: Any) -> None:
        """Decide as the owner."""
        await self.owner.decide(told.data, decision, subject, **more)


@asynccontextmanager
async def opened(owner: Owner, test: str | None = TESTED, **settings: Any) -> AsyncIterator[Shop]:
    """A shop of its own; without a word of its own, its merges wait for nobody."""
    project = await owner.project(SHOP, test, **{"mergeApproval": "never", **settings})
    async with AsyncExitStack() as open:
        ana, priya = await owner.agent(project, "claude-code"), await owner.agent(project, "codex")
        for agent in (ana, priya):
            await open.enter_async_context(agent.over_mcp())
        yield Shop(owner, project, ana, priya)


def plan(*change: str, use: tuple[str, ...] = (), summary: str = "As said.", **more: Any) -> Answer:
    """A plan that changes and uses these places (`path` or `path#symbol`)."""
    scope = {"change": [_item(text) for text in change], "use": [_item(text) for text in use]}
    return {"summary": summary, "steps": ["Do it."], "scope": scope, **more}


def work(title: str, *change: str, use: tuple[str, ...] = (), **more: Any) -> Answer:
    """The arguments of a declare."""
    return {"title": title, "goal": f"Goal of {title}.", "plan": plan(*change, use=use), **more}


def _item(text: str) -> Answer:
    path, _, symbol = text.partition("#")
    return {"path": path, "symbol": symbol} if symbol else {"path": path}
