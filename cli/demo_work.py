"""What the two agents of the demo write: two changes to one module, each with its test."""

from pathlib import Path

MODULE = "src/rich/filesize.py"
BINARY_TEST = "tests/test_binary_sizes.py"
NEGATIVE_TEST = "tests/test_negative_sizes.py"

_BINARY = '''

def binary(size: int, *, precision: Optional[int] = 1, separator: Optional[str] = " ") -> str:
    """Convert a filesize in to a string (powers of 1024), as operating systems count memory."""
    return _to_str(
        size,
        ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"),
        1024,
        precision=precision,
        separator=separator,
    )
'''
_FIRST_LINES = '    if size == 1:\n        return "1 byte"\n'
_NEGATIVE = (
    "    if size < 0:\n"
    '        return "-" + _to_str(-size, suffixes, base, precision=precision, separator=separator)\n'
)


class UnknownCode(Exception):
    """The module does not look as the demo expects it."""


def write_binary_sizes(checkout: Path) -> None:
    """The first agent's change: a second way to write sizes."""
    module = checkout / MODULE
    module.write_text(module.read_text() + _BINARY)
    (checkout / BINARY_TEST).write_text(_test("binary", "Binary", ((2_621_440, "2.5 MiB"), (10, "10 bytes"))))


def write_negative_sizes(checkout: Path) -> None:
    """The second agent's change: a size below zero keeps its sign."""
    module = checkout / MODULE
    text = module.read_text()
    if text.count(_FIRST_LINES) != 1:
        raise UnknownCode(f"{MODULE} of the installed rich is not the one this demo knows. Run `make setup`.")
    module.write_text(text.replace(_FIRST_LINES, _NEGATIVE + _FIRST_LINES))
    (checkout / NEGATIVE_TEST).write_text(_test("decimal", "Negative", ((-2_500_000, "-2.5 MB"),)))


def adapt_to_binary_sizes(checkout: Path) -> None:
    """What the second agent adds once the first one's function is in its tree."""
    with (checkout / NEGATIVE_TEST).open("a") as file:
        file.write(
            _test("binary", "NegativeBinary", ((-2_621_440, "-2.5 MiB"),)).replace(
                "import unittest\n\n", "\n"
            )
        )


def _test(function: str, name: str, cases: tuple[tuple[int, str], ...]) -> str:
    checks = "\n".join(f'        self.assertEqual({function}({size}), "{text}")' for size, text in cases)
    return (
        f"import unittest\n\nfrom rich.filesize import {function}\n\n\n"
        f"class {name}Sizes(unittest.TestCase):\n    def test_sizes(self) -> None:\n{checks}\n"
    )
