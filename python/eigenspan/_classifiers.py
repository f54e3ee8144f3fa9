"""Classifiers that keep the training samples: the nearest neighbour and CESR."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ._method import NORMALIZE, Classifier, Normalize, Setting, number, one_of, truth, whole


class NearestNeighbour(Classifier):
    """The nearest neighbour, exact, and always the same one of several that are equally near.

    Parameters
    ----------
    n_neighbors : int, default=1
        How many nearest samples vote. Of classes with as many votes the one with the nearer sample wins, then the one
        whose sample came first.
    metric : {"euclidean", "cosine"}, default="euclidean"
        How far samples are from each other.
    normalize : {"unit", "none", "zscore"}, default="none"
        How samples are scaled.
    threads : int, optional
        How many threads to use; all cores otherwise. Results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_, n_samples_
        What was seen.

    Examples
    --------
    >>> from eigenspan import NearestNeighbour, datasets
    >>> X, y = datasets.load_digits()
    >>> float(NearestNeighbour().fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])) > 0.95
    True
    """

    _name = "nn"
    _settings = {
        "n_neighbors": Setting("neighbours", whole()),
        "metric": Setting("metric", one_of("euclidean", "cosine")),
        "normalize": NORMALIZE,
    }

    def __init__(
        self,
        n_neighbors: int = 1,
        *,
        metric: Literal["euclidean", "cosine"] = "euclidean",
        normalize: Normalize = "none",
        threads: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.normalize = normalize
        self.threads = threads

    def kneighbors(
        self, X: ArrayLike, n_neighbors: int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The nearest training samples of each sample.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The samples.
        n_neighbors : int, optional
            How many; as many as vote otherwise.

        Returns
        -------
        distances, indices : ndarray of shape (n_samples, n_neighbors)
            Nearest first; of equally near ones the first.
        """
        check_is_fitted(self)
        asked = whole()("n_neighbors", self.n_neighbors if n_neighbors is None else n_neighbors)
        return self._fitted.neighbours(self._read(X, reset=False), asked, self.threads)


class CESR(Classifier):
    """Sparse representation by correntropy: samples that are wrong in many places are still told apart.

    A sample is written as a sum of training samples; features that do not fit count less and less. The class whose
    training samples come closest wins.

    Parameters
    ----------
    nonnegative : bool, default=True
        Whether training samples may only be added up.
    residual : {"weighted", "plain"}, default="weighted"
        Whether features count for the class as much as they did in the sum, or all the same.
    max_iter : int, default=200
        Rounds for one sample, at most.
    width : float, default=1.0
        The width of the kernel, in units of the mean squared residual: the smaller, the sooner a feature is left aside.
    ridge : float, default=1e-3
        The price of large coefficients where they may be negative.
    normalize : {"unit", "none", "zscore"}, default="unit"
        How samples are scaled.
    threads : int, optional
        How many threads to use; all cores otherwise. Results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_, n_samples_
        What was seen.

    References
    ----------
    He, Zheng, Hu, "Maximum Correntropy Criterion for Robust Face Recognition", IEEE Transactions on Pattern Analysis and
    Machine Intelligence 33 (2011).

    Examples
    --------
    >>> from eigenspan import CESR, datasets
    >>> X, y = datasets.load_digits()
    >>> float(CESR().fit(X[:500], y[:500]).score(X[500:600], y[500:600])) > 0.8
    True
    """

    _name = "cesr"
    _settings = {
        "nonnegative": Setting("nonnegative", truth),
        "residual": Setting("residual", one_of("weighted", "plain")),
        "max_iter": Setting("rounds", whole()),
        "width": Setting("width", number()),
        "ridge": Setting("ridge", number()),
        "normalize": NORMALIZE,
    }

    def __init__(
        self,
        *,
        nonnegative: bool = True,
        residual: Literal["weighted", "plain"] = "weighted",
        max_iter: int = 200,
        width: float = 1.0,
        ridge: float = 1e-3,
        normalize: Normalize = "unit",
        threads: int | None = None,
    ) -> None:
        self.nonnegative = nonnegative
        self.residual = residual
        self.max_iter = max_iter
        self.width = width
        self.ridge = ridge
        self.normalize = normalize
        self.threads = threads
