"""What `PCE` and `PCA` have in common: scikit-learn's habits around one model from Rust."""

from __future__ import annotations

import html
import json
import warnings
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, estimator_html_repr
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from . import _plots
from ._eigenspan import Model, Online, Summary, fit_method, singular_values
from ._feed import FromFiles
from ._settings import Registered

Floats = NDArray[np.floating[Any]]

NUMBERS = (np.float64, np.float32, np.uint8)


def as_read_by_rust(x: Any) -> Any:
    """Rows with rising columns where sparse, aligned in memory where dense."""
    if not sparse.issparse(x):
        return x if x.flags.aligned else x.copy()
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    return x


class SpectrumWarning(UserWarning):
    """Something to know about a result that was given all the same."""


class Recovery(NamedTuple):
    """Samples split into what a model explains and the rest, in the samples' own units."""

    clean: Floats
    """What the model explains."""
    error: Floats
    """The rest."""
    score: NDArray[np.float64]
    """The length of each sample's error after preparation: how little it looks like the training samples."""


def goes_back(estimator: Any) -> bool:
    """Whether features can be mapped back: not where they were scaled to length one."""
    if getattr(estimator, "unit_features", False):
        raise AttributeError("features of length one cannot be mapped back to samples: `recover` takes the samples themselves")
    return True


class Linear(Registered, FromFiles, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A projection onto leading singular directions."""

    _doc_link_module = "eigenspan"
    _model: Model | None
    _summary: Summary | None
    _online: Online | None
    n_features_in_: int

    def _asked(self) -> dict[str, Any]:
        """The settings, checked, in the words that Rust knows."""
        raise NotImplementedError

    @classmethod
    def _keywords(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """The keywords that ask for settings of Rust's."""
        raise NotImplementedError

    def _take(self, model: Model) -> Self:
        """Goes on as fitted, with a model of a file."""
        self._model, self._summary = model, None
        self.n_features_in_ = model.features
        return self

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn the dimension and the projection.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            float64, float32 and uint8 are read where they lie; other numbers become float64.
        y : array-like of shape (n_samples,), optional
            The class of each sample. `PCE(weights="auto")` chooses its weights by it; otherwise it is ignored.

        Returns
        -------
        self
        """
        x = self._read(X, reset=True)
        asked = self._asked()
        classes = self._classes(x, y) if asked.get("weights") == "auto" and y is not None else None
        self._forget()
        self._model, _ = fit_method(x, classes, json.dumps(asked), self.threads)
        self._warn(self._model)
        return self

    def partial_fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        mode: Literal["exact", "online"] | None = None,
        rank: int | None = None,
        forget: float | None = None,
    ) -> Self:
        """Learn from more samples, any number of them.

        The result does not depend on how the samples are cut into portions, and no sample is kept. A `fit` afterwards starts
        anew.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The next samples.
        y : ignored
            For pipelines. Weights that classes are to choose are chosen without: earlier samples are gone.
        mode : {"exact", "online"}, optional
            "exact", at first, keeps m² numbers and gives the fit of all samples; samples of a `fit` before do not count. "online"
            keeps `rank` directions (Brand's incremental SVD), and gives singular values within a bound (`drift_`); it goes
            on from a model that was fitted or loaded. It needs a λ, a share of the energy or a dimension that is given. Later
            calls go on as before.
        rank : int, optional
            Online: the most directions that are kept; 100, or twice those of the model it goes on from where that is more.
        forget : float, optional
            Online: everything seen is multiplied by this when a sample arrives, above 0 and at most 1. 1, the default, forgets nothing.

        Returns
        -------
        self

        Examples
        --------
        >>> from eigenspan import PCE, datasets
        >>> X, y = datasets.load_digits()
        >>> pce = PCE(lam=0.1)
        >>> for sample in X:
        ...     _ = pce.partial_fit(sample[None], mode="online", rank=50)
        >>> pce.k_, pce.k_interval_, PCE(lam=0.1).fit(X).k_
        (14, (14, 14), 14)
        """
        if self._mode(mode, rank, forget) == "online":
            return self._take_one_by_one(X, rank, forget)
        if y is not None and self._asked().get("weights") == "auto":
            text = "samples that arrive in portions choose no weights by their classes: γ is 1, `fit` would look at y"
            warnings.warn(text, SpectrumWarning, stacklevel=2)
        summary: Summary | None = getattr(self, "_summary", None)
        x = self._read(X, reset=summary is None)
        if summary is None:
            summary = Summary(json.dumps(self._asked()), x.shape[1], "triangle")
        summary.update(x, self.threads)
        self._forget()
        self._summary = summary
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Features of samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
            float32 for float32, float64 for everything else. A sample's features do not depend on the samples beside it.
        """
        check_is_fitted(self)
        return self._fitted.transform(self._read(X, reset=False), self.threads)

    @available_if(goes_back)  # type: ignore[untyped-decorator]
    def inverse_transform(self, Z: ArrayLike, lengths: ArrayLike | None = None) -> Floats:
        """The samples that features stand for.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components_)
            Features.
        lengths : array-like of shape (n_samples,), optional
            The lengths of the samples, which features of samples scaled to unit length do not carry. Without them such
            samples come back with length one.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        z = check_array(Z, dtype=NUMBERS[:2])
        long = None if lengths is None else np.ascontiguousarray(lengths, dtype=np.float64)
        return self._fitted.inverse_transform(z, long, self.threads)

    def recover(self, X: ArrayLike) -> Recovery:
        """Split samples into what the model explains and the rest.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        Recovery
            `clean`, `error` and `score`; clean + error is X.
        """
        check_is_fitted(self)
        return Recovery(*self._fitted.recover(self._read(X, reset=False), self.threads))

    def _mode(self, mode: str | None, rank: int | None, forget: float | None) -> str:
        """How samples are taken in: as asked, or as before."""
        begun = getattr(self, "_online", None) is not None
        if mode not in (None, "exact", "online"):
            raise ValueError(f"`mode` must be 'exact' or 'online', got {mode!r}")
        if mode == "exact" and begun:
            raise ValueError("samples that were dropped one by one cannot be taken in exactly: start anew with another estimator")
        chosen = mode or ("online" if begun else "exact")
        if chosen == "exact" and (rank is not None or forget is not None):
            raise ValueError("`rank` and `forget` have no effect unless `mode` is 'online'")
        return chosen

    def _take_one_by_one(self, X: ArrayLike, rank: int | None, forget: float | None) -> Self:
        online: Online | None = getattr(self, "_online", None)
        fitted = self.__sklearn_is_fitted__()
        x = self._read(X, reset=not fitted)
        other = online is not None and (
            (rank is not None and min(rank, x.shape[1]) != online.rank) or (forget is not None and forget != online.forget)
        )
        if fitted and (online is None or other):
            online = Online.resume(self._fitted, json.dumps(self._asked()), rank, forget)
        elif online is None:
            online = Online(json.dumps(self._asked()), x.shape[1], rank, forget)
        online.update(x, self.threads)
        self._forget()
        self._online = online
        return self

    # What was learnt. Arrays are taken from the model when they are first asked for: a fit does not pay for them.

    @cached_property
    def components_(self) -> NDArray[np.float64]:
        """The directions, one a row: shape (n_components_, n_features)."""
        return np.ascontiguousarray(self._fitted.basis().T)

    @cached_property
    def theta_(self) -> NDArray[np.float64]:
        """The projection, of shape (n_features, n_components_): features are prepared samples times it."""
        return self._fitted.theta()

    @cached_property
    def spectrum_(self) -> NDArray[np.float64]:
        """The singular values that are known, largest first: those kept, and one more or many more."""
        return self._fitted.sigma()

    @property
    def singular_values_(self) -> NDArray[np.float64]:
        """The singular values of the directions that were kept."""
        return self.spectrum_[: self.n_components_]

    @cached_property
    def explained_variance_ratio_(self) -> NDArray[np.float64]:
        """The share of the energy in each direction, of the samples as they were prepared."""
        return self._fitted.explained_variance_ratio()

    @cached_property
    def mean_(self) -> NDArray[np.float64] | None:
        """The mean that is taken away, or None where samples are not centred."""
        return self._fitted.mean()

    @cached_property
    def k_path_(self) -> NDArray[np.void]:
        """Every λ at which the dimension changes (`"lambda"`), and the dimension from there on (`"k"`)."""
        return self._path(self.spectrum_)

    @property
    def k_(self) -> int:
        """The dimension that was found. Where it is 0, one direction is kept all the same."""
        return self._fitted.k

    @property
    def n_components_(self) -> int:
        """The number of features of a sample: `k_`, or 1 where that is 0; with soft weights all above τ/2."""
        return self._fitted.columns

    @property
    def n_samples_(self) -> int:
        """The number of samples that were seen."""
        return self._fitted.n

    @property
    def lambda_(self) -> float:
        """λ: directions with σ² > 1/λ are kept."""
        return self._fitted.lambda_

    @property
    def tau_(self) -> float:
        """τ = 1/√λ: directions with σ > τ are kept."""
        return self._fitted.tau

    @property
    def k_interval_(self) -> tuple[int, int]:
        """The smallest and the largest dimension, rounding considered."""
        return self._fitted.k_interval

    @property
    def certified_(self) -> bool:
        """Whether it is proved that no singular value above the cut was missed."""
        return self._fitted.certified

    @property
    def drift_(self) -> float:
        """δ: every singular value of the samples lies between that of `spectrum_` and √(σ² + δ²); 0 unless samples came online."""
        return self._fitted.drift

    @property
    def solver_(self) -> str:
        """How the singular values were computed."""
        return self._fitted.solver

    @property
    def why_(self) -> str:
        """Why this dimension, in one sentence."""
        return self._fitted.why

    # Pictures.

    def plot_spectrum(self, ax: Any = None) -> Any:
        """Draw the singular values and the cut.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return _plots.spectrum(self.spectrum_, self.tau_, self.k_, ax)

    def plot_path(self, X: ArrayLike | None = None, ax: Any = None) -> Any:
        """Draw the dimension for every λ.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features), optional
            The training samples: then the path goes over all their singular values, and not only over those that the
            model knows.
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        matplotlib.axes.Axes
        """
        path = self.k_path_
        if X is not None:
            x = self._read(X, reset=False)
            path = self._path(singular_values(x, json.dumps(self._asked()), self.threads))
        return _plots.path(path["lambda"], path["k"], self.lambda_, self.k_, ax)

    def plot_recovery(self, X: ArrayLike, shape: tuple[int, int] | None = None, axes: Any = None) -> Any:
        """Draw a few samples, what the model explains of them, and the rest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples, at most eight of which are drawn.
        shape : (height, width), optional
            The shape of the image that a sample is; found out where samples are square images. Others are drawn as curves.
        axes : array of matplotlib.axes.Axes of shape (3, number of samples drawn), optional
            Where to draw; a new figure otherwise.

        Returns
        -------
        ndarray of matplotlib.axes.Axes
        """
        x = self._read(X, reset=False)[: _plots.MOST]
        dense = x.toarray() if sparse.issparse(x) else x
        clean, error, _ = self.recover(dense)
        return _plots.recovery(dense, clean, error, shape, axes)

    # scikit-learn's side of things.

    def __sklearn_is_fitted__(self) -> bool:
        return any(getattr(self, name, None) is not None for name in ("_model", "_summary", "_online"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _html_repr(self) -> str:
        """scikit-learn's diagram and our verdict, for notebooks."""
        diagram: str = estimator_html_repr(self)
        if not self.__sklearn_is_fitted__():
            return diagram
        return f'{diagram}<div style="font-size: small">{html.escape(self.why_)}</div>'

    # Between here and Rust.

    def _projection(self) -> Linear:
        return self

    @property
    def _fitted(self) -> Model:
        """The model; after `partial_fit` it is computed when it is first needed."""
        check_is_fitted(self)
        if getattr(self, "_model", None) is None:
            if getattr(self, "_online", None) is not None:
                assert self._online is not None
                self._model = self._online.finish(self.threads)
            else:
                assert self._summary is not None
                self._model = self._summary.finish(None, self.threads)
            self._warn(self._model)
        assert self._model is not None
        return self._model

    def _read(self, X: ArrayLike, *, reset: bool) -> Any:
        """Samples as Rust reads them. Bad values are left to Rust, which names their place."""
        x = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=NUMBERS, ensure_all_finite=False)
        return as_read_by_rust(x)

    def _classes(self, x: Any, y: Any) -> tuple[NDArray[np.int64], list[str]] | None:
        """The number of each sample's class, and the names of the classes; None where y does not tell classes."""
        kind = type_of_target(y)
        if kind not in ("binary", "multiclass"):
            warnings.warn(f"y is {kind} and tells no classes: weights are chosen without it", SpectrumWarning, stacklevel=3)
            return None
        names, numbers = np.unique(column_or_1d(y), return_inverse=True)
        check_consistent_length(x, numbers)
        return numbers.astype(np.int64), [str(name) for name in names]

    def _path(self, sigma: NDArray[np.float64]) -> NDArray[np.void]:
        lambdas, ks = self._fitted.path_over(sigma)
        path = np.empty(len(ks), dtype=[("lambda", np.float64), ("k", np.int64)])
        path["lambda"], path["k"] = lambdas, ks
        return path

    def _forget(self) -> None:
        """Nothing was learnt."""
        self._model = self._summary = self._online = None
        for name, value in vars(Linear).items():
            if isinstance(value, cached_property):
                self.__dict__.pop(name, None)

    def _warn(self, model: Model) -> None:
        for text in model.warnings():
            warnings.warn(text, SpectrumWarning, stacklevel=3)
