"""Samples split into a low-rank and a sparse part: robust PCA and ROSL."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._method import Projection
from ._settings import COMPONENTS, NORMALIZE, Normalize, Setting, maybe, number, one_of, truth, whole


class Robust(Projection):
    """A projection learnt from the low-rank part of the samples."""

    low_rank_: NDArray[np.float64]
    sparse_: NDArray[np.float64]

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Split samples, and learn the projection from their low-rank part.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The samples.
        y : ignored
            For pipelines.

        Returns
        -------
        self
        """
        parts = self._learn(self._read(X, reset=True))
        self.low_rank_, self.sparse_ = parts["low_rank"], parts["sparse"]
        return self

    @property
    def singular_values_(self) -> NDArray[np.float64]:
        """The singular values of the low-rank part along the directions kept."""
        return self._vector("values")


class RobustPCA(Robust):
    """Robust principal component analysis: samples of low rank, some of whose entries are grossly wrong.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        How many principal directions of the low-rank part to keep; "auto" keeps as many as it has.
    lam : float, optional
        λ, the price of an error; 1/√max(n_samples, n_features) otherwise.
    solver : {"ialm", "apg"}, default="ialm"
        The inexact augmented Lagrange method, or the accelerated proximal gradient that the PCE paper compares with.
    growth : float, default=1.2
        What the penalty of "ialm" grows by in a round: the smaller, the more rounds, and the surer the recovery.
    tol : float, default=1e-7
        The iteration ends where its measure is below this.
    max_iter : int, default=1000
        Rounds, at most.
    normalize : {"unit", "none", "zscore"}, default="none"
        How samples are scaled.
    center : bool, default=True
        Whether the mean of the low-rank part is subtracted where directions are learned.
    keep_mean : bool, default=False
        Whether that mean stays in samples that are transformed.
    unit_features : bool, default=False
        Whether features are scaled to length one.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    low_rank_, sparse_ : ndarray of shape (n_samples, n_features)
        The two parts of the samples of `fit`, as they were scaled. Model files do not keep them.
    theta_ : ndarray of shape (n_features, n_components_)
        The principal directions of the low-rank part.
    singular_values_ : ndarray of shape (n_components_,)
        Their singular values.
    mean_ : ndarray of shape (n_features,) or None
        The mean that is taken away from samples.
    trace_ : Trace
        What was measured round after round, and why there were no more.
    n_iter_, n_components_, n_features_in_, n_samples_, why_
        What was found, and in what.

    References
    ----------
    Candès, Li, Ma, Wright, "Robust Principal Component Analysis?", Journal of the ACM 58 (2011).

    Lin, Chen, Ma, "The Augmented Lagrange Multiplier Method for Exact Recovery of Corrupted Low-Rank Matrices" (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from eigenspan import RobustPCA
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 60))
    >>> wrong = truth + 20 * (rng.random(truth.shape) < 0.05)
    >>> robust = RobustPCA().fit(wrong)
    >>> bool(np.abs(robust.low_rank_ - truth).max() < 1e-3)
    True
    """

    METHOD = "robust-pca"
    _settings = {
        "n_components": COMPONENTS,
        "lam": Setting("lambda", maybe(number())),
        "solver": Setting("solver", one_of("ialm", "apg")),
        "growth": Setting("growth", number()),
        "tol": Setting("tol", number()),
        "max_iter": Setting("max_iter", whole()),
        "normalize": NORMALIZE,
        "center": Setting("center", truth),
        "keep_mean": Setting("keep_mean", truth),
        "unit_features": Setting("unit_features", truth),
    }

    def __init__(
        self,
        n_components: Literal["auto"] | int = "auto",
        *,
        lam: float | None = None,
        solver: Literal["ialm", "apg"] = "ialm",
        growth: float = 1.2,
        tol: float = 1e-7,
        max_iter: int = 1000,
        normalize: Normalize = "none",
        center: bool = True,
        keep_mean: bool = False,
        unit_features: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.lam = lam
        self.solver = solver
        self.growth = growth
        self.tol = tol
        self.max_iter = max_iter
        self.normalize = normalize
        self.center = center
        self.keep_mean = keep_mean
        self.unit_features = unit_features
        self.n_jobs = n_jobs


class ROSL(Robust):
    """Robust orthonormal subspace learning: robust PCA without a singular value decomposition.

    Parameters
    ----------
    n_components, lam, normalize, center, keep_mean, unit_features, n_jobs
        As in `RobustPCA`.
    max_rank : int, optional
        The largest rank of the low-rank part; min(n_samples, n_features, 500) otherwise.
    growth : float, default=1.05
        What the penalty grows by in a round: the smaller, the more rounds, and the surer the recovery.
    tol : float, default=1e-7
        The iteration ends where what is left unexplained is below this share of the samples.
    max_iter : int, default=1000
        Rounds, at most.
    random_state : int, default=0
        The seed of the first guess.

    Attributes
    ----------
    low_rank_, sparse_, theta_, singular_values_, mean_, trace_, n_iter_, n_components_, n_features_in_, n_samples_, why_
        As in `RobustPCA`.

    References
    ----------
    Shu, Porikli, Ahuja, "Robust Orthonormal Subspace Learning: Efficient Recovery of Corrupted Low-Rank Matrices", IEEE
    Conference on Computer Vision and Pattern Recognition (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from eigenspan import ROSL
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 60))
    >>> rosl = ROSL().fit(truth + 20 * (rng.random(truth.shape) < 0.05))
    >>> rosl.low_rank_.shape
    (80, 60)
    """

    METHOD = "rosl"
    _settings = {
        "n_components": COMPONENTS,
        "lam": Setting("lambda", maybe(number())),
        "max_rank": Setting("rank", maybe(whole())),
        "growth": Setting("growth", number()),
        "tol": Setting("tol", number()),
        "max_iter": Setting("max_iter", whole()),
        "random_state": Setting("seed", whole(0)),
        "normalize": NORMALIZE,
        "center": Setting("center", truth),
        "keep_mean": Setting("keep_mean", truth),
        "unit_features": Setting("unit_features", truth),
    }

    def __init__(
        self,
        n_components: Literal["auto"] | int = "auto",
        *,
        lam: float | None = None,
        max_rank: int | None = None,
        growth: float = 1.05,
        tol: float = 1e-7,
        max_iter: int = 1000,
        random_state: int = 0,
        normalize: Normalize = "none",
        center: bool = True,
        keep_mean: bool = False,
        unit_features: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.lam = lam
        self.max_rank = max_rank
        self.growth = growth
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.normalize = normalize
        self.center = center
        self.keep_mean = keep_mean
        self.unit_features = unit_features
        self.n_jobs = n_jobs
