"""report.py FILES: tables over runs of run.py"""

import sys
import pickle
import numpy as np

R = []
for f in sys.argv[1:]:
    R += pickle.load(open(f, "rb"))


def line(name, rows):
    if not rows:
        return
    t = np.array([r[2] for r in rows])
    cl = np.array([r[3] != "not_countable" for r in rows])
    k = np.array([r[4] if r[4] is not None else r[6].get("guess", -9) for r in rows])
    iv = np.array([r[5][0] <= r[2] <= r[5][1] for r in rows])
    np.array([r[3] == "counted" for r in rows])
    e = k == t
    w = abs(k - t) <= 1

    def z(a, b):
        return (
            "   –" if b.sum() == 0 else f"{100 * a[b].mean():4.0f}" if len(rows) < 200 else f"{100 * a[b].mean():5.1f}"
        )

    print(
        f"| {name:16s} | {len(rows):5d} | {z(e, np.ones_like(cl))} | {z(w, np.ones_like(cl))} | {100 * cl.mean():5.1f} | {z(e, cl)} | {z(w, cl)} | {z(iv, np.ones_like(cl))} | {z(iv, cl)} |"
    )


print(
    "| what | n | exact | within 1 | claimed | exact, claimed | within 1, claimed | in interval | in interval, claimed |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|"
)
line("all", R)


def by(f, order=None):
    d = {}
    for r in R:
        d.setdefault(f(r), []).append(r)
    for k in order or sorted(d, key=str):
        if k in d:
            line(str(k), d[k])


by(lambda r: r[3])
from zoo import NOISES, SHAPES

by(lambda r: r[0][0], NOISES)
by(lambda r: f"{r[0][1]}x{r[0][2]}", [f"{a}x{b}" for a, b in SHAPES])
by(lambda r: f"d={r[0][3]:2d} {r[0][4] if r[0][3] else ''}")
Z = [r for r in R if r[2] == 0 and r[3] != "not_countable"]
print(
    "pure noise: claims",
    len(Z),
    "of",
    sum(r[2] == 0 for r in R),
    "zero in",
    round(100 * np.mean([r[4] == 0 for r in Z]), 1),
    "%",
)
print("CPU s: median", np.round(np.median([r[7] for r in R]), 2))
for r in R:
    if r[3] != "not_countable" and r[4] != r[2]:
        print(
            "#",
            *r[0],
            "seed",
            r[1],
            "truth",
            r[2],
            r[3],
            r[4],
            r[5],
            {a: r[6].get(a) for a in ("t", "crowd", "gap")},
            "ks %.2f" % (r[6].get("ks", 0) / r[6].get("ks_limit", 1)),
            file=sys.stderr,
        )
