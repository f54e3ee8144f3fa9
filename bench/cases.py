"""The data of every benchmark: shapes, cuts and the reference spectrum.

Real data are `.npz` files in `../shared/data` beside the repository, or in the folder that EIGENSPAN_DATA names.
Synthetic data have singular values that fall like i^-0.9, the first four times as large, above Gaussian noise whose
largest singular value is half that of the last direction wanted.
"""

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from scipy.linalg import svdvals

import binding
from results import talk

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("EIGENSPAN_DATA", HERE.parent.parent / "shared" / "data"))
CACHE = HERE / "cache"
SEED = 7
CHUNK = 4096


@dataclass(frozen=True)
class Case:
    """What is measured: n samples of m features, and how the cut is chosen: by λ, by a wanted k, or by the data."""

    name: str
    n: int
    m: int
    quick: tuple[int, int]
    file: str = ""
    lam: float = 0.0
    k: int = 0
    unit: bool = False
    center: bool = False

    @property
    def auto(self) -> bool:
        return not self.lam and not self.k

    def shrunk(self) -> "Case":
        """A case of the same kind that takes a second."""
        n, m = self.quick
        shrink = min(n, m) / min(self.n, self.m)
        return replace(self, n=n, m=m, k=self.k and max(5, round(self.k * min(1.0, shrink))))


YALE = {"file": "exyaleb_54x48_first58.npz", "n": 1520, "m": 2592, "quick": (400, 2592), "unit": True}
USPS = {"file": "usps_11000.npz", "n": 9500, "m": 256, "quick": (2000, 256), "unit": True}
MNIST = {"file": "mnist_70000.npz", "n": 60000, "m": 784, "quick": (3000, 784), "k": 100}

CASES = [
    Case("exyaleb-5", lam=5, **YALE),
    Case("exyaleb-50", lam=50, **YALE),
    Case("exyaleb-auto", **YALE),
    Case("usps-0.05", lam=0.05, **USPS),
    Case("usps-auto", **USPS),
    Case("mnist", unit=True, **MNIST),
    Case("mnist-centred", center=True, **MNIST),
    Case("3500x2200", 3500, 2200, quick=(700, 440), k=260, center=True),
    Case("200000x512", 200_000, 512, quick=(10_000, 256), k=60, center=True),
    Case("1000000x128", 1_000_000, 128, quick=(50_000, 128), k=20, center=True),
    Case("5000x20000", 5_000, 20_000, quick=(400, 1600), k=300, center=True),
]


def chosen(names: list[str] | None, quick: bool) -> list[Case]:
    known = {case.name: case for case in CASES}
    if unknown := set(names or ()) - set(known):
        raise SystemExit(f"no case {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    cases = [known[name] for name in names or known]
    return [case.shrunk() for case in cases] if quick else cases


@dataclass
class Problem:
    """A case with its data."""

    case: Case
    raw: dict[str, np.ndarray]  # what eigenspan gets, by number type
    prepared: np.ndarray  # what peers get: unit rows or centered, as the case says
    sigma: np.ndarray  # reference spectrum of `prepared`
    sigma_centred: np.ndarray  # the same after centering: what a PCA computes
    rule: int = binding.LAMBDA
    value: float = 0.0
    tau: float = field(default=0.0)

    @property
    def k(self) -> int:
        return int((self.sigma > self.tau).sum())

    def fit(self, kind: str = "f64", threads: int = 1) -> binding.Fit:
        case = self.case
        return binding.fit(self.raw[kind], self.rule, self.value, unit=case.unit, center=case.center, threads=threads)


def rows_of(case: Case) -> np.ndarray:
    """A random training set of real images, as bytes."""
    path = DATA / case.file
    if not path.exists():
        raise FileNotFoundError(f"no {case.file} in {DATA}: set EIGENSPAN_DATA")
    with np.load(path) as data:
        images = data["X"]
        order = np.flatnonzero(data["split"] == 0) if "split" in data else np.arange(len(images))
    order = np.random.default_rng(0).permutation(order)
    return np.ascontiguousarray(images[order[: case.n]])


def synthetic(n: int, m: int, k: int, seed: int = SEED) -> np.ndarray:
    """Z diag(s) W + noise, a few thousand rows at a time; Z and W Gaussian, nearly orthonormal."""
    rng = np.random.default_rng(seed)
    r = min(n, m, 4 * k)
    s = np.arange(1.0, r + 1) ** -0.9
    s[0] *= 4
    noise = 0.5 * s[k - 1] / (np.sqrt(n) + np.sqrt(m))
    w = rng.standard_normal((r, m)) * (s / np.sqrt(n * m))[:, None]
    x = np.empty((n, m))
    for start in range(0, n, CHUNK):
        part = x[start : start + CHUNK]
        rng.standard_normal(out=part)
        part *= noise
        part += rng.standard_normal((len(part), r)) @ w
    return x


def unit_rows(x: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    return x / np.where(lengths > 0, lengths, 1)


def shortened(x: np.ndarray) -> np.ndarray:
    """A matrix of the same singular values with fewer rows: triangular factors of stretches of rows, stacked."""
    n, m = x.shape
    step = 8 * m
    if n < 2 * step:
        return x
    return shortened(np.vstack([np.linalg.qr(x[i : i + step], mode="r") for i in range(0, n, step)]))


def reference(x: np.ndarray) -> np.ndarray:
    """Singular values by LAPACK's geqrf and gesdd in f64, kept on disk: they do not change."""
    path = CACHE / f"{x.shape[0]}x{x.shape[1]}-{zlib.crc32(x):08x}.npy"
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        np.save(path, svdvals(shortened(x), check_finite=False))
    return np.load(path)


def centred(x: np.ndarray) -> np.ndarray:
    return x - x.mean(axis=0)


def raw_of(case: Case) -> dict[str, np.ndarray]:
    if not case.file:
        x = synthetic(case.n, case.m, case.k)
        return {"f64": x, "f32": x.astype(np.float32)}
    x = rows_of(case)
    return {"f64": x.astype(np.float64), "f32": x.astype(np.float32), "u8": x}


def between(sigma: np.ndarray, k: int) -> float:
    """A cut between the k-th and the next singular value."""
    return float(np.sqrt(sigma[k - 1] * sigma[k]))


def prepare(case: Case, x: np.ndarray) -> np.ndarray:
    """What NumPy makes of raw samples for the peers."""
    x = unit_rows(x) if case.unit else x
    return centred(x) if case.center else x


def load(case: Case) -> Problem:
    raw = raw_of(case)
    prepared = prepare(case, raw["f64"])
    sigma = reference(prepared)
    sigma_centred = sigma if case.center else reference(centred(prepared))
    problem = Problem(case, raw, prepared, sigma, sigma_centred)
    cut(problem)
    return problem


def loaded(names: list[str] | None, quick: bool) -> Iterator[Problem]:
    """Problem after problem; those without data are named and left out."""
    for case in chosen(names, quick):
        talk(f"{case.name}: {case.n} × {case.m}")
        try:
            yield load(case)
        except FileNotFoundError as absent:
            talk(f"  skipped: {absent}")


def cut(problem: Problem) -> None:
    """λ and τ = 1/√λ: given, put between two singular values, or found by eigenspan."""
    case = problem.case
    if case.auto:
        problem.rule = binding.AUTO
        problem.tau = problem.fit().tau
    else:
        problem.tau = between(problem.sigma, case.k) if case.k else case.lam**-0.5
        problem.value = problem.tau**-2
