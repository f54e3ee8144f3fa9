"""Principal component analysis."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._base import Linear
from ._settings import one_of


class PCA(Linear):
    """Principal component analysis, exact, of dense and sparse samples, with a dimension if you have none.

    A drop-in for scikit-learn's: centred samples are projected onto the directions in which they vary most. Only the
    directions that are asked for are computed, and it is proved that they are the leading ones.

    Parameters
    ----------
    n_components : None, "auto", "mle", int or float, default=None
        How many directions to keep: every one above rounding (None), those that stand out of the noise ("auto"), as many as
        have the largest evidence by Minka's rule ("mle", for as many samples as features), so many, or as few as carry
        this share of the variance, between 0 and 1.
    whiten : bool, default=False
        Whether every feature gets variance one.
    solver : {"auto", "direct"}, default="auto"
        "direct" never forms a matrix of min(n, m)² numbers; it serves a number of components and a share.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    components_, singular_values_, explained_variance_, explained_variance_ratio_, mean_, n_components_
        As in scikit-learn.
    k_, k_interval_, certified_, lambda_, tau_, k_path_, spectrum_, theta_, solver_, why_
        As in `PCE`.

    Examples
    --------
    >>> from eigenspan import PCA, datasets
    >>> X, y = datasets.load_digits()
    >>> PCA(n_components=0.9).fit(X).n_components_
    21
    """

    METHOD = "pca"

    def __init__(
        self,
        n_components: Literal["auto", "mle"] | int | float | None = None,
        *,
        whiten: bool = False,
        solver: Literal["auto", "direct"] = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.solver = solver
        self.n_jobs = n_jobs

    def partial_fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        mode: Literal["exact", "online"] | None = None,
        rank: int | None = None,
        forget: float | None = None,
    ) -> Self:
        """Learn from more samples, any number of them. As in `PCE`; "mle" needs all samples at once."""
        if isinstance(self.n_components, str) and self.n_components == "mle":
            raise ValueError("`n_components='mle'` needs all samples at once: use `fit`, or 'auto'")
        return super().partial_fit(X, y, mode=mode, rank=rank, forget=forget)

    @property
    def explained_variance_(self) -> NDArray[np.float64]:
        """The variance of the training samples along each direction."""
        return self._fitted.explained_variance()

    def _asked(self) -> dict[str, Any]:
        return {
            "method": self.METHOD,
            "dim": "all" if self.n_components is None else self._checked_components(),
            "whiten": bool(self.whiten),
            "solver": one_of("auto", "direct")("solver", self.solver),
        }

    @classmethod
    def _keywords(cls, settings: dict[str, Any]) -> dict[str, Any]:
        dim = settings["dim"]
        return {"n_components": None if dim == "all" else dim, "whiten": settings["whiten"], "solver": settings["solver"]}

    def _checked_components(self) -> Any:
        asked = self.n_components
        expected = "None, 'auto', 'mle', a number of components from 1 on, or a share of the variance between 0 and 1"
        if isinstance(asked, bool) or not (isinstance(asked, Real) or asked in ("auto", "mle")):
            raise TypeError(f"`n_components` must be {expected}, got {asked!r}")
        if isinstance(asked, Real) and not (asked >= 1 if isinstance(asked, Integral) else 0 < asked < 1):
            raise ValueError(f"`n_components` must be {expected}, got {asked!r}")
        return asked if isinstance(asked, str) else int(asked) if isinstance(asked, Integral) else float(asked)
