"""The launcher: a process of its own that isolates one command and ends all that it started."""
