"""Principal Coefficients Embedding."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from ._base import Linear
from ._eigenspan import rules
from ._settings import maybe, one_of, truth


RULES = rules()
"""The rules for λ that take no value."""

SAME = {
    "normalize": one_of("unit", "none", "zscore"),
    "center": truth,
    "unit_features": truth,
    "rank_rule": one_of("theorem", "released"),
    "solver": one_of("auto", "direct"),
}
"""Keywords that are settings by the same name, and how they are checked."""


def settings_of(keywords: dict[str, Any]) -> dict[str, Any]:
    """The settings for which keywords of `PCE` ask, in the words that Rust knows."""
    lam, dim = _lam("lam", keywords["lam"]), _dim("dim", keywords["dim"])
    noise = maybe(bounded("a standard deviation of 0 or more", lambda s: s >= 0))("noise", keywords["noise"])
    share = isinstance(dim, float)
    for given, one, other in [
        (noise is not None and lam != "auto", "lam", "noise"),
        (noise is not None and share, "dim", "noise"),
        (share and lam != "auto", "lam", "dim"),
    ]:
        if given:
            raise ValueError(f"`{one}` and `{other}` both say where to cut: give one of them")
    weights = one_of("hard", "soft", "auto", "scores", "whitened")("weights", keywords["weights"])
    gamma = maybe(bounded("a number from 0 (PCA) to 1 (whitening)", lambda g: 0 <= g <= 1))("gamma", keywords["gamma"])
    if gamma is not None and weights != "soft":
        raise ValueError("`gamma` has no effect unless `weights` is 'soft'")
    return {
        "method": PCE.METHOD,
        "lambda": {"noise": noise} if noise is not None else {"energy": dim} if share else lam,
        "dim": "auto" if share else dim,
        "weights": weights if gamma is None else {"soft": gamma},
        **{name: check(name, keywords[name]) for name, check in SAME.items()},
    }


def bounded(expected: str, fits: Callable[[float], bool]) -> Callable[[str, Any], float]:
    """A finite number within bounds; None is said to be one of the values."""

    def check(keyword: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"`{keyword}` must be None or {expected}, got {value!r}")
        result = float(value)
        if not (np.isfinite(result) and fits(result)):
            raise ValueError(f"`{keyword}` must be None or {expected}, got {value!r}")
        return result

    return check


def _lam(keyword: str, value: Any) -> str | float:
    expected = f"{', '.join(map(repr, RULES))} or a positive number"
    if isinstance(value, str):
        if value not in RULES:
            raise ValueError(f"`{keyword}` must be {expected}, got {value!r}")
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"`{keyword}` must be {expected}, got {value!r}")
    if not (np.isfinite(float(value)) and float(value) > 0):
        raise ValueError(f"`{keyword}` must be {expected}, got {value!r}")
    return float(value)


def _dim(keyword: str, value: Any) -> str | int | float:
    expected = "'auto', a number of dimensions from 1 on, or a share of the energy between 0 and 1"
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f"`{keyword}` must be {expected}, got {value!r}")
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"`{keyword}` must be {expected}, got {value!r}")
    if isinstance(value, Integral) and int(value) >= 1:
        return int(value)
    if not isinstance(value, Integral) and 0 < float(value) < 1:
        return float(value)
    raise ValueError(f"`{keyword}` must be {expected}, got {value!r}")


class PCE(Linear):
    """Principal Coefficients Embedding: the dimension of the data, and the projection.

    Samples are scaled to unit length and decomposed; directions whose singular value stands out of the noise are kept
    and weighted by one over it. The dimension comes from the data; there is nothing to choose.

    Parameters
    ----------
    lam : {"auto", "screenot"} or float, default="auto"
        λ, and not a number of dimensions: directions with σ² > 1/λ are kept. "auto" is the optimal hard threshold for
        white noise of unknown strength, "screenot" that for noise of any shape.
    dim : "auto", int or float, default="auto"
        A number of dimensions, or a share of the energy between 0 and 1, in place of λ.
    noise : float, optional
        The standard deviation of the noise, in the units of the data, in place of λ.
    normalize : {"unit", "none", "zscore"}, default="unit"
        How samples are scaled: to length one, not at all, or every feature to mean 0 and variance 1.
    center : bool, default=False
        Whether the mean of the scaled samples is subtracted. The paper does not.
    weights : {"hard", "soft", "auto", "scores", "whitened"}, default="hard"
        Weights of the directions: 1/σ as in the paper; σ^(2−γ)/(σ² + τ²), which falls off smoothly, of directions down
        to τ/2; the same with τ and γ that know most training samples by their nearest neighbor, where `fit` is given
        classes; 1; or √(n − 1)/σ.
    gamma : float, optional
        γ of soft weights: 0 for denoised scores, 1 (the default) for the ridge form of 1/σ.
    unit_features : bool, default=False
        Whether the features of every sample are scaled to length one.
    rank_rule : {"theorem", "released"}, default="theorem"
        How the dimension follows from λ: as the paper's theorem says, or one more, as its authors' program does.
    solver : {"auto", "direct"}, default="auto"
        "auto" proves the dimension. "direct" never forms a matrix of min(n, m)² numbers, and its dimension is probable.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    k_ : int
        The dimension that was found.
    n_components_ : int
        The number of features of a sample: `k_`, or 1 where that is 0; with soft weights all above τ/2.
    components_ : ndarray of shape (n_components_, n_features)
        The directions, orthonormal.
    singular_values_ : ndarray of shape (n_components_,)
        Their singular values.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Their shares of the energy of the prepared samples.
    theta_ : ndarray of shape (n_features, n_components_)
        The projection.
    mean_ : ndarray of shape (n_features,) or None
        The mean that is subtracted.
    lambda_, tau_ : float
        λ, and τ = 1/√λ.
    k_path_ : structured ndarray
        Every `"lambda"` at which the dimension changes, and the `"k"` from there on.
    spectrum_ : ndarray
        The computed singular values, largest first.
    certified_ : bool
        Whether it is proved that no singular value above the cut was missed.
    k_interval_ : (int, int)
        The smallest and the largest dimension, rounding considered.
    gamma_ : float or None
        γ of soft weights, given or chosen.
    trials_ : structured ndarray or None
        What classes chose from: the cut as a `"factor"` of that of λ, `"gamma"`, `"columns"`, and the share of training
        samples `"known"` by their nearest neighbor.
    solver_, why_ : str
        How the singular values were computed; why this dimension, in one sentence.
    n_features_in_, feature_names_in_, n_samples_
        What was seen.

    References
    ----------
    Peng, Lu, Yi, Yan, "Automatic Subspace Learning via Principal Coefficients Embedding", IEEE Transactions on
    Cybernetics 47 (2017).

    Gavish, Donoho, "The Optimal Hard Threshold for Singular Values is 4/√3", IEEE Transactions on Information Theory 60
    (2014).

    Examples
    --------
    >>> from eigenspan import PCE, datasets
    >>> X, y = datasets.load_digits()
    >>> pce = PCE().fit(X)
    >>> pce.n_components_, pce.certified_
    (21, True)
    >>> pce.transform(X[:2]).shape
    (2, 21)
    """

    METHOD = "pce"

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
        n_jobs: int | None = None,
    ) -> None:
        self.lam = lam
        self.dim = dim
        self.noise = noise
        self.normalize = normalize
        self.center = center
        self.weights = weights
        self.gamma = gamma
        self.unit_features = unit_features
        self.rank_rule = rank_rule
        self.solver = solver
        self.n_jobs = n_jobs

    def _parameters(self) -> dict[str, Any]:
        return settings_of(self.get_params(deep=False))

    @classmethod
    def _keywords(cls, settings: dict[str, Any]) -> dict[str, Any]:
        rule, weights = settings["lambda"], settings["weights"]
        level = rule if isinstance(rule, dict) else {}
        dim = settings["dim"]
        return {
            "lam": "auto" if level else rule,
            "dim": level["energy"] if "energy" in level and dim == "auto" else dim,
            "noise": level.get("noise"),
            "weights": "soft" if isinstance(weights, dict) else weights,
            "gamma": weights["soft"] if isinstance(weights, dict) else None,
            **{name: settings[name] for name in SAME},
        }

    @classmethod
    def auto(cls, **keywords: Any) -> Self:
        """PCE-auto, for features that a classifier takes next: soft weights chosen by the data, features of length one.

        Parameters
        ----------
        **keywords
            Settings that are to be others.

        Returns
        -------
        PCE
            Not fitted. Give `fit` the classes `y`: they choose the weights.

        Examples
        --------
        >>> from eigenspan import PCE, datasets
        >>> X, y = datasets.load_digits()
        >>> pce = PCE.auto().fit(X[:900], y[:900])
        >>> pce
        PCE(unit_features=True, weights='auto')
        >>> len(pce.trials_), pce.k_ <= pce.n_components_
        (25, True)
        """
        settings: dict[str, Any] = {"weights": "auto", "unit_features": True}
        return cls(**(settings | keywords))

    @property
    def gamma_(self) -> float | None:
        """γ of soft weights, given or chosen; None where weights are not soft."""
        return self._fitted.gamma

    @property
    def trials_(self) -> NDArray[np.void] | None:
        """Every cut and γ that classes were to choose from; None where weights were not for the data to choose."""
        found = self._fitted.trials()
        if found is None:
            return None
        trials, tried = found
        rows = [(factor, gamma, columns, known / tried) for factor, gamma, columns, known in trials]
        return np.array(rows, dtype=[("factor", float), ("gamma", float), ("columns", np.int64), ("known", float)])
