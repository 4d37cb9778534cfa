"""What passes between the two: a request is a language and a content, an answer is JSON; both with their lengths."""

import struct

REQUEST = struct.Struct(">HI")
ANSWER = struct.Struct(">I")
READY = b"+"


def request(language: str, content: bytes) -> bytes:
    """One request as bytes."""
    name = language.encode()
    return REQUEST.pack(len(name), len(content)) + name + content
