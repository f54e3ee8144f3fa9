"""NPY: magic, version, length of the header, a header that is a Python dict in text, values."""

import struct

from make._patch import patched


def npy(header: str, values: bytes = b"") -> bytes:
    """An array of version 1.0 with this header."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values


def array(descr: str, shape: str, values: bytes = b"") -> bytes:
    """An array in C order."""
    return npy(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}", values)


def f8(shape: str, *values: float) -> bytes:
    return array("<f8", shape, struct.pack(f"<{len(values)}d", *values))


def headers():
    two = struct.pack("<2d", 1, 2)
    whole = f8("(1, 2)", 1, 2)
    start = "{'descr': '<f8', 'fortran_order': False, 'shape': "
    yield "cut-in-version", whole[:6]
    yield "cut-in-version-2", whole[:7]
    yield "cut-in-header-length", whole[:9]
    yield "cut-in-header", whole[:30]
    yield "version-4.0", b"\x93NUMPY\x04\x00" + whole[8:]
    yield "version-1.1", b"\x93NUMPY\x01\x01" + whole[8:]
    yield "header-of-4-gb", b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + whole[10:]
    yield "header-empty", npy("", two)
    yield "header-list", npy("[1, 2]", two)
    yield "header-no-colon", npy("{'descr' '<f8'}", two)
    yield "header-open-quote", npy("{'descr: '<f8'}", two)
    yield "header-type-without-quotes", npy("{'descr': <f8}", two)
    yield "header-order-number", npy("{'descr': '<f8', 'fortran_order': 0, 'shape': (1, 2)}", two)
    yield "header-shape-list", npy(start + "[1, 2]}", two)
    yield "header-length-negative", npy(start + "(1, -2)}", two)
    yield "header-shape-no-comma", npy(start + "(1 2)}", two)
    yield "header-length-beyond-64-bits", npy(start + "(99999999999999999999, 2)}", two)
    yield "header-open-brace", npy(start + "(1, 2)", two)
    yield "header-code-behind", npy(start + "(1, 2)} + exit()", two)
    yield "header-no-shape", npy("{'descr': '<f8', 'fortran_order': False}", two)
    yield "header-no-type", npy("{'fortran_order': False, 'shape': (1, 2)}", two)
    yield "header-key-twice", npy("{'descr': '<f8', 'descr': '<f8'}", two)
    yield "header-key-unknown", npy("{'descr': '<f8', 'version': 1}", two)


def items():
    def of(descr: str) -> bytes:
        return array(descr, "(1, 2)", bytes(16))

    yield "type-pickled-objects", of("|O")
    yield "type-complex", of("<c16")
    yield "type-text", of("<U2")
    yield "type-byte-text", of("|S8")
    yield "type-void", of("|V8")
    yield "type-dates", of("<M8[ns]")
    yield "type-long-double", of("<f16")
    yield "type-without-byte-order", of("f8")
    yield "type-byte-order-unknown", of("|f8")
    yield "type-empty", of("")
    yield "type-records", npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", bytes(16))


def shapes_and_values():
    nan = f8("(2, 2)", 1, 2, float("nan"), 4)
    yield "one-axis", f8("(2,)", 1, 2)
    yield "no-axis", f8("()", 1)
    yield "four-axes", f8("(1, 1, 1, 2)", 1, 2)
    yield "five-axes", f8("(1, 1, 1, 1, 1)", 1)
    yield "no-samples", f8("(0, 3)")
    yield "no-features", f8("(3, 0)")
    yield "values-cut", f8("(2, 2)", 1, 2, 3)
    yield "values-too-many", f8("(1, 2)", 1, 2, 3)
    yield "claims-32-gb", f8("(65536, 65536)")
    yield "claims-beyond-64-bits", f8("(4294967296, 4294967296)")
    yield "nan", nan
    yield "nan-fortran-order", patched(nan, b"False", b"True ")
    yield "infinity-f4", array(">f4", "(1, 2)", struct.pack(">2f", 1, float("-inf")))
    yield "infinity-f2", array("<f2", "(1, 1)", b"\x00\x7c")
    yield "integer-beyond-2-53", array("<i8", "(1, 2)", struct.pack("<2q", 0, 2**53 + 1))
    yield "integer-beyond-2-53-unsigned", array(">u8", "(2, 1)", struct.pack(">2Q", 0, 2**64 - 1))
    yield "bool-two", array("|b1", "(1, 3)", b"\x00\x01\x02")
    yield "asked-for-labels", f8("(1, 2)", 1, 2)


def files():
    for part in (headers(), items(), shapes_and_values()):
        yield from ((f"{name}.npy", content) for name, content in part)
