"""How long the other methods take, against the programs that people use for them.

    bench/run methods [--quick] [--only l1_graph …]

Every pair runs in turn, in this process, on one thread; the least of the repetitions counts, and only ratios are reported.
Peers are given what they need ready-made (Gram matrix, scaled samples); ours begin with the samples. Results are kept
in `results/methods.json`, part by part, for `bench/run report`.
"""

import argparse
import json
import os
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn.decomposition import NMF as TheirNMF
from sklearn.linear_model import lars_path
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from eigenspan import LPP, NMF, NPE, PCE, SRC, L1Graph, LinearSVM, NearestNeighbour, NeNMF, RobustPCA

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("EIGENSPAN_DATA", HERE.parents[1] / "shared" / "data"))
# How far a code may miss the conditions of a solution.
MISSED = 1e-8


def load(name):
    with np.load(DATA / name) as file:
        return file["X"], file["y"]


def in_turn(times, *runs):
    """The least time of each, and their last results."""
    least, results = [np.inf] * len(runs), [None] * len(runs)
    for _ in range(times):
        for i, run in enumerate(runs):
            started = time.process_time()
            results[i] = run()
            least[i] = min(least[i], time.process_time() - started)
    return least, results


def row(what, value, wanted, note="", least=True):
    """A number, what it should be at least (or at most), and what else there is to say."""
    return {"what": what, "value": float(value), "wanted": wanted, "least": least, "note": note}


def line(row):
    value, wanted = row["value"], row["wanted"]
    shown = f"{value:.0e}" if value < 1e-3 else f"{value:.2f}" if value < 2 else f"{value:.1f}"
    kept = "yes" if (value >= wanted if row["least"] else value <= wanted) else "no"
    return f"| {row['what']} | {shown} | {'≥' if row['least'] else '≤'} {wanted:g} | {kept} | {row['note']} |"


def missed(code, atoms, y, lam):
    """By how much a code misses the conditions of min λ‖c‖₁ + ½‖y − Aᵀc‖²: A(y − Aᵀc) is λ sign c where c ≠ 0, and
    between −λ and λ elsewhere."""
    slopes = atoms @ (y - code @ atoms)
    used = np.abs(code) > 1e-12 * np.abs(code).max()  # the rest is rounding, of either sign
    return np.max(np.where(used, np.abs(slopes - lam * np.sign(code)), np.abs(slopes) - lam))


def code_by_lars(atoms, y, lam, **known):
    """scikit-learn's code. It divides the squared error by the number of features."""
    return lars_path(atoms.T, y, alpha_min=lam / len(y), method="lasso", max_iter=10000, **known)[2][:, -1].copy()


def value_of(code, atoms, y, lam):
    return lam * np.abs(code).sum() + np.sum((y - code @ atoms) ** 2) / 2


def who_is_right(what, asked, lam):
    """Codes of some samples, given as (atoms, sample, our code, their code), and theirs once more of samples a thousand
    times as large. It stops where λ/m is reached to 1.2e-7, whatever their size: for large ones that is nothing.
    """
    ours, theirs, again, gap = [], [], [], []
    for atoms, y, mine, yours in asked:
        large = code_by_lars(1e3 * atoms, 1e3 * y, 1e6 * lam)
        ours.append(missed(mine, atoms, y, lam))
        theirs.append(missed(yours, atoms, y, lam))
        again.append(missed(large, atoms, y, lam))
        gap.append(value_of(large, atoms, y, lam) - value_of(mine, atoms, y, lam))
    return row(
        f"{what}: our codes miss the conditions of a solution by",
        max(ours),
        MISSED,
        f"{len(ours)} codes, those in most doubt among them; `lars_path` by {max(theirs):.0e}, and by {max(again):.0e} "
        "of samples 1000 times as large, where it stops nearer to λ: its objectives are then "
        f"{'above' if max(gap) >= -min(gap) else 'below'} ours by {np.abs(gap).max():.0e}",
        least=False,
    )


def l1_graph(quick, _):
    x, classes = load("exyaleb_54x48_first58.npz")
    n, some = (300, 30) if quick else (1520, 1520)
    order = np.random.default_rng(0).permutation(len(x))[:n]
    x, classes = x[order].astype(float), classes[order]
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    gram, lam = unit @ unit.T, 1e-2

    def theirs():
        codes, objectives = [], []
        for i in range(some):
            others = np.delete(np.arange(n), i)
            part, products = gram[np.ix_(others, others)], gram[others, i]
            code = code_by_lars(unit[others], unit[i], lam, Xy=products, Gram=part)
            codes.append(code)
            objectives.append(lam * np.abs(code).sum() + (1 - 2 * code @ products + code @ part @ code) / 2)
        return codes, np.array(objectives)

    ours = L1Graph(50, lam=lam, n_jobs=1)
    least, (fitted, (codes, objectives)) = in_turn(1, lambda: ours.fit(x), theirs)
    gap = objectives - fitted.trace_.values[:some]
    yield row(
        f"L1-graph, {n} faces, λ = 0.01 exactly: a loop over `lars_path` ÷ ours",
        least[1] / least[0] * n / some,
        20,
        f"their objectives are above ours by {gap.max():.0e} at most, below by {max(-gap.min(), 0):.0e}; "
        "ours with the projection",
    )

    def asked(i):
        others = np.delete(np.arange(n), i)
        mine = SRC(lam, normalize="none", n_jobs=1).fit(unit[others], classes[others]).codes(unit[i : i + 1])[0]
        if abs(value_of(mine, unit[others], unit[i], lam) - fitted.trace_.values[i]) > 1e-12:
            raise SystemExit(f"the code of face {i} is not the one of the graph")
        return unit[others], unit[i], mine, codes[i]

    doubt = np.argsort(gap)
    doubt = np.unique([*doubt[:5], *doubt[-10:], *range(0, some, some // 10)])
    yield who_is_right("L1-graph", map(asked, doubt), lam)


def faces(quick, lam):
    """Features of PCE of 1520 faces and of the other 684, their classes, and how many of the others are asked about."""
    x, y = load("exyaleb_54x48_first58.npz")
    order = np.random.default_rng(0).permutation(len(x))
    train, test = order[:1520], order[1520:]
    pce = PCE(lam=lam, rank_rule="released", n_jobs=1).fit(x[train])
    return pce.transform(x[train]), pce.transform(x[test]), y[train], y[test], 40 if quick else len(test)


def sparse_representation(quick, repeats):
    a, b, classes, truth, some = faces(quick, 5.0)
    a, b = (f / np.linalg.norm(f, axis=1, keepdims=True) for f in (a, b))
    lam, b, truth = 1e-3, b[:some], truth[:some]
    gram = a @ a.T

    def theirs():
        found, codes = [], []
        for y in b:
            code = code_by_lars(a, y, lam, Xy=a @ y, Gram=gram)
            codes.append(code)
            rest = [np.sum((y - a[classes == c].T @ code[classes == c]) ** 2) for c in np.unique(classes)]
            found.append(np.unique(classes)[np.argmin(rest)])
        return np.array(found), codes

    ours = SRC(lam, normalize="none", n_jobs=1).fit(a, classes)
    least, (found, (peer, theirs)) = in_turn(min(repeats, 2), lambda: ours.predict(b), theirs)
    mine = ours.codes(b)
    gap = np.array([value_of(c, a, y, lam) - value_of(m, a, y, lam) for c, m, y in zip(theirs, mine, b, strict=True)])
    yield row(
        f"SRC, {len(b)} of {len(a)} × {a.shape[1]}, λ = 0.001 exactly: a loop over `lars_path` ÷ ours",
        least[1] / least[0],
        10,
        f"{np.mean(found == peer):.1%} of the answers are the same, their objectives are above ours by {gap.max():.0e} "
        f"at most, below by {max(-gap.min(), 0):.0e}; {np.mean(found == truth):.1%} are right",
    )
    doubt = np.argsort(gap)
    doubt = np.unique([*doubt[:5], *doubt[-10:], *range(0, len(b), len(b) // 10)])
    yield who_is_right("SRC", ((a, b[i], mine[i], theirs[i]) for i in doubt), lam)


def support_vectors(quick, repeats):
    a, b, classes, truth, _ = faces(quick, 50.0)
    unit = load("exyaleb_54x48_first58.npz")[0][:, :: 4 if quick else 1]
    order = np.random.default_rng(0).permutation(len(unit))
    unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
    pixels = (unit[order[:1520]], unit[order[1520:]])
    for name, (train, test) in (("features of PCE", (a, b)), ("pixels", pixels)):
        for tol, ours in ((0.1, LinearSVM.as_published(n_jobs=1)), (1e-4, LinearSVM(tol=1e-4, n_jobs=1))):
            peer = LinearSVC(tol=tol, fit_intercept=False, dual=True, max_iter=1000 if tol == 0.1 else 100_000)
            least, (mine, yours) = in_turn(
                min(repeats, 2),
                lambda ours=ours, train=train: ours.fit(train, classes),
                lambda peer=peer, train=train: peer.fit(train, classes),
            )
            value = objectives_of(yours.coef_, train, classes)
            over = [np.max(v / np.minimum(value, mine.objective_)) - 1 for v in (mine.objective_, value)]
            same = np.mean(mine.predict(test) == yours.predict(test))
            yield row(
                f"Linear SVM, 1520 × {train.shape[1]} ({name}), to {tol:g}: `LinearSVC` ÷ ours",
                least[1] / least[0],
                1,
                f"objectives above the lesser by up to {over[0]:.0e} and {over[1]:.0e}; {same:.1%} of the answers are "
                f"the same, {np.mean(mine.predict(test) == truth):.1%} are right",
            )


def objectives_of(weights, x, classes):
    sides = np.where(classes[:, None] == np.unique(classes), 1.0, -1.0)
    return np.sum(weights**2, axis=1) / 2 + np.sum(np.maximum(0, 1 - sides * (x @ weights.T)) ** 2, axis=0)


def factorisation(name, kind, solver, quick, repeats):
    x = load("exyaleb_54x48_first58.npz")[0]
    x = x[np.random.default_rng(0).permutation(len(x))[: 400 if quick else 1520]] / 255.0
    rank, rounds = (20, 60) if quick else (100, 200)
    peer = TheirNMF(rank, solver=solver, init="random", random_state=0, max_iter=rounds, tol=0.0)
    target = peer.fit(x).reconstruction_err_ ** 2 / 2
    what = f"{name}, {len(x)} × {x.shape[1]}, rank {rank}, to the same objective: scikit-learn's `{solver}` ÷ ours"
    for most in (rounds, 2 * rounds):
        trace = kind(rank, max_iter=most, tol=0.0, n_jobs=1).fit(x).trace_.values
        reached = np.flatnonzero(trace <= target)
        if len(reached):
            break
    else:
        return row(what, 0, 1, f"the objective {target:.6g} is not reached, ours ends at {trace[-1]:.6g}")
    enough = max(int(reached[0]), 1)
    ours = kind(rank, max_iter=enough, tol=0.0, n_jobs=1)
    least, _ = in_turn(repeats, lambda: ours.fit(x), lambda: peer.fit(x))
    return row(what, least[1] / least[0], 1, f"{enough} rounds against {rounds}")


def nmf(quick, repeats):
    yield factorisation("NMF", NMF, "mu", quick, repeats)


def nenmf(quick, repeats):
    yield factorisation("NeNMF", NeNMF, "cd", quick, repeats)


def inexact_alm(d, lam, tolerance=1e-7):
    """Robust PCA with a full decomposition a round, as one writes it in NumPy."""
    first = np.linalg.norm(d, 2)
    y = d / max(first, np.abs(d).max() / lam)
    mu, most = 1.25 / first, 1.25e7 / first
    a = np.zeros_like(d)
    while True:
        e = d - a + y / mu
        e = np.sign(e) * np.maximum(np.abs(e) - lam / mu, 0)
        u, s, v = np.linalg.svd(d - e + y / mu, full_matrices=False)
        kept = np.maximum(s - 1 / mu, 0)
        a = (u * kept) @ v
        rest = d - a - e
        y = y + mu * rest
        mu = min(1.5 * mu, most)
        if np.linalg.norm(rest) <= tolerance * np.linalg.norm(d):
            return a, e


def robust(quick, repeats):
    rng = np.random.default_rng(0)
    n, rank = (200, 10) if quick else (500, 25)
    truth = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n))
    d = truth + np.where(rng.random((n, n)) < 0.05, rng.uniform(-50, 50, (n, n)), 0)
    ours = RobustPCA(growth=1.5, n_jobs=1)
    least, (fitted, (a, _)) = in_turn(min(repeats, 3), lambda: ours.fit(d), lambda: inexact_alm(d, 1 / np.sqrt(n)))
    errors = [np.linalg.norm(found - truth) / np.linalg.norm(truth) for found in (fitted.low_rank_, a)]
    yield row(
        f"Robust PCA, {n} × {n}, rank {rank}, 5 % wrong: inexact ALM in NumPy with full SVDs ÷ ours",
        least[1] / least[0],
        5,
        f"both to a residual of 1e-7; errors {errors[0]:.0e} and {errors[1]:.0e}",
    )


def neighbours(quick, repeats):
    x, y = load("mnist_70000.npz")
    points, queries = (5000, 1000) if quick else (60000, 5000)
    train, test = x[:points].astype(float), x[-queries:].astype(float)
    ours = NearestNeighbour(n_jobs=1).fit(train, y[:points])
    theirs = KNeighborsClassifier(1, algorithm="brute").fit(train, y[:points])
    least, (a, b) = in_turn(min(repeats, 2), lambda: ours.predict(test), lambda: theirs.predict(test))
    yield row(
        f"Nearest neighbour, {queries} of MNIST among {points}: scikit-learn (brute) ÷ ours",
        least[1] / least[0],
        1,
        f"{np.mean(a == b):.4%} of the answers are the same",
    )
    x = load("usps_11000.npz")[0].astype(float)
    x = x[: 2000 if quick else None]
    search = NearestNeighbour(n_jobs=1).fit(x, np.arange(len(x)) % 10)
    single = x.astype(np.float32)

    def product():
        for first in range(0, len(x), 1000):
            _ = single[first : first + 1000] @ single.T

    for name, method in (("LPP", LPP(50, n_jobs=1)), ("NPE", NPE(50, n_jobs=1))):
        least, _ = in_turn(min(repeats, 3), lambda m=method: m.fit(x), lambda: search.kneighbors(x, 6), product)
        yield row(
            f"{name} of {len(x)} × {x.shape[1]}: share of the search for neighbours",
            least[1] / least[0],
            0.5,
            f"the product of all pairs alone, by OpenBLAS in single precision, is {least[2] / least[0]:.2f} of the fit",
        )


PARTS = (l1_graph, sparse_representation, support_vectors, nmf, nenmf, robust, neighbours)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small shapes; results go to results/quick")
    parser.add_argument(
        "--only", nargs="+", choices=[part.__name__ for part in PARTS], help="these; the others stay as they were"
    )
    parser.add_argument("--repeats", type=int, default=5, help="runs of each, at most (5); long ones run less often")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| what | measured | wanted | kept | |\n|---|--:|--:|---|---|", flush=True)
    for part in PARTS:
        if asked.only and part.__name__ not in asked.only:
            continue
        rows = []
        for one in part(asked.quick, 1 if asked.quick else asked.repeats):
            print(line(one), flush=True)
            rows.append(one)
        keep(part.__name__, rows, asked.quick)


def keep(name, rows, quick):
    """Puts the rows of a part in the place of those that were kept before."""
    file = HERE / "results" / ("quick" if quick else "") / "methods.json"
    parts = json.loads(file.read_text())["parts"] if file.exists() else {}
    parts[name] = rows
    parts = {part.__name__: parts[part.__name__] for part in PARTS if part.__name__ in parts}
    found = {"versions": {name: version(name) for name in ("numpy", "scikit-learn")}, "parts": parts}
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
