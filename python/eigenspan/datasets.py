"""Built-in and synthetic data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _eigenspan

__all__ = ["load_digits", "make_subspaces"]


def load_digits() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """1797 handwritten digits of 8 × 8 pixels with values from 0 to 16.

    Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak (1998), UCI Machine Learning Repository, CC BY 4.0.

    Returns
    -------
    X : ndarray of shape (1797, 64), uint8
        The images, one a row.
    y : ndarray of shape (1797,)
        The digit that each is.

    Examples
    --------
    >>> from eigenspan import datasets
    >>> X, y = datasets.load_digits()
    >>> X.shape, y[:3]
    ((1797, 64), array([0, 1, 2]))
    """
    return _eigenspan.digits()


def make_subspaces(
    n_samples: int = 400,
    n_features: int = 200,
    *,
    n_subspaces: int = 3,
    dim: int = 4,
    noise: float = 0.3,
    random_state: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Samples from several random subspaces of the same dimension, plus Gaussian noise.

    The data have `n_subspaces * dim` dimensions while that is below the number of samples and of features.

    Parameters
    ----------
    n_samples, n_features : int
        The shape of the data.
    n_subspaces, dim : int
        How many subspaces, and the dimension of each.
    noise : float
        The expected length of the noise of a sample, relative to its signal.
    random_state : int
        The same seed gives the same data.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The samples.
    y : ndarray of shape (n_samples,)
        The subspace that each is from.
    """
    return _eigenspan.subspaces(n_samples, n_features, n_subspaces, dim, noise, random_state)
