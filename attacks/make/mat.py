"""Malformed MATLAB files of version 5."""

import struct
import zlib

DOUBLE, UINT8, CHAR, CELL, STRUCT, SPARSE = 6, 9, 4, 1, 2, 5
SIX = struct.pack("<6d", 1, 2, 3, 4, 5, 6)


def header(text=b"MATLAB 5.0 MAT-file", end=b"\x00\x01IM"):
    return text.ljust(124) + end


def tag(kind, size):
    return struct.pack("<II", kind, size)


def element(kind, data, size=None):
    """An element; `size` is what its tag says where that is a lie."""
    return tag(kind, len(data) if size is None else size) + data + bytes(-len(data) % 8)


def head(name=b"X", shape=(2, 3), flags=DOUBLE):
    return (
        element(6, struct.pack("<II", flags, 0))
        + element(5, struct.pack(f"<{len(shape)}i", *shape))
        + element(1, name)
    )


def array(name=b"X", shape=(2, 3), flags=DOUBLE, kind=9, values=SIX):
    return element(14, head(name, shape, flags) + element(kind, values))


def packed(data):
    stream = zlib.compress(data, 9)
    return tag(15, len(stream)) + stream


def sparse(rows, starts, shape=(2, 3), values=3):
    places = element(5, struct.pack(f"<{len(rows)}I", *rows)) + element(5, struct.pack(f"<{len(starts)}I", *starts))
    return element(14, head(b"fea", shape, SPARSE) + places + element(9, SIX[: 8 * values]))


def with_labels(kind, values, shape, flags=DOUBLE):
    return header() + array() + array(b"y", shape, flags, kind, values)


def damaged_stream():
    whole = bytearray(packed(array()))
    whole[20] ^= 0xFF
    return bytes(whole)


def structure():
    """The header, tags and sizes."""
    whole = header() + array()
    yield "header_cut.mat", whole[:100]
    yield "header_alone.mat", header()
    yield "header_version_2.mat", header(end=b"\x00\x02IM") + array()
    yield "header_no_byte_order.mat", header(end=b"\x00\x01XX") + array()
    yield "header_other_byte_order.mat", header(end=b"\x01\x00MI") + array()
    yield "header_hdf5_missing.mat", header(b"MATLAB 7.3 MAT-file", b"\x00\x02IM") + bytes(384)
    yield "tag_cut.mat", whole[:133]
    yield "values_cut.mat", whole[:-8]
    yield "element_claims_4_gb.mat", header() + tag(14, 0xFFFFFFFF) + head() + element(9, SIX)
    yield "values_claim_4_gb.mat", header() + element(14, head() + element(9, SIX, 0xFFFFFFF8))
    yield "name_longer_than_element.mat", header() + element(14, head()[:32] + tag(1, 5000) + b"X" * 8)
    yield "name_of_2000_bytes.mat", header() + array(b"X" * 2000)
    yield "short_tag_of_9_bytes.mat", header() + element(14, head()[:32] + struct.pack("<HH", 1, 9) + b"X" * 12)
    yield "element_of_unknown_type.mat", header() + element(99, bytes(16))
    yield "element_empty.mat", header() + tag(14, 0)
    yield "flags_missing.mat", header() + element(14, head()[16:] + element(9, SIX))
    yield "flags_of_4_bytes.mat", header() + element(14, element(6, bytes(4)) + head()[16:] + element(9, SIX))
    yield "data_after_the_end.mat", whole + b"some text that is no element"
    yield "array_twice.mat", whole + array()


def sizes():
    """Dimensions and values."""
    yield "axes_negative.mat", header() + array(shape=(2, -3))
    yield "axes_overflow.mat", header() + array(shape=(0x7FFFFFFF,) * 4)
    yield "axes_one.mat", header() + array(shape=(6,))
    yield "axes_four.mat", header() + array(shape=(2, 2, 2, 2), kind=2, values=bytes(16))
    yield "axes_zero.mat", header() + array(shape=(0, 3), values=b"")
    yield "axes_third_zero.mat", header() + array(shape=(2, 3, 0), values=b"")
    yield "axes_of_5_bytes.mat", header() + element(14, head()[:16] + element(5, bytes(5)) + head()[32:])
    yield "values_too_few.mat", header() + array(shape=(2, 4))
    yield "values_too_many.mat", header() + array(shape=(2, 2))
    yield "values_missing.mat", header() + element(14, head())
    yield "values_of_unknown_type.mat", header() + array(kind=77)
    yield "values_wider_than_class.mat", header() + array(flags=UINT8)
    yield "values_nan.mat", header() + array(values=SIX[:40] + struct.pack("<d", float("nan")))
    yield "values_infinite_in_column_samples.mat", header() + array(b"DAT", values=SIX[:40] + struct.pack("<d", -1e999))
    yield "values_beyond_2_53.mat", header() + array(flags=14, kind=12, values=struct.pack("<6q", *range(5), 2**60))


def packing():
    """Packed elements."""
    claim = element(14, head() + tag(9, 0xFFFFFFF8) + SIX, 0xFFFFFFF0)
    yield "packed_damaged.mat", header() + damaged_stream()
    yield "packed_no_zlib.mat", header() + element(15, b"no zlib stream at all   ")
    yield "packed_cut.mat", (header() + packed(array()))[:-10]
    yield "packed_claims_more_than_file.mat", header() + tag(15, 0xFFFFFFFF) + packed(array())[8:]
    yield "packed_in_packed.mat", header() + packed(packed(array()))
    yield "packed_empty.mat", header() + packed(b"")
    yield "packed_bomb_after_array.mat", header() + packed(array() + bytes(10_000_000))
    yield "packed_bomb_in_values.mat", header() + packed(array(values=bytes(10_000_000)))
    yield "packed_bomb_in_name.mat", header() + packed(array(b"X" * 10_000_000))
    yield "packed_bomb_in_flags.mat", header() + packed(element(14, element(6, bytes(10_000_000))))
    yield "packed_claims_4_gb.mat", header() + packed(claim)
    large = head(shape=(0x7FFF, 0x3FFF)) + tag(9, 8 * 0x7FFF * 0x3FFF) + SIX
    yield "packed_claims_4_gb_of_values.mat", header() + packed(tag(14, 0xFFFFFFF0) + large)


def contents():
    """What is whole, but holds no samples, or not clearly."""
    text = b"a b c ".ljust(6)
    yield "text_as_samples.mat", header() + array(b"DAT", flags=CHAR, kind=16, values=text)
    yield "text_only.mat", header() + array(b"title", (1, 6), CHAR, 16, text)
    yield "complex.mat", header() + element(14, head(flags=DOUBLE | 0x800) + element(9, SIX) * 2)
    yield "struct.mat", header() + array(b"data", (1, 1), STRUCT)
    yield "two_matrices.mat", header() + array(b"train") + array(b"test")
    yield "two_usual_names.mat", header() + array(b"X") + array(b"fea")
    yield "vectors_only.mat", header() + array(b"a", (1, 6)) + array(b"b", (6, 1))
    yield "name_with_escapes.mat", header() + array(b"\x1b[31m\nX", (1, 6))
    yield "classes_too_many.mat", with_labels(9, SIX[:40], (5, 1))
    yield "classes_with_fractions.mat", with_labels(9, struct.pack("<2d", 0.5, 1), (2, 1))
    yield "classes_nan.mat", with_labels(9, struct.pack("<2d", float("nan"), 1), (2, 1))
    yield "classes_text_too_short.mat", with_labels(16, b"abc", (2, 3), CHAR)
    cells = head(b"y", (1, 2), CELL) + array(b"", (1, 1), values=SIX[:8]) * 2
    yield "classes_in_cells_of_numbers.mat", header() + array() + element(14, cells)
    cells = head(b"y", (0x7FFFFFFF, 1), CELL) + array(b"", (1, 1), CHAR, 16, b"a")
    yield "classes_in_cells_that_are_not_there.mat", header() + array() + element(14, cells)
    yield "sparse_starts_fall.mat", header() + sparse([1, 0, 1], [0, 2, 1, 3])
    yield "sparse_row_outside.mat", header() + sparse([1, 0, 7], [0, 1, 1, 3])
    yield "sparse_rows_too_few.mat", header() + sparse([1], [0, 1, 1, 3])
    yield "sparse_values_too_few.mat", header() + sparse([1, 0, 1], [0, 1, 1, 3], values=2)
    yield "sparse_place_twice.mat", header() + sparse([1, 1, 1], [0, 2, 2, 3])
    yield "sparse_starts_too_few.mat", header() + sparse([1, 0, 1], [0, 3], (2, 0x7FFFFFFF))
    yield "sparse_empty_samples.mat", header() + sparse([1, 0, 1], [0, 1, 1, 3], (0x7FFFFFFF, 3))


def files():
    for part in (structure, sizes, packing, contents):
        yield from part()
