"""NPZ: NPY arrays in a zip archive, stored unless deflate is what the attack is about."""

import io
import struct
import zipfile

from make._patch import patched
from make.npy import array


def npz(*entries: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """An archive of these arrays. Deflated bytes may differ between versions of zlib: the file in git counts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in entries:
            about = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            about.compress_type = method
            about.create_system = 3
            archive.writestr(about, content)
    return out.getvalue()


def directory(archive: bytes, at: int, new: bytes) -> bytes:
    """Changes the first entry of the directory at the end: flags are at 8, the method at 10, the unpacked size at 24,
    the length of the name at 28, the offset of the entry at 42."""
    start = archive.index(b"PK\x01\x02") + at
    return archive[:start] + new + archive[start + len(new) :]


def u1(shape: str, *values: int) -> bytes:
    return array("|u1", shape, bytes(values))


X = u1("(2, 3)", *[7] * 6)


def arrays_that_do_not_fit():
    def beside(name: str, content: bytes) -> bytes:
        return npz(("X.npy", X), (name, content))

    def alone(content: bytes) -> bytes:
        return npz(("X.npy", content))

    yield "no-entries", npz()
    yield "no-arrays", npz(("readme.txt", b"hello"))
    yield "two-arrays", npz(("train.npy", X), ("test.npy", X))
    yield "two-usual-names", npz(("x.npy", X), ("data.npy", X))
    yield "only-classes", npz(("y.npy", u1("(2,)", 0, 0)))
    yield "sparse", npz(*((f"{name}.npy", b"") for name in ("data", "format", "indices", "indptr", "shape")))
    yield "samples-not-npy", alone(b"hello")
    yield "samples-pickled", alone(array("|O", "(1, 2)", bytes(16)))
    yield "samples-one-axis", alone(u1("(6,)", *[0] * 6))
    yield "samples-cut", alone(array("<f8", "(2, 3)", bytes(6)))
    yield "classes-too-many", beside("y.npy", u1("(3,)", 0, 0, 0))
    yield "classes-two-axes", beside("y.npy", u1("(2, 1)", 0, 0))
    yield "classes-fractions", beside("y.npy", array("<f4", "(2,)", struct.pack("<2f", 1, 1.5)))
    yield "classes-no-unicode", beside("y.npy", array("<U1", "(2,)", struct.pack("<2I", 65, 0xD800)))
    yield "classes-text-of-no-length", beside("y.npy", array("<U0", "(2,)"))
    yield "classes-pickled", beside("y.npy", array("|O", "(2,)", bytes(16)))
    yield "shape-three-numbers", beside("shape.npy", u1("(3,)", 1, 3, 1))
    yield "shape-too-large", beside("shape.npy", u1("(2,)", 2, 2))
    yield "shape-negative", beside("shape.npy", array("|i1", "(2,)", b"\xff\xfd"))
    yield "shape-floats", beside("shape.npy", array("<f8", "(2,)", bytes(16)))
    yield "asked-for-labels", npz()
    yield "asked-for-another-array", alone(X)


def damaged():
    whole = npz(("X.npy", X))
    size = struct.pack("<I", len(X))
    zeros = npz(("X.npy", u1("(2, 3)") + bytes(10_000_000)), method=zipfile.ZIP_DEFLATED)
    # Header and directory agree on 4 GB that are not there.
    claims = u1("(65535, 65535)")
    claimed = struct.pack("<I", 65535 * 65535 + len(claims))
    twice = npz(("X.npy", X), ("Z.npy", X))
    yield "cut-by-one-byte", whole[:-1]
    yield "cut-in-entry", whole[:40]
    yield "cut-after-magic", whole[:4]
    yield "checksum", patched(whole, bytes([7] * 6), bytes([7, 7, 7, 7, 7, 8]))
    yield "directory-size-one-more", directory(whole, 24, struct.pack("<I", len(X) + 1))
    yield "encrypted", directory(whole, 8, b"\x01")
    yield "method-bzip2", directory(whole, 10, b"\x0c")
    yield "entry-elsewhere", directory(whole, 42, b"\x09")
    yield "entry-beyond-end", directory(whole, 42, struct.pack("<I", 0x7FFFFFFF))
    yield "same-name-twice", twice.replace(b"Z.npy", b"X.npy")
    yield "directory-claims-less-than-10-mb", directory(zeros, 24, size)
    yield "claims-4-gb", directory(npz(("X.npy", claims)), 24, claimed)
    yield "zeros-of-10-mb", zeros


def files():
    for part in (arrays_that_do_not_fit(), damaged()):
        yield from ((f"{name}.npz", content) for name, content in part)
