"""The plain text of answers: what a model or a person reads, safe against what others wrote into it."""

from gateway.text.answers import render, render_again
from gateway.text.untrusted import one_line, quoted

__all__ = ["one_line", "quoted", "render", "render_again"]
