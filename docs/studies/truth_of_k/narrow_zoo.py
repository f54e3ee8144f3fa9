"""Narrow tables m = 4..50, rank 0..m-1, through reference.dimension: right, or a refusal."""

import sys
import pickle
import numpy as np
import zoo
import reference as ref

rng = np.random.default_rng(int(sys.argv[1]))
R = []
while len(R) < int(sys.argv[2]):
    n = int(rng.choice([60, 200, 500, 2000]))
    m = int(rng.choice([4, 5, 6, 8, 10, 15, 20, 30, 50]))
    if n < 1.5 * m:
        continue
    r = int(rng.integers(0, m))
    kind = str(rng.choice(["white", "cols", "units", "rows", "t3", "ar5f"]))
    st = str(rng.choice(["weak", "strong", "clear"]))
    lo, hi = dict(weak=(1.3, 2.6), strong=(3, 6), clear=(8, 30))[st]
    U = np.linalg.qr(rng.standard_normal((n, r)))[0]
    V = np.linalg.qr(rng.standard_normal((m, r)))[0]
    L = (U * rng.uniform(lo, hi, r) * (n * m) ** 0.25) @ V.T
    Z = {"t3": lambda: rng.standard_t(3, (n, m)) / np.sqrt(3), "ar5f": lambda: zoo._ar((n, m), 0.5, 1, rng)}.get(
        kind, lambda: rng.standard_normal((n, m))
    )()
    if kind == "rows":
        Z = Z * np.exp(0.5 * rng.standard_normal(n))[:, None]
    if kind == "cols":
        Z = Z * np.exp(0.5 * rng.standard_normal(m))
    X = L + Z + 3 * rng.standard_normal(m)
    if kind == "units":
        X = X * 10.0 ** rng.uniform(-3, 3, m)
    d = ref.dimension(X)
    pickle.dump(R, open("narrow.pkl", "wb"))
    R.append((n, m, r, kind, st, d["k"], d["state"]))


def show(f):
    g = {}
    for x in R:
        g.setdefault(f(x), []).append((x[5] is not None, x[5] == x[2], x[5] is not None and abs(x[5] - x[2]) <= 1))
    for k, v in sorted(g.items(), key=str):
        v = np.array(v)
        print(
            "| %s | %d | %.0f | %.1f | %.1f | %.1f |"
            % (
                k,
                len(v),
                100 * v[:, 0].mean(),
                100 * (v[:, 1] | ~v[:, 0]).mean(),
                100 * (v[:, 2] | ~v[:, 0]).mean(),
                100 * v[v[:, 0], 1].mean() if v[:, 0].any() else -1,
            )
        )


print(
    "| what | n | claimed | right or refused | within 1 or refused | exact where claimed |\n|---|--:|--:|--:|--:|--:|"
)
for f in (
    lambda x: "all",
    lambda x: x[3],
    lambda x: x[4],
    lambda x: "m=%2d" % x[1],
    lambda x: "n=%4d" % x[0],
    lambda x: "rank 0" if x[2] == 0 else "rank m-1" if x[2] == x[1] - 1 else "other rank",
    lambda x: x[6],
):
    show(f)
