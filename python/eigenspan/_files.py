"""Model files, `.espan`: the same from Python, Rust and the command line."""

from __future__ import annotations

import json
import os

import numpy as np
from numpy.typing import DTypeLike

from ._base import Linear
from ._eigenspan import Model, write
from ._method import Method
from ._settings import CLASSES


def save(estimator: Linear | Method, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file.

    A crash leaves the old file or the new one, never a broken one. The file holds the model: names of features and what
    is kept of portions stay behind.

    Parameters
    ----------
    estimator : PCE, PCA, LPP, …
        A fitted one.
    path : path-like
        The file, by habit with the ending `.espan`.
    """
    if not isinstance(estimator, Linear | Method):
        raise TypeError(f"`estimator` must be a fitted one of this package, got {type(estimator).__name__}")
    estimator._fitted.save(os.fspath(path))


def to_onnx(estimator: Linear, path: str | os.PathLike[str] | None = None, *, dtype: DTypeLike | None = None) -> bytes:
    """A fitted model as an ONNX graph, for runtimes without this package.

    The graph takes samples `x` of shape (n, n_features) and gives features `z` of shape (n, n_components_).

    Parameters
    ----------
    estimator : PCE or PCA
        A fitted one.
    path : path-like, optional
        Where to write the graph.
    dtype : float64, float32 or uint8, optional
        The numbers that samples will come in; those of the training samples by default. Features are float32 for float32,
        float64 for the others.

    Returns
    -------
    bytes
        The graph.
    """
    if not isinstance(estimator, Linear):
        raise TypeError(f"`estimator` must be a fitted PCE or PCA, got {type(estimator).__name__}")
    graph = estimator._fitted.to_onnx(None if dtype is None else np.dtype(dtype).name)
    if path is not None:
        write(os.fspath(path), graph)
    return graph


def load(path: str | os.PathLike[str]) -> Linear | Method:
    """Read a model from a file, whoever wrote it.

    Parameters
    ----------
    path : path-like
        A file written by `save` or by `eigenspan fit DATA -o MODEL.espan`.

    Returns
    -------
    PCE, PCA, LPP, …
        Fitted, with the settings it was fitted with.

    Examples
    --------
    >>> import tempfile, pathlib, eigenspan
    >>> X, y = eigenspan.datasets.load_digits()
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "digits.espan"
    >>> eigenspan.save(eigenspan.PCE().fit(X), file)
    >>> eigenspan.load(file)
    PCE()
    """
    model = Model.load(os.fspath(path))
    settings = json.loads(model.settings())
    kind = CLASSES[settings["method"]]
    estimator: Linear | Method = kind(**kind._keywords(settings))
    return estimator._take(model)
