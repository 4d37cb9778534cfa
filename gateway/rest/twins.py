"""The REST twin of each tool, made from the one table: same input, same answer, same code."""

import inspect
import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query
from pydantic import BaseModel, ValidationError, create_model
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from gateway.calls import Held, json_of
from gateway.explain import explain
from gateway.held import json_answer
from gateway.rest.context import FAILURES, CallerDep, Rest, RestDep, json_response
from gateway.rest.examples import EXAMPLES
from protocol.intents import DeclareInput
from protocol.projects import Caller
from protocol.refusals import invalid_input
from protocol.tools import TOOLS, Tool
from protocol.wire import Input

_IN_PATH = re.compile(r"{(\w+)}")
# What a call may say instead of a field that stands in the address: there it has no place.
_INSTEAD = {"intent_id": "intent_ids"}
_PATH_MEANING = {"intent_id": "The intent's id (int_…).", "project_id": "The project's id (prj_…) or slug."}


def add_twins(router: APIRouter) -> None:
    """Adds one route for each tool."""
    for tool in TOOLS:
        method, _, path = tool.rest.partition(" ")
        router.add_api_route(
            path,
            _endpoint(tool, method, _IN_PATH.findall(path)),
            methods=[method],
            status_code=201 if tool.input is DeclareInput else 200,
            response_model=tool.answer,
            responses=FAILURES,
            summary=tool.title,
            description=f"{tool.description}\n\nThe tool `{tool.name}`.",
            operation_id=tool.operation,
            tags=["tools"],
        )


def _endpoint(tool: Tool, method: str, in_path: list[str]) -> Callable[..., Awaitable[Response]]:
    rest_of_input = _without(
        tool.input, [*in_path, *(_INSTEAD[name] for name in in_path if name in _INSTEAD)]
    )

    async def endpoint(rest: Rest, caller: Caller, given: BaseModel | None = None, **path: str) -> Response:
        fields = given.model_dump(by_alias=True, exclude_unset=True) if given is not None else {}
        return await _answer(tool, rest, caller, _input(tool, fields | _camel(path)))

    parameters: dict[str, Any] = {"rest": RestDep, "caller": CallerDep}
    parameters |= {name: Annotated[str, Path(description=_PATH_MEANING[name])] for name in in_path}
    defaults: dict[str, Any] = {}
    if rest_of_input.model_fields:
        place = Query() if method == "GET" else Body(openapi_examples=_examples(tool))
        parameters["given"] = Annotated[rest_of_input, place]
        if method != "GET" and not any(field.is_required() for field in rest_of_input.model_fields.values()):
            defaults["given"] = rest_of_input()
    signature = inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=annotation,
                default=defaults.get(name, inspect.Parameter.empty),
            )
            for name, annotation in parameters.items()
        ]
    )
    endpoint.__signature__ = signature  # type: ignore[attr-defined]
    endpoint.__name__ = tool.operation
    return endpoint


def _camel(path: dict[str, str]) -> dict[str, str]:
    return {to_camel(name): value for name, value in path.items()}


def _without(model: type[BaseModel], names: list[str]) -> type[BaseModel]:
    """`model` without the fields that stand in the address."""
    kept: dict[str, Any] = {
        name: (field.annotation, field) for name, field in model.model_fields.items() if name not in names
    }
    return create_model(f"{model.__name__}Body", __base__=Input, __doc__=model.__doc__, **kept)


def _input(tool: Tool, fields: dict[str, Any]) -> BaseModel:
    try:
        return tool.input.model_validate(fields)
    except ValidationError as problem:
        raise invalid_input(explain(problem.errors(include_url=False, include_input=False))) from None


async def _answer(tool: Tool, rest: Rest, caller: Caller, given: BaseModel) -> Response:
    if isinstance(given, Held):

        async def waited() -> bytes:
            return json_of(await rest.calls.run(tool, caller, given))

        return json_answer(waited, rest.limits)
    answer = await rest.calls.run(tool, caller, given)
    return json_response(answer, 201 if tool.input is DeclareInput else 200)


def _examples(tool: Tool) -> dict[str, Any] | None:
    example = EXAMPLES.get(tool.input)
    return {"example": {"summary": tool.title, "value": example}} if example else None
