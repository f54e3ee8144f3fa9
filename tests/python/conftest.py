"""The command line, as a script would use it, and the data it is tried on."""

import json
import os
import struct
import subprocess
from pathlib import Path

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


@pytest.fixture
def shared():
    """Loads one of the real data sets; skips where it is absent."""

    def load(name):
        path = DATA / name
        if not path.exists():
            pytest.skip("skipped: no data")
        return path, np.load(path)

    return load
