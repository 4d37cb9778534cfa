"""Risk: low or high, with the sentences that made it high (`docs/rules.md`, Risk)."""

import re
from collections.abc import Iterable, Sequence

from protocol.states import Risk, When
from rules.places import Place, meet
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


def risk_of(
    change: Iterable[Place], max_places: int, people_only: Sequence[str] = (), signatures: Sequence[str] = ()
) -> tuple[Risk, list[str]]:
    """The risk of changing these places, and why, at most ten sentences."""
    places = sorted(set(change))
    reasons = [
        f"changes a people-only path ({place.path})"
        for place in places
        if any(meet(place.file, Place(path)) for path in people_only)
    ]
    reasons += signatures
    reasons += [reason for place in places if (reason := _one(place))]
    if len(places) > max_places:
        reasons.append(f"changes {len(places)} places, more than the project's limit of {max_places}")
    return (Risk.HIGH if reasons else Risk.LOW), reasons[:10]


def signature_sentence(path: str, change: SignatureChange) -> str:
    """What is said of an exported signature that a push changes or removes."""
    does = "removes the exported" if change.now is None else "changes the exported signature of"
    return f"{does} {change.name} in {path}"


def asks_person(rule: When, risk: Risk) -> bool:
    """True when a project's `plan_review` or `merge_approval` asks a person for this risk."""
    return rule is When.ALWAYS or (rule is When.HIGH and risk is Risk.HIGH)
