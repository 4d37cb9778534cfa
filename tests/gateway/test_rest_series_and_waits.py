"""REST beside the tools: series of numbers, and a wait for several intents."""

from typing import Any

import pytest

from protocol.ids import new_id
from tests.gateway import samples
from tests.gateway.edge import Edge

SERIES = "/api/v1/projects/storefront/series"
WAIT = "/api/v1/intents/wait"


async def test_series_are_listed_and_created(edge: Edge) -> None:
    listed = (await edge.http.get(SERIES)).json()["series"]
    assert [(one["prefix"], one["next"]) for one in listed] == [("D", 562)]
    made = await edge.http.post(SERIES, json={"prefix": "D", "next": 560})
    assert made.status_code == 201
    [(operation, given)] = edge.operations.asked
    assert (operation, given.prefix, given.next) == ("create_series", "D", 560)


@pytest.mark.parametrize("prefix", ["", "5", "D5", "-D", "a b", "D#", "D" * 41])
async def test_a_prefix_that_would_not_read_well_before_a_number_is_refused(edge: Edge, prefix: str) -> None:
    response = await edge.http.post(SERIES, json={"prefix": prefix})
    assert response.status_code == 400
    assert response.json()["error"]["message"].startswith("prefix ")


async def test_a_wait_for_several_intents_is_one_call(edge: Edge) -> None:
    edge.operations.news.set()
    other = new_id("int")
    response = await edge.http.get(
        f"{WAIT}?intentIds={samples.INTENT}&intentIds={other}&afterSeq=3&seconds=5"
    )
    assert response.json()["events"][0]["seq"] == 231
    [(operation, given)] = edge.operations.asked
    assert (operation, given.intents, given.seconds) == ("wait", [samples.INTENT, other], 5)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("afterSeq=3", "intentIds is missing."),
        ("intentIds=49&afterSeq=3", "intentIds.0 holds ids of intents"),
        (f"intentIds={samples.INTENT}", "afterSeq is missing."),
        (
            f"intentIds={samples.INTENT}&afterSeq=3&seconds=201",
            "seconds should be less than or equal to 200.",
        ),
    ],
)
async def test_a_wait_for_several_that_names_none_is_refused(edge: Edge, query: str, message: str) -> None:
    response = await edge.http.get(f"{WAIT}?{query}")
    assert response.status_code == 400
    assert response.json()["error"]["message"].startswith(message)
    assert edge.operations.asked == []


async def test_the_wait_for_one_takes_no_others_beside_it(edge: Edge) -> None:
    path = f"/api/v1/intents/{samples.INTENT}/wait?afterSeq=1&intentIds={samples.INTENT}"
    response = await edge.http.get(path)
    assert response.json()["error"]["message"] == "intentIds is not a field of this call."


@pytest.mark.parametrize(
    ("area", "message"),
    [
        ("/etc", "area is refused: a path starts at the repository root"),
        ("a/../b", "area is refused: a path may not hold"),
        (",", "area is refused: name at least one path"),
    ],
)
async def test_an_area_that_names_no_place_is_refused_with_the_reason(
    edge: Edge, area: str, message: str
) -> None:
    given: dict[str, Any] = {"area": area}
    response = await edge.http.get("/api/v1/projects/storefront/brief", params=given)
    assert response.status_code == 400
    assert response.json()["error"]["message"].startswith(message)
