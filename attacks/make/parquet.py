"""Parquet files, malformed. The base files were written by pyarrow 26, without statistics and Arrow schema."""

import base64
import struct

BASE = {
    "plain": (
        "UEFSMRUAFUwVTCwVCBUAFQYVBhwAAAACAAAACAEAAAAAAADgPwAAAAAAAPg/AAAAAAAABEAAAAAAAAAMQBUAFUwVTCwVCBUAFQYVBhwAAAAC"
        "AAAACAEBAAAAAAAAAAIAAAAAAAAAAwAAAAAAAAAEAAAAAAAAABUAFUQVRCwVCBUAFQYVBhwAAAACAAAACAEDAAAAb2FrAwAAAGVsbQMAAABv"
        "YWsDAAAAYXNoFQQZTDUAGAZzY2hlbWEVBgAVCiUCGAV3aWR0aAAVBCUCGAZoZWlnaHQAFQwlAhgFbGFiZWwlAEwcAAAAFggZHBk8JgAcFQoZ"
        "JQYAGRgFd2lkdGgVABYIFnIWciYISRwVABUAFQIAPCkGGSYACAAAACYAHBUEGSUGABkYBmhlaWdodBUAFggWchZyJnpJHBUAFQAVAgA8KQYZ"
        "JgAIAAAAJgAcFQwZJQYAGRgFbGFiZWwVABYIFmoWaibsAUkcFQAVABUCADwWGBkGGSYACAAAABbOAhYIJggWzgIAKCBwYXJxdWV0LWNwcC1h"
        "cnJvdyB2ZXJzaW9uIDI2LjAuMRk8HAAAHAAAHAAAAAkBAABQQVIx"
    ),
    "snappy": (
        "UEFSMRUAFY4ZFeIBLBWQAxUAFQYVBhwAAADHDBwDAAAAkAMBADIBAATwPw0PAEAJCAAIDQgAEA0IABQNCAAYDQgRAf44AP44AP44AP44AP44"
        "AP44AP44AP44AP44AP44AP44AP44AP44AP44AP44AP44AP44AP44AP44AP44AP44AP44AP44AOY4ABUAFY4ZFboBLBWQAxUAFQYVBhwAAADH"
        "DBwDAAAAkAMBAAUBBNA/BQf+CAD+CAD+CAD+CAD+CAD+CAD+CAD+CAD+CAD+CAD+CAD+CAD+CAD+CAD+CAD+CAD+CAD+CAD+CAD+CAD+CAD+"
        "CAD+CAD+CADKCAAVBBk8NQAYBnNjaGVtYRUEABUKJQIYAWEAFQolAhgBYgAWkAMZHBksJgAcFQoZJQYAGRgBYRUCFpADFroZFo4CJghJHBUA"
        "FQAVAgA8KQYZJgCQAwAAACYAHBUKGSUGABkYAWIVAhaQAxa6GRbmASaWAkkcFQAVABUCADwpBhkmAJADAAAAFvQyFpADJggW9AMAKCBwYXJx"
        "dWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI2LjAuMRksHAAAHAAAALwAAABQQVIx"
    ),
    "zstd": (
        "UEFSMRUAFY4ZFWQsFZADFQAVBhUGHAAAACi1L/1gRwVFAQCIAwAAAJADAQDwPwBAAAgQFBgJAPdt9QE8AO6AY8DJirtAYDCMA3ABFQAVjhkV"
        "QCwVkAMVABUGFQYcAAAAKLUv/WBHBbUAAFgDAAAAkAMBANA/AAMAL658AGRcgAsVBBk8NQAYBnNjaGVtYRUEABUKJQIYAWEAFQolAhgBYgAW"
        "kAMZHBksJgAcFQoZJQYAGRgBYRUMFpADFrgZFo4BJghJHBUAFQAVAgA8KQYZJgCQAwAAACYAHBUKGSUGABkYAWIVDBaQAxa4GRZqJpYBSRwV"
        "ABUAFQIAPCkGGSYAkAMAAAAW8DIWkAMmCBb4AQAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGSwcAAAcAAAAuwAAAFBBUjE="
    ),
    "gzip": (
        "UEFSMRUAFY4ZFXYsFZADFQAVBhUGHAAAAB+LCAAAAAAAAgNjZmBgmMDMyIACPthDGQ4QigNKC0BpESgt4TCqb1TfqL5RfaP6RrY+AA2NVlZH"
        "BgAAFQAVjhkVWCwVkAMVABUGFQYcAAAAH4sIAAAAAAACA2NmYGCYwMzIAAYX7EfpUXqUHqVH6VGaFBoA9dTceEcGAAAVBBk8NQAYBnNjaGVt"
        "YRUEABUKJQIYAWEAFQolAhgBYgAWkAMZHBksJgAcFQoZJQYAGRgBYRUEFpADFrgZFqABJghJHBUAFQAVAgA8KQYZJgCQAwAAACYAHBUKGSUG"
        "ABkYAWIVBBaQAxa4GRaCASaoAUkcFQAVABUCADwpBhkmAJADAAAAFvAyFpADJggWogIAKCBwYXJxdWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI2"
        "LjAuMRksHAAAHAAAALwAAABQQVIx"
    ),
    "brotli": (
        "UEFSMRUEFUAVOEwVCBUAEgAAGx8AAAQ24IZx9BPCBYeJHFAWqGXfC5GSr+eaBRUAFRQVHCwVCBUQFQYVBhwAAACLBIACAAAACAECA+QAAxUE"
        "FUAVIEwVCBUAEgAAGx8AAATucDbQCCWFSIu6ORUAFRQVHCwVCBUQFQYVBhwAAACLBIACAAAACAECA+QAAxUEFSoVMkwVBhUAEgAACwqAAwAA"
        "AG9hawMAAABlbG0DAAAAYXNoAxUAFRQVHCwVCBUQFQYVBhwAAACLBIACAAAACAECA4QAAxUEGUw1ABgGc2NoZW1hFQYAFQolAhgFd2lkdGgA"
        "FQQlAhgGaGVpZ2h0ABUMJQIYBWxhYmVsJQBMHAAAABYIGRwZPCYAHBUKGTUABhAZGAV3aWR0aBUIFggWlgEWlgEmXCYIKSwVBBUAFQIAFQAV"
        "EBUCADwpBhkmAAgAAAAmABwVBBk1AAYQGRgGaGVpZ2h0FQgWCBaWARZ+JtoBJp4BKSwVBBUAFQIAFQAVEBUCADwpBhkmAAgAAAAmABwVDBk1"
        "AAYQGRgFbGFiZWwVCBYIFoABFpABJuoCJpwCKSwVBBUAFQIAFQAVEBUCADwWGBkGGSYACAAAABasAxYIJggWpAMAKCBwYXJxdWV0LWNwcC1h"
        "cnJvdyB2ZXJzaW9uIDI2LjAuMRk8HAAAHAAAHAAAAC8BAABQQVIx"
    ),
    "null": (
        "UEFSMRUEFSAVJEwVBBUAEgAAEDwAAAAAAADwPwAAAAAAAAhAFQAVEhUWLBUGFRAVBhUGHAAAAAkgAgAAAAMFAQMCFQQZLDUAGAZzY2hlbWEV"
        "AgAVCiUCGAFhABYGGRwZHCYAHBUKGTUABhAZGAFhFQIWBhZ0FnwmSCYIKSwVBBUAFQIAFQAVEBUCADwpBhkmAgQAAAAWdBYGJggWfAAoIHBh"
        "cnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGRwcAAAAhAAAAFBBUjE="
    ),
    "nan": (
        "UEFSMRUEFSAVJEwVBBUAEgAAEDwAAAAAAADwPwAAAAAAAABAFQAVEhUWLBUEFRAVBhUGHAAAAAkgAgAAAAQBAQMCFQQVIBUkTBUEFQASAAAQ"
        "PAAAAAAAAAAAAAAAAAAA+H8VABUSFRYsFQQVEBUGFQYcAAAACSACAAAABAEBAwIVBBk8NQAYBnNjaGVtYRUEABUKJQIYAWEAFQolAhgBYgAW"
        "BBkcGSwmABwVChk1AAYQGRgBYRUCFgQWdBZ8JkgmCCksFQQVABUCABUAFRAVAgA8KQYZJgAEAAAAJgAcFQoZNQAGEBkYAWIVAhYEFnQWfCbE"
        "ASaEASksFQQVABUCABUAFRAVAgA8KQYZJgAEAAAAFugBFgQmCBb4AQAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGSwcAAAc"
        "AAAAxwAAAFBBUjE="
    ),
    "text": (
        "UEFSMRUEFSAVJEwVBBUAEgAAEDwAAAAAAADwPwAAAAAAAABAFQAVEhUWLBUEFRAVBhUGHAAAAAkgAgAAAAQBAQMCFQQVIBUkTBUEFQASAAAQ"
        "PAQAAABSb21lBAAAAE9zbG8VABUSFRYsFQQVEBUGFQYcAAAACSACAAAABAEBAwIVBBk8NQAYBnNjaGVtYRUEABUKJQIYAWEAFQwlAhgEY2l0"
        "eSUATBwAAAAWBBkcGSwmABwVChk1AAYQGRgBYRUCFgQWdBZ8JkgmCCksFQQVABUCABUAFRAVAgA8KQYZJgAEAAAAJgAcFQwZNQAGEBkYBGNp"
        "dHkVAhYEFnQWfCbEASaEASksFQQVABUCABUAFRAVAgA8FhAZBhkmAAQAAAAW6AEWBCYIFvgBACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lv"
        "biAyNi4wLjEZLBwAABwAAADVAAAAUEFSMQ=="
    ),
    "date": (
        "UEFSMRUEFRAVFEwVAhUAEgAACBwAAAAAAADwPxUAFRIVFiwVAhUQFQYVBhwAAAAJIAIAAAACAQECABUEFQgVDEwVAhUAEgAABAxWRwAAFQAV"
        "EhUWLBUCFRAVBhUGHAAAAAkgAgAAAAIBAQIAFQQZPDUAGAZzY2hlbWEVBAAVCiUCGAFhABUCJQIYA2RheSUMTGwAAAAWAhkcGSwmABwVChk1"
        "AAYQGRgBYRUCFgIWZBZsJjgmCCksFQQVABUCABUAFRAVAgA8KQYZJgACAAAAJgAcFQIZNQAGEBkYA2RheRUCFgIWXBZkJpwBJnQpLBUEFQAV"
        "AgAVABUQFQIAPCkGGSYAAgAAABbAARYCJggW0AEAKCBwYXJxdWV0LWNwcC1hcnJvdyB2ZXJzaW9uIDI2LjAuMRksHAAAHAAAANAAAABQQVIx"
    ),
    "decimal": (
        "UEFSMRUEFQYVCkwVAhUAEgAAAwgAAGQVABUSFRYsFQIVEBUGFQYcAAAACSACAAAAAgEBAgAVBBksNQAYBnNjaGVtYRUCABUOFQYVAhgFcHJp"
        "Y2UlChUEFQosXBUEFQoAAAAWAhkcGRwmABwVDhk1AAYQGRgFcHJpY2UVAhYCFloWYiYuJggpLBUEFQAVAgAVABUQFQIAPCkGGSYAAgAAABZa"
        "FgImCBZiACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZHBwAAACcAAAAUEFSMQ=="
    ),
    "struct": (
        "UEFSMRUEFRAVFEwVAhUAEgAACBwAAAAAAADwPxUAFRIVFiwVAhUQFQYVBhwAAAAJIAIAAAACAgECABUEFRAVFEwVAhUAEgAACBwAAAAAAAAA"
        "QBUAFRIVFiwVAhUQFQYVBhwAAAAJIAIAAAACAgECABUEGUw1ABgGc2NoZW1hFQIANQIYAXAVBAAVCiUCGAF4ABUKJQIYAXkAFgIZHBksJgAc"
        "FQoZNQAGEBkoAXABeBUCFgIWZBZsJjgmCCksFQQVABUCABUAFRAVAgA8KQYZNgAAAgAAACYAHBUKGTUABhAZKAFwAXkVAhYCFmQWbCakASZ0"
        "KSwVBBUAFQIAFQAVEBUCADwpBhk2AAACAAAAFsgBFgImCBbYAQAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGSwcAAAcAAAA"
        "1AAAAFBBUjE="
    ),
    "lists_uneven": (
        "UEFSMRUEFTAVLEwVBhUAEgAAGAAABQEE8D8FBygAAEAAAAAAAAAIQBUAFSAVJCwVBhUQFQYVBhwAAAAQPAIAAAADAgIAAAAGAwIDJAAVBBlM"
        "NQAYBnNjaGVtYRUCADUCGAFlFQIVBkw8AAAANQQYBGxpc3QVAgAVCiUCGAdlbGVtZW50ABYEGRwZHCYAHBUKGTUABhAZOAFlBGxpc3QHZWxl"
        "bWVudBUCFgYWkgEWkgEmUCYIKSwVBBUAFQIAFQAVEBUCADwpJgQCGUYAAAAGAAAAFpIBFgQmCBaSAQAoIHBhcnF1ZXQtY3BwLWFycm93IHZl"
        "cnNpb24gMjYuMC4xGRwcAAAAuAAAAFBBUjE="
    ),
    "lists_even_sum": (
        "UEFSMRUEFWAVSEwVDBUAEgAAMAAABQEE8D8FBwwAAEAABQEACA0IABANCCQUQAAAAAAAABhAFQAVIhUmLBUMFRAVBhUGHAAAABFAAgAAAAMy"
        "AgAAAAwDAwOIxgIVBBlMNQAYBnNjaGVtYRUCADUCGAFlFQIVBkw8AAAANQQYBGxpc3QVAgAVCiUCGAdlbGVtZW50ABYGGRwZHCYAHBUKGTUA"
        "BhAZOAFlBGxpc3QHZWxlbWVudBUCFgwWxAEWsAEmbCYIKSwVBBUAFQIAFQAVEBUCADwpJgYGGUYAAAAMAAAAFsQBFgYmCBawAQAoIHBhcnF1"
        "ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGRwcAAAAuAAAAFBBUjE="
    ),
    "only_labels": (
        "UEFSMRUEFRQVGEwVBBUAEgAACiQBAAAAYQEAAABiFQAVEhUWLBUEFRAVBhUGHAAAAAkgAgAAAAQBAQMCFQQVFBUYTBUEFQASAAAKJAEAAAB4"
        "AQAAAHkVABUSFRYsFQQVEBUGFQYcAAAACSACAAAABAEBAwIVBBk8NQAYBnNjaGVtYRUEABUMJQIYAmlkJQBMHAAAABUMJQIYBWxhYmVsJQBM"
        "HAAAABYEGRwZLCYAHBUMGTUABhAZGAJpZBUCFgQWaBZwJjwmCCksFQQVABUCABUAFRAVAgA8FgQZBhkmAAQAAAAmABwVDBk1AAYQGRgFbGFi"
        "ZWwVAhYEFmgWcCasASZ4KSwVBBUAFQIAFQAVEBUCADwWBBkGGSYABAAAABbQARYEJggW4AEAKCBwYXJxdWV0LWNwcC1hcnJvdyB2ZXJzaW9u"
        "IDI2LjAuMRksHAAAHAAAAOAAAABQQVIx"
    ),
    "empty": (
        "UEFSMRUEFQAVAkwVABUAEgAAABUEGSw1ABgGc2NoZW1hFQIAFQolAhgBYQAWABkcGRwmABwVChklAAYZGAFhFQIWABYcFh4mACYIKRwVBBUA"
        "FQIAAAAWHBYAJggWHgAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGRwcAAAAdAAAAFBBUjE="
    ),
    "big_integer": (
        "UEFSMRUEFSAVJEwVBBUAEgAAEDwBAAAAAAAAAAIAAAAAACAAFQAVEhUWLBUEFRAVBhUGHAAAAAkgAgAAAAQBAQMCFQQZLDUAGAZzY2hlbWEV"
        "AgAVBCUCGAFhABYEGRwZHCYAHBUEGTUABhAZGAFhFQIWBBZ0FnwmSCYIKSwVBBUAFQIAFQAVEBUCADwpBhkmAAQAAAAWdBYEJggWfAAoIHBh"
        "cnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGRwcAAAAhAAAAFBBUjE="
    ),
    "delta": (
        "UEFSMRUAFSwVMCwVBBUAFQYVBhwAAAAWVAIAAAAEAQAAAAAAAPA/AAAAAAAAAEAVABVAFUAsFQQVDhUGFQYcAAAAICACAAAABAGAAQQBCQgA"
        "AAABCiwGAAAAAABvYWtlbG0VBBk8NQAYBnNjaGVtYRUEABUKJQIYAWEAFQwlAhgFbGFiZWwlAEwcAAAAFgQZHBksJgAcFQoZJQYAGRgBYRUC"
        "FgQWUhZWJghJHBUAFQAVAgA8KQYZJgAEAAAAJgAcFQwZJQYOGRgFbGFiZWwVAhYEFmYWZiZeSRwVABUOFQIAPBYMGQYZJgAEAAAAFrgBFgQm"
        "CBa8AQAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGSwcAAAcAAAAwQAAAFBBUjE="
    ),
}


def base(name):
    return base64.b64decode(BASE[name])


def varint(value):
    """Seven bits a byte, the lowest first."""
    out = []
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def integer(value):
    """Thrift's integers: the sign is the lowest bit."""
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def read_varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def with_footer(body, footer):
    return body + footer + struct.pack("<I", len(footer)) + b"PAR1"


def parts(data):
    length = struct.unpack("<I", data[-8:-4])[0]
    return data[: -8 - length], data[-8 - length : -8]


def in_footer(data, old, new, count=-1):
    """Changes the footer, and its length with it."""
    body, footer = parts(data)
    assert old in footer, old
    return with_footer(body, footer.replace(old, new, count))


def with_page(data, unpacked=None, packed=None):
    """Changes what the first page claims; its bytes give way, so that the column stays as long as it is."""
    _, at = read_varint(data, 5)
    real_unpacked, at = read_varint(data, at + 1)
    real_packed, end = read_varint(data, at + 1)
    assert data[4] == data[6] == 0x15
    body_at = data.index(bytes(3), end) + 3  # the ends of three structs: statistics, data page, page
    unpacked = integer(unpacked) if unpacked is not None else varint(real_unpacked)
    header = data[4:7] + unpacked + b"\x15"
    rest = data[end:body_at]
    grown = len(header) - (at - 3)
    if packed is None:
        packed = integer((real_packed >> 1) - grown)
        return data[:4] + header + packed + rest + data[body_at + grown :]
    grown += len(integer(packed)) - (end - at - 1)
    return data[:4] + header + integer(packed) + rest + data[body_at + grown :]


def schema_of_depth(depth):
    """A footer whose columns lie within each other."""
    element = b"\x48\x01a" + b"\x15\x02" + b"\x00"
    leaf = b"\x15\x0a" + b"\x25\x00" + b"\x18\x01a" + b"\x00"
    schema = b"\x19\xfc" + varint(depth + 1) + element * depth + leaf
    return b"\x15\x02" + schema + b"\x16\x00" + b"\x19\x0c" + b"\x00"


def files():
    plain, snappy, zstd = base("plain"), base("snappy"), base("zstd")
    body, footer = parts(plain)
    yield "cut_after_the_magic_bytes.parquet", plain[:4]
    yield "cut_in_the_columns.parquet", plain[:60]
    yield "cut_in_the_footer.parquet", plain[:-30]
    yield "cut_by_one_byte.parquet", plain[:-1]
    yield "no_magic_bytes_at_the_end.parquet", plain[:-4] + bytes(4)
    yield "footer_of_no_bytes.parquet", plain[:-8] + bytes(4) + b"PAR1"
    yield "footer_longer_than_the_file.parquet", plain[:-8] + struct.pack("<I", 0x7FFFFFFF) + b"PAR1"
    yield "footer_length_too_small.parquet", plain[:-8] + struct.pack("<I", len(footer) - 9) + b"PAR1"
    yield "footer_of_zeros.parquet", with_footer(body, bytes(len(footer)))
    yield "footer_encrypted.parquet", b"PARE" + plain[4:-4] + b"PARE"
    yield "columns_within_columns.parquet", with_footer(b"PAR1", schema_of_depth(1500))
    yield "list_in_footer_of_2_billion.parquet", with_footer(b"PAR1", b"\x15\x02\x19\xfc" + varint(2**31 - 1))
    yield "page_of_2_gb.parquet", with_page(base("gzip"), packed=2**31 - 1)
    yield "page_of_negative_size.parquet", with_page(base("gzip"), packed=-1)
    yield "page_claims_to_unpack_to_2_gb.parquet", with_page(zstd, unpacked=2**31 - 1)
    yield "gzip_claims_too_much.parquet", with_page(base("gzip"), unpacked=10**6)
    at = snappy.index(bytes(3), 8) + 3
    assert 1600 <= read_varint(snappy, at)[0] < 1700  # 200 doubles, and the levels
    yield "snappy_claims_something_else.parquet", snappy[:at] + varint(16000) + snappy[at + 2 :]
    at = zstd.index(b"\x28\xb5\x2f\xfd")
    yield "zstd_claims_something_else.parquet", zstd[: at + 5] + b"\xff\xff" + zstd[at + 7 :]
    yield "zstd_bytes_changed.parquet", zstd[: at + 12] + b"\xff" * 4 + zstd[at + 16 :]
    offset = b"\x26" + integer(4)
    yield "column_outside_of_the_file.parquet", in_footer(plain, offset, b"\x26" + integer(10**12), 1)
    yield "column_at_a_negative_place.parquet", in_footer(plain, offset, b"\x26" + integer(-4), 1)
    yield "column_in_the_middle_of_another.parquet", in_footer(plain, offset, b"\x26" + integer(9), 1)
    rows = b"\x16" + integer(4)
    yield "footer_says_other_rows.parquet", in_footer(plain, rows, b"\x16" + integer(2**40), 1)
    yield "rows_without_end.parquet", in_footer(plain, rows, b"\x16" + integer(2**40))
    yield "rows_below_zero.parquet", in_footer(plain, rows, b"\x16" + integer(-4))
    yield "null.parquet", base("null")
    yield "nan.parquet", base("nan")
    yield "text.parquet", base("text")
    yield "date.parquet", base("date")
    yield "decimal.parquet", base("decimal")
    yield "struct.parquet", base("struct")
    yield "lists_of_unequal_length.parquet", base("lists_uneven")
    yield "lists_of_equal_length_on_average.parquet", base("lists_even_sum")
    yield "only_labels_and_ids.parquet", base("only_labels")
    yield "no_rows.parquet", base("empty")
    yield "integer_beyond_2_to_53.parquet", base("big_integer")
    yield "packed_by_brotli.parquet", base("brotli")
    yield "stored_as_differences.parquet", base("delta")
    yield "label_not_there.parquet", plain
