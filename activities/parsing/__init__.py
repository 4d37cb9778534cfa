"""Reading source files in processes of their own.

Parsers hold Python's lock while they work and are fed strangers' bytes. So they run in child processes, which may
be slow, run out of memory or crash without anyone else noticing more than a note.
"""
