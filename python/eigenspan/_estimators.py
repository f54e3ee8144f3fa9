"""Estimators of the dimension, one class each: a number and no projection."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._base import SpectrumWarning
from ._eigenspan import Calibration, Neighbourhood
from ._method import Named
from ._settings import Setting, maybe, number, one_of, truth, whole

_SEED = Setting("seed", whole(0))
_MOST = Setting("max_dim", maybe(whole()))
_NEIGHBOURS = Setting("neighbours", whole())

Path = str | os.PathLike[str]


@contextmanager
def calibrated(path: Path | None) -> Iterator[Calibration]:
    """What is known of balls; what was learnt meanwhile is added to the file, where there is one."""
    known = Calibration(path)
    before = len(known)
    yield known
    if path is not None and len(known) > before:
        known.save(path)


class _Estimator(Named):
    """An estimator that Rust knows by its name."""

    dimension_: float
    standard_error_: float | None
    why_: str
    n_features_in_: int
    _least = 2

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Estimate the dimension of samples.

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
        settings = json.dumps(self._asked())
        x = self._read(X, reset=True)
        with calibrated(getattr(self, "calibration", None)) as known:
            told = Neighbourhood(x, [settings], self.threads).estimate(x, settings, known, self.threads)
        self._take(told)
        return self

    def _take(self, told: dict[str, Any]) -> None:
        self.dimension_ = told["dimension"]
        self.standard_error_ = told["standard_error"]
        self.why_ = told["why"]
        for text in told["warnings"]:
            warnings.warn(text, SpectrumWarning, stacklevel=3)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "dimension_")


class MLE(_Estimator):
    """Maximum likelihood of the distances to the nearest neighbours (Levina, Bickel).

    Parameters
    ----------
    n_neighbors : int, default=10
        How many distances are compared with the next one.
    mean : {"harmonic", "arithmetic"}, default="harmonic"
        How the dimensions around the samples become one: the maximum of the likelihood of all samples (MacKay, Ghahramani),
        or as first published.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    dimension_ : float
        The dimension.
    standard_error_ : float or None
        Its standard error, as if neighbourhoods did not overlap; for the harmonic mean.
    dimension_per_sample_ : ndarray of shape (n_samples,)
        The dimension around each sample.
    why_ : str
        What was found, in one sentence.
    n_features_in_ : int
        What was seen.

    References
    ----------
    Levina, Bickel, "Maximum Likelihood Estimation of Intrinsic Dimension", Advances in Neural Information Processing Systems
    17 (2004).

    Examples
    --------
    >>> from eigenspan import MLE, datasets
    >>> X, _ = datasets.make_subspaces(n_samples=500, n_features=20, n_subspaces=1, dim=3, noise=0.0)
    >>> round(MLE().fit(X).dimension_)
    3
    """

    METHOD = "mle"
    _settings = {"n_neighbors": _NEIGHBOURS, "mean": Setting("mean", one_of("harmonic", "arithmetic"))}
    dimension_per_sample_: NDArray[np.float64]

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        mean: Literal["harmonic", "arithmetic"] = "harmonic",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.mean = mean
        self.n_jobs = n_jobs

    def _take(self, told: dict[str, Any]) -> None:
        super()._take(told)
        self.dimension_per_sample_ = told["per_sample"]


class MiNDML(_Estimator):
    """MiND-ML: maximum likelihood of the nearest distance in units of the farthest.

    Parameters
    ----------
    n_neighbors : int, default=10
        The nearest of so many distances is measured in units of the next one.
    whole : bool, default=False
        Whether the dimension is a whole number (MLi) and not a real one (MLk).
    max_dim : int, optional
        The largest whole number; the number of features otherwise.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    dimension_ : float
        The dimension.
    standard_error_ : float
        Its standard error, as if neighbourhoods did not overlap.
    why_ : str
        What was found, in one sentence.
    n_features_in_ : int
        What was seen.

    References
    ----------
    Rozza, Lombardi, Ceruti, Casiraghi, Campadelli, "Novel High Intrinsic Dimensionality Estimators", Machine Learning 89
    (2012).

    Examples
    --------
    >>> from eigenspan import MiNDML, datasets
    >>> X, _ = datasets.make_subspaces(n_samples=500, n_features=20, n_subspaces=1, dim=3, noise=0.0)
    >>> MiNDML(whole=True).fit(X).dimension_
    3.0
    """

    METHOD = "mind-ml"
    _settings = {"n_neighbors": _NEIGHBOURS, "whole": Setting("whole", truth), "max_dim": _MOST}

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        whole: bool = False,
        max_dim: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.whole = whole
        self.max_dim = max_dim
        self.n_jobs = n_jobs


class MiNDKL(_Estimator):
    """MiND-KL: the dimension of the ball whose distances are spread most like those of the samples.

    Parameters
    ----------
    n_neighbors : int, default=10
        The nearest of so many distances is measured in units of the next one.
    max_dim : int, optional
        The most dimensions; the number of features otherwise.
    random_state : int, default=0
        The seed of the points in the balls.
    calibration : str or path, optional
        A file of balls that were looked at before. What is not in it is computed and added.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    dimension_ : float
        The dimension, a whole number.
    why_ : str
        What was found, in one sentence.
    n_features_in_ : int
        What was seen.

    References
    ----------
    Rozza, Lombardi, Ceruti, Casiraghi, Campadelli, "Novel High Intrinsic Dimensionality Estimators", Machine Learning 89
    (2012).

    Examples
    --------
    >>> from eigenspan import MiNDKL, datasets
    >>> X, _ = datasets.make_subspaces(n_samples=500, n_features=20, n_subspaces=1, dim=3, noise=0.0)
    >>> abs(MiNDKL().fit(X).dimension_ - 3) <= 1
    True
    """

    METHOD = "mind-kl"
    _settings = {"n_neighbors": _NEIGHBOURS, "max_dim": _MOST, "random_state": _SEED}

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        max_dim: int | None = None,
        random_state: int = 0,
        calibration: Path | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.max_dim = max_dim
        self.random_state = random_state
        self.calibration = calibration
        self.n_jobs = n_jobs


class DANCo(_Estimator):
    """DANCo: the dimension of the ball whose distances and angles are most like those of the samples.

    Parameters
    ----------
    n_neighbors : int, default=10
        Angles are those between so many neighbours.
    max_dim : int, optional
        The most dimensions; the number of features otherwise.
    direct_below : float, default=5.0
        Where the distances alone say fewer dimensions than this, their answer is rounded, as in the authors' program; 0 to
        look at balls always.
    random_state : int, default=0
        The seed of the points in the balls.
    calibration : str or path, optional
        A file of balls that were looked at before. What is not in it is computed and added.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    dimension_ : float
        The dimension, a whole number.
    why_ : str
        What was found, in one sentence.
    n_features_in_ : int
        What was seen.

    References
    ----------
    Ceruti, Bassis, Rozza, Lombardi, Casiraghi, Campadelli, "DANCo: An Intrinsic Dimensionality Estimator Exploiting Angle and
    Norm Concentration", Pattern Recognition 47 (2014).

    Examples
    --------
    >>> from eigenspan import DANCo, datasets
    >>> X, _ = datasets.make_subspaces(n_samples=500, n_features=50, n_subspaces=1, dim=9, noise=0.0)
    >>> abs(DANCo().fit(X).dimension_ - 9) <= 1  # balls are even, these samples are not
    True
    """

    METHOD = "danco"
    _settings = {
        "n_neighbors": Setting("neighbours", whole(2)),
        "max_dim": _MOST,
        "direct_below": Setting("direct_below", number(zero=True)),
        "random_state": _SEED,
    }

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        max_dim: int | None = None,
        direct_below: float = 5.0,
        random_state: int = 0,
        calibration: Path | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.max_dim = max_dim
        self.direct_below = direct_below
        self.random_state = random_state
        self.calibration = calibration
        self.n_jobs = n_jobs


class FastDANCo(DANCo):
    """FastDANCo: DANCo beside curves that are fitted to balls of many dimensions and sizes once.

    The curves take a while the first time; with a calibration file all later samples are done at once, however many.

    Parameters
    ----------
    n_neighbors : int, default=10
        Angles are those between so many neighbours.
    max_dim : int, optional
        The most dimensions; the number of features, or 100, otherwise.
    direct_below : float, default=5.0
        Where the distances alone say fewer dimensions than this, their answer is rounded; 0 to look at balls always.
    draws : int, default=10
        Balls of each kind that the curves are means of.
    random_state : int, default=0
        The seed of the points in the balls.
    calibration : str or path, optional
        A file of curves that were fitted before. What is not in it is computed and added.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    dimension_ : float
        The dimension, a whole number.
    why_ : str
        What was found, in one sentence.
    n_features_in_ : int
        What was seen.

    Examples
    --------
    >>> from eigenspan import FastDANCo, datasets
    >>> X, _ = datasets.make_subspaces(n_samples=500, n_features=20, n_subspaces=1, dim=3, noise=0.0)
    >>> FastDANCo().fit(X).dimension_
    3.0
    """

    METHOD = "fast-danco"
    _settings = DANCo._settings | {"draws": Setting("draws", whole())}

    def __init__(
        self,
        n_neighbors: int = 10,
        *,
        max_dim: int | None = None,
        direct_below: float = 5.0,
        draws: int = 10,
        random_state: int = 0,
        calibration: Path | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_neighbors,
            max_dim=max_dim,
            direct_below=direct_below,
            random_state=random_state,
            calibration=calibration,
            n_jobs=n_jobs,
        )
        self.draws = draws


def _share(keyword: str, value: Any) -> float:
    share = number(zero=True)(keyword, value)
    if share >= 1:
        raise ValueError(f"`{keyword}` must be a share from 0 to below 1, got {value!r}")
    return share


class TwoNN(_Estimator):
    """TwoNN: the dimension from the two nearest neighbours alone.

    Parameters
    ----------
    discard : float, default=0.1
        The share of the largest ratios of the two distances that is left out of the fit.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    dimension_ : float
        The dimension.
    why_ : str
        What was found, in one sentence.
    n_features_in_ : int
        What was seen.

    References
    ----------
    Facco, d'Errico, Rodriguez, Laio, "Estimating the Intrinsic Dimension of Datasets by a Minimal Neighborhood Information",
    Scientific Reports 7 (2017).

    Examples
    --------
    >>> from eigenspan import TwoNN, datasets
    >>> X, _ = datasets.make_subspaces(n_samples=500, n_features=20, n_subspaces=1, dim=3, noise=0.0)
    >>> round(TwoNN().fit(X).dimension_)
    3
    """

    METHOD = "two-nn"
    _settings = {"discard": Setting("discard", _share)}

    def __init__(self, discard: float = 0.1, *, n_jobs: int | None = None) -> None:
        self.discard = discard
        self.n_jobs = n_jobs


class CorrelationDimension(_Estimator):
    """The correlation dimension: how fast the number of pairs grows with the distance allowed.

    Parameters
    ----------
    near, far : int, default=10, 20
        Distances are the medians of those to these neighbours.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    dimension_ : float
        The dimension.
    why_ : str
        What was found, in one sentence.
    n_features_in_ : int
        What was seen.

    References
    ----------
    Grassberger, Procaccia, "Measuring the Strangeness of Strange Attractors", Physica D 9 (1983).

    Examples
    --------
    >>> from eigenspan import CorrelationDimension, datasets
    >>> X, _ = datasets.make_subspaces(n_samples=500, n_features=20, n_subspaces=1, dim=3, noise=0.0)
    >>> round(CorrelationDimension().fit(X).dimension_)
    3
    """

    METHOD = "correlation"
    _settings = {"near": Setting("near", whole()), "far": Setting("far", whole(2))}

    def __init__(self, near: int = 10, far: int = 20, *, n_jobs: int | None = None) -> None:
        self.near = near
        self.far = far
        self.n_jobs = n_jobs


class ParallelAnalysis(_Estimator):
    """Parallel analysis: the directions that vary more than they would if features had nothing to do with each other.

    Parameters
    ----------
    draws : int, default=20
        How often features are shuffled.
    quantile : float, default=0.95
        The share of shuffles that a direction must be above.
    random_state : int, default=0
        The seed of the shuffles.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    dimension_ : float
        The number of directions.
    why_ : str
        What was found, in one sentence.
    n_features_in_ : int
        What was seen.

    References
    ----------
    Horn, "A Rationale and Test for the Number of Factors in Factor Analysis", Psychometrika 30 (1965).

    Examples
    --------
    >>> from eigenspan import ParallelAnalysis, datasets
    >>> X, _ = datasets.make_subspaces(n_samples=500, n_features=20, n_subspaces=1, dim=3, noise=0.3)
    >>> ParallelAnalysis().fit(X).dimension_
    3.0
    """

    METHOD = "parallel-analysis"
    _settings = {
        "draws": Setting("draws", whole()),
        "quantile": Setting("quantile", number()),
        "random_state": _SEED,
    }

    def __init__(
        self,
        draws: int = 20,
        *,
        quantile: float = 0.95,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.draws = draws
        self.quantile = quantile
        self.random_state = random_state
        self.n_jobs = n_jobs
