"""A project's rules in sentences, for whoever plans work in it. They say what happens, never where the limits lie."""

from collections.abc import Sequence

from protocol.projects import ProjectSettings
from protocol.states import Mediation, When

_PLANS = {
    When.ALWAYS: "Every plan waits for a person to approve it before its code is written.",
    When.HIGH: "A plan of high risk waits for a person to approve it before its code is written.",
    When.NEVER: "No plan waits for a person.",
}
_MERGES = {
    When.ALWAYS: "Every intent waits, once its checks have passed, for a person to approve its merge.",
    When.HIGH: "An intent of high risk waits, once its checks have passed, for a person to approve its merge.",
    When.NEVER: "No merge waits for a person once its checks have passed.",
}
_MEDIATION = {
    Mediation.HOLD: "Of two intents that change the same place, the later one holds until the other merges or is withdrawn.",
    Mediation.NARROW: "Of two intents that change the same place, the later one leaves that place to the other and goes on "
    "with the rest of its plan; where it cannot, it holds.",
}
_SERIES_NAMED = 20


def rule_sentences(
    settings: ProjectSettings,
    line: str,
    series: Sequence[str] = (),
    closed: Sequence[tuple[str, str]] = (),
) -> list[str]:
    """One sentence a rule, in the order in which an intent meets them; `line` is the project's own line.

    `closed` holds what the folder rules refuse the reader, each with the reason.
    """
    said = [_PLANS[settings.plan_review]]
    if settings.mediation is not None:
        said.append(_MEDIATION[settings.mediation])
    said += [f"`{path}`. {why}" for path, why in closed]
    if series:
        named = ", ".join(series[:_SERIES_NAMED])
        said.append(f"Numbers of {named} are reserved with claims in gitring_declare, never picked by hand.")
    said += [
        f"`{path}` is shared: intents only add to it, and two that meet nowhere else are not in conflict."
        for path in settings.shared_files
    ]
    said += [
        f"An intent that changes `{folder}` waits for an owner to approve its merge."
        for folder in settings.owner_approves
    ]
    if not settings.has_checks:
        said.append("No test command is set, so no checks run and a person approves every merge.")
    else:
        said += [
            f"The project's checks run on {line} plus your work before it lands.",
            _MERGES[settings.merge_approval],
        ]
    return said
