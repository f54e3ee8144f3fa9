"""What the tests share."""

import os
import subprocess
from pathlib import Path

# Before SciPy is imported: else scikit-learn skips one of its checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import pytest

import eigenspan

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def subspaces():
    """400 samples of 200 features with 12 dimensions."""
    return eigenspan.datasets.make_subspaces()[0]


@pytest.fixture(scope="session")
def digits():
    return eigenspan.datasets.load_digits()[0]


@pytest.fixture(scope="session")
def command():
    """Runs the command line that was built from the same Rust library."""
    program = ROOT / "target" / "release" / "eigenspan"
    if not program.exists():
        pytest.skip("no command line: cargo build --release --features columnar")

    def run(*arguments, cwd=None):
        words = [program, *map(str, arguments)]
        return subprocess.run(words, check=True, capture_output=True, text=True, cwd=cwd).stdout

    return run


@pytest.fixture(scope="session")
def shared():
    """Loads one of the real data sets; skips where it is absent."""
    folder = Path(os.environ.get("EIGENSPAN_DATA", ROOT.parent / "shared" / "data"))

    def load(name):
        if not (folder / name).exists():
            pytest.skip("skipped: no data")
        return np.load(folder / name)

    return load


@pytest.fixture(scope="session")
def faces(shared):
    """1520 of the faces of Extended Yale B, uint8."""
    faces = shared("exyaleb_54x48_first58.npz")["X"]
    return np.ascontiguousarray(faces[np.random.default_rng(0).permutation(len(faces))[:1520]])
