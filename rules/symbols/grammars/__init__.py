"""One description per language: the nodes that define symbols, and those that import."""
