"""Random projection."""

from __future__ import annotations

from typing import Literal

from ._method import Projection
from ._settings import COMPONENTS, NORMALIZE, Normalize, Setting, number, whole


class RandomProjection(Projection):
    """Random projection: as many Gaussian directions as keep all distances, whatever the samples are.

    Of `n` samples, no squared distance changes by more than the share `eps`, with probability 1 − `failure`.

    Parameters
    ----------
    n_components : "auto" or int, default="auto"
        How many directions; "auto" takes as many as `eps` and `failure` need, ln(n(n − 1)/failure) / (eps²/4 − eps³/6), and
        all features where that is more.
    eps : float, default=0.2
        The share by which a squared distance may change, below 1.
    failure : float, default=0.01
        The probability that one of them changes by more.
    random_state : int, default=0
        The seed of the directions.
    normalize : {"unit", "none", "zscore"}, default="none"
        How samples are scaled.
    n_jobs : int, optional
        How many threads to use; all cores where None or −1. Results do not depend on it.

    Attributes
    ----------
    theta_ : ndarray of shape (n_features, n_components_)
        The projection: independent normal numbers of variance 1/n_components_.
    n_components_, n_features_in_, n_samples_, why_
        What was drawn, and for what.

    References
    ----------
    Dasgupta, Gupta, "An Elementary Proof of a Theorem of Johnson and Lindenstrauss", Random Structures & Algorithms 22 (2003).

    Examples
    --------
    >>> from eigenspan import RandomProjection, datasets
    >>> X, y = datasets.load_digits()
    >>> RandomProjection(n_components=20).fit_transform(X).shape
    (1797, 20)
    """

    METHOD = "random-projection"
    _settings = {
        "n_components": COMPONENTS,
        "eps": Setting("eps", number()),
        "failure": Setting("failure", number()),
        "random_state": Setting("seed", whole(0)),
        "normalize": NORMALIZE,
    }

    def __init__(
        self,
        n_components: Literal["auto"] | int = "auto",
        *,
        eps: float = 0.2,
        failure: float = 0.01,
        random_state: int = 0,
        normalize: Normalize = "none",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.eps = eps
        self.failure = failure
        self.random_state = random_state
        self.normalize = normalize
        self.n_jobs = n_jobs
