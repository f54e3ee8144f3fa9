"""What the makers share: bytes changed in place, and gzip whose bytes depend on no version of zlib."""

import struct
import zlib


def patched(content: bytes, old: bytes, new: bytes, occurrence: int = 0) -> bytes:
    """Replaces one occurrence of `old`, counted from 0, by `new`, of the same length."""
    assert len(old) == len(new)
    at = -1
    for _ in range(occurrence + 1):
        at = content.index(old, at + 1)
    return content[:at] + new + content[at + len(new) :]


def stored(content: bytes) -> bytes:
    """Deflate without compression: blocks of at most 65535 bytes, each with its length in front."""
    parts = [content[at : at + 0xFFFF] for at in range(0, len(content), 0xFFFF)] or [b""]
    last = len(parts) - 1
    blocks = (struct.pack("<BHH", at == last, len(part), len(part) ^ 0xFFFF) + part for at, part in enumerate(parts))
    return b"".join(blocks)


def gzip(content: bytes, packed: bytes | None = None, flags: int = 0) -> bytes:
    """A gzip member; `packed` is the content deflated, where it is not just stored."""
    packed = stored(content) if packed is None else packed
    header = struct.pack("<BBBBIBB", 0x1F, 0x8B, 8, flags, 0, 0, 255)
    return header + packed + struct.pack("<II", zlib.crc32(content), len(content) & 0xFFFFFFFF)
