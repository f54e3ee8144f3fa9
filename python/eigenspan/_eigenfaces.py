"""Eigenfaces as the comparisons of the PCE paper ran them."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ._method import Projection
from ._settings import COMPONENTS, NORMALIZE, Normalize, Setting, truth


class Eigenfaces(Projection):
    """Eigenfaces as the comparisons of the PCE paper ran them: what `PCA` is for everything else.

    The principal directions of the samples as they are; samples are projected onto them with their mean, and their
    features are scaled to length one.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        How many directions; "auto" takes as many as `PCE` finds dimensions. The paper takes 300 unless it tunes them.
    normalize : {"unit", "none", "zscore"}, default="none"
        How samples are scaled before everything.
    keep_mean : bool, default=True
        Whether the mean is subtracted where directions are learned only, and stays in samples that are transformed.
    unit_features : bool, default=True
        Whether features are scaled to length one.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    theta_ : ndarray of shape (n_features, n_components_)
        The directions, orthonormal.
    singular_values_ : ndarray of shape (n_components_,)
        The singular values of the centred samples.
    n_components_, n_features_in_, n_samples_, why_
        What was found, and in what.

    Examples
    --------
    >>> from eigenspan import Eigenfaces, datasets
    >>> X, y = datasets.load_digits()
    >>> Eigenfaces(20).fit_transform(X).shape
    (1797, 20)
    """

    METHOD = "eigenfaces"
    _settings = {
        "n_components": COMPONENTS,
        "normalize": NORMALIZE,
        "keep_mean": Setting("keep_mean", truth),
        "unit_features": Setting("unit_features", truth),
    }

    def __init__(
        self,
        n_components: Literal["auto"] | int = "auto",
        *,
        normalize: Normalize = "none",
        keep_mean: bool = True,
        unit_features: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.normalize = normalize
        self.keep_mean = keep_mean
        self.unit_features = unit_features
        self.n_jobs = n_jobs

    @property
    def singular_values_(self) -> NDArray[np.float64]:
        """The singular values of the centred samples."""
        return self._vector("values")
