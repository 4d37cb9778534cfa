"""Random histories of a line and its intents as plain data, and what merging them must give, without git's merge."""
