"""Samples as sums of parts: NMF and NeNMF."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._method import Reducer
from ._settings import COMPONENTS, Setting, number, one_of, truth, whole


class Parts(Reducer):
    """A factorisation into parts that only add up."""

    _settings = {
        "n_components": COMPONENTS,
        "max_iter": Setting("max_iter", whole()),
        "tol": Setting("tol", number(zero=True)),
        "random_state": Setting("seed", whole(0)),
        "start": Setting("start", one_of("scaled", "uniform")),
        "normalize": Setting("normalize", one_of("unit", "none")),
        "unit_parts": Setting("unit_parts", truth),
        "features": Setting("features", one_of("nonnegative", "projected", "orthonormal")),
    }

    def __init__(
        self,
        n_components: Literal["auto"] | int = "auto",
        *,
        max_iter: int = 1000,
        tol: float = 1e-4,
        random_state: int = 0,
        start: Literal["scaled", "uniform"] = "scaled",
        normalize: Literal["unit", "none"] = "none",
        unit_parts: bool = True,
        features: Literal["nonnegative", "projected", "orthonormal"] = "nonnegative",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.start = start
        self.normalize = normalize
        self.unit_parts = unit_parts
        self.features = features
        self.n_jobs = n_jobs

    @property
    def components_(self) -> NDArray[np.float64]:
        """The parts, one a row: shape (n_components_, n_features)."""
        return self._arrays["w"].T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


class NMF(Parts):
    """Non-negative matrix factorisation by multiplicative updates.

    Every sample is a sum of parts, none of them taken away.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        How many parts; "auto" takes as many as `PCE` finds dimensions.
    max_iter : int, default=1000
        Rounds, at most.
    tol : float, default=1e-4
        Stops when the error falls within ten rounds by no more than this share of the first error.
    random_state : int, default=0
        The seed of the first guess.
    start : {"scaled", "uniform"}, default="scaled"
        How large the first guess is: as the samples, or between 0 and 1 whatever they are.
    normalize : {"unit", "none"}, default="none"
        How samples are scaled.
    unit_parts : bool, default=True
        Whether parts are scaled to length one.
    features : {"nonnegative", "projected", "orthonormal"}, default="nonnegative"
        What the features of a sample are: the amounts of the parts that come closest to it, its products with the
        parts, or its products with an orthonormal basis of the parts.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        The parts.
    trace_ : Trace
        The objective ½‖X − HWᵀ‖² before the first and after every round, and why there were no more.
    n_iter_ : int
        Rounds done.
    n_components_, n_features_in_, n_samples_, why_
        What was found, and in what.

    References
    ----------
    Lee, Seung, "Algorithms for Non-negative Matrix Factorization", Advances in Neural Information Processing Systems 13
    (2001).

    Examples
    --------
    >>> from eigenspan import NMF, datasets
    >>> X, y = datasets.load_digits()
    >>> nmf = NMF(n_components=10).fit(X)
    >>> bool((nmf.transform(X) >= 0).all())
    True
    """

    METHOD = "nmf"


class NeNMF(Parts):
    """Non-negative matrix factorisation by Nesterov's method.

    The same problem as that of `NMF`; each half of a round is solved almost exactly.

    Parameters
    ----------
    n_components, max_iter, random_state, start, normalize, unit_parts, features, n_jobs
        As in `NMF`.
    tol : float, default=1e-4
        Stops when the projected gradient is down to this share of the first.

    Attributes
    ----------
    components_, trace_, n_iter_, n_components_, n_features_in_, n_samples_, why_
        As in `NMF`.

    References
    ----------
    Guan, Tao, Luo, Yuan, "NeNMF: An Optimal Gradient Method for Nonnegative Matrix Factorization", IEEE Transactions on
    Signal Processing 60 (2012).

    Examples
    --------
    >>> from eigenspan import NeNMF, datasets
    >>> X, y = datasets.load_digits()
    >>> NeNMF(n_components=10).fit_transform(X).shape
    (1797, 10)
    """

    METHOD = "nenmf"
