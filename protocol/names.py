"""Names shared by processes: workflow ids, task queues, search attributes."""

INTENTS_QUEUE = "intents"

SEARCH_PROJECT = "GitringProject"
SEARCH_STATE = "GitringState"
SEARCH_LINE = "GitringLine"
SEARCH_WAITS_FOR = "GitringWaitsFor"


def git_queue(host: str) -> str:
    """Steps that need a host's repositories."""
    return f"git-{host}"


def checks_queue(host: str) -> str:
    """Check runs of a host; apart from Git, so that a slow suite never delays a merge."""
    return f"checks-{host}"


def intent_workflow(intent_id: str) -> str:
    """The workflow id of an intent."""
    return f"intent-{intent_id}"


def line_workflow(project_id: str, line: str) -> str:
    """The workflow id of a line's merge queue."""
    return f"line-{project_id}-{line}"


def index_workflow(project_id: str, line: str) -> str:
    """The workflow id of a line's indexing."""
    return f"index-{project_id}-{line}"


def setup_workflow(project_id: str) -> str:
    """The workflow id of a project's import."""
    return f"setup-{project_id}"
