"""Calibrations of estimators of the dimension: JSON with a version, balls and fits."""

import copy
import json

# The shape of what `dimension --calibration a.json --method mind-kl --neighbours 3 --max-dim 2` writes of nine samples.
VALID = {
    "eigenspan_calibration": 1,
    "known": {
        "balls": [
            {
                "n": 9,
                "k": 3,
                "d": 1,
                "seed": 0,
                "seen": {"dimension": 1.5, "error": 0.31, "direction": 3.14, "concentration": 29.6},
                "ratios": [0.18, 0.21, 0.27, 0.3, 0.32, 0.37, 0.39, 0.41, 0.46],
            },
            {
                "n": 9,
                "k": 3,
                "d": 2,
                "seed": 0,
                "seen": {"dimension": 1.47, "error": 0.31, "direction": 1.27, "concentration": 1.97},
                "ratios": [0.09, 0.1, 0.23, 0.28, 0.29, 0.4, 0.41, 0.67, 0.73],
            },
        ],
        "fits": [],
    },
}


def text(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def changed(change) -> bytes:
    value = copy.deepcopy(VALID)
    change(value)
    return text(value)


def ball(**about: object) -> bytes:
    """One ball alone, changed."""

    def change(value: dict) -> None:
        value["known"]["balls"][1:] = []
        value["known"]["balls"][0].update(about)

    return changed(change)


def seen(**about: object) -> bytes:
    return changed(lambda value: value["known"]["balls"][0]["seen"].update(about))


def ratio(at: int, number: float) -> bytes:
    return changed(lambda value: value["known"]["balls"][0]["ratios"].__setitem__(at, number))


def not_a_calibration():
    yield "empty", b""
    yield "cut-in-the-middle", text(VALID)[:200]
    yield "cut-by-one-byte", text(VALID)[:-1]
    yield "text-behind", text(VALID) + b"{}"
    yield "no-json", b"n,k,d\n9,3,1\n"
    yield "no-utf-8", text(VALID).replace(b"fits", b"f\xffts")
    yield "deep-json", b'{"eigenspan_calibration":1,"known":' + b"[" * 5000
    yield "list", text([1, 2])
    yield "other-json", text({"name": "eigenspan"})
    yield "field-unknown", changed(lambda value: value.update({"surprise": 1}))
    yield "field-twice", text(VALID)[:-1] + b',"eigenspan_calibration":1}'
    yield "version-0", changed(lambda value: value.update({"eigenspan_calibration": 0}))
    yield "version-2", changed(lambda value: value.update({"eigenspan_calibration": 2}))
    yield "version-negative", changed(lambda value: value.update({"eigenspan_calibration": -1}))


def contradictions():
    yield "balls-not-in-order", changed(lambda value: value["known"]["balls"].reverse())
    yield "ball-twice", changed(lambda value: value["known"]["balls"][0].update(d=2))
    yield "ball-field-missing", changed(lambda value: value["known"]["balls"][0].pop("seed"))
    yield "ball-without-neighbours", ball(k=0)
    yield "ball-of-too-few-points", ball(k=8)
    yield "ball-of-no-dimension", ball(d=0)
    yield "ball-of-2-60-points", ball(n=2**60)
    yield "points-negative", ball(n=-9)
    yield "neighbours-beyond-64-bits", ball(k=2**64)
    yield "neighbours-at-the-end-of-64-bits", ball(k=2**64 - 1, n=2**64 - 1)
    yield "dimension-0", seen(dimension=0.0)
    yield "dimension-no-number", seen(dimension=None)
    yield "error-negative", seen(error=-0.1)
    yield "concentration-negative", seen(concentration=-1.0)
    yield "ratio-above-1", ratio(8, 1.5)
    yield "ratio-0", ratio(0, 0.0)
    yield "ratios-fall", ratio(0, 0.3)
    yield "ratio-beyond-floats", text(VALID).replace(b"0.46", b"1e999")
    yield "ratios-too-few", changed(lambda value: value["known"]["balls"][0]["ratios"].pop())
    yield "fit-of-nothing", changed(lambda value: value["known"]["fits"].append({}))


def files():
    for part in (not_a_calibration(), contradictions()):
        yield from ((f"{name}.json", content) for name, content in part)
