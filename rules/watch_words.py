"""The words that several findings of the watchdog share."""

from collections.abc import Sequence

_SHOWN = 8

NEXT_HAND = "Give another agent of the same person a token and let it go on, or withdraw it."


def of_number(number: int) -> str:
    """`#49`."""
    return f"#{number}"


def some_numbers(numbers: Sequence[int]) -> str:
    """`#1, #2 and 7 more`; empty for none."""
    marks = [of_number(number) for number in numbers]
    if len(marks) > _SHOWN:
        return f"{', '.join(marks[:_SHOWN])} and {len(marks) - _SHOWN} more"
    return " and ".join([", ".join(marks[:-1]), marks[-1]] if len(marks) > 1 else marks)
