"""IDX: two zero bytes, a type, the number of axes, their lengths, values; the highest byte first."""

import struct


def idx(kind: int, shape: tuple[int, ...], values: bytes = b"") -> bytes:
    return bytes([0, 0, kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + values


U1, I1, I2, I4, F4, F8 = 0x08, 0x09, 0x0B, 0x0C, 0x0D, 0x0E
IMAGES = idx(U1, (2, 2, 3), bytes(range(12)))
MOST = 2**32 - 1


def files():
    yield "cut-after-magic.idx", IMAGES[:4]
    yield "cut-in-lengths.idx", IMAGES[:10]
    yield "cut-in-values.idx", IMAGES[:-1]
    yield "byte-behind.idx", IMAGES + b"\x00"
    yield "no-values.idx", idx(U1, (2, 2, 3))
    yield "claims-4-gb.idx", idx(U1, (65535, 65535), bytes(10))
    yield "claims-beyond-64-bits.idx", idx(F8, (MOST, MOST), bytes(16))
    yield "claims-beyond-128-bits.idx", idx(F8, (MOST,) * 8, bytes(16))
    yield "size-wraps-to-what-is-there.idx", idx(F4, (2**31, 2**31), b"")
    yield "no-samples.idx", idx(U1, (0, 28, 28))
    yield "no-height.idx", idx(U1, (2, 0, 28))
    yield "no-width-and-4-billion-samples.idx", idx(U1, (MOST, 28, 0))
    yield "zero-among-huge-lengths.idx", idx(U1, (0, MOST, MOST))
    yield "one-axis.idx", idx(U1, (3,), bytes(3))
    yield "no-axis.idx", idx(U1, (), b"\x05")
    yield "four-axes.idx", idx(U1, (1, 2, 2, 3), bytes(12))
    yield "five-axes.idx", idx(U1, (1, 1, 1, 1, 2), bytes(2))
    yield "axes-255.idx", bytes([0, 0, U1, 255]) + bytes(16)
    yield "type-unknown.idx", idx(0x0A, (1, 2), bytes(2))
    yield "lowest-byte-first.idx", bytes([0, 0, U1, 2]) + struct.pack("<2I", 2, 3) + bytes(6)
    yield "nan-f4.idx", idx(F4, (2, 2), struct.pack(">4f", 1, 2, float("nan"), 4))
    yield "infinity-f8.idx", idx(F8, (1, 2), struct.pack(">2d", 1, float("inf")))
    yield "asked-for-labels.idx", IMAGES
    yield "asked-for-another-image.idx", IMAGES
    pairs = {
        "count": idx(U1, (3,), b"\x01\x02\x03"),
        "cut": idx(U1, (2,), b"\x01"),
        "stack": IMAGES,
        "fractions": idx(F4, (2,), struct.pack(">2f", 1, 1.5)),
        "nan": idx(F4, (2,), struct.pack(">2f", 1, float("nan"))),
        "text": b"5\n0\n",
        "claims-4-gb": idx(U1, (MOST,), b"\x01\x02"),
        "empty": b"",
    }
    for name, labels in pairs.items():
        yield f"{name}-images-idx3-ubyte", IMAGES
        yield f"{name}-labels-idx1-ubyte", labels
    yield "alone-labels-idx1-ubyte", idx(U1, (2,), b"\x01\x02")
