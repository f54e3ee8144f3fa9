"""What the methods beside `PCE` and `PCA` have in common: scikit-learn's habits around one model from Rust."""

from __future__ import annotations

import json
import warnings
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ._base import NUMBERS, Floats, SpectrumWarning, as_read_by_rust
from ._eigenspan import Model, fit_method, published
from ._settings import Registered, Setting, Threaded


class Trace(NamedTuple):
    """How an iteration went."""

    measure: str
    """What is measured: the objective, or the residual of a constraint."""
    values: NDArray[np.float64]
    """Its value before the first round, where there is one, and after every round."""
    rounds: int
    """Rounds done."""
    converged: bool
    """Whether the tolerance was reached."""


class Named(Threaded, BaseEstimator):  # type: ignore[misc]
    """What Rust knows by a name and settings."""

    _doc_link_module = "eigenspan"
    METHOD: ClassVar[str]
    """The name, as on the command line."""
    _settings: ClassVar[dict[str, Setting]]
    """Every keyword that Rust is told of as a setting."""
    _least: ClassVar[int] = 1
    """Samples that a fit needs."""

    def _asked(self) -> dict[str, Any]:
        """The settings, checked, in the words that Rust knows."""
        asked = {s.name: s.tell(keyword, getattr(self, keyword)) for keyword, s in self._settings.items()}
        return {"method": self.METHOD, **asked}

    def _read(self, X: ArrayLike, *, reset: bool) -> Any:
        """Samples as Rust reads them. Bad values are left to Rust, which names their place."""
        x = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=NUMBERS,
            ensure_all_finite=False,
            ensure_min_samples=self._least if reset else 1,
        )
        return as_read_by_rust(x)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Method(Registered, Named):
    """A method that gives a model."""

    _model: Model | None
    n_features_in_: int

    @classmethod
    def as_published(cls, **keywords: Any) -> Self:
        """With the settings of the comparisons in the PCE paper.

        Parameters
        ----------
        **keywords
            Settings that are to be others.

        Returns
        -------
        An estimator that is not fitted.
        """
        settings = published(cls.METHOD)
        if settings is None:
            raise ValueError(f"the paper does not run {cls.__name__}: there are no settings to take from it")
        return cls(**(cls._keywords(json.loads(settings)) | keywords))

    @classmethod
    def _keywords(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """The keywords that ask for settings of Rust's."""
        return {keyword: setting.told(settings[setting.name]) for keyword, setting in cls._settings.items()}

    def _learn(self, x: Any, y: tuple[NDArray[np.int64], list[str]] | None = None) -> dict[str, Any]:
        """Fits, and gives the arrays that the model does not keep."""
        settings = json.dumps(self._asked())
        self._forget()
        try:
            self._model, beside = fit_method(x, y, settings, self.threads)
        except ValueError as error:
            if "must be zero or more" in str(error):  # scikit-learn looks for these words
                raise ValueError(f"Negative values in data: {error}") from None
            raise
        self._warn()
        return beside

    # What was learnt.

    @cached_property
    def _arrays(self) -> dict[str, NDArray[np.float64]]:
        return self._fitted.arrays()

    def _vector(self, name: str) -> NDArray[np.float64]:
        return self._arrays[name].ravel()

    @property
    def why_(self) -> str:
        """What was found, in one sentence."""
        return self._fitted.why

    @property
    def n_samples_(self) -> int:
        """The number of samples that were seen."""
        return self._fitted.n

    @property
    def trace_(self) -> Trace | None:
        """How the iteration went; None where there was none."""
        trace = self._fitted.trace()
        return None if trace is None else Trace(trace[0], np.array(trace[1]), *trace[2:])

    @property
    def n_iter_(self) -> int:
        """Rounds of the iteration; 1 where there was none."""
        trace = self._fitted.trace()
        return 1 if trace is None else max(trace[2], 1)

    # scikit-learn's side of things.

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_model", None) is not None

    # Between here and Rust.

    @property
    def _fitted(self) -> Model:
        check_is_fitted(self)
        assert self._model is not None
        return self._model

    def _values(self, X: ArrayLike) -> Floats:
        """What the model makes of samples, one row each."""
        check_is_fitted(self)
        return self._fitted.transform(self._read(X, reset=False), self.threads)

    def _take(self, model: Model) -> Self:
        """Goes on as fitted, with a model of a file."""
        self._model, self.n_features_in_ = model, model.features
        return self

    def _forget(self) -> None:
        """Nothing was learnt."""
        self._model = None
        self.__dict__.pop("_arrays", None)

    def _warn(self) -> None:
        assert self._model is not None
        for text in self._model.warnings():
            kind = ConvergenceWarning if text.startswith("not converged") else SpectrumWarning
            warnings.warn(text, kind, stacklevel=4)


class Reducer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Method):  # type: ignore[misc]
    """A method that gives features."""

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn from samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            float64, float32 and uint8 are read where they lie; other numbers become float64.
        y : ignored
            For pipelines.

        Returns
        -------
        self
        """
        self._learn(self._read(X, reset=True))
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
        return self._values(X)

    @property
    def n_components_(self) -> int:
        """The number of features of a sample."""
        return self._fitted.columns

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Projection(Reducer):
    """A method whose features are linear in the samples."""

    _least = 2

    @property
    def theta_(self) -> NDArray[np.float64]:
        """The projection, of shape (n_features, n_components_): features are prepared samples times it."""
        return self._arrays["theta"]

    @property
    def components_(self) -> NDArray[np.float64]:
        """Its columns, one a row: shape (n_components_, n_features)."""
        return self.theta_.T

    @property
    def mean_(self) -> NDArray[np.float64] | None:
        """The mean that is taken away, or None where samples are not centred."""
        return self._vector("mean") if "mean" in self._arrays else None


class Classifier(ClassifierMixin, Method):  # type: ignore[misc]
    """A method that tells classes."""

    classes_: NDArray[Any]

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from samples and their classes.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples,)
            The class of each.

        Returns
        -------
        self
        """
        x, y = validate_data(self, X, y, accept_sparse="csr", dtype=NUMBERS, ensure_all_finite=False)
        check_classification_targets(y)
        self.classes_, numbers = np.unique(column_or_1d(y, warn=True), return_inverse=True)
        names = [str(name) for name in self.classes_]
        self._learn(as_read_by_rust(x), (numbers.astype(np.int64), names))
        return self

    def _take(self, model: Model) -> Self:
        super()._take(model)
        # Classes are numbers again where all of them are.
        names = np.array(model.classes())
        whole = all(name.lstrip("-").isdecimal() for name in names)
        self.classes_ = names.astype(np.int64) if whole else names
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of each sample.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        numbers, unfinished = self._fitted.predict(self._read(X, reset=False), self.threads)
        if unfinished:
            warnings.warn(f"{unfinished} samples used up their rounds", ConvergenceWarning, stacklevel=2)
        return self.classes_[numbers]
