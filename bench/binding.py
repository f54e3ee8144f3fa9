"""bench/native by ctypes: eigenspan itself, and the Rust peers."""

import ctypes
from ctypes import POINTER, c_char, c_double, c_size_t, c_uint32, c_void_p
from dataclasses import dataclass
from pathlib import Path

import numpy as np

KINDS = {np.dtype(np.float64): 0, np.dtype(np.float32): 1, np.dtype(np.uint8): 2}
AUTO, LAMBDA, DIMENSION = 0, 1, 2


class Ask(ctypes.Structure):
    _fields_ = (
        ("kind", c_uint32),
        ("rule", c_uint32),
        ("value", c_double),
        ("unit_rows", c_uint32),
        ("center", c_uint32),
        ("threads", c_size_t),
        ("rows", c_size_t),
        ("cols", c_size_t),
        ("data", c_void_p),
    )


class Answer(ctypes.Structure):
    _fields_ = (
        ("status", c_uint32),
        ("certified", c_uint32),
        ("cpu_seconds", c_double),
        ("wall_seconds", c_double),
        ("tau", c_double),
        ("k", c_size_t),
        ("count", c_size_t),
        ("solver", c_char * 64),
    )


@dataclass(frozen=True)
class Fit:
    """What a call gave and what it cost."""

    sigma: np.ndarray
    seconds: float
    wall: float = 0.0
    k: int = 0
    tau: float = 0.0
    certified: bool = False
    solver: str = ""


class Refused(Exception):
    """The method gave no result."""


def library() -> ctypes.CDLL:
    folder = Path(__file__).resolve().parent / "native" / "target" / "release"
    for name in ("libeigenspan_bench_native.so", "libeigenspan_bench_native.dylib", "eigenspan_bench_native.dll"):
        if (folder / name).exists():
            return declared(ctypes.CDLL(str(folder / name)))
    raise SystemExit("bench/native is not built: start by bench/run")


def declared(native: ctypes.CDLL) -> ctypes.CDLL:
    values = POINTER(c_double)
    native.es_fit.argtypes = (Ask, values, c_size_t)
    native.es_sweep.argtypes = (Ask, values, POINTER(c_size_t), c_size_t)
    for peer in (native.faer_thin_svd, native.faer_partial_svd, native.linfa_pca):
        peer.argtypes = (values, c_size_t, c_size_t, values, c_size_t)
        peer.restype = Answer
    native.es_gram.argtypes = (c_uint32, c_void_p, c_size_t, c_size_t, values)
    native.es_fit.restype = native.es_sweep.restype = native.es_gram.restype = Answer
    native.fma_peak.restype = c_double
    return native


NATIVE = library()


def pointer(x: np.ndarray) -> "ctypes._Pointer[c_double]":
    return x.ctypes.data_as(POINTER(c_double))


def asked(x: np.ndarray, rule: int, value: float, unit: bool, center: bool, threads: int) -> Ask:
    assert x.flags.c_contiguous
    return Ask(KINDS[x.dtype], rule, value, unit, center, threads, *x.shape, x.ctypes.data)


def result(answer: Answer, sigma: np.ndarray) -> Fit:
    if answer.status:
        raise Refused
    return Fit(
        sigma=sigma[: answer.count].copy(),
        seconds=answer.cpu_seconds,
        wall=answer.wall_seconds,
        k=answer.k,
        tau=answer.tau,
        certified=bool(answer.certified),
        solver=answer.solver.decode(),
    )


def fit(x: np.ndarray, rule: int, value: float, *, unit: bool, center: bool, threads: int = 1) -> Fit:
    """eigenspan on raw samples: everything it does is billed."""
    sigma = np.zeros(min(x.shape))
    return result(NATIVE.es_fit(asked(x, rule, value, unit, center, threads), pointer(sigma), len(sigma)), sigma)


def sweep(x: np.ndarray, lambdas: np.ndarray, *, unit: bool, center: bool) -> tuple[Fit, np.ndarray]:
    """k for each λ, smallest λ first, from one fit at the largest."""
    ks = np.zeros(len(lambdas), dtype=np.uintp)
    ask = asked(x, LAMBDA, lambdas[-1], unit, center, 1)
    answer = NATIVE.es_sweep(ask, pointer(lambdas), ks.ctypes.data_as(POINTER(c_size_t)), len(ks))
    return result(answer, np.zeros(0)), ks


def gram(x: np.ndarray) -> tuple[np.ndarray, float]:
    """The Gram matrix of the small side, its lower triangle, and the seconds it took."""
    p = min(x.shape)
    square = np.zeros((p, p))
    answer = NATIVE.es_gram(KINDS[x.dtype], x.ctypes.data, *x.shape, pointer(square))
    if answer.status:
        raise Refused
    return square, answer.cpu_seconds


def peer(name: str, x: np.ndarray, count: int) -> Fit:
    """`faer_thin_svd`, `faer_partial_svd` or `linfa_pca` on prepared samples, for `count` singular values."""
    sigma = np.zeros(count)
    return result(getattr(NATIVE, name)(pointer(x), *x.shape, pointer(sigma), count), sigma)


def fma_peak() -> float:
    """Multiplies and adds each second on one core, or 0 where unknown."""
    return NATIVE.fma_peak()
