"""What the tests share: the command line as a script would use it, and data for it and for the package."""

import json
import os
import struct
import subprocess
from pathlib import Path

# Before SciPy is imported: else scikit-learn skips one of its checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("EIGENSPAN", ROOT / "target" / "release" / "eigenspan"))
DATA = Path(os.environ.get("EIGENSPAN_DATA", ROOT.parent / "shared" / "data"))


def run(*args, code=0, stdin=None):
    """Runs `eigenspan` and returns (stdout, stderr); fails unless it ends with `code`."""
    done = subprocess.run([BINARY, *map(str, args)], capture_output=True, input=stdin)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode(), done.stderr.decode()


def fit(*args):
    """The JSON of `eigenspan fit`."""
    return json.loads(run("fit", *args, "--json")[0])


def tensors(path):
    """The arrays of a model file, read without our code: safetensors is a length, a JSON header and bytes."""
    raw = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    header.pop("__metadata__")
    body = raw[8 + length :]
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], "<f8").reshape(entry["shape"])
        for name, entry in header.items()
    }


@pytest.fixture(scope="session")
def subspaces():
    """400 samples of 200 features with 12 dimensions."""
    import eigenspan

    return eigenspan.datasets.make_subspaces()[0]


@pytest.fixture(scope="session")
def digits():
    import eigenspan

    return eigenspan.datasets.load_digits()[0]


@pytest.fixture(scope="session")
def command():
    """Runs the command line that was built from the same Rust library."""
    if not BINARY.exists():
        pytest.skip("no command line: cargo build --release --features columnar")

    def run(*arguments, cwd=None):
        words = [BINARY, *map(str, arguments)]
        return subprocess.run(words, check=True, capture_output=True, text=True, cwd=cwd).stdout

    return run


@pytest.fixture(scope="session")
def shared_file():
    """The path of one of the real data sets; skips where it is absent."""

    def path_of(name):
        path = DATA / name
        if not path.exists():
            pytest.skip("skipped: no data")
        return path

    return path_of


@pytest.fixture(scope="session")
def shared(shared_file):
    """Loads one of the real data sets; skips where it is absent."""
    return lambda name: np.load(shared_file(name))


@pytest.fixture(scope="session")
def faces(shared):
    """1520 of the faces of Extended Yale B, uint8."""
    faces = shared("exyaleb_54x48_first58.npz")["X"]
    return np.ascontiguousarray(faces[np.random.default_rng(0).permutation(len(faces))[:1520]])
