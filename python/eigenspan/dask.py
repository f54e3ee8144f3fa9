"""PCE of Dask arrays and dataframes: `pip install eigenspan[dask]`.

```text
    fit          partition ─▶ summary as bytes ─┐
                 partition ─▶ summary as bytes ─┴▶ merged in their order, on the way ─▶ one summary ─▶ model, here
    transform    every partition by itself, when it is computed
```

The samples stay where they are; what moves are summaries, whose size does not depend on the number of samples. They are
merged in the order of the partitions, so the model has the same bytes for every scheduler and any number of workers,
whichever of them is slow or dies.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np

from . import _pce
from ._base import Linear
from ._partitions import merged, summarise
from ._summary import Summary

__all__ = ["PCE", "fit", "summarize", "transform"]

AT_ONCE = 8
"""Summaries that one task merges into all before them. Fewer tasks for the scheduler; it changes no sum."""


def fit(X: Any, **settings: Any) -> _pce.PCE:
    """Learn the dimension and the projection from a Dask collection, now.

    Parameters
    ----------
    X : dask.array.Array of shape (n_samples, n_features) or dask.dataframe.DataFrame of numbers
        Partitions are runs of samples: numbers of chunks may be unknown and chunks empty. Blocks may be dense or CSR.
    **settings
        Those of `eigenspan.Summary`: the settings of `eigenspan.PCE`, and `form`. `n_jobs` is for each task, 1 by default:
        the scheduler keeps the cores busy.

    Returns
    -------
    PCE
        Fitted, an `eigenspan.PCE` as any other.

    Examples
    --------
    >>> import dask.array as da
    >>> import eigenspan.dask
    >>> X, y = eigenspan.datasets.load_digits()
    >>> samples = da.from_array(X, chunks=(500, 64))
    >>> pce = eigenspan.dask.fit(samples)
    >>> pce.n_components_
    21
    >>> eigenspan.dask.transform(samples, pce)
    dask.array<_features_of_block, shape=(1797, 21), dtype=float64, chunksize=(500, 21), chunktype=numpy.ndarray>
    """
    fitted = summarize(X, **settings).finish()
    if not _is_array(X) and all(isinstance(name, str) for name in X.columns):
        fitted.feature_names_in_ = np.array(X.columns, dtype=object)
    return fitted


def summarize(X: Any, **settings: Any) -> Summary:
    """Reduce a Dask collection to what a fit needs, now.

    Parameters
    ----------
    X, **settings
        As for `fit`.

    Returns
    -------
    Summary
        To be finished, at several λ if you like, without reading the samples again.
    """
    delayed = _dask().delayed
    settings = {"n_jobs": 1} | settings
    Summary(**settings)  # Unknown settings are refused here, not on a worker.
    partitions = np.ravel(np.asarray(_whole_rows(X).to_delayed(), dtype=object))
    parts = [delayed(_summarise)(part, settings, number) for number, part in enumerate(partitions)]
    whole = None
    for first in range(0, len(parts), AT_ONCE):
        whole = delayed(_merged)(whole, parts[first : first + AT_ONCE], settings["n_jobs"])
    found = merged([None if whole is None else whole.compute()], None)
    if found is None:
        raise ValueError("there are no samples: every partition is empty")
    return found


def transform(X: Any, model: Linear) -> Any:
    """Features of samples, computed when they are asked for.

    Parameters
    ----------
    X : dask.array.Array of shape (n_samples, n_features) or dask.dataframe.DataFrame
        The samples.
    model : PCE or PCA
        A fitted one, wherever it was fitted. It is sent to every worker once.

    Returns
    -------
    dask.array.Array of shape (n_samples, n_components_) or dask.dataframe.DataFrame
        What `model.transform` gives, to the last bit, partition by partition; a frame keeps its index.
    """
    if not isinstance(model, Linear):
        raise TypeError(f"`model` must be a fitted PCE or PCA, got {type(model).__name__}")
    from hashlib import sha256

    X = _whole_rows(X)
    width = len(X.columns) if not _is_array(X) else X.shape[1]
    if width != model.n_features_in_:
        raise ValueError(f"X has {width} features, and the model was fitted to {model.n_features_in_}")
    # One key for the model: the scheduler sends it to a worker once, and not with every task.
    name = sha256(model._fitted.to_bytes()).hexdigest()
    sent = _dask().delayed(model, name=f"eigenspan-model-{name}", traverse=False)
    if _is_array(X):
        number = np.float32 if X.dtype == np.float32 else np.float64
        chunks = (X.chunks[0], (model.n_components_,))
        return X.map_blocks(_features_of_block, model=sent, chunks=chunks, dtype=number, meta=np.empty((0, 0), number))
    meta = _features_of_frame(X._meta, model)
    return X.map_partitions(_features_of_frame, sent, meta=meta)


class PCE(_pce.PCE):
    """`eigenspan.PCE` whose `fit` and `transform` take Dask collections as well as arrays.

    Examples
    --------
    >>> import dask.array as da
    >>> import eigenspan.dask
    >>> X, y = eigenspan.datasets.load_digits()
    >>> samples = da.from_array(X, chunks=(500, 64))
    >>> eigenspan.dask.PCE(dim=5).fit_transform(samples).shape
    (1797, 5)
    """

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the dimension and the projection: see `eigenspan.dask.fit`."""
        if not _dask().is_dask_collection(X):
            return super().fit(X, y)
        settings = {name: value for name, value in self.get_params().items() if name != "n_jobs" or value is not None}
        fitted = fit(X, **settings)
        self._forget()
        self._model = fitted._fitted
        self.n_features_in_ = fitted.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(fitted, "feature_names_in_"):
            self.feature_names_in_ = fitted.feature_names_in_
        return self

    def transform(self, X: Any) -> Any:
        """Features of samples, lazily for Dask collections: see `eigenspan.dask.transform`."""
        return transform(X, self) if _dask().is_dask_collection(X) else super().transform(X)


def _dask() -> Any:
    try:
        import dask
        import dask.array
    except ImportError as error:
        raise ImportError("this needs Dask: pip install eigenspan[dask]") from error
    return dask


def _is_array(X: Any) -> bool:
    import dask.array

    return isinstance(X, dask.array.Array)


def _whole_rows(X: Any) -> Any:
    """The collection in partitions that hold whole samples."""
    if not _is_array(X):
        if not (_dask().is_dask_collection(X) and hasattr(X, "columns") and hasattr(X, "map_partitions")):
            raise TypeError(f"X must be a Dask array or dataframe, got {type(X).__name__}")
        return X
    if X.ndim != 2:
        raise ValueError(f"X must have samples in rows and features in columns, got an array of {X.ndim} dimensions")
    if X.numblocks[1] > 1:
        from dask.array import PerformanceWarning

        text = f"the features lie in {X.numblocks[1]} chunks, and are brought together first: rechunk({{1: -1}})"
        warnings.warn(text, PerformanceWarning, stacklevel=3)
        X = X.rechunk({1: -1})
    return X


def _summarise(part: Any, settings: dict[str, Any], number: int) -> bytes | None:
    # None of no samples: a frame without rows may have lost the types of its columns.
    return summarise([part] if part.shape[0] else [], settings, number)


def _merged(before: bytes | None, parts: list[bytes | None], threads: int | None) -> bytes | None:
    whole = merged([before, *parts], threads)
    return None if whole is None else whole.to_bytes()


def _features_of_block(block: Any, model: Linear) -> Any:
    if block.shape[0] == 0:
        number = np.float32 if block.dtype == np.float32 else np.float64
        return np.empty((0, model.n_components_), number)
    return model.transform(block)


def _features_of_frame(frame: Any, model: Linear) -> Any:
    """A frame of features, with the index of the samples."""
    import pandas

    named = hasattr(model, "feature_names_in_")
    if frame.shape[0] == 0:
        single = all(kind == np.float32 for kind in frame.dtypes)
        features = np.empty((0, model.n_components_), np.float32 if single else np.float64)
    else:
        features = model.transform(frame if named else frame.to_numpy())
    return pandas.DataFrame(features, index=frame.index, columns=model.get_feature_names_out())
