"""How long the other methods take, against the programs that people use for them.

    bench/run methods [--quick]

Every pair runs in turn, in this process, on one thread; the least of the repetitions counts, and only ratios are told. Peers are
given what they need ready-made (Gram matrix, scaled samples); ours begin with the samples.
"""

import argparse
import os
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import warnings
from pathlib import Path

import numpy as np
from sklearn.decomposition import NMF as TheirNMF
from sklearn.linear_model import lars_path
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from eigenspan import LPP, NMF, NPE, PCE, SRC, L1Graph, LinearSVM, NearestNeighbour, NeNMF, RobustPCA

DATA = Path(os.environ.get("EIGENSPAN_DATA", Path(__file__).parents[2] / "shared" / "data"))


def load(name):
    with np.load(DATA / name) as file:
        return file["X"], file["y"]


def in_turn(ours, theirs, times):
    """The least time of each, and their last results."""
    least, results = [np.inf, np.inf], [None, None]
    for _ in range(times):
        for i, run in enumerate((ours, theirs)):
            started = time.process_time()
            results[i] = run()
            least[i] = min(least[i], time.process_time() - started)
    return least, results


def row(what, least, share, wanted, note):
    ratio = least[1] / least[0] * share
    shown = f"{ratio:.2f}" if ratio < 2 else f"{ratio:.1f}"
    print(f"| {what} | {shown} | {wanted} | {'yes' if ratio >= wanted else 'no'} | {note} |", flush=True)


def l1_graph(quick):
    x = load("exyaleb_54x48_first58.npz")[0]
    n, some = (300, 30) if quick else (1520, 1520)
    x = x[np.random.default_rng(0).permutation(len(x))[:n]].astype(float)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    gram, lam = unit @ unit.T, 1e-2

    def theirs():
        objectives = []
        for i in range(some):
            others = np.delete(np.arange(n), i)
            part = gram[np.ix_(others, others)]
            # scikit-learn divides the squared error by the number of features.
            _, _, path = lars_path(
                unit[others].T, unit[i], Xy=gram[others, i], Gram=part, alpha_min=lam / unit.shape[1], method="lasso"
            )
            code = path[:, -1]
            error = 1 - 2 * code @ gram[others, i] + code @ part @ code
            objectives.append(lam * np.abs(code).sum() + error / 2)
        return np.array(objectives)

    ours = L1Graph(50, lam=lam, threads=1)
    least, (fitted, objectives) = in_turn(lambda: ours.fit(x), theirs, 1)
    gap = objectives - fitted.trace_.values[:some]
    row(f"L1-graph, {n} faces, λ = 0.01 exactly, against a loop over `lars_path`", least, n / some, 20,
        f"their objectives are above ours by {gap.max():.0e} at most, below by {max(-gap.min(), 0):.0e}; ours with the projection")  # fmt: skip


def faces(quick, lam):
    """Features of PCE of 1520 faces and of the other 684, their classes, and how many of the others are asked about."""
    x, y = load("exyaleb_54x48_first58.npz")
    order = np.random.default_rng(0).permutation(len(x))
    train, test = order[:1520], order[1520:]
    pce = PCE(lam=lam, rank_rule="released", threads=1).fit(x[train])
    return pce.transform(x[train]), pce.transform(x[test]), y[train], y[test], 40 if quick else len(test)


def sparse_representation(quick):
    a, b, classes, truth, some = faces(quick, 5.0)
    a, b = (f / np.linalg.norm(f, axis=1, keepdims=True) for f in (a, b))
    lam, b, truth = 1e-3, b[:some], truth[:some]
    gram = a @ a.T

    def theirs():
        found, objectives = [], []
        for y in b:
            products = a @ y
            _, _, path = lars_path(a.T, y, Xy=products, Gram=gram, alpha_min=lam / len(y), method="lasso", max_iter=10000)
            code = path[:, -1]
            objectives.append(lam * np.abs(code).sum() + np.sum((y - a.T @ code) ** 2) / 2)
            rest = [np.sum((y - a[classes == c].T @ code[classes == c]) ** 2) for c in np.unique(classes)]
            found.append(np.unique(classes)[np.argmin(rest)])
        return np.array(found), np.array(objectives)

    ours = SRC(lam, normalize="none", threads=1).fit(a, classes)
    least, (found, (peer, objectives)) = in_turn(lambda: ours.predict(b), theirs, 1 if quick else 2)
    code = ours.codes(b)
    mine = lam * np.abs(code).sum(1) + np.sum((b - code @ a) ** 2, axis=1) / 2
    row(f"SRC, {len(b)} of {len(a)} × {a.shape[1]}, λ = 0.001 exactly, against a loop over `lars_path`", least, 1, 10,
        f"{np.mean(found == peer):.1%} of the answers are the same, objectives differ by {np.abs(mine - objectives).max():.0e}; "
        f"{np.mean(found == truth):.1%} are right")  # fmt: skip


def support_vectors(quick):
    a, b, classes, truth, _ = faces(quick, 50.0)
    unit = load("exyaleb_54x48_first58.npz")[0][:, :: 4 if quick else 1]
    order = np.random.default_rng(0).permutation(len(unit))
    unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
    pixels = (unit[order[:1520]], unit[order[1520:]])
    for name, (train, test) in (("features of PCE", (a, b)), ("pixels", pixels)):
        for tol, ours in ((0.1, LinearSVM.as_published(threads=1)), (1e-4, LinearSVM(tol=1e-4, threads=1))):
            peer = LinearSVC(tol=tol, fit_intercept=False, dual=True, max_iter=1000 if tol == 0.1 else 100_000)
            least, (mine, yours) = in_turn(
                lambda ours=ours, train=train: ours.fit(train, classes),
                lambda peer=peer, train=train: peer.fit(train, classes),
                1 if quick else 2,
            )
            value = objectives_of(yours.coef_, train, classes)
            over = [np.max(v / np.minimum(value, mine.objective_)) - 1 for v in (mine.objective_, value)]
            same = np.mean(mine.predict(test) == yours.predict(test))
            row(f"Linear SVM, 1520 × {train.shape[1]} ({name}), to {tol:g}, against `LinearSVC`", least, 1, 1,
                f"objectives above the lesser by up to {over[0]:.0e} and {over[1]:.0e}; {same:.1%} of the answers are the "
                f"same, {np.mean(mine.predict(test) == truth):.1%} are right")  # fmt: skip


def objectives_of(weights, x, classes):
    sides = np.where(classes[:, None] == np.unique(classes), 1.0, -1.0)
    return np.sum(weights**2, axis=1) / 2 + np.sum(np.maximum(0, 1 - sides * (x @ weights.T)) ** 2, axis=0)


def factorisations(quick):
    x = load("exyaleb_54x48_first58.npz")[0]
    x = x[np.random.default_rng(0).permutation(len(x))[: 400 if quick else 1520]] / 255.0
    rank, rounds = (20, 60) if quick else (100, 200)
    for name, kind, solver in (("NMF", NMF, "mu"), ("NeNMF", NeNMF, "cd")):
        peer = TheirNMF(rank, solver=solver, init="random", random_state=0, max_iter=rounds, tol=0.0)
        target = peer.fit(x).reconstruction_err_ ** 2 / 2
        trace = kind(rank, max_iter=2 * rounds, tol=0.0, threads=1).fit(x).trace_.values
        reached = np.flatnonzero(trace <= target)
        if not len(reached):
            print(f"| {name} | – | 1 | no | the objective {target:.6g} is not reached, ours ends at {trace[-1]:.6g} |")
            continue
        enough = max(int(reached[0]), 1)
        ours = kind(rank, max_iter=enough, tol=0.0, threads=1)
        least, _ = in_turn(lambda ours=ours: ours.fit(x), lambda peer=peer: peer.fit(x), 1 if quick else 5)
        row(f"{name}, {x.shape[0]} × {x.shape[1]}, rank {rank}, to the objective of scikit-learn's `{solver}`", least, 1, 1,
            f"{enough} rounds against {rounds}")  # fmt: skip


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


def robust(quick):
    rng = np.random.default_rng(0)
    n, rank = (200, 10) if quick else (500, 25)
    truth = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n))
    d = truth + np.where(rng.random((n, n)) < 0.05, rng.uniform(-50, 50, (n, n)), 0)
    ours = RobustPCA(growth=1.5, threads=1)
    least, (fitted, (a, _)) = in_turn(lambda: ours.fit(d), lambda: inexact_alm(d, 1 / np.sqrt(n)), 3)
    errors = [np.linalg.norm(found - truth) / np.linalg.norm(truth) for found in (fitted.low_rank_, a)]
    row(f"Robust PCA, {n} × {n}, rank {rank}, 5 % wrong, against inexact ALM in NumPy with full SVDs", least, 1, 5,
        f"both to a residual of 1e-7; errors {errors[0]:.0e} and {errors[1]:.0e}")  # fmt: skip


def neighbours(quick):
    x, y = load("mnist_70000.npz")
    points, queries = (5000, 1000) if quick else (60000, 5000)
    train, test = x[:points].astype(float), x[-queries:].astype(float)
    ours = NearestNeighbour(threads=1).fit(train, y[:points])
    theirs = KNeighborsClassifier(1, algorithm="brute").fit(train, y[:points])
    least, (a, b) = in_turn(lambda: ours.predict(test), lambda: theirs.predict(test), 2)
    row(f"Nearest neighbour, {queries} of MNIST among {points}, against scikit-learn (brute)", least, 1, 1,
        f"{np.mean(a == b):.4%} of the answers are the same")  # fmt: skip
    x = load("usps_11000.npz")[0].astype(float)
    x = x[: 2000 if quick else None]
    search = NearestNeighbour(threads=1).fit(x, np.arange(len(x)) % 10)
    for name, method in (("LPP", LPP(50, threads=1)), ("NPE", NPE(50, threads=1))):
        least, _ = in_turn(lambda m=method: m.fit(x), lambda: search.kneighbors(x, 6), 2)
        share = least[1] / least[0]
        print(f"| {name} of {len(x)} × {x.shape[1]}: share of the search for neighbours | {share:.2f} | 0.5 | "
              f"{'yes' if share >= 0.5 else 'no'} | |", flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| what | their time ÷ ours | wanted | | |\n|---|--:|--:|---|---|")
    for part in (l1_graph, sparse_representation, support_vectors, factorisations, robust, neighbours):
        if not asked.only or part.__name__ in asked.only:
            part(asked.quick)


if __name__ == "__main__":
    main()
