"""gzip around another format. Stored blocks where they do, so that the bytes depend on no version of zlib."""

import struct
import zlib

from make._patch import gzip, patched, stored
from make.idx import F8, U1, idx
from make.npy import array, f8
from make.npz import X, npz

TABLE = b"a,b\n1,2\n3,4\n"
MB = 1 << 20


def zeros(size: int) -> bytes:
    """Zeros, deflated: these bytes may differ between versions of zlib, and the file in git counts."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(bytes(size)) + packer.flush()


def files():
    whole = gzip(TABLE)
    yield "cut-in-header.csv.gz", whole[:6]
    yield "cut-after-magic.csv.gz", whole[:2]
    yield "cut-in-values.csv.gz", whole[:20]
    yield "cut-in-checksum.csv.gz", whole[:-6]
    yield "checksum.csv.gz", patched(whole, struct.pack("<I", zlib.crc32(TABLE)), b"\x01\x02\x03\x04")
    yield "length.csv.gz", whole[:-4] + struct.pack("<I", len(TABLE) + 1)
    yield "checksum.idx.gz", patched(gzip(idx(U1, (2, 3), bytes(range(6)))), bytes(range(6)), bytes([0, 1, 2, 3, 4, 6]))
    yield "checksum-late.csv.gz", gzip(b"1,2\n" * 1000)[:-8] + bytes(8)
    yield "method-unknown.csv.gz", whole[:2] + b"\x07" + whole[3:]
    yield "flags-name-without-end.csv.gz", whole[:3] + b"\x08" + whole[4:10] + b"name-without-end"
    yield "flags-extra-beyond-end.csv.gz", whole[:3] + b"\x04" + whole[4:10] + b"\xff\xff" + whole[10:]
    yield "flags-header-checksum.csv.gz", whole[:3] + b"\x02" + whole[4:]
    yield "flags-reserved.csv.gz", whole[:3] + b"\xe0" + whole[4:]
    yield "block-length.csv.gz", gzip(TABLE, packed=patched(stored(TABLE), b"\xf3\xff", b"\xf3\xfe"))
    yield "block-type-unknown.csv.gz", gzip(TABLE, packed=b"\x07" + stored(TABLE)[1:])
    yield "bytes-behind.csv.gz", whole + b"behind"
    yield "second-member-cut.csv.gz", whole + whole[:15]
    yield "empty-member.gz", gzip(b"")
    yield "gzip-in-gzip.csv.gz", gzip(whole)
    yield "npz-in-gzip.npz.gz", gzip(npz(("X.npy", X)))
    yield "png-in-gzip.png.gz", gzip(b"\x89PNG\r\n\x1a\n" + bytes(16))
    yield "zeros-of-10-mb.csv.gz", gzip(bytes(10 * MB), packed=zeros(10 * MB))
    yield "table-then-zeros-of-10-mb.csv.gz", whole + gzip(bytes(10 * MB), packed=zeros(10 * MB))
    yield "short-row.csv.gz", gzip(b"1,2\n3\n")
    yield "claims-4-gb.idx.gz", gzip(idx(U1, (65535, 65535), bytes(10)))
    yield "claims-beyond-64-bits.idx.gz", gzip(idx(F8, (2**32 - 1,) * 3, bytes(16)))
    yield "bytes-behind.idx.gz", gzip(idx(U1, (2, 3), bytes(7)))
    yield "values-missing.idx.gz", gzip(idx(U1, (2, 3), bytes(5)))
    yield "zeros-behind.idx.gz", gzip(idx(U1, (2, 3), bytes(6))) + gzip(bytes(10 * MB), packed=zeros(10 * MB))
    images = gzip(idx(U1, (100, 10), bytes(range(100)) * 10))
    yield "cut-in-first-values.idx.gz", images[:400]
    yield "cut-in-values.idx.gz", images[:800]
    yield "checksum-late.idx.gz", images[:-8] + bytes(8)
    yield "values-missing.npy.gz", gzip(f8("(2, 2)", 1, 2, 3))
    yield "claims-32-gb.npy.gz", gzip(f8("(65536, 65536)"))
    yield "bytes-behind.npy.gz", gzip(array("|u1", "(2, 3)", bytes(7)))
    yield "index-huge.libsvm.gz", gzip(b"1 1:2 999999999999:3\n")
