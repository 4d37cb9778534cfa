"""How a refusal leaves a workflow: as an ApplicationError that carries it whole.

Any other exception in a handler would fail the workflow task, which retries for ever while its caller hangs.
"""

from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from protocol.refusals import Refusal


def as_error(refusal: Refusal) -> ApplicationError:
    """The error whose type is the refusal's code and whose details are the refusal."""
    return ApplicationError(
        refusal.text,
        refusal.model_dump(mode="json"),
        type=refusal.code,
        non_retryable=True,
        category=ApplicationErrorCategory.BENIGN,
    )
