"""What the methods beside `PCE` and `PCA` have in common: scikit-learn's habits around one model from Rust."""

from __future__ import annotations

import json
import warnings
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ._base import SpectrumWarning
from ._conventions import NUMBERS, Features, Reading, Unsupervised, WithModel, as_read_by_rust
from ._eigenspan import Model, fit_method, published
from ._settings import Registered, Setting


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


class Named(Reading):
    """What Rust knows by a name and settings."""

    METHOD: ClassVar[str]
    """The name, as on the command line."""
    _settings: ClassVar[dict[str, Setting]]
    """Every keyword that is a setting in Rust."""

    def _parameters(self) -> dict[str, Any]:
        """The settings, checked, in the words that Rust knows."""
        parameters = {s.name: s.check(keyword, getattr(self, keyword)) for keyword, s in self._settings.items()}
        return {"method": self.METHOD, **parameters}

class Method(Registered, Named, WithModel):
    """A method that gives a model."""

    _model: Model | None

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
        return {keyword: setting.restore(settings[setting.name]) for keyword, setting in cls._settings.items()}

    def _learn(self, x: Any, y: tuple[NDArray[np.int64], list[str]] | None = None) -> None:
        """Fit the model."""
        settings = json.dumps(self._parameters())
        self._forget()
        try:
            self._model, beside = fit_method(x, y, settings, self.threads)
        except ValueError as error:
            if "must be zero or more" in str(error):  # scikit-learn looks for these words
                raise ValueError(f"Negative values in data: {error}") from None
            raise
        self._keep(beside)
        self._warn()

    def _keep(self, beside: dict[str, Any]) -> None:
        """Keep arrays of a fit that the model does not hold."""

    # What was learned.

    @cached_property
    def _arrays(self) -> dict[str, NDArray[np.float64]]:
        return self._fitted.arrays()

    def _vector(self, name: str) -> NDArray[np.float64]:
        return self._arrays[name].ravel()

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

    def _take(self, model: Model) -> Self:
        """Use the model of a file as the fit."""
        self._model, self.n_features_in_ = model, model.features
        return self

    def _forget(self) -> None:
        """Discard what was learned."""
        self._model = None
        self.__dict__.pop("_arrays", None)

    def _warn(self) -> None:
        assert self._model is not None
        for text in self._model.warnings():
            kind = ConvergenceWarning if text.startswith("not converged") else SpectrumWarning
            warnings.warn(text, kind, stacklevel=4)


class Reducer(Features, Method, Unsupervised):
    """A method that gives features."""


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
        """The mean that is subtracted, or None where samples are not centered."""
        return self._vector("mean") if "mean" in self._arrays else None


class Classifier(ClassifierMixin, Method):  # type: ignore[misc]
    """A classifier."""

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
