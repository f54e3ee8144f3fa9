"""How right and how fast the estimators of the dimension are, beside scikit-dimension's.

    pip install scikit-dimension && python bench/dimension.py [--samples 500] [--most 30] > docs/studies/dimension.md

Both sides get the same points, in one process, one after the other, on one thread. scikit-dimension's
DANCo takes minutes where there are many features: it is asked where there are at most `--most` of them.
"""

import argparse
import contextlib
import io
import os
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"

import warnings

import numpy as np
import skdim

import eigenspan
from eigenspan import MLE, CorrelationDimension, DANCo, FastDANCo, MiNDKL, MiNDML, TwoNN

NEIGHBOURS = 10
COLUMNS = [(name, side) for name in ("MLE", "MiND-MLk", "TwoNN", "correlation", "DANCo") for side in ("ours", "theirs")]
COLUMNS += [("FastDANCo", "ours"), ("MiND-KL", "ours")]


def ball(n, d, m, r):
    x = r.normal(size=(n, d))
    x *= r.random((n, 1)) ** (1 / d) / np.linalg.norm(x, axis=1, keepdims=True)
    return turned(x, m, r)


def sphere(n, d, m, r):
    x = r.normal(size=(n, d + 1))
    return turned(x / np.linalg.norm(x, axis=1, keepdims=True), m, r)


def cube(n, d, m, r):
    return turned(r.random((n, d)), m, r)


def affine(n, d, m, r):
    return turned(r.normal(size=(n, d)), m, r)


def swiss_roll(n, d, m, r):
    t = 4.7 * (1 + 2 * r.random(n))
    return turned(np.c_[t * np.cos(t), 21 * r.random(n), t * np.sin(t)], m, r)


def turned(x, m, r):
    """Into m dimensions by an isometry."""
    return x @ np.linalg.qr(r.normal(size=(m, x.shape[1])))[0].T + r.normal(size=m)


def known(n, r):
    """Manifolds of known dimension: name, dimension, points."""
    for draw in (ball, sphere, cube, affine):
        for d, m in [(1, 10), (2, 20), (5, 50), (10, 100), (15, 100), (20, 100)]:
            yield f"{draw.__name__} {d} in {m}", d, draw(n, d, m, r)
    yield "swiss_roll 2 in 20", 2, swiss_roll(n, 2, 20, r)


def benchmark(n, seed):
    """The manifolds that papers on the subject use, as scikit-dimension draws them."""
    manifolds = skdim.datasets.BenchmarkManifolds(random_state=seed, noise_type="uniform")
    truth = manifolds.truth["Intrinsic Dimension"]
    # scikit-dimension's own names of what it draws.
    for name, points in manifolds.generate(name="all", n=n).items():
        if points.shape[1] <= 100:
            yield name, float(truth[name]), points


def ours(calibration):
    return {
        "MLE": MLE(NEIGHBOURS, n_jobs=1),
        "MiND-MLk": MiNDML(NEIGHBOURS, n_jobs=1),
        "TwoNN": TwoNN(n_jobs=1),
        "correlation": CorrelationDimension(n_jobs=1),
        "MiND-KL": MiNDKL(NEIGHBOURS, n_jobs=1, calibration=calibration),
        "DANCo": DANCo(NEIGHBOURS, n_jobs=1, calibration=calibration),
        "FastDANCo": FastDANCo(NEIGHBOURS, n_jobs=1, calibration=calibration, max_dim=100),
    }


def theirs(points, danco):
    most = points.shape[1]
    found = {
        "MLE": lambda: skdim.id.MLE().fit(points, n_neighbors=NEIGHBOURS + 1, comb="mle").dimension_,
        "MiND-MLk": lambda: skdim.id.MiND_ML(k=NEIGHBOURS, D=most).fit(points).dimension_,
        "TwoNN": lambda: skdim.id.TwoNN().fit(points).dimension_,
        "correlation": lambda: skdim.id.CorrInt().fit(points).dimension_,
    }
    if most <= danco:
        found["DANCo"] = lambda: skdim.id.DANCo(k=NEIGHBOURS, random_state=0).fit(points).dimension_
    return found


def attempt(run):
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # one of the peers prints its warnings
            return float(run())
    except Exception:  # noqa: BLE001  a peer may fail in any way; that is a result
        return np.nan


def told(value):
    return "–" if np.isnan(value) else f"{value:.1f}"


def percent_off(found, truth):
    return 100 * abs(found - truth) / truth


def errors(title, manifolds, calibration, danco):
    """A table of the estimates, ours and theirs; the mean relative error in the last row."""
    rows = []
    for name, truth, points in manifolds:
        mine = {k: attempt(lambda e=e: e.fit(points).dimension_) for k, e in ours(calibration).items()}
        peer = {k: attempt(run) for k, run in theirs(points, danco).items()}
        rows.append((name, truth, [(mine if side == "ours" else peer).get(k, np.nan) for k, side in COLUMNS]))
    print(f"\n## {title}\n")
    print("| manifold | d |" + "".join(f" {k}{'' if side == 'ours' else ' (theirs)'} |" for k, side in COLUMNS))
    print("|---|--:|" + "--:|" * len(COLUMNS))
    for name, truth, found in rows:
        print(f"| {name} | {truth:g} |" + "".join(f" {told(value)} |" for value in found))
    full = [row for row in rows if not np.isnan(row[2]).any()]
    for title, some in [("mean error, %", rows), (f"the same, {len(full)} rows that are full", full)]:
        means = [np.mean([percent_off(found[i], truth) for _, truth, found in some]) for i in range(len(COLUMNS))]
        print(f"| **{title}** | |" + "".join(f" **{told(mean)}** |" for mean in means), flush=True)


def speed(calibration):
    """Time of both, in turn, on 1000 points of 50 features."""
    points = ball(1000, 10, 50, np.random.default_rng(5))
    peers = theirs(points, 50)
    print("\n## Time, 1000 points of 10 dimensions in 50 features\n")
    print("Processor time of one thread, the least of three interleaved runs (one of their DANCo), built by `maturin develop --release`.\n")
    print("| estimator | their time ÷ ours |\n|---|--:|")
    pairs = [(name, one, peers[name]) for name, one in ours(None).items() if name in peers]
    known = DANCo(NEIGHBOURS, n_jobs=1, calibration=calibration)
    known.fit(points)
    pairs.append(("DANCo, balls given", known, peers["DANCo"]))
    for name, one, peer in pairs:
        least = [np.inf, np.inf]
        for repeat in range(3):
            for side, run in enumerate((lambda one=one: one.fit(points), peer)):
                if side and name.startswith("DANCo") and repeat:
                    continue
                started = time.process_time()
                run()
                least[side] = min(least[side], time.process_time() - started)
        print(f"| {name} | {least[1] / least[0]:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--speed", action="store_true", help="times alone")
    parser.add_argument("--calibration", default=None, help="file of balls that were looked at before")
    parser.add_argument("--most", type=int, default=30, help="features up to which scikit-dimension's DANCo is asked")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    calibration = args.calibration or os.path.join(os.environ.get("TMPDIR", "/tmp"), f"balls-{os.getpid()}.json")
    try:
        if not args.speed:
            print("# Errors of the estimators of the dimension\n")
            print(f"`python bench/dimension.py --samples {args.samples} --most {args.most}` prints this page:")
            print(f"estimates by eigenspan {eigenspan.__version__} and by scikit-dimension 0.5.0 (theirs) for the same points,")
            mean = f"{NEIGHBOURS} neighbors, one seed. The mean error is that of |estimate − d| / d."
            print(f"{mean} A dash means that the estimator was not run or had no answer.")
            errors("Balls, spheres, cubes, affine spaces", known(args.samples, np.random.default_rng(0)), calibration, args.most)
            errors("Benchmark manifolds", benchmark(args.samples, 0), calibration, args.most)
        speed(calibration)
    finally:
        if args.calibration is None and os.path.exists(calibration):
            os.remove(calibration)


if __name__ == "__main__":
    main()
