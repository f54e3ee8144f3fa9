"""Files that may be larger than memory: the same work as the command line does, chunk by chunk."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from sklearn.utils.validation import check_is_fitted

from ._eigenspan import Model, fit_files, recover_file, transform_files, update_files
from ._settings import Threaded

if TYPE_CHECKING:
    from ._base import Linear

Path = str | os.PathLike[str]
Size = int | str


def listed(paths: Path | Sequence[Path]) -> list[str]:
    """One path, or several, as Rust takes them."""
    several = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    return [os.fspath(path) for path in several]


class FromFiles(Threaded):
    """What a projection does with files."""

    def fit_files(
        self,
        paths: Path | Sequence[Path],
        *,
        max_memory: Size | None = None,
        checkpoint: Path | None = None,
        checkpoint_every: Size = "1GB",
        form: Literal["auto", "gram", "triangle", "sketch"] = "auto",
        passes: int | None = None,
        sketch_columns: int | None = None,
        sketch_seed: int | None = None,
        **reading: Any,
    ) -> Self:
        """Learn from files that are read chunk by chunk and not kept.

        The model has the same bytes as that of `eigenspan fit FILES --max-memory …`, whatever the memory, the number of
        threads, and after every interruption. Each file is a partition of its own.

        Parameters
        ----------
        paths : path-like or sequence of path-like
            Files or folders of images, in the order of their samples.
        max_memory : int or str, optional
            The most bytes that the process may take besides Python, about: a number, or text such as "2GB".
        checkpoint : path-like, optional
            Where to write down, now and then and on Ctrl-C, how far the reading has come; the same call resumes there. The file
            is removed when the fit is done.
        checkpoint_every : int or str, default="1GB"
            How much is read from one checkpoint to the next.
        form : {"auto", "gram", "triangle", "sketch"}, default="auto"
            What is kept of the samples: as in `Summary`, or a sketch for thousands of features, for which files are read
            several times. "auto" takes it above 5000 features, where the settings allow it and no checkpoint is asked for.
        passes, sketch_columns, sketch_seed : int, optional
            How often a sketch may read the files (8), its Gaussian columns (200), and their seed (1).
        **reading
            `label`, `array`, `image`, `resize` and `grey`, as in `datasets.load_file`.

        Returns
        -------
        self

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> from eigenspan import PCE, datasets
        >>> X, y = datasets.load_digits()
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> np.save(folder / "a.npy", X[:1000])
        >>> np.save(folder / "b.npy", X[1000:])
        >>> pce = PCE(lam=0.1).fit_files([folder / "a.npy", folder / "b.npy"], max_memory="100MB")
        >>> pce.k_, pce.n_samples_
        (14, 1797)
        """
        how = reading | {
            "max_memory": max_memory,
            "checkpoint": None if checkpoint is None else os.fspath(checkpoint),
            "checkpoint_every": checkpoint_every,
            "form": form,
            "passes": passes,
            "sketch_columns": sketch_columns,
            "sketch_seed": sketch_seed,
        }
        settings = json.dumps(self._projection()._asked())
        return self._refit(fit_files(listed(paths), settings, _checked(how), self.threads))

    def update_files(
        self,
        paths: Path | Sequence[Path],
        *,
        rank: int | None = None,
        forget: float | None = None,
        max_memory: Size | None = None,
        **reading: Any,
    ) -> Self:
        """Learn from the samples of files that arrive after a fit, whose samples are not read again.

        As `eigenspan update MODEL FILES`, and as `partial_fit` with `mode="online"` of each file's samples.

        Parameters
        ----------
        paths : path-like or sequence of path-like
            Files or folders of images, in the order of their samples.
        rank, forget : optional
            As in `partial_fit`; otherwise as before.
        max_memory : int or str, optional
            As in `fit_files`.
        **reading
            As in `fit_files`.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        how = reading | {"rank": rank, "forget": forget, "max_memory": max_memory}
        projection = self._projection()
        settings = json.dumps(projection._asked())
        model = update_files(projection._fitted, listed(paths), settings, _checked(how), self.threads)
        return self._refit(model)

    def transform_files(
        self, paths: Path | Sequence[Path], output: Path, *, max_memory: Size | None = None, **reading: Any
    ) -> int:
        """Write the features of the samples of files, one row a sample.

        Parameters
        ----------
        paths : path-like or sequence of path-like
            Files or folders of images, in the order of their samples.
        output : path-like
            The file of features: .npy, .csv, .tsv or .parquet. It appears when it is whole.
        max_memory : int or str, optional
            As in `fit_files`.
        **reading
            As in `fit_files`.

        Returns
        -------
        int
            The number of samples.
        """
        check_is_fitted(self)
        how = _checked(reading | {"max_memory": max_memory})
        model = self._projection()._fitted
        return transform_files(model, listed(paths), os.fspath(output), how, self.threads)

    def recover_file(
        self,
        path: Path,
        output: Path | None = None,
        *,
        scores: Path | None = None,
        max_memory: Size | None = None,
        **reading: Any,
    ) -> int:
        """Write what the model explains of the samples of a file, and how little each looks like the training samples.

        Parameters
        ----------
        path : path-like
            A file or folder of images.
        output : path-like, optional
            The file of clean samples.
        scores : path-like, optional
            The file of scores, one number a sample.
        max_memory : int or str, optional
            As in `fit_files`.
        **reading
            As in `fit_files`.

        Returns
        -------
        int
            The number of samples.
        """
        check_is_fitted(self)
        if output is None and scores is None:
            raise ValueError("nothing is to be written: give `output`, `scores` or both")
        how = _checked(reading | {"max_memory": max_memory})
        to = [None if file is None else os.fspath(file) for file in (output, scores)]
        return recover_file(self._projection()._fitted, os.fspath(path), to[0], to[1], how, self.threads)

    def _projection(self) -> Linear:
        raise NotImplementedError

    def _refit(self, model: Model) -> Self:
        """The fit is that of this model."""
        projection = self._projection()
        projection._forget()
        projection._model = model
        projection.n_features_in_ = model.features
        projection.__dict__.pop("feature_names_in_", None)
        projection._warn(model)
        return self


KNOWN = frozenset(
    "max_memory checkpoint checkpoint_every form passes sketch_columns sketch_seed rank forget".split()
    + "label array image resize grey".split()
)


def _checked(how: dict[str, Any]) -> dict[str, Any]:
    """Refuses words that nobody reads."""
    for name in how:
        if name not in KNOWN:
            raise TypeError(f"unexpected keyword argument {name!r}")
    return how
