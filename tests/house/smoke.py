#!/usr/bin/env python3
"""Does the installed package work on this Python? Imports it, fits, keeps a model, and tells what it ran on.

    python tests/house/smoke.py

On free-threaded Python it also fits in four threads at a time, and fails where importing switched the lock on again.
"""

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import scipy.linalg  # noqa: F401
import sklearn.base  # noqa: F401


def locked() -> bool:
    """Whether the interpreter's lock is on."""
    return getattr(sys, "_is_gil_enabled", lambda: True)()


# What others switch on is theirs: it is looked at before.
BEFORE = locked()
import eigenspan

assert locked() == BEFORE, "importing eigenspan switched the interpreter's lock on"


def samples(seed: int) -> np.ndarray:
    """Noise around five dimensions."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(300, 5)) @ rng.normal(size=(5, 20)) + 1e-3 * rng.normal(size=(300, 20))


def fit(seed: int) -> tuple[int, bytes]:
    x = samples(seed)
    pce = eigenspan.PCE(normalize="none").fit(x)
    assert pce.certified_
    return pce.k_, pce.transform(x).tobytes()


def main() -> None:
    alone = [fit(seed) for seed in range(8)]
    assert [k for k, _ in alone] == [5] * 8, [k for k, _ in alone]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(fit, range(8))) == alone, "fits in threads differ from fits one by one"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.espan"
        pce = eigenspan.PCE().fit(samples(0))
        eigenspan.save(pce, path)
        np.testing.assert_array_equal(eigenspan.load(path).transform(samples(1)), pce.transform(samples(1)))
    print(f"eigenspan {eigenspan.__version__}, Python {sys.version}, lock {'on' if locked() else 'off'}")


if __name__ == "__main__":
    main()
