"""Short digests, for indexes over texts that may be longer than an index entry can be."""

import hashlib


def short_hash(text: str | bytes) -> bytes:
    """The first 16 bytes of the SHA-256."""
    data = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(data).digest()[:16]
