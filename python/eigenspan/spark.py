"""PCE of Spark dataframes: `pip install eigenspan[spark]`.

```text
    fit          partition ─mapInArrow▶ (number, summary as bytes), kept by the executors
                 driver: takes them one by one, in their order, and merges ─▶ model
    transform    every partition by itself, by mapInArrow, the model broadcast
```

The samples stay where they are; what moves are summaries, whose size does not depend on the number of samples. They are
merged in the order of the partitions, as in `eigenspan.dask`: the model has the same bytes for any number of executors,
whichever of them is slow or dies. Only Spark's public interface is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._base import Linear
from ._partitions import merged, summarise
from ._pce import PCE
from ._summary import Summary

__all__ = ["fit", "summarize", "transform"]

NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")
PARTS = "number int, summary binary"
VECTOR = "vector"
LISTS = (*(f"array<{number}>" for number in NUMBERS), VECTOR)


class Reading(NamedTuple):
    """How samples are made of the columns of a batch."""

    columns: list[str]
    """One that holds whole samples, or one for each feature."""
    kinds: list[str]
    """What Spark calls their types."""
    places: list[int]
    """Where they are in a batch."""
    features: int | None
    """Features of a sample, where that is known before the first is seen."""

    @property
    def whole(self) -> bool:
        """Whether the one column holds whole samples."""
        return self.kinds[0] in LISTS

    @property
    def number(self) -> Any:
        """What the numbers become: float32 where all of them are."""
        return np.float32 if all(kind in ("float", "array<float>") for kind in self.kinds) else np.float64


def fit(df: Any, columns: str | list[str] | None = None, **settings: Any) -> PCE:
    """Learn the dimension and the projection from a Spark dataframe, now.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        One sample a row.
    columns : str or list of str, optional
        One column that holds whole samples (an array of numbers, or a vector of `pyspark.ml`), or the columns of
        numbers that are the features. All columns by default.
    **settings
        Those of `eigenspan.Summary`: the settings of `eigenspan.PCE`, and `form`. `n_jobs` is for each task, 1 by default.

    Returns
    -------
    PCE
        Fitted, an `eigenspan.PCE` as any other.
    """
    fitted = summarize(df, columns, **settings).finish()
    reading = _reading(df, columns)
    if not reading.whole:
        fitted.feature_names_in_ = np.array(reading.columns, dtype=object)
    return fitted


def summarize(df: Any, columns: str | list[str] | None = None, **settings: Any) -> Summary:
    """Reduce a Spark dataframe to what a fit needs, now.

    Parameters
    ----------
    df, columns, **settings
        As for `fit`.

    Returns
    -------
    Summary
        To be finished, at several λ if you like, without reading the samples again.
    """
    _needed()
    settings = {"n_jobs": 1} | settings
    Summary(**settings)  # Unknown settings are refused here, not on a worker.
    reading = _reading(df, columns)
    samples = df.toDF(*_plain(df)).select(*(f"c{place}" for place in reading.places))
    reading = reading._replace(places=list(range(len(reading.columns))))
    parts = samples.mapInArrow(_summaries(reading, settings), PARTS).persist()
    try:
        # All partitions at once, each executor its own; then the summaries, one after the other.
        _run(parts.count)
        found = merged(_in_order(parts), None)
    finally:
        parts.unpersist()
    if found is None:
        raise ValueError("there are no samples: every partition is empty")
    return found


def transform(df: Any, model: Linear, columns: str | list[str] | None = None, *, output: str = "features") -> Any:
    """Features of samples, computed when they are asked for.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        One sample a row, and any other columns.
    model : PCE or PCA
        A fitted one, wherever it was fitted.
    columns : str or list of str, optional
        Where the samples are, as for `fit`. By default the columns that the model was fitted to by name, or all.
    output : str, default="features"
        The new column.

    Returns
    -------
    pyspark.sql.DataFrame
        All columns, and after them an array of what `model.transform` gives, to the last bit. `df.transform(transform,
        model)` reads as well.
    """
    _needed()
    if not isinstance(model, Linear):
        raise TypeError(f"`model` must be a fitted PCE or PCA, got {type(model).__name__}")
    if output in df.columns:
        raise ValueError(f"there is a column {output!r} already: give another name as `output`")
    if columns is None and hasattr(model, "feature_names_in_"):
        columns = list(model.feature_names_in_)
    reading = _reading(df, columns)
    if not reading.whole and len(reading.columns) != model.n_features_in_:
        text = f"{len(reading.columns)} columns are given, and the model was fitted to {model.n_features_in_} features"
        raise ValueError(text)
    reading = reading._replace(features=model.n_features_in_)
    from pyspark.sql.types import ArrayType, DoubleType, FloatType, StructField, StructType

    number = FloatType() if reading.number == np.float32 else DoubleType()
    plain = [StructField(name, field.dataType, field.nullable) for name, field in zip(_plain(df), df.schema, strict=True)]
    schema = StructType([*plain, StructField("features", ArrayType(number))])
    features = df.toDF(*_plain(df)).mapInArrow(_features(reading, _sent(df, model)), schema)
    return features.toDF(*df.columns, output)


# On the driver.


def _needed() -> None:
    try:
        import pyarrow
        import pyspark  # noqa: F401
    except ImportError as error:
        raise ImportError("this needs PySpark and PyArrow: pip install eigenspan[spark]") from error


def _plain(df: Any) -> list[str]:
    """Names that Spark does not take apart: `mapInArrow` knows no columns with a dot in their name."""
    return [f"c{place}" for place in range(len(df.columns))]


def _reading(df: Any, columns: str | list[str] | None) -> Reading:
    """Which columns are the samples; refused where they cannot be."""
    kinds = {field.name: field.dataType.simpleString() for field in df.schema.fields}
    names = [columns] if isinstance(columns, str) else list(kinds) if columns is None else list(columns)
    if not names:
        raise ValueError("there are no columns to make samples of")
    for name in names:
        if name not in kinds:
            raise ValueError(f"there is no column {name!r}: those there are are {', '.join(kinds)}")
        alone = len(names) == 1 and kinds[name] in LISTS
        if not alone and kinds[name] not in NUMBERS:
            hint = "cast it, leave it out" if kinds[name] not in LISTS else "name it alone"
            raise ValueError(f"column {name!r} is {kinds[name]}, which is no number: {hint}, or give other `columns`")
    return Reading(names, [kinds[name] for name in names], [df.columns.index(name) for name in names], None)


def _run(action: Callable[[], Any]) -> Any:
    """What was wrong with samples is said as it is elsewhere, without the traces of two machines."""
    from pyspark.errors import PythonException

    try:
        return action()
    except PythonException as error:
        said = [line for line in str(error).splitlines() if line.startswith("ValueError: ")]
        if not said:
            raise
        raise ValueError(said[-1].removeprefix("ValueError: ")) from error


def _in_order(parts: Any) -> Iterator[bytes]:
    """The summaries, one partition after the other; Spark fetches the next while one is merged."""
    last = -1
    for row in parts.toLocalIterator(prefetchPartitions=True):
        if row["number"] <= last:
            raise RuntimeError(f"partition {row['number']} came after partition {last}")
        last = row["number"]
        yield bytes(row["summary"])


def _sent(df: Any, model: Linear) -> Callable[[], Linear]:
    """The model by way of a broadcast; inside the task where Spark Connect has no broadcasts."""
    from pyspark.errors import PySparkException

    try:
        context = df.sparkSession.sparkContext
    except (AttributeError, PySparkException):
        return lambda: model
    broadcast = context.broadcast(model)
    return lambda: broadcast.value


# On the workers.


def _summaries(reading: Reading, settings: dict[str, Any]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def task(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        context = TaskContext.get()
        number = 0 if context is None else context.partitionId()
        summary = summarise(_samples(batches, reading, f"partition {number}, "), settings, number)
        if summary is not None:
            columns = [pa.array([number], pa.int32()), pa.array([summary], pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, names=["number", "summary"])

    return task


def _features(reading: Reading, sent: Callable[[], Linear]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def task(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        model = sent()
        width = model.n_components_
        for batch in batches:
            samples = _matrix(batch, reading)
            features = model._fitted.transform(samples, 1) if len(samples) else np.empty((0, width), reading.number)
            starts = np.arange(0, features.size + 1, width, dtype=np.int32)
            lists = pa.ListArray.from_arrays(starts, features.ravel())
            yield pa.RecordBatch.from_arrays([*batch.columns, lists], names=[*batch.schema.names, "features"])

    return task


def _samples(batches: Iterator[Any], reading: Reading, where: str) -> Iterator[NDArray[Any]]:
    """Batch after batch, every sample as long as the first."""
    rows = 0
    for batch in batches:
        if batch.num_rows:
            samples = _matrix(batch, reading, where, rows)
            reading = reading._replace(features=samples.shape[1])
            rows += len(samples)
            yield samples


def _matrix(batch: Any, reading: Reading, where: str = "", rows: int = 0) -> NDArray[Any]:
    """The samples of a batch, in rows; a null is refused by its place."""
    columns = [batch.column(place) for place in reading.places]
    for name, column in zip(reading.columns, columns, strict=True):
        if column.null_count:
            row = rows + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise ValueError(f"{where}row {row}: column {name!r} is null: drop or fill such rows first")
    if not reading.whole:
        matrix = np.empty((batch.num_rows, len(columns)), reading.number)
        for j, column in enumerate(columns):
            matrix[:, j] = column.to_numpy(zero_copy_only=False)
        return matrix
    return _rows(columns[0], reading, where, rows)


def _rows(column: Any, reading: Reading, where: str, rows: int) -> NDArray[Any]:
    """Lists or vectors of one length, as a matrix."""
    vectors = reading.kinds[0] == VECTOR
    if vectors:
        kind, size, at, column = (column.field(name) for name in ("type", "size", "indices", "values"))
    lengths = np.asarray(column.value_lengths().fill_null(0), dtype=np.int64)
    values = column.flatten()
    if values.null_count:
        place = int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
        row = rows + int(np.searchsorted(np.cumsum(lengths), place, side="right"))
        raise ValueError(f"{where}row {row}: column {reading.columns[0]!r} holds a null: drop or fill such rows first")
    if vectors:
        sparse = np.asarray(kind) == 0
        long = np.where(sparse, np.asarray(size.fill_null(0), dtype=np.int64), lengths)
    else:
        long = lengths
    m = reading.features if reading.features is not None else int(long[0]) if len(long) else 0
    if (long != m).any():
        row = int(np.flatnonzero(long != m)[0])
        raise ValueError(f"{where}row {rows + row}: column {reading.columns[0]!r} holds {long[row]} numbers, others {m}")
    numbers: NDArray[Any] = values.to_numpy(zero_copy_only=False).astype(reading.number, copy=False)
    if not vectors or not sparse.any():
        return numbers.reshape(len(long), m)
    matrix = np.zeros((len(long), m), reading.number)
    owner = np.repeat(np.arange(len(long)), lengths)
    of_dense = ~sparse[owner]
    matrix[~sparse] = numbers[of_dense].reshape(-1, m)
    matrix[owner[~of_dense], np.asarray(at.flatten())] = numbers[~of_dense]
    return matrix
