"""The peers, each told the right k, on samples that are already prepared."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import fbpca
import numpy as np
from scipy.integrate import quad
from scipy.linalg import eigh, eigvalsh
from scipy.optimize import brentq
from scipy.sparse.linalg import svds
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD

import binding
from binding import Fit
from cases import Problem

DIRECT, ITERATIVE, APPROXIMATE = "direct", "iterative", "approximate"
UNTOLD = "Gram + SciPy, not told the cut"


@dataclass(frozen=True)
class Peer:
    """A way to the leading directions."""

    name: str
    family: str
    run: Callable[[Problem], Fit]
    centres: bool = False  # subtracts the mean whether asked or not
    untold: bool = False  # finds the cut itself, where the data decide it


def timed(work: Callable[[np.ndarray, int], np.ndarray]) -> Callable[[Problem], Fit]:
    """`work` on the prepared samples gives singular values; its CPU time is billed."""

    def run(problem: Problem) -> Fit:
        x, k = problem.prepared, problem.k
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.process_time()
            sigma = work(x, k)
            seconds = time.process_time() - start
        return Fit(np.sort(sigma)[::-1], seconds)

    return run


def pca(solver: str) -> Callable[[Problem], Fit]:
    return timed(lambda x, k: PCA(k, svd_solver=solver, random_state=0).fit(x).singular_values_)


def scipy_svds(solver: str) -> Callable[[Problem], Fit]:
    return timed(lambda x, k: svds(x, k, solver=solver, rng=np.random.default_rng(0))[1])


def gram_eigh(problem: Problem) -> Fit:
    """What one would write by hand: the Gram matrix of the small side, its eigenvectors above τ², then V."""
    above = (problem.tau**2, np.inf)

    def work(x: np.ndarray, _: int) -> np.ndarray:
        wide = x.shape[0] < x.shape[1]
        gram = x @ x.T if wide else x.T @ x
        values, vectors = eigh(gram.T, subset_by_value=above, overwrite_a=True, check_finite=False)
        sigma = np.sqrt(values)
        if wide:
            vectors = x.T @ (vectors / sigma)
        return sigma

    return timed(work)(problem)


def threshold(beta: float) -> float:
    """The optimal hard threshold as a multiple of the median singular value of noise (Gavish and Donoho 2014)."""
    low, high = (1 - np.sqrt(beta)) ** 2, (1 + np.sqrt(beta)) ** 2

    def density(x: float) -> float:
        return np.sqrt((high - x) * (x - low)) / (2 * np.pi * beta * x)

    median = brentq(lambda x: quad(density, low, x)[0] - 0.5, low, high)
    known = 2 * (beta + 1) + 8 * beta / (beta + 1 + np.sqrt(beta**2 + 14 * beta + 1))
    return float(np.sqrt(known / median))


def gram_eigh_untold(problem: Problem) -> Fit:
    """By hand with nobody to tell the cut: k off the median of all singular values before scaling, then the same."""
    raw = problem.raw["f64"]
    wide, p = raw.shape[0] < raw.shape[1], min(raw.shape)
    times = threshold(p / max(raw.shape))

    def work(x: np.ndarray, _: int) -> np.ndarray:
        before = raw @ raw.T if wide else raw.T @ raw
        found = np.sqrt(np.maximum(eigvalsh(before.T, overwrite_a=True, check_finite=False), 0))
        k = int((found > times * np.median(found)).sum())
        gram = x @ x.T if wide else x.T @ x
        values, vectors = eigh(gram.T, subset_by_index=(p - k, p - 1), overwrite_a=True, check_finite=False)
        sigma = np.sqrt(values)
        if wide:
            vectors = x.T @ (vectors / sigma)
        return sigma

    return timed(work)(problem)


def fbpca_raw(x: np.ndarray, k: int) -> np.ndarray:
    np.random.seed(0)  # fbpca draws from the global generator
    return fbpca.pca(x, k, raw=True)[1]


def native(name: str, every: bool = False) -> Callable[[Problem], Fit]:
    def run(problem: Problem) -> Fit:
        x = problem.prepared
        return binding.peer(name, x, min(x.shape) if every else problem.k)

    return run


PEERS = [
    Peer("sklearn PCA full", DIRECT, pca("full"), centres=True),
    Peer("sklearn PCA covariance_eigh", DIRECT, pca("covariance_eigh"), centres=True),
    Peer("sklearn PCA arpack", ITERATIVE, pca("arpack"), centres=True),
    Peer("sklearn PCA randomized", APPROXIMATE, pca("randomized"), centres=True),
    Peer(
        "sklearn TruncatedSVD",
        APPROXIMATE,
        timed(lambda x, k: TruncatedSVD(k, random_state=0).fit(x).singular_values_),
    ),
    Peer(
        "sklearn IncrementalPCA",
        APPROXIMATE,
        timed(lambda x, k: IncrementalPCA(k).fit(x).singular_values_),
        centres=True,
    ),
    Peer("SciPy svds arpack", ITERATIVE, scipy_svds("arpack")),
    Peer("SciPy svds propack", ITERATIVE, scipy_svds("propack")),
    Peer("SciPy svds lobpcg", ITERATIVE, scipy_svds("lobpcg")),
    Peer("Gram + SciPy eigh above τ²", DIRECT, gram_eigh),
    Peer(UNTOLD, DIRECT, gram_eigh_untold, untold=True),
    Peer("NumPy SVD (thin)", DIRECT, timed(lambda x, _: np.linalg.svd(x, full_matrices=False)[1])),
    Peer("fbpca", APPROXIMATE, timed(fbpca_raw)),
    Peer("faer thin SVD", DIRECT, native("faer_thin_svd", every=True)),
    Peer("faer partial SVD", ITERATIVE, native("faer_partial_svd")),
    Peer("linfa PCA", ITERATIVE, native("linfa_pca"), centres=True),
]

THIN = ("NumPy SVD (thin)", "faer thin SVD", "sklearn PCA full")

# Not measured: by estimate, one run takes over ten minutes.
NOT_RUN: dict[str, set[str]] = {
    "5000x20000": {"sklearn PCA covariance_eigh", "linfa PCA"},
}
