"""Summary files: safetensors like a model, around the bytes of one or two summaries, each with a checksum of its own."""

import copy
import math
import struct

from make.espan import compact, framed, signed

ROWS = [[0.6, 0.8], [1.0, 0.0], [0.0, 1.0]]
SETTINGS = {
    "format": 1,
    "checksum": "0" * 64,
    "params": {
        "lambda": {"rule": "auto"},
        "dim": "auto",
        "rank_rule": "theorem",
        "normalize": "unit",
        "center": False,
        "weights": "hard",
        "strict": False,
    },
    "number_type": "f64",
    "zeros": 0,
    "zero_rows": [],
    "image": None,
    "parts": [{"data": "a.npy", "rows": 3, "sha256": "0f" * 32}],
}


def words(values: list) -> bytes:
    return b"".join(struct.pack("<d" if isinstance(value, float) else "<Q", value) for value in values)


def summary(features: int = 2, rows: int = 0, tail: list | None = None, form: int = 0, bounds=None, square=None) -> bytes:
    """The bytes of a summary of rows that wait for a block to be full, with the checksum that fits."""
    tail = [value for row in ROWS for value in row] if tail is None else tail
    height = len(tail) // max(features, 1) if features < 1 << 32 else 0
    body = b"eigen\xce\xa3\x01" + bytes([form, 0, 0, 0, 0, 0, 0, 0])
    body += words([features, rows, height])
    body += words([5.551115123125783e-16, 0.0, 0.0, 0.0] if bounds is None else bounds)
    body += words([0.0] * 3 if square is None else square) + words(tail)
    sum_ = 0xCBF29CE484222325
    for (word,) in struct.iter_unpack("<Q", body):
        sum_ = (sum_ ^ word) * 0x100000001B3 % (1 << 64)
    return body + struct.pack("<Q", sum_)


TENSORS = {
    "first": ("F64", words([0.6, 0.8])),
    "lengths": ("F64", words([1.0, 1.0])),
    "prepared": ("U8", summary()),
    "unscaled": ("U8", summary(bounds=[0.0] * 4)),
    "varies": ("U8", b"\1\1"),
}


def sealed(change=lambda settings, tensors: None, key: str = "eigenspan-summary") -> bytes:
    """A summary file with the right checksum whose contents were changed."""
    settings, tensors = copy.deepcopy(SETTINGS), dict(TENSORS)
    change(settings, tensors)
    header: dict = {"__metadata__": {key: compact(settings)}}
    content = b""
    for name, (kind, values) in tensors.items():
        size = 8 if kind == "F64" else 1
        place = [len(content), len(content) + len(values)]
        header[name] = {"dtype": kind, "shape": [len(values) // size], "data_offsets": place}
        content += values
    return signed(framed(compact(header).encode(), content))


def setting(name: str, value: object):
    return sealed(lambda settings, tensors: settings.update({name: value}))


def tensor(name: str, kind: str | None = None, values: bytes = b"") -> bytes:
    def change(settings: dict, tensors: dict) -> None:
        tensors.pop(name, None)
        if kind is not None:
            tensors[name] = (kind, values)

    return sealed(change)


def files():
    valid = sealed()
    at = valid.index(b"eigen\xce\xa3\x01")
    yield "empty.essum", b""
    yield "cut-in-header.essum", valid[:200]
    yield "cut-in-values.essum", valid[:-9]
    yield "bit-in-summary.essum", valid[: at + 90] + bytes([valid[at + 90] ^ 1]) + valid[at + 91 :]
    yield "model.essum", sealed(key="eigenspan")
    yield "checkpoint.essum", sealed(key="eigenspan-checkpoint")
    yield "other-safetensors.essum", sealed(key="somebody")
    yield "format-3.essum", setting("format", 3)
    yield "field-unknown.essum", setting("surprise", 1)
    yield "rule-unknown.essum", setting("params", SETTINGS["params"] | {"normalize": "l3"})
    yield "zeros-beyond-rows.essum", setting("zeros", 4)
    yield "zero-row-beyond-rows.essum", sealed(lambda s, _: s.update(zeros=1, zero_rows=[3]))
    yield "image-does-not-fit.essum", setting("image", {"height": 1 << 40, "width": 1 << 40})
    yield "parts-beyond-rows.essum", setting("parts", [{"data": "a", "rows": 4, "sha256": "0f" * 32}])
    yield "parts-beyond-64-bits.essum", setting("parts", [{"data": "a", "rows": 2**64 - 1, "sha256": "0f" * 32}] * 2)
    yield "part-without-digits.essum", setting("parts", [{"data": "a", "rows": 3, "sha256": "0g" * 32}])
    yield "tensor-additional.essum", tensor("extra", "U8", b"\0")
    yield "tensor-missing-prepared.essum", tensor("prepared")
    yield "tensor-missing-unscaled.essum", tensor("unscaled")
    yield "tensor-missing-first.essum", tensor("first")
    yield "tensor-missing-varies.essum", tensor("varies")
    yield "first-nan.essum", tensor("first", "F64", words([0.6, math.nan]))
    yield "first-bytes.essum", tensor("first", "U8", b"12")
    yield "lengths-nan.essum", tensor("lengths", "F64", words([math.nan, 1.0]))
    yield "lengths-three.essum", tensor("lengths", "F64", words([1.0, 1.0, 1.0]))
    yield "lengths-infinite.essum", tensor("lengths", "F64", words([1.0, math.inf]))
    yield "varies-two.essum", tensor("varies", "U8", b"\1\2")
    yield "varies-too-long.essum", tensor("varies", "U8", b"\1\1\1")
    yield "summary-no-checksum.essum", tensor("prepared", "U8", summary()[:-8] + bytes(8))
    yield "summary-cut.essum", tensor("prepared", "U8", summary()[:-5])
    yield "summary-of-2-40-features.essum", tensor("prepared", "U8", summary(features=1 << 40))
    yield "summary-of-no-features.essum", tensor("prepared", "U8", summary(features=0))
    yield "summary-of-other-rows.essum", tensor("prepared", "U8", summary(tail=[0.6, 0.8]))
    yield "summary-form-unknown.essum", tensor("prepared", "U8", summary(form=7))
    yield "summary-forms-differ.essum", tensor("prepared", "U8", summary(form=1))
    yield "summary-value-nan.essum", tensor("prepared", "U8", summary(tail=[0.6, math.nan, 1.0, 0.0, 0.0, 1.0]))
    yield "summary-bound-negative.essum", tensor("prepared", "U8", summary(bounds=[0.0, -1.0, 0.0, 0.0]))
    yield "summary-not-of-rows.essum", tensor("prepared", "U8", summary(rows=3, square=[1.0, 5.0, 1.0]))
    yield "summary-squares-of-no-rows.essum", tensor("prepared", "U8", summary(square=[1.0, 0.0, 1.0]))
