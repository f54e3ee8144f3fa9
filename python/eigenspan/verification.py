"""Verification: are two samples of the same class, which need not be one that was seen in training?

Scores are larger for pairs that are more alike; turn the sign of a distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from . import _eigenspan
from ._conventions import NUMBERS, as_read_by_rust

__all__ = [
    "FoldAccuracy",
    "cosine_scores",
    "equal_error_rate",
    "fold_accuracy",
    "make_pairs",
    "roc_auc_score",
    "roc_curve",
]


class FoldAccuracy(NamedTuple):
    """How often a threshold is right that was chosen on other pairs."""

    mean: float
    """The mean accuracy of the folds."""
    standard_error: float
    """Its standard error."""
    accuracies: NDArray[np.float64]
    """The accuracy of each fold."""
    thresholds: NDArray[np.float64]
    """The threshold of each fold: the best of the others."""


def make_pairs(y: ArrayLike, *, random_state: int = 0) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """All pairs of samples of the same class, and as many of two classes, chosen at random.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Classes.
    random_state : int
        The same seed gives the same pairs.

    Returns
    -------
    pairs : ndarray of shape (n_pairs, 2)
        The numbers of two samples each.
    same : ndarray of shape (n_pairs,), bool
        Whether they are of the same class.

    Examples
    --------
    >>> from eigenspan import PCE, datasets, verification
    >>> X, y = datasets.make_synthetic_faces(12, 12, image_shape=(27, 24))
    >>> z = PCE().fit(X[y < 6]).transform(X[y >= 6])                  # people that were not seen in training
    >>> pairs, same = verification.make_pairs(y[y >= 6])
    >>> scores = verification.cosine_scores(z[pairs[:, 0]], z[pairs[:, 1]])
    >>> verification.roc_auc_score(same, scores) > 0.6
    True
    """
    classes = np.unique(np.asarray(y), return_inverse=True)[1].astype(np.int64)
    first, second, same = _eigenspan.make_pairs(classes, random_state)
    return np.column_stack([first, second]), same


def cosine_scores(X: ArrayLike, Y: ArrayLike) -> NDArray[np.float64]:
    """The cosine of each row of X with the row of Y beside it.

    Parameters
    ----------
    X, Y : array-like or CSR matrix of shape (n_pairs, n_features)
        The two samples of each pair.

    Returns
    -------
    ndarray of shape (n_pairs,)
        From -1 to 1; 0 where a sample is zero.
    """
    x, y = (check_array(a, accept_sparse="csr", dtype=NUMBERS, ensure_all_finite=False) for a in (X, Y))
    return _eigenspan.cosine_scores(as_read_by_rust(x), as_read_by_rust(y))


def roc_curve(
    same: ArrayLike, scores: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """What can be reached with every threshold.

    Parameters
    ----------
    same : array-like of shape (n_pairs,), bool
        Whether the pair is of the same class.
    scores : array-like of shape (n_pairs,)
        How alike its samples are.

    Returns
    -------
    fpr, tpr, thresholds : ndarray
        The shares of different and of same pairs with a score of the threshold or more, from (0, 0) to (1, 1); a point
        for every distinct score.
    """
    fpr, tpr, thresholds = _roc(same, scores)[0]
    return fpr, tpr, thresholds


def roc_auc_score(same: ArrayLike, scores: ArrayLike) -> float:
    """The area below the curve: how often a same pair scores higher than a different one, equal ones counting half.

    Parameters
    ----------
    same, scores
        As in `roc_curve`.

    Returns
    -------
    float
        The area, from 0 to 1.
    """
    return _roc(same, scores)[1]


def equal_error_rate(same: ArrayLike, scores: ArrayLike) -> float:
    """The share of wrong answers where as large a share of same pairs as of different pairs is wrong.

    Parameters
    ----------
    same, scores
        As in `roc_curve`.

    Returns
    -------
    float
        The rate, a share.

    Examples
    --------
    >>> from eigenspan import verification
    >>> verification.equal_error_rate([True, True, False, False], [0.9, 0.4, 0.6, 0.1])
    0.5
    """
    return _roc(same, scores)[2]


def fold_accuracy(
    same: ArrayLike, scores: ArrayLike, folds: int | ArrayLike = 10, *, random_state: int = 0
) -> FoldAccuracy:
    """The accuracy of each fold with the threshold that is best on the others.

    Parameters
    ----------
    same, scores
        As in `roc_curve`.
    folds : int or array-like of shape (n_pairs,), default=10
        How many folds, drawn at random with as many same pairs in each; or the fold of each pair, from 0 on.
    random_state : int
        The seed of the draw.

    Returns
    -------
    FoldAccuracy
    """
    truth, values = _checked(same, scores)
    if np.ndim(folds) == 0:
        fold_of = _eigenspan.folds(truth, int(folds), random_state)  # type: ignore[arg-type]
    else:
        fold_of = np.ascontiguousarray(folds, dtype=np.int64)
    (accuracies, thresholds), mean, error = _eigenspan.fold_accuracy(values, truth, fold_of)
    return FoldAccuracy(mean, error, accuracies, thresholds)


def _roc(same: ArrayLike, scores: ArrayLike) -> tuple[list[NDArray[np.float64]], float, float]:
    truth, values = _checked(same, scores)
    return _eigenspan.roc(values, truth)


def _checked(same: ArrayLike, scores: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    return np.ascontiguousarray(same, dtype=bool).ravel(), np.ascontiguousarray(scores, dtype=np.float64).ravel()
