"""Principal Coefficients Embedding."""

from __future__ import annotations

from typing import Any, Literal

from ._base import Linear


class PCE(Linear):
    """Principal Coefficients Embedding: the dimension of the data, and the projection.

    Samples are scaled to unit length and decomposed; directions whose singular value stands out of the noise are kept and
    weighted by one over it. The dimension comes from the data; there is nothing to choose.

    Parameters
    ----------
    lam : {"auto", "screenot"} or float, default="auto"
        λ, and not a number of dimensions: directions with σ² > 1/λ are kept. "auto" is the optimal hard threshold for white noise of unknown strength,
        "screenot" that for noise of any shape.
    dim : "auto", int or float, default="auto"
        A number of dimensions, or a share of the energy between 0 and 1, in place of λ.
    noise : float, optional
        The standard deviation of the noise, in the units of the data, in place of λ.
    normalize : {"unit", "none", "zscore"}, default="unit"
        How samples are scaled: to length one, not at all, or every feature to mean 0 and variance 1.
    center : bool, default=False
        Whether the mean of the scaled samples is taken away. The paper does not.
    weights : {"hard", "scores", "whitened"}, default="hard"
        Weights of the directions: 1/σ as in the paper, 1, or √(n − 1)/σ.
    rank_rule : {"theorem", "released"}, default="theorem"
        How the dimension follows from λ: as the paper's theorem says, or one more, as its authors' program does.
    solver : {"auto", "direct"}, default="auto"
        "auto" proves the dimension. "direct" never forms a matrix of min(n, m)² numbers, and its dimension is probable.
    threads : int, optional
        How many threads to use; all cores otherwise. Results do not depend on it.

    Attributes
    ----------
    k_ : int
        The dimension that was found.
    n_components_ : int
        The number of features of a sample: `k_`, or 1 where that is 0.
    components_ : ndarray of shape (n_components_, n_features)
        The directions, orthonormal.
    singular_values_ : ndarray of shape (n_components_,)
        Their singular values.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Their shares of the energy of the prepared samples.
    theta_ : ndarray of shape (n_features, n_components_)
        The projection.
    mean_ : ndarray of shape (n_features,) or None
        The mean that is taken away.
    lambda_, tau_ : float
        λ, and τ = 1/√λ.
    k_path_ : structured ndarray
        Every `"lambda"` at which the dimension changes, and the `"k"` from there on.
    spectrum_ : ndarray
        The singular values that are known, largest first.
    certified_ : bool
        Whether it is proved that no singular value above the cut was missed.
    k_interval_ : (int, int)
        The smallest and the largest dimension, rounding considered.
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

    def __init__(
        self,
        lam: Literal["auto", "screenot"] | float = "auto",
        *,
        dim: Literal["auto"] | int | float = "auto",
        noise: float | None = None,
        normalize: Literal["unit", "none", "zscore"] = "unit",
        center: bool = False,
        weights: Literal["hard", "scores", "whitened"] = "hard",
        rank_rule: Literal["theorem", "released"] = "theorem",
        solver: Literal["auto", "direct"] = "auto",
        threads: int | None = None,
    ) -> None:
        self.lam = lam
        self.dim = dim
        self.noise = noise
        self.normalize = normalize
        self.center = center
        self.weights = weights
        self.rank_rule = rank_rule
        self.solver = solver
        self.threads = threads

    def _keywords(self) -> dict[str, Any]:
        names = ("lam", "dim", "noise", "normalize", "center", "weights", "rank_rule", "solver")
        return {name: getattr(self, name) for name in names}
