"""The short memory of accepted tokens."""

import pytest

from gateway.auth import AcceptedTokens, bearer_token
from protocol.projects import Caller
from protocol.refusals import Refused
from tests.gateway import samples


class Record:
    """Tokens, and how often they were asked for."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked = 0
        self.caller: Caller | None = samples.AGENT

    async def find(self, raw: str) -> Caller | None:
        self.asked += 1
        return self.caller

    def tokens(self) -> AcceptedTokens:
        return AcceptedTokens(self.find, remember_sec=2.0, clock=lambda: self.now)


async def test_calls_in_a_row_ask_the_record_once() -> None:
    record = Record()
    tokens = record.tokens()
    assert [await tokens.caller("gitring_agent_x") for _ in range(3)] == [samples.AGENT] * 3
    assert record.asked == 1


async def test_a_revoked_token_is_refused_once_the_memory_ends() -> None:
    record = Record()
    tokens = record.tokens()
    await tokens.caller("gitring_agent_x")
    record.caller = None
    record.now = 1.9
    await tokens.caller("gitring_agent_x")
    record.now = 2.0
    with pytest.raises(Refused):
        await tokens.caller("gitring_agent_x")


async def test_the_memory_counts_from_when_the_record_was_asked() -> None:
    record = Record()
    tokens = record.tokens()

    async def slow(raw: str) -> Caller | None:
        record.now += 5.0
        return record.caller

    tokens = AcceptedTokens(slow, remember_sec=2.0, clock=lambda: record.now)
    await tokens.caller("gitring_agent_x")
    record.caller = None
    with pytest.raises(Refused):
        await tokens.caller("gitring_agent_x")


async def test_a_token_revoked_here_is_forgotten_at_once() -> None:
    record = Record()
    tokens = record.tokens()
    await tokens.caller("gitring_agent_x")
    record.caller = None
    tokens.forget(samples.AGENT.token_id)
    with pytest.raises(Refused):
        await tokens.caller("gitring_agent_x")


async def test_a_refusal_is_not_remembered() -> None:
    record = Record()
    tokens = record.tokens()
    record.caller = None
    with pytest.raises(Refused):
        await tokens.caller("gitring_agent_x")
    record.caller = samples.AGENT
    assert await tokens.caller("gitring_agent_x") == samples.AGENT


async def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.auth.REMEMBER_MOST", 2)
    record = Record()
    tokens = record.tokens()
    for raw in ("a", "b", "c", "a"):
        await tokens.caller(raw)
    assert record.asked == 4


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer other_token", "Bearer gitring_agent_" + "x" * 300, "Bearer gitring_agent_é"])  # fmt: skip
def test_a_header_without_a_token_of_ours_is_refused(header: str | None) -> None:
    with pytest.raises(Refused):
        bearer_token(header)


def test_the_scheme_is_read_in_any_case() -> None:
    assert bearer_token("bearer  gitring_agent_x ") == "gitring_agent_x"
