"""What is kept of samples that are too many for memory, or lie on several machines."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, Literal, Self

from numpy.typing import ArrayLike
from sklearn.utils import check_array

from . import _eigenspan
from ._base import NUMBERS, as_read_by_rust
from ._feed import _checked, listed
from ._pce import PCE, settings_of
from ._settings import Threaded


class Summary(Threaded):
    """All that PCE needs to know of samples, in m² numbers: updated with portions, merged with others, finished to a model.

    A summary does not depend on how samples are cut into portions. Summaries of partitions, merged in the order of the
    partitions, give the same model to the last bit wherever and whenever each of them was made.

    Parameters
    ----------
    lam, dim, noise, normalize, center, weights, gamma, unit_features, rank_rule, solver, n_jobs
        The settings of the model, as in `PCE`.
    form : {"auto", "gram", "triangle"}, default="auto"
        What is kept. "gram" is several times faster and serves where the cut is not too far below the largest singular
        value; where it is, `finish` refuses and the samples are to be read again with "triangle", which serves every cut.
        "auto" is "gram", unless the settings are known to need the triangle: z-scores, and a `noise` of 0.

    Attributes
    ----------
    n_samples_seen_ : int
        Samples in it.
    n_features_in_ : int
        Features of a sample; only once samples were seen.

    Examples
    --------
    >>> from eigenspan import Summary, datasets
    >>> X, y = datasets.make_subspaces(n_samples=400, n_features=200, n_subspaces=3, dim=4, noise=0.3)
    >>> here, there = Summary().update(X[:150]), Summary().update(X[150:])
    >>> received = Summary.from_bytes(there.to_bytes())
    >>> pce = here.merge(received).finish()
    >>> pce.n_components_, pce.n_samples_
    (12, 400)
    >>> here.finish(dim=3).n_components_
    3
    """

    def __init__(
        self,
        lam: Literal["auto", "screenot"] | float = "auto",
        *,
        dim: Literal["auto"] | int | float = "auto",
        noise: float | None = None,
        normalize: Literal["unit", "none", "zscore"] = "unit",
        center: bool = False,
        weights: Literal["hard", "soft", "auto", "scores", "whitened"] = "hard",
        gamma: float | None = None,
        unit_features: bool = False,
        rank_rule: Literal["theorem", "released"] = "theorem",
        solver: Literal["auto", "direct"] = "auto",
        form: Literal["auto", "gram", "triangle"] = "auto",
        n_jobs: int | None = None,
    ) -> None:
        settings: dict[str, Any] = {"lam": lam, "dim": dim, "noise": noise, "normalize": normalize, "center": center}
        settings |= {"weights": weights, "gamma": gamma, "unit_features": unit_features}
        self._keywords: dict[str, Any] = settings | {"rank_rule": rank_rule, "solver": solver}
        self._form: str = form
        self._kept: _eigenspan.Summary | None = None
        self.n_jobs = n_jobs
        _eigenspan.Summary(self._settings(), 1, form)  # settings that make no sense are refused now

    def update(self, X: ArrayLike) -> Self:
        """Take more samples, any number of them.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            The next samples; none is a portion, too. After an error the summary is what it was before.

        Returns
        -------
        self
        """
        x = check_array(X, accept_sparse="csr", dtype=NUMBERS, ensure_all_finite=False, ensure_min_samples=0)
        kept = self._kept or self._empty(x.shape[1])
        kept.update(as_read_by_rust(x), self.threads)
        self._kept = kept
        return self

    def update_files(
        self,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        max_memory: int | str | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int | str = "1GB",
        **reading: Any,
    ) -> Self:
        """Take the samples of files that are read chunk by chunk and not kept, each file as a partition of its own.

        Parameters
        ----------
        paths : path-like or sequence of path-like
            Files or folders of images, in the order of their samples.
        max_memory, checkpoint, checkpoint_every, **reading
            As in `PCE.fit_files`.

        Returns
        -------
        self
        """
        how = reading | {
            "max_memory": max_memory,
            "checkpoint": None if checkpoint is None else os.fspath(checkpoint),
            "checkpoint_every": checkpoint_every,
            "form": self.form,
        }
        if self._kept is None:
            self._kept = _eigenspan.summarize_files(listed(paths), self._settings(), _checked(how), self.threads)
            return self
        if checkpoint is not None:
            raise ValueError("`checkpoint` needs an empty summary: what was seen before is not in the files")
        for path in listed(paths):
            # One after the other: another bracketing would round otherwise.
            self._kept.merge(_eigenspan.summarize_files([path], self._settings(), _checked(how), self.threads), self.threads)
        return self

    def merge(self, other: Summary) -> Self:
        """Take the samples of another summary, after those of this one.

        Parameters
        ----------
        other : Summary
            Made with the same settings, of samples with as many features. It stays as it is.

        Returns
        -------
        self
        """
        if not isinstance(other, Summary):
            raise TypeError(f"`other` must be a Summary, got {type(other).__name__}")
        if other._kept is None:
            # Nothing to take, but settings are compared all the same.
            features = 1 if self._kept is None else self._kept.features
            (self._kept or self._empty(features)).merge(other._empty(features), self.threads)
            return self
        kept = self._kept or self._empty(other._kept.features)
        kept.merge(other._kept, self.threads)
        self._kept = kept
        return self

    def finish(
        self,
        lam: Literal["auto", "screenot"] | float | None = None,
        *,
        dim: Literal["auto"] | int | float | None = None,
        noise: float | None = None,
    ) -> PCE:
        """The model of all samples seen; the summary can go on afterwards.

        Parameters
        ----------
        lam, dim, noise : optional
            Another place to cut than that of the settings, as in `PCE`, without reading the samples again. A rule that
            looks for noise needs a summary that was made for such a rule.

        Returns
        -------
        PCE
            Fitted.
        """
        if self._kept is None:
            raise ValueError("no samples were seen: `update` or `merge` comes first")
        settings = None
        if not (lam is None and dim is None and noise is None):
            asked = {"lam": "auto" if lam is None else lam, "dim": "auto" if dim is None else dim, "noise": noise}
            settings = json.dumps(settings_of(self._keywords | asked))
        model = self._kept.finish(settings, self.threads)
        keywords = PCE._keywords(json.loads(model.settings_of_pce()))
        pce = PCE(**keywords, n_jobs=self.n_jobs)._take(model)
        pce._warn(model)
        return pce

    def to_bytes(self) -> bytes:
        """The bytes of a summary file (`.essum`), the same as those of the command line.

        Returns
        -------
        bytes
            With a checksum. The same samples in the same partitions give the same bytes.
        """
        if self._kept is None:
            raise ValueError("no samples were seen: there is nothing to write, and the number of features is not known")
        return self._kept.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The summary that `to_bytes`, or `eigenspan summarize`, wrote.

        Parameters
        ----------
        data : bytes
            Everything is checked before it is used.

        Returns
        -------
        Summary
        """
        return cls._of(_eigenspan.Summary.from_bytes(bytes(data)))

    @classmethod
    def _of(cls, kept: _eigenspan.Summary, n_jobs: int | None = None) -> Self:
        keywords = PCE._keywords(json.loads(kept.settings()))
        summary = cls(**keywords, form=kept.form, n_jobs=n_jobs)
        summary._kept = kept
        return summary

    @property
    def n_samples_seen_(self) -> int:
        """Samples in it."""
        return 0 if self._kept is None else self._kept.n

    @property
    def n_features_in_(self) -> int:
        """Features of a sample."""
        if self._kept is None:
            raise AttributeError("no samples were seen, and the number of features is not known")
        return self._kept.features

    @property
    def form(self) -> str:
        """What is kept: "gram" or "triangle"; as it was given before samples were seen."""
        return self._form if self._kept is None else self._kept.form

    def __repr__(self) -> str:
        features = "" if self._kept is None else f" of {self._kept.features} features"
        return f"<Summary: {self.n_samples_seen_} samples{features}, {self.form}>"

    def _settings(self) -> str:
        return json.dumps(settings_of(self._keywords))

    def _empty(self, features: int) -> _eigenspan.Summary:
        return _eigenspan.Summary(self._settings(), features, self._form)
