"""What is neither text in UTF-8 nor a format that is read: other encodings, other formats, noise."""

import hashlib
import struct

from make.espan import VALID


def files():
    text = "width,height\n1.5,2\n3,4\n"
    yield "utf-16-little.csv", b"\xff\xfe" + text.encode("utf-16-le")
    yield "utf-16-big.csv", b"\xfe\xff" + text.encode("utf-16-be")
    yield "utf-16-no-mark.csv", text.encode("utf-16-le")
    yield "latin-1.csv", "größe,breite\n1,2\n".encode("latin-1")
    yield "latin-1-late.csv", b"width,height\n" + b"1,2\n" * 40 + "3,4 Å\n".encode("latin-1")
    yield "zero-byte.csv", b"1,2\n3,\x00\n"
    yield "no-utf-8.csv", b"1,2\n3,\xff\n"
    yield "cut-letter.csv", "1,2\n3,ö".encode()[:-1]
    yield "npy-magic-cut", b"\x93NUM"
    yield "png", b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 1, 1, 8, 0, 0, 0, 0)
    yield "jpeg", b"\xff\xd8\xff\xe0\x00\x10JFIF\x00"
    yield "bmp", b"BM" + struct.pack("<IHHI", 58, 0, 0, 54)
    yield "pgm", b"P5 2 2 255\n\x00\x01\x02\x03"
    yield "gif", b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"
    yield "pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
    yield "espan-as-data", VALID
    yield "hdf5", b"\x89HDF\r\n\x1a\n" + bytes(16)
    yield "hdf5-behind-512-bytes", b"MATLAB 7.3 MAT-file".ljust(512, b" ") + b"\x89HDF\r\n\x1a\n" + bytes(16)
    yield "feather-1", b"FEA1" + bytes(8) + b"FEA1"
    yield "zstandard", b"\x28\xb5\x2f\xfd\x04\x00" + b"1,2\n"
    yield "xz", b"\xfd7zXZ\x00\x00\x04"
    yield "bzip2", b"BZh91AY&SY\x8b\x0e"
    yield "sqlite", b"SQLite format 3\x00" + bytes(16)
    yield "pickle", b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00]\x94(K\x01K\x02e."
    yield "one-byte", b"\x80"
    yield "one-zero-byte", b"\x00"
    yield "noise", b"".join(hashlib.sha256(bytes([part])).digest() for part in range(32))
