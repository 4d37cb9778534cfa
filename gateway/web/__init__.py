"""The web face: what people see and decide with, rendered on the server."""
