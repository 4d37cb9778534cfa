"""What one sees of a busy project: a board and a brief beside few and beside many live intents."""

import time
from collections.abc import Mapping

from benchmarks.http import connected
from benchmarks.project import Project
from benchmarks.rows import Row, ms, percentile, summary

LOOKS = 30


async def surveys(crowds: Mapping[int, Project]) -> list[Row]:
    """The board and the brief of each project, in turn, so that all meet the same machine."""
    took: dict[tuple[str, int], list[float]] = {}
    for _ in range(LOOKS):
        for live, project in crowds.items():
            for what, path in _looks(project).items():
                took.setdefault((what, live), []).append(await _look(project, path))
    few, *many = crowds
    return [_row(what, few, live, took) for what in _looks(crowds[few]) for live in many]


def _looks(project: Project) -> dict[str, str]:
    return {
        "board": f"/api/v1/projects/{project.id}/board",
        "brief": f"/api/v1/projects/{project.id}/brief?area=app/area01/",
    }


async def _look(project: Project, path: str) -> float:
    async with connected(project.stack.url, project.agent) as door:
        began = time.perf_counter()
        await door.call("GET", path)
        return time.perf_counter() - began


def _row(what: str, few: int, live: int, took: Mapping[tuple[str, int], list[float]]) -> Row:
    p50, base = percentile(took[what, live], 0.5), percentile(took[what, few], 0.5)
    value = f"{p50 / base:.2f} × ({ms(p50)} against {ms(base)})"
    return Row(
        f"{what} at {live:,} live intents against {few}, p50", value, numbers=summary(took[what, live])
    )
