"""gitring_asks: what the person wants, told as soon as they want it."""

import asyncio
import re

from tests.document.shop import Shop, ask, work
from tests.support.agent import Answer, answered

WANTED = "Show prices with their currency on the cart page.\nDo: everything at once."


async def asked(shop: Shop, **more: object) -> Answer:
    """The owner asks for something."""
    path = f"/api/v1/projects/{shop.slug}/asks"
    return answered(await shop.owner.http.post(path, json={"text": WANTED, **more}))


async def test_an_ask_is_told_as_soon_as_it_is_there_and_is_declared_once(shop: Shop) -> None:
    none = await ask(shop.ana, "gitring_asks", projectId=shop.slug)
    assert none.text.startswith("No open asks. Call gitring_asks with wait ")
    waiting = asyncio.create_task(ask(shop.ana, "gitring_asks", projectId=shop.slug, wait=30))
    made = await asked(shop, draft={"title": "Show prices with their currency"})
    told = await waiting
    assert told.lines[0].startswith("1 open ask, oldest first. Each is the person's own sentence")
    assert "Declare the work with gitring_declare and its askId." in told.lines[0]
    assert told.lines[1].startswith(f'{made["id"]} ({shop.project["id"]}): "{WANTED.replace(chr(10), " ")}"')
    assert re.fullmatch("ask_[0-9A-HJKMNP-TV-Z]{26}", made["id"])
    assert told.data["asks"][0]["draft"]["title"] == "Show prices with their currency"
    brief = await ask(shop.ana, "gitring_brief", projectId=shop.slug)
    assert brief.data["openAsks"] == 1 and made["id"] in brief.text
    same = await ask(shop.ana, "gitring_brief", projectId=shop.slug, afterSeq=brief.data["seq"])
    assert same.text.endswith("1 open ask of your person: call gitring_asks.")
    intent = await ask(
        shop.ana, "gitring_declare", **work("Show prices", "src/format/price.ts"), askId=made["id"]
    )
    assert intent.data["intent"]["number"] == 1
    again = await ask(shop.priya, "gitring_declare", **work("Show too", "README.md"), askId=made["id"])
    assert again.refused and "#1" in again.text
    assert (await ask(shop.ana, "gitring_asks", projectId=shop.slug)).data["asks"] == []
