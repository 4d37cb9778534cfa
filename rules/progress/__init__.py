"""How far a check is, counted from its output while it runs. Pure, bounded, and never raises on output."""

from rules.progress.counting import Counter
from rules.progress.words import in_words

__all__ = ["Counter", "in_words"]
