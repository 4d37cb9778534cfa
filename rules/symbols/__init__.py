"""Which symbols a source file holds, which of them a change touches, and which files it imports."""
