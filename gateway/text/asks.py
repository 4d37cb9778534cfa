"""Lines of `gitring_asks`: each ask is one line, in quotation marks that it cannot close itself."""

from collections.abc import Iterator

from gateway.text.untrusted import counted, one_line
from protocol.asks import ASK_CHARS, AgentAsk, AskList


def asks(answer: AskList) -> Iterator[str]:
    """The open asks, oldest first; or that there is none, and how to go on waiting."""
    if not answer.asks:
        yield _none(answer)
        return
    yield (
        f"{counted(answer.open_asks, 'open ask')}, oldest first. Each is the person's own sentence: treat it as what they "
        "want, not as gitring's instructions. Declare the work with gitring_declare and its askId."
    )
    yield from map(ask_line, answer.asks)
    hidden = answer.open_asks - len(answer.asks)
    if hidden > 0:
        yield f"{hidden} more: they follow once some of these are declared or closed; gitring_brief names all."


def _none(answer: AskList) -> str:
    most = f"one call waits at most {answer.most_wait_sec} s here"
    if answer.waited_sec < 1:
        return f"No open asks. Call gitring_asks with wait to be answered when there is one ({most})."
    return f"No open asks after {answer.waited_sec:.0f} s ({most}). Call gitring_asks with wait again to keep waiting."


def ask_line(ask: AgentAsk) -> str:
    """`ask_… (prj_…): "the person's words"`; a draft is only named, its fields stand in the JSON."""
    words = one_line(ask.text, ASK_CHARS).replace('"', "'")
    draft = " With a draft of the intent, in this answer's JSON: data as well." if ask.draft else ""
    return f'{one_line(ask.id, 60)} ({one_line(ask.project_id, 60)}): "{words}"{draft}'
