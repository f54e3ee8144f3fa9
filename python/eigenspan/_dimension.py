"""How many dimensions samples have, by several estimators side by side."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from numpy.typing import ArrayLike
from sklearn.utils import check_array

from ._base import NUMBERS, as_read_by_rust
from ._eigenspan import Calibration, Neighbourhood, agreement, estimators
from ._estimators import Path, calibrated
from ._settings import as_threads, whole

_DEFAULTS = {name: json.loads(settings) for name, _, settings in estimators()}


class Estimated(NamedTuple):
    """What one estimator said."""

    method: str
    """Its name."""
    dimension: float | None
    """The dimension; None where the samples were refused."""
    standard_error: float | None
    """Its standard error, where the method has one."""
    seconds: float
    """How long it took, without the search for neighbours."""
    settings: dict[str, Any]
    """What was asked."""
    why: str
    """What was found or refused, in one sentence."""
    warnings: list[str]
    """What the user should know."""


class Dimensions(list[Estimated]):
    """What several estimators said, in their order; prints as a table."""

    @property
    def agreement(self) -> str | None:
        """How many are near each other, such as ``5 of 9 say 8–11``; None where nobody said anything."""
        return agreement([one.dimension for one in self if one.dimension is not None])

    def __str__(self) -> str:
        lines = [f"{'method':<18} {'dimension':>15} {'seconds':>8}"]
        for one in self:
            if one.dimension is None:
                found = "–"
            elif one.standard_error is not None:
                found = f"{one.dimension:.2f} ± {one.standard_error:.2f}"
            else:
                found = f"{one.dimension:.2f}".removesuffix(".00")
            refused = f"  {one.why}" if one.dimension is None else ""
            lines.append(f"{one.method:<18} {found:>15} {one.seconds:8.2f}{refused}")
        return "\n".join([*lines, *filter(None, [self.agreement])])


def dimension(
    X: ArrayLike,
    methods: Iterable[str] | None = None,
    *,
    n_neighbors: int | None = None,
    calibration: Path | None = None,
    n_jobs: int | None = None,
) -> Dimensions:
    """The dimension of samples by several estimators, side by side.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        The samples.
    methods : iterable of str, optional
        The names of the estimators, as on the command line; all but ``"fast-danco"`` otherwise.
    n_neighbors : int, optional
        Neighbours, for the estimators that look at some; their own default otherwise.
    calibration : str or path, optional
        A file of balls that were looked at before. What is not in it is computed and added.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Returns
    -------
    Dimensions
        One `Estimated` for each; prints as a table. Samples that an estimator refuses are no failure of the others.

    Examples
    --------
    >>> from eigenspan import datasets, dimension
    >>> X, _ = datasets.make_subspaces(n_samples=500, n_features=20, n_subspaces=1, dim=4, noise=0.0)
    >>> found = dimension(X, ["mle", "danco", "two-nn"])
    >>> [round(one.dimension) for one in found]
    [4, 4, 4]
    >>> found.agreement
    '3 of 3 say 4'
    """
    names = [name for name in _DEFAULTS if name != "fast-danco"] if methods is None else list(methods)
    asked = []
    for name in names:
        if name not in _DEFAULTS:
            raise ValueError(f"`methods` must be some of {', '.join(_DEFAULTS)}, got {name!r}")
        settings = dict(_DEFAULTS[name])
        if n_neighbors is not None and "neighbours" in settings:
            settings["neighbours"] = whole()("n_neighbors", n_neighbors)
        asked.append(settings)
    x = as_read_by_rust(check_array(X, accept_sparse="csr", dtype=NUMBERS, ensure_all_finite=False))
    near = Neighbourhood(x, [json.dumps(one) for one in asked], as_threads(n_jobs))
    with calibrated(calibration) as known:
        return Dimensions(_ask(near, x, one, known, as_threads(n_jobs)) for one in asked)


def _ask(near: Neighbourhood, x: Any, settings: dict[str, Any], known: Calibration, threads: int | None) -> Estimated:
    started = time.perf_counter()
    try:
        told = near.estimate(x, json.dumps(settings), known, threads)
    except ValueError as error:
        told = {"dimension": None, "standard_error": None, "why": str(error), "warnings": []}
    seconds = time.perf_counter() - started
    options = {key: value for key, value in settings.items() if key != "method"}
    return Estimated(
        settings["method"], told["dimension"], told["standard_error"], seconds, options, told["why"], told["warnings"]
    )
