"""Risk: low or high, with the sentences that made it high (`docs/rules.md`, Risk)."""

import re
from collections.abc import Iterable, Sequence

from protocol.records import PushedWork
from protocol.states import Risk, When
from rules.places import Place, covers, meet
from rules.symbols.changes import SignatureChange

_MANIFESTS = re.compile(
    r"(^|/)(pyproject\.toml|setup\.(py|cfg)|requirements[^/]*\.txt|Pipfile(\.lock)?|poetry\.lock|uv\.lock|package\.json|"
    r"package-lock\.json|pnpm-lock\.yaml|yarn\.lock|go\.(mod|sum)|Cargo\.(toml|lock)|pom\.xml|build\.gradle(\.kts)?|"
    r"Gemfile(\.lock)?|composer\.(json|lock))$"
)
_MIGRATIONS = re.compile(r"(^|/)(migrations?|db/migrate|alembic/versions)/")
_DEPLOY = re.compile(
    r"(^|/)(\.github/|\.gitlab-ci\.yml|\.ci/|\.circleci/|Jenkinsfile|Dockerfile[^/]*|docker-compose[^/]*|compose\.ya?ml|"
    r"deploy/|infra/|helm/|k8s/|terraform/)"
)


def _one(place: Place) -> str | None:
    if _MANIFESTS.search(place.path):
        return f"changes a dependency manifest or lock file ({place.path})"
    if _MIGRATIONS.search(place.path):
        return f"changes a database migration ({place.path})"
    if _DEPLOY.search(place.path):
        return f"changes CI or deploy configuration ({place.path})"
    if place.is_folder:
        return f"changes a whole folder ({place.path})"
    return None


# A push that deletes this many files nobody spoke of mostly deletes them by mistake.
MASS_DELETION = 10


def risk_of(
    change: Iterable[Place],
    max_places: int,
    people_only: Sequence[str] = (),
    pushed: PushedWork | None = None,
) -> tuple[Risk, list[str]]:
    """The risk of changing these places, and why, at most ten sentences.

    `change` are the declared places; `pushed` adds what the code does. A mass deletion outside the declared
    places is the first sentence of all.
    """
    declared = sorted(set(change))
    work = pushed or PushedWork()
    places = sorted({*declared, *map(Place, work.paths)})
    deletion = mass_deletion(declared, work)
    reasons = [deletion] if deletion else []
    reasons += [
        f"changes a people-only path ({place.path})"
        for place in places
        if any(meet(place.file, Place(path)) for path in people_only)
    ]
    reasons += work.signatures
    reasons += [reason for place in places if (reason := _one(place))]
    if len(places) > max_places:
        reasons.append(f"changes {len(places)} places, more than the project's limit of {max_places}")
    return (Risk.HIGH if reasons else Risk.LOW), reasons[:10]


def mass_deletion(declared: Iterable[Place], pushed: PushedWork) -> str | None:
    """The sentence about many files deleted outside the plan, or None. A person is asked about the merge then,
    whatever the project's rules say."""
    planned = [place.file for place in declared]
    lost = [path for path in pushed.deleted if not any(covers(place, Place(path)) for place in planned)]
    if len(lost) < MASS_DELETION:
        return None
    return f"deletes {len(lost)} files outside its plan ({lost[0]} and others)"


def signature_sentence(path: str, change: SignatureChange) -> str:
    """What is said of an exported signature that a push changes or removes."""
    does = "removes the exported" if change.now is None else "changes the exported signature of"
    return f"{does} {change.name} in {path}"


def asks_person(rule: When, risk: Risk) -> bool:
    """True when a project's `plan_review` or `merge_approval` asks a person for this risk."""
    return rule is When.ALWAYS or (rule is When.HIGH and risk is Risk.HIGH)
