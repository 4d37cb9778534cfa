"""A project in the middle of a working day: intents in every state, made by agents through REST and real git."""

from dataclasses import dataclass
from pathlib import Path

from tests.support.agent import Agent, Answer, Owner, Work, answered

FILES = {
    "src/money.py": (
        '"""Amounts of money."""\n\n\nclass Money:\n    """An amount in cents."""\n\n'
        "    def __init__(self, cents: int) -> None:\n        self.cents = cents\n\n"
        '    def add(self, other: "Money") -> "Money":\n        """The sum."""\n'
        "        return Money(self.cents + other.cents)\n"
    ),
    "src/cart.py": "from src.money import Money\n\n\ndef total(lines: list[Money]) -> Money:\n    amount = Money(0)\n    for line in lines:\n        amount = amount.add(line)\n    return amount\n",
    "src/format.py": 'def price(cents: int) -> str:\n    return f"{cents / 100:.2f}"\n',
    "src/stock.py": "def left(stock: dict[str, int], article: str) -> int:\n    return stock[article]\n",
    "src/search.py": "def find(articles: list[str], word: str) -> list[str]:\n    return [a for a in articles if word in a]\n",
    "migrations/0001.sql": "CREATE TABLE article (id bigint PRIMARY KEY, name text NOT NULL);\n",
    "pyproject.toml": '[project]\nname = "storefront"\nversion = "1.0"\n',
    "tests/check.py": (
        "import sys\nsys.path.insert(0, '.')\nfrom src.money import Money\nfrom src.stock import left\n\n"
        "print('collected 3 checks')\nassert Money(100).add(Money(250)).cents == 350\nprint('money: passed')\n"
        "got = left({'tea': 4}, 'tea')\nprint('stock: passed' if got == 4 else f'stock: FAILED, expected 4, got {got}')\n"
        "assert got == 4, f'expected 4 left, got {got}'\nprint('3 passed')\n"
    ),
}
CHECK = "python3 tests/check.py"


@dataclass
class Scene:
    """The project, its owner, its agents, and its intents by a word for each."""

    owner: Owner
    project: Answer
    agents: list[Agent]
    intents: dict[str, Answer]


def plan(summary: str, steps: list[str], change: list[str], use: list[str] | None = None) -> Answer:
    """The plan of a declare."""

    def places(texts: list[str]) -> list[dict[str, str]]:
        return [
            {"path": path, **({"symbol": symbol} if symbol else {})}
            for path, _, symbol in (text.partition("#") for text in texts)
        ]

    return {"summary": summary, "steps": steps, "scope": {"change": places(change), "use": places(use or [])}}


async def declare(agent: Agent, title: str, goal: str, given: Answer, **more: object) -> Answer:
    """Declare an intent with a plan of its own."""
    return await agent.call("gitring_declare", title=title, goal=goal, plan=given, **more)


async def pushed(agent: Agent, intent: Answer, files: dict[str, str], message: str) -> Work:
    """Commit and push these files for an intent."""
    work = await agent.checkout(intent)
    await work.pushed(files, message)
    return work


async def commented(
    owner: Owner, intent: Answer, text: str, path: str, first: int, last: int | None = None
) -> None:
    """A comment of the owner on lines of a file."""
    body = {"text": text, "path": path, "startLine": first, "endLine": last or first}
    answered(await owner.http.post(f"/api/v1/intents/{intent['intent']['id']}/comments", json=body))


async def working_day(owner: Owner, project: Answer, source: Path) -> Scene:
    """Fill a project: one landed, one red, one that waits for a merge, one for a plan, two held, one with two plans."""
    here = {**project, "source": str(source)}
    ada, bo = await owner.agent(here, "laptop-agent"), await owner.agent(here, "night-agent")
    scene = Scene(owner, project, [ada, bo], {})
    await _landed(scene, bo)
    await _red(scene, bo)
    await _money(scene, ada, bo)
    await _merge_waits(scene, ada)
    await _plan_waits(scene, bo)
    return scene


async def _landed(scene: Scene, agent: Agent) -> None:
    made = await declare(
        agent,
        "Search without regard to case",
        "A customer who types Tea finds tea.",
        plan("Compare folded texts.", ["Fold both sides", "Keep the order"], ["src/search.py#find"]),
    )
    better = FILES["src/search.py"].replace("word in a", "word.casefold() in a.casefold()")
    await pushed(agent, made, {"src/search.py": better}, "Search without regard to case")
    await agent.wait_until(await agent.submit(made), "merged")
    scene.intents["landed"] = made


async def _red(scene: Scene, agent: Agent) -> None:
    made = await declare(
        agent,
        "Count reserved articles as gone",
        "Nobody buys what lies in another cart.",
        plan("Take reservations off in left().", ["Read reservations", "Subtract"], ["src/stock.py#left"]),
    )
    worse = FILES["src/stock.py"].replace("stock[article]", "stock[article] - 1")
    await pushed(agent, made, {"src/stock.py": worse}, "Count reserved articles as gone")
    await agent.wait_until(await agent.submit(made), "active")
    scene.intents["red"] = made


async def _money(scene: Scene, ada: Agent, bo: Agent) -> None:
    first = await declare(
        ada,
        "Give every amount a currency",
        "A price names its currency, so nobody adds euros to yen.",
        plan(
            "Money gets a currency code and refuses to add two different ones.",
            ["Add the code to Money", "Refuse a mixed sum", "Test both"],
            ["src/money.py#Money"],
            ["src/cart.py#total"],
        ),
    )
    second = await declare(
        bo,
        "Round half cents the way banks do",
        "Sums agree with the bank's to the cent.",
        plan(
            "Round in Money.add.",
            ["Round half to even", "Test the edges"],
            ["src/money.py#Money.add", "src/format.py"],
        ),
    )
    third = await declare(
        bo,
        "Show prices in the customer's language",
        "A French customer reads 12,50 € and not 12.50.",
        plan("Format by locale.", ["Choose the locale", "Format"], ["src/format.py#price"]),
        dependsOn=[first["intent"]["id"]],
    )
    await ada.call(
        "gitring_update_plan",
        intentId=first["intent"]["id"],
        reason="The cart has to name a currency for its empty sum.",
        plan=plan(
            "Money gets a currency code and refuses to add two different ones.",
            ["Add the code to Money", "Refuse a mixed sum", "Name a currency in total()", "Test all three"],
            ["src/money.py#Money", "src/cart.py#total"],
        ),
    )
    scene.intents |= {"money": first, "held": second, "later": third}


async def _merge_waits(scene: Scene, agent: Agent) -> None:
    made = await declare(
        agent,
        "Depend on the new tax tables",
        "Taxes are those of this year.",
        plan("Add the dependency.", ["Add taxtables to pyproject.toml"], ["pyproject.toml"]),
    )
    if made["intent"]["state"] == "plan_review":
        await scene.owner.decide(made, "approve", "plan")
    text = FILES["pyproject.toml"] + 'dependencies = [\n  "taxtables",\n]\n'
    work = await pushed(agent, made, {"pyproject.toml": text}, "Depend on the new tax tables")
    await commented(
        scene.owner,
        made,
        "Name the least version: the tables of last year lack two rates.",
        "pyproject.toml",
        5,
    )
    (request,) = (await agent.status(made))["changeRequests"]
    await work.pushed({"pyproject.toml": text.replace("taxtables", "taxtables>=2")}, "Name the least version")
    await agent.call("gitring_ack", intentId=made["intent"]["id"], changeRequestId=request["id"])
    await commented(
        scene.owner, made, "Good. Say in the release notes that prices change.", "pyproject.toml", 4, 6
    )
    (request,) = (await agent.status(made))["changeRequests"]
    await work.pushed({"NOTES.md": "Taxes are those of this year, so some prices change.\n"}, "Release notes")
    await agent.call("gitring_ack", intentId=made["intent"]["id"], changeRequestId=request["id"])
    await agent.wait_until(await agent.submit(made), "awaiting_approval")
    scene.intents["merge"] = made


async def _plan_waits(scene: Scene, agent: Agent) -> None:
    scene.intents["plan"] = await declare(
        agent,
        "Keep a history of prices",
        "Support can tell what an article cost on the day it was bought.",
        plan(
            "A table of prices with the day each began, filled from the articles once.",
            ["Write the migration", "Read the price of a day", "Fill it from today's prices"],
            ["migrations/0002_price_history.sql", "src/prices.py"],
            ["src/money.py#Money"],
        ),
    )
