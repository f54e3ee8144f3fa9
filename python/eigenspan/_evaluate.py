"""Methods and classifiers on labelled data."""

import json
import time
import warnings
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_X_y, column_or_1d

from . import _eigenspan
from ._base import NUMBERS, SpectrumWarning, as_read_by_rust
from ._settings import as_threads


def evaluate(
    X: ArrayLike,
    y: ArrayLike,
    methods: str | Iterable[str] = "pce-auto",
    classifiers: str | Iterable[str] = "nn-cosine",
    *,
    train: int | float = 0.5,
    split: Literal["random", "stratified"] = "random",
    repeats: int = 10,
    random_state: int = 1,
    corrupt: str | None = None,
    corrupt_share: float = 1.0,
    image_shape: tuple[int, int] | None = None,
    as_published: bool = False,
    cache: str | PathLike[str] | None = None,
    progress: Callable[[int, int, str, float | None], object] | None = None,
    n_jobs: int | None = None,
) -> list[dict[str, Any]]:
    """How often are methods with classifiers right on samples they have not seen? The same as ``eigenspan evaluate``.

    Every method is fitted on every random partition once, and all classifiers tell its features apart.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        Their classes.
    methods : str or iterable of str, default="pce-auto"
        Methods by the names of the command line, with settings where wanted: ``"npe:neighbours=49,dim=300"``.
    classifiers : str or iterable of str, default="nn-cosine"
        Some of ``"nn"``, ``"nn-cosine"``, ``"svm"``, ``"src"``, ``"cesr"`` and ``"auto"``, which is picked on the training
        part.
    train : int or float, default=0.5
        How many samples to train on: a number, or a share below 1.
    split : {"random", "stratified"}, default="random"
        Part all samples at random, or every class alike.
    repeats : int, default=10
        Random partitions.
    random_state : int, default=1
        The seed of the partitions and of the corruption.
    corrupt : str, optional
        How samples are spoilt before they are parted, as in `datasets.corrupt`.
    corrupt_share : float, default=1.0
        The share of the samples that is spoilt.
    image_shape : (height, width), optional
        The size of an image, which ``"block"`` needs.
    as_published : bool, default=False
        Whether settings are those of the paper's experiments, where it had some.
    cache : str or path, optional
        A file of finished partitions: a run that was stopped goes on where it was.
    progress : callable, optional
        Called before every fit with how many are done, how many there are, what is next, and about how many seconds are
        left, or None.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Accuracies do not depend on it.

    Returns
    -------
    list of dict
        One for each method and classifier, in this order: ``method``, ``classifier``, ``accuracy_mean`` and ``accuracy_sd`` in
        percent, ``k``, ``columns``, ``seconds``; ``accuracies`` and ``dimensions`` of each partition, ``seconds_of`` fit,
        features and classifier, ``samples`` to train and to test on. `pandas.DataFrame` takes it as it is.

    Examples
    --------
    >>> from eigenspan import datasets, evaluate
    >>> X, y = datasets.load_digits()
    >>> found = evaluate(X[:600], y[:600], ["pce-auto", "pca:dim=10"], ["nn-cosine", "svm"], repeats=2)
    >>> [(one["method"], one["classifier"]) for one in found]
    [('pce-auto', 'nn-cosine'), ('pce-auto', 'svm'), ('pca:dim=10', 'nn-cosine'), ('pca:dim=10', 'svm')]
    >>> all(one["accuracy_mean"] > 80 for one in found)
    True
    """
    x, y = check_X_y(X, y, accept_sparse="csr", dtype=NUMBERS, ensure_all_finite=False, y_numeric=False)
    check_classification_targets(y)
    classes, numbers = np.unique(column_or_1d(y), return_inverse=True)
    asked = {
        "methods": [methods] if isinstance(methods, str) else list(methods),
        "classifiers": [classifiers] if isinstance(classifiers, str) else list(classifiers),
        "train": _train(train),
        "split": _one_of("split", split, ("random", "stratified")),
        "repeats": _whole("repeats", repeats, 1),
        "seed": _whole("random_state", random_state, 0),
        "as_published": bool(as_published),
        "corrupt": corrupt,
        "corrupt_share": float(corrupt_share),
        "image": None if image_shape is None else dict(zip(("height", "width"), image_shape, strict=True)),
    }
    labels = (numbers.astype(np.int64), [str(name) for name in classes])
    hands = (time.perf_counter, progress)
    rows, told = _eigenspan.evaluate(as_read_by_rust(x), labels, json.dumps(asked), cache, hands, as_threads(n_jobs))
    for line in told:
        warnings.warn(line, SpectrumWarning, stacklevel=2)
    found: list[dict[str, Any]] = json.loads(rows)
    return found


def _train(train: Any) -> dict[str, Any]:
    if isinstance(train, Integral) and int(train) > 0:
        return {"total": int(train)}
    if isinstance(train, Real) and 0 < float(train) < 1:
        return {"share": float(train)}
    raise ValueError(f"`train` must be a number of samples or a share between 0 and 1, got {train!r}")


def _whole(name: str, value: Any, least: int) -> int:
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"`{name}` must be a whole number from {least}, got {value!r}")
    return int(value)


def _one_of(name: str, value: Any, names: tuple[str, ...]) -> str:
    if value not in names:
        raise ValueError(f"`{name}` must be one of {', '.join(names)}, got {value!r}")
    return str(value)
