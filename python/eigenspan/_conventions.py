"""scikit-learn's conventions, for every class around Rust: how samples are read, and what transformers share."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ._eigenspan import Model
from ._settings import Threaded

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


class Reading(Threaded, BaseEstimator):  # type: ignore[misc]
    """An estimator whose samples Rust reads."""

    _doc_link_module = "eigenspan"
    _least: ClassVar[int] = 1
    """The number of samples that a fit needs."""

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


class Unsupervised(Reading):
    """An estimator that learns from samples without their classes."""

    def _learn(self, x: Any) -> None:
        raise NotImplementedError

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Fit to samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            float64, float32 and uint8 are read without a copy; other numbers become float64.
        y : ignored
            For pipelines.

        Returns
        -------
        self
        """
        self._learn(self._read(X, reset=True))
        return self


class WithModel(Reading):
    """An estimator that fits a model."""

    n_features_in_: int

    @property
    def _fitted(self) -> Model:
        """The model; NotFittedError before a fit."""
        raise NotImplementedError

    def _values(self, X: ArrayLike) -> Floats:
        """What the model computes of samples, one row each."""
        check_is_fitted(self)
        return self._fitted.transform(self._read(X, reset=False), self.threads)

    @property
    def why_(self) -> str:
        """The reason for the result, in one sentence."""
        return self._fitted.why

    @property
    def n_samples_(self) -> int:
        """The number of samples that were seen."""
        return self._fitted.n


class Features(ClassNamePrefixFeaturesOutMixin, TransformerMixin, WithModel):  # type: ignore[misc]
    """An estimator whose model gives features of samples."""

    def transform(self, X: ArrayLike) -> Floats:
        """Features of samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
            float32 for float32, float64 for everything else. A sample's features do not depend on the other samples.
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
