"""The one table of tools: name, input, answer, read or write, REST twin. MCP, REST, docs and tests read it."""

from typing import NamedTuple

from pydantic import BaseModel

from protocol.answers import Board, DeclareResult, GitToken, IntentDetail, ProjectList, WaitAnswer
from protocol.asks import AskList, AsksInput
from protocol.intents import (
    AckInput,
    BoardInput,
    BriefInput,
    CloneInput,
    DeclareInput,
    IntentInput,
    ProjectsInput,
    SubmitInput,
    UpdatePlanInput,
    WaitInput,
    WithdrawInput,
)
from protocol.surroundings import Brief, Nearby


class Tool(NamedTuple):
    """One tool. `operation` is the gateway method that answers it; `rest` its twin as `METHOD path`."""

    name: str
    operation: str
    input: type[BaseModel]
    answer: type[BaseModel]
    writes: bool
    rest: str
    title: str
    description: str


TOOLS: tuple[Tool, ...] = (
    Tool(
        "gitring_brief",
        "brief",
        BriefInput,
        Brief,
        False,
        "GET /api/v1/projects/{project_id}/brief",
        "Read before you declare",
        "Start here, before you declare: who works near the files in area, what landed last, the project's rules. Small, "
        "and one line when the line has not moved since afterSeq.",
    ),
    Tool(
        "gitring_projects",
        "projects",
        ProjectsInput,
        ProjectList,
        False,
        "GET /api/v1/projects",
        "List projects",
        "List the projects your token names, each with its line's head and how many intents are live.",
    ),
    Tool(
        "gitring_asks",
        "asks",
        AsksInput,
        AskList,
        False,
        "GET /api/v1/asks",
        "Read your person's asks",
        "What the person you act for asked for and nobody has declared yet, oldest first. Take one up with gitring_declare "
        "and its askId. With nothing to do, call it with wait (at most 45 seconds over MCP): it answers as soon as they ask.",
    ),
    Tool(
        "gitring_declare",
        "declare",
        DeclareInput,
        DeclareResult,
        True,
        "POST /api/v1/intents",
        "Declare an intent",
        "Before you write code: say what you want, how, which places you will change and which you use. The answer "
        "says whether you may start, whom you meet, who goes first, and where to push. claims reserves numbers and names "
        "that others could take too. Send a requestId.",
    ),
    Tool(
        "gitring_clone",
        "clone",
        CloneInput,
        GitToken,
        False,
        "POST /api/v1/projects/{project_id}/git-token",
        "Get a git token",
        "Get the project's git URL, a git token for 60 minutes and the exact push and clone commands.",
    ),
    Tool(
        "gitring_status",
        "status",
        IntentInput,
        IntentDetail,
        False,
        "GET /api/v1/intents/{intent_id}",
        "Read an intent",
        "Where your intent is: state, open change requests, what is not yet changed, what you may not change, checks. "
        "Call it before each push. To wait for news use gitring_wait, never a loop over this.",
    ),
    Tool(
        "gitring_wait",
        "wait",
        WaitInput,
        WaitAnswer,
        False,
        "GET /api/v1/intents/{intent_id}/wait",
        "Wait for news",
        "Answers with the first event after afterSeq, or after the seconds you give (at most 45 over MCP). An empty "
        "answer is no error: call again with the afterSeq it holds, until canStop is true. With intentIds, the first of "
        "several that moves answers.",
    ),
    Tool(
        "gitring_update_plan",
        "update_plan",
        UpdatePlanInput,
        IntentDetail,
        True,
        "POST /api/v1/intents/{intent_id}/plan",
        "Change the plan",
        "As soon as the work needs a place outside the declared scope: a new plan version, compared again with every "
        "live intent before you push. Send a requestId.",
    ),
    Tool(
        "gitring_ack",
        "ack",
        AckInput,
        IntentDetail,
        True,
        "POST /api/v1/intents/{intent_id}/ack",
        "Acknowledge a change request",
        "Say that your latest push applies a change request. It closes only when the push supports that; else the "
        "answer says what is missing. Send a requestId.",
    ),
    Tool(
        "gitring_submit",
        "submit",
        SubmitInput,
        IntentDetail,
        True,
        "POST /api/v1/intents/{intent_id}/submit",
        "Ask to merge",
        "After your push: checks run on the line plus your work, then the queue lands it or a person is asked. "
        "Answers at once; follow with gitring_wait. Send a requestId.",
    ),
    Tool(
        "gitring_withdraw",
        "withdraw",
        WithdrawInput,
        IntentDetail,
        True,
        "POST /api/v1/intents/{intent_id}/withdraw",
        "Abandon an intent",
        "Give the intent up. This is final; its ref stays readable, and those who waited for it go on. Send a requestId.",
    ),
    Tool(
        "gitring_nearby",
        "nearby",
        IntentInput,
        Nearby,
        False,
        "GET /api/v1/intents/{intent_id}/nearby",
        "See what is near",
        "The other live intents that change or use the same code as yours, and what merged since you started. Call it "
        "before a large change, and when the line moved near your scope.",
    ),
    Tool(
        "gitring_board",
        "board",
        BoardInput,
        Board,
        False,
        "GET /api/v1/projects/{project_id}/board",
        "See all live intents",
        "One line for each live intent of the project, by line: who works where, who waits for whom. With intentId, "
        "that one intent's plan.",
    ),
)

BY_NAME = {tool.name: tool for tool in TOOLS}
