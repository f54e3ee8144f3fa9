"""Classifiers: the nearest neighbour, the linear support vector machine, and two sparse representations."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ._base import Floats
from ._method import Classifier
from ._settings import NORMALIZE, Normalize, Setting, maybe, number, one_of, truth, whole


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
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

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

    METHOD = "nn"
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
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.normalize = normalize
        self.n_jobs = n_jobs

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


class LinearSVM(Classifier):
    """The linear support vector machine: one class against all others, with a squared hinge loss.

    The same problem as LIBLINEAR's default and scikit-learn's `LinearSVC`: the least of ``|w|² / 2 + C Σ max(0, 1 - y w·x)²``
    for each class, solved to rounding.

    Parameters
    ----------
    C : float, default=1.0
        The price of a sample on the wrong side of its margin.
    bias : float, optional
        The value of one more feature that every sample gets, so that borders need not go through the origin: what
        `LinearSVC` calls ``intercept_scaling``. None is no such feature.
    tol : float, default=1e-6
        How far the conditions of the optimum may be missed.
    max_iter : int, default=1000
        Times that the descent goes through the samples, at most.
    solver : {"auto", "descent"}, default="auto"
        Coordinate descent, then Newton's method; or the first alone.
    normalize : {"unit", "none", "zscore"}, default="none"
        How samples are scaled.
    random_state : int, default=0
        The order in which the descent takes the samples.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        The weights of each class; of two classes those of the second.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        What the bias adds; zero without one.
    objective_ : ndarray of shape (n_classes,)
        The least value of the function above, for each class.
    n_iter_, trace_, n_features_in_, n_samples_
        How it went, and what was seen.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi, Sundararajan, "A dual coordinate descent method for large-scale linear SVM", ICML (2008).

    Examples
    --------
    >>> from eigenspan import LinearSVM, datasets
    >>> X, y = datasets.load_digits()
    >>> svm = LinearSVM(normalize="unit").fit(X[:1000], y[:1000])
    >>> float(svm.score(X[1000:], y[1000:])) > 0.9
    True
    """

    METHOD = "svm"
    _settings = {
        "C": Setting("cost", number()),
        "bias": Setting("bias", maybe(number())),
        "tol": Setting("tol", number()),
        "max_iter": Setting("max_iter", whole()),
        "solver": Setting("solver", one_of("auto", "descent")),
        "normalize": NORMALIZE,
        "random_state": Setting("seed", whole(0)),
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        bias: float | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        solver: Literal["auto", "descent"] = "auto",
        normalize: Normalize = "none",
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.bias = bias
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.normalize = normalize
        self.random_state = random_state
        self.n_jobs = n_jobs

    def decision_function(self, X: ArrayLike) -> Floats:
        """w·x for each class: the largest is the answer.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
            Of two classes the value of the second.
        """
        values = self._values(X)
        return values if values.shape[1] > 2 else values[:, -1]

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of each class; of two classes those of the second."""
        return self._in_order(self._arrays["weights"])

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """What the bias adds for each class; zero without one."""
        offsets = self._arrays.get("offsets", np.zeros((1, len(self._vector("classes")))))
        return self._in_order(offsets.ravel())

    @property
    def objective_(self) -> NDArray[np.float64]:
        """The least value of the function, for each class."""
        return self._vector("objectives")[np.argsort(self._vector("classes"))]

    def _in_order(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows in the order of the classes, and not in that of their first samples."""
        ordered = rows[np.argsort(self._vector("classes"))]
        return ordered if len(ordered) > 2 else ordered[-1:]


class SRC(Classifier):
    """Sparse representation: the class whose part of a sparse combination of all training samples comes closest.

    A sample y is written as a combination x of all training samples A that has the least ``lam * |x|₁ + |y - Ax|² / 2``; the
    class with the least ``|y - A_c x_c|`` wins. Samples are coded together: one call for many is faster than many calls.

    Parameters
    ----------
    lam : float, default=1e-3
        The price of coefficients.
    tol : float, optional
        Ends a code where a step lowers the objective by no more than this share, as the published program does; that is
        most often long before `lam`. None gives exact codes.
    max_iter : int, default=10000
        Steps for one sample, at most.
    nonnegative : bool, default=False
        Whether training samples may only be added up.
    normalize : {"unit", "none", "zscore"}, default="unit"
        How samples are scaled.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_, n_samples_
        What was seen.

    References
    ----------
    Wright, Yang, Ganesh, Sastry, Ma, "Robust Face Recognition via Sparse Representation", IEEE Transactions on Pattern
    Analysis and Machine Intelligence 31 (2009).

    Examples
    --------
    >>> from eigenspan import SRC, datasets
    >>> X, y = datasets.load_digits()
    >>> float(SRC(1e-2).fit(X[:500], y[:500]).score(X[500:600], y[500:600])) > 0.8
    True
    """

    METHOD = "src"
    _settings = {
        "lam": Setting("lambda", number()),
        "tol": Setting("tol", maybe(number(zero=True))),
        "max_iter": Setting("max_iter", whole()),
        "nonnegative": Setting("nonnegative", truth),
        "normalize": NORMALIZE,
    }

    def __init__(
        self,
        lam: float = 1e-3,
        *,
        tol: float | None = None,
        max_iter: int = 10_000,
        nonnegative: bool = False,
        normalize: Normalize = "unit",
        n_jobs: int | None = None,
    ) -> None:
        self.lam = lam
        self.tol = tol
        self.max_iter = max_iter
        self.nonnegative = nonnegative
        self.normalize = normalize
        self.n_jobs = n_jobs

    def codes(self, X: ArrayLike) -> Floats:
        """The combination that each sample is written as.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_samples_)
            One coefficient for each training sample, most of them zero.
        """
        return self._values(X)


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
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

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

    METHOD = "cesr"
    _settings = {
        "nonnegative": Setting("nonnegative", truth),
        "residual": Setting("residual", one_of("weighted", "plain")),
        "max_iter": Setting("max_iter", whole()),
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
        n_jobs: int | None = None,
    ) -> None:
        self.nonnegative = nonnegative
        self.residual = residual
        self.max_iter = max_iter
        self.width = width
        self.ridge = ridge
        self.normalize = normalize
        self.n_jobs = n_jobs
