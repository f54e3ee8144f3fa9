"""Methods that keep a graph between the samples: LPP, NPE, LLE and the L1-graph."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._base import Floats
from ._method import Method, Projection
from ._settings import COMPONENTS, NORMALIZE, Normalize, Setting, maybe, number, one_of, truth, whole


class LPP(Projection):
    """Locality preserving projections: neighbours stay neighbours.

    Samples are joined to their nearest ones, and the projection brings those together that are joined strongly.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        How many dimensions; "auto" takes as many as `PCE` finds.
    n_neighbors : int, default=5
        How many nearest samples each is joined to.
    weights : {"heat", "binary", "cosine"}, default="heat"
        How strongly: exp(−d²/2t²), 1, or the cosine of the angle.
    t : float, optional
        The width of the heat kernel; the mean distance otherwise.
    normalize : {"unit", "none", "zscore"}, default="none"
        How samples are scaled.
    center : {"degree", "plain", "none"}, default="degree"
        Which mean is taken away: weighted by how strongly a sample is joined, the plain one, or none.
    keep_mean : bool, default=False
        Whether the mean is taken away for learning only, and stays in samples that are transformed.
    floor : float, optional
        Directions of the samples with a singular value of this share of the largest, or less, are left out; those that are
        rounding otherwise.
    least : float, optional
        Columns with an eigenvalue below this are left out.
    columns : {"constraint", "unit"}, default="constraint"
        How long the columns of the projection are: as the constraint says, or 1.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    theta_ : ndarray of shape (n_features, n_components_)
        The projection.
    eigenvalues_ : ndarray of shape (n_components_,)
        One minus the eigenvalues of the graph's Laplacian, largest first.
    mean_ : ndarray of shape (n_features,) or None
        The mean that is taken away from samples.
    n_components_, n_features_in_, n_samples_, why_
        What was found, and in what.

    References
    ----------
    He, Niyogi, "Locality Preserving Projections", Advances in Neural Information Processing Systems 16 (2003).

    Examples
    --------
    >>> from eigenspan import LPP, datasets
    >>> X, y = datasets.load_digits()
    >>> LPP(n_components=8).fit_transform(X).shape
    (1797, 8)
    """

    METHOD = "lpp"
    _settings = {
        "n_components": COMPONENTS,
        "n_neighbors": Setting("neighbours", whole()),
        "weights": Setting("weights", one_of("heat", "binary", "cosine")),
        "t": Setting("t", maybe(number())),
        "normalize": NORMALIZE,
        "center": Setting("center", one_of("degree", "plain", "none")),
        "keep_mean": Setting("keep_mean", truth),
        "floor": Setting("floor", maybe(number(zero=True))),
        "least": Setting("least", maybe(number())),
        "columns": Setting("columns", one_of("constraint", "unit")),
    }

    def __init__(
        self,
        n_components: Literal["auto"] | int = "auto",
        *,
        n_neighbors: int = 5,
        weights: Literal["heat", "binary", "cosine"] = "heat",
        t: float | None = None,
        normalize: Normalize = "none",
        center: Literal["degree", "plain", "none"] = "degree",
        keep_mean: bool = False,
        floor: float | None = None,
        least: float | None = None,
        columns: Literal["constraint", "unit"] = "constraint",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.t = t
        self.normalize = normalize
        self.center = center
        self.keep_mean = keep_mean
        self.floor = floor
        self.least = least
        self.columns = columns
        self.n_jobs = n_jobs

    @property
    def eigenvalues_(self) -> NDArray[np.float64]:
        """One minus the eigenvalues of the graph's Laplacian, largest first."""
        return self._vector("values")

    @classmethod
    def _keywords(cls, settings: dict[str, Any]) -> dict[str, Any]:
        weights = settings["weights"]
        width = weights["heat"] if isinstance(weights, dict) else None
        return super()._keywords(settings | {"weights": weights if width is None else "heat", "t": width})

    def _asked(self) -> dict[str, Any]:
        asked = super()._asked()
        width = asked.pop("t")
        return asked | ({"weights": {"heat": width}} if asked["weights"] == "heat" and width is not None else {})


class NPE(Projection):
    """Neighbourhood preserving embedding: every sample stays what it is of its neighbours.

    Each sample is written as a weighted mean of its nearest ones, and the projection keeps these weights.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        How many dimensions; "auto" takes as many as `PCE` finds.
    n_neighbors : int, default=5
        How many nearest samples each is made of.
    ridge : float, optional, default=1e-3
        What is added to the local Gram matrix, relative to its trace; None is 1e-12, or 1e-3 where there are more
        neighbours than features.
    normalize : {"unit", "none", "zscore"}, default="none"
        How samples are scaled.
    center : bool, default=True
        Whether the mean is taken away.
    keep_mean, floor, least, columns, n_jobs
        As in `LPP`.

    Attributes
    ----------
    theta_ : ndarray of shape (n_features, n_components_)
        The projection.
    eigenvalues_ : ndarray of shape (n_components_,)
        One minus the error that the weights leave in each column, largest first.
    mean_, n_components_, n_features_in_, n_samples_, why_
        As in `LPP`.

    References
    ----------
    He, Cai, Yan, Zhang, "Neighborhood Preserving Embedding", IEEE International Conference on Computer Vision (2005).

    Examples
    --------
    >>> from eigenspan import NPE, datasets
    >>> X, y = datasets.load_digits()
    >>> NPE(n_components=8, n_neighbors=12).fit_transform(X).shape
    (1797, 8)
    """

    METHOD = "npe"
    _settings = {
        "n_components": COMPONENTS,
        "n_neighbors": Setting("neighbours", whole()),
        "ridge": Setting("ridge", maybe(number(zero=True))),
        "normalize": NORMALIZE,
        "center": Setting("center", truth),
        "keep_mean": Setting("keep_mean", truth),
        "floor": Setting("floor", maybe(number(zero=True))),
        "least": Setting("least", maybe(number())),
        "columns": Setting("columns", one_of("constraint", "unit")),
    }

    def __init__(
        self,
        n_components: Literal["auto"] | int = "auto",
        *,
        n_neighbors: int = 5,
        ridge: float | None = 1e-3,
        normalize: Normalize = "none",
        center: bool = True,
        keep_mean: bool = False,
        floor: float | None = None,
        least: float | None = None,
        columns: Literal["constraint", "unit"] = "constraint",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.ridge = ridge
        self.normalize = normalize
        self.center = center
        self.keep_mean = keep_mean
        self.floor = floor
        self.least = least
        self.columns = columns
        self.n_jobs = n_jobs

    @property
    def eigenvalues_(self) -> NDArray[np.float64]:
        """One minus the error that the weights leave in each column, largest first."""
        return self._vector("values")


class LLE(Method):
    """Locally linear embedding: places for the training samples, and for no others.

    Each sample is written as a weighted mean of its nearest ones, and gets the place that the same weights give. There is no
    map for new samples: `NPE` is the linear relative that has one.

    Parameters
    ----------
    n_components : "auto" or int, default=2
        How many coordinates; "auto" takes as many as `PCE` finds dimensions.
    n_neighbors : int, default=5
        How many nearest samples each is made of.
    ridge : float, default=1e-3
        What is added to the local Gram matrix, relative to its trace.
    normalize : {"unit", "none", "zscore"}, default="none"
        How samples are scaled.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components_)
        The places, in columns of length one.
    eigenvalues_ : ndarray of shape (n_components_,)
        The error that the weights leave in each column, smallest first.
    n_components_, n_features_in_, n_samples_, why_
        What was found, and in what.

    References
    ----------
    Roweis, Saul, "Nonlinear Dimensionality Reduction by Locally Linear Embedding", Science 290 (2000).

    Examples
    --------
    >>> from eigenspan import LLE, datasets
    >>> X, y = datasets.load_digits()
    >>> LLE(n_neighbors=10).fit_transform(X[:300]).shape
    (300, 2)
    """

    METHOD = "lle"
    _least = 2
    _settings = {
        "n_components": COMPONENTS,
        "n_neighbors": Setting("neighbours", whole()),
        "ridge": Setting("ridge", number(zero=True)),
        "normalize": NORMALIZE,
    }

    def __init__(
        self,
        n_components: Literal["auto"] | int = 2,
        *,
        n_neighbors: int = 5,
        ridge: float = 1e-3,
        normalize: Normalize = "none",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.ridge = ridge
        self.normalize = normalize
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Place samples.

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
        self._learn(self._read(X, reset=True))
        return self

    def fit_transform(self, X: ArrayLike, y: object = None) -> Floats:
        """Place samples, and give the places.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The samples.
        y : ignored
            For pipelines.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        return self.fit(X).embedding_

    @property
    def embedding_(self) -> NDArray[np.float64]:
        """The places of the samples of `fit`."""
        return self._arrays["embedding"]

    @property
    def eigenvalues_(self) -> NDArray[np.float64]:
        """The error that the weights leave in each column, smallest first."""
        return self._vector("values")

    @property
    def n_components_(self) -> int:
        """The number of coordinates."""
        return self._fitted.columns


class L1Graph(Projection):
    """L1-graph: every sample stays the same sparse combination of the others.

    Each sample is written as a sparse combination of all others, and the projection keeps these combinations.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        How many dimensions; "auto" takes as many as `PCE` finds.
    lam : float, default=1e-2
        λ, the price of a coefficient: the smaller, the more samples take part.
    tol : float, optional
        Stop the search for a combination where the objective falls by less than this share, as in the PCE paper;
        otherwise it is exact.
    max_iter : int, default=100000
        Steps of the search for one combination, at most.
    normalize : {"unit", "none", "zscore"}, default="unit"
        How samples are scaled.
    center : bool, default=False
        Whether the mean is taken away.
    order : {"reconstruction", "exchanged"}, default="reconstruction"
        The graph C + Cᵀ − CCᵀ that follows from the objective, or C + Cᵀ − CᵀC.
    columns : {"constraint", "unit"}, default="constraint"
        How long the columns of the projection are: as the constraint says, or 1.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    theta_ : ndarray of shape (n_features, n_components_)
        The projection.
    eigenvalues_ : ndarray of shape (n_components_,)
        One minus the error that the combinations leave in each column, largest first.
    trace_ : Trace
        The objective that each sample's combination reached.
    mean_, n_components_, n_features_in_, n_samples_, why_
        As in `LPP`.

    References
    ----------
    Cheng, Yang, Yan, Fu, Huang, "Learning With ℓ1-Graph for Image Analysis", IEEE Transactions on Image Processing 19
    (2010).

    Qiao, Chen, Tan, "Sparsity preserving projections with applications to face recognition", Pattern Recognition 43
    (2010).

    Examples
    --------
    >>> from eigenspan import L1Graph, datasets
    >>> X, y = datasets.load_digits()
    >>> L1Graph(n_components=8, lam=0.1).fit_transform(X[:300]).shape
    (300, 8)
    """

    METHOD = "l1-graph"
    _settings = {
        "n_components": COMPONENTS,
        "lam": Setting("lambda", number()),
        "tol": Setting("tol", maybe(number(zero=True))),
        "max_iter": Setting("max_iter", whole()),
        "normalize": NORMALIZE,
        "center": Setting("center", truth),
        "order": Setting("order", one_of("reconstruction", "exchanged")),
        "columns": Setting("columns", one_of("constraint", "unit")),
    }

    def __init__(
        self,
        n_components: Literal["auto"] | int = "auto",
        *,
        lam: float = 1e-2,
        tol: float | None = None,
        max_iter: int = 100_000,
        normalize: Normalize = "unit",
        center: bool = False,
        order: Literal["reconstruction", "exchanged"] = "reconstruction",
        columns: Literal["constraint", "unit"] = "constraint",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.lam = lam
        self.tol = tol
        self.max_iter = max_iter
        self.normalize = normalize
        self.center = center
        self.order = order
        self.columns = columns
        self.n_jobs = n_jobs

    @property
    def eigenvalues_(self) -> NDArray[np.float64]:
        """One minus the error that the combinations leave in each column, largest first."""
        return self._vector("values")
