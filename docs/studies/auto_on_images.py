"""What λ = auto finds on real images: our k beside the plain rules on unit rows (NumPy).

    .venv/bin/python docs/studies/auto_on_images.py DIR

DIR holds the .npz files that `docs/studies/planted-rank.md` names. Prints a Markdown table, mean of three random
training sets.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

BINARY = Path(__file__).resolve().parents[2] / "target" / "release" / "eigenspan"
SETS = [("exyaleb_54x48_first58.npz", 1520), ("coil100_64x64_paper1000.npz", 500), ("usps_11000.npz", 3300)]


def omega(beta):
    """The cubic approximation of Gavish and Donoho: an independent check of our exact one."""
    return 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43


def plain(x):
    """The optimal hard threshold on unit rows, dead pixels left out."""
    x = x[:, x.any(axis=0)]
    s = np.linalg.svd(x / np.linalg.norm(x, axis=1, keepdims=True), compute_uv=False)
    return (s > omega(min(x.shape) / max(x.shape)) * np.median(s)).sum()


def ours(path, rows, rule):
    done = subprocess.run(
        [BINARY, "fit", path, "--rows", rows, "--lambda", rule, "--json"], capture_output=True, check=True
    )
    return json.loads(done.stdout)


def main(folder):
    print("| data | training samples | auto | plain rule on unit rows | screenot |")
    print("|---|---|---|---|---|")
    for name, count in SETS:
        path = Path(folder) / name
        x = np.load(path)["X"].astype(float)
        found = []
        for seed in range(3):
            index = np.random.default_rng(seed).permutation(len(x))[:count]
            with tempfile.NamedTemporaryFile(suffix=".npy") as rows:
                np.save(rows.name, index)
                auto, screenot = (ours(path, rows.name, rule)["k"] for rule in ("auto", "screenot"))
            found.append((auto, plain(x[index]), screenot))
        auto, unit, screenot = np.mean(found, axis=0)
        print(f"| {name.split('_')[0]} | {count} | {auto:.1f} | {unit:.1f} | {screenot:.1f} |")


if __name__ == "__main__":
    main(sys.argv[1])
