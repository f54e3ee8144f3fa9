"""Pictures, with matplotlib where it is there (`pip install eigenspan[plot]`)."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 8
"""Samples that are drawn beside each other."""

ROUNDING = 1e-12
"""Values below this share of the largest are not drawn."""

KEPT, LEFT, CUT = "#1f5fa8", "#b0b0b0", "#c23b22"


def spectrum(sigma: NDArray[np.float64], tau: float, k: int, ax: Any = None) -> Any:
    """Singular values, kept and left, and the cut between them."""
    ax = ax if ax is not None else _pyplot().subplots()[1]
    sigma = sigma[sigma > ROUNDING * sigma[0]]  # what is rounding would squeeze the rest
    rank = np.arange(1, len(sigma) + 1)
    ax.semilogy(rank[:k], sigma[:k], ".", color=KEPT, label=f"kept: {k}")
    if k < len(sigma):
        ax.semilogy(rank[k:], sigma[k:], ".", color=LEFT, label="left")
    ax.axhline(tau, color=CUT, linewidth=1, label=f"τ = {tau:.4g}")
    ax.set(xlabel="rank", ylabel="singular value", title=f"{k} dimensions stand out")
    ax.legend()
    return ax


def path(lambdas: NDArray[np.float64], ks: NDArray[np.int64], chosen: float, k: int, ax: Any = None) -> Any:
    """The dimension for every λ, and the λ that was chosen."""
    ax = ax if ax is not None else _pyplot().subplots()[1]
    ax.step(lambdas, ks, where="post", color=KEPT)
    ax.axvline(chosen, color=CUT, linewidth=1, label=f"λ = {chosen:.4g}, k = {k}")
    ax.set(xscale="log", xlabel="λ", ylabel="dimension", title="The dimension for every λ")
    ax.legend()
    return ax


def recovery(
    x: NDArray[Any], clean: NDArray[Any], error: NDArray[Any], shape: tuple[int, int] | None, axes: Any
) -> Any:
    """Samples, what a model explains of them, and the rest, one above the other."""
    count, m = x.shape
    side = isqrt(m)
    shape = shape or ((side, side) if side * side == m else None)
    if shape is not None and shape[0] * shape[1] != m:
        raise ValueError(f"`shape` must be (height, width) with height * width = {m}, got {shape}")
    if axes is None:
        size = (1.2 * count + 0.6, 3.8)
        axes = _pyplot().subplots(3, count, figsize=size, squeeze=False, layout="constrained")[1]
    for row, (name, values) in enumerate([("sample", x), ("clean", clean), ("error", error)]):
        for ax, sample in zip(axes[row], values, strict=False):
            if shape is None:
                ax.plot(sample, color=KEPT, linewidth=0.8)
            else:
                ax.imshow(sample.reshape(shape), cmap="gray")
            ax.set(xticks=[], yticks=[])
        axes[row][0].set_ylabel(name)
    return axes


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as missing:
        raise ImportError("pictures need matplotlib: pip install eigenspan[plot]") from missing
    return pyplot
