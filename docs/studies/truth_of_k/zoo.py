"""A zoo of planted data: X = A^-1 (L + Z) B^-1 with L of known rank and Z of many kinds.

Symbols
-------
n, m      rows (samples), columns (features)          p, q   min(n, m), max(n, m)
L         planted signal, rank d, singular values theta_r = s_r * edge * (n m)^(1/4)
s_r       strength relative to the detection edge: uniform in [1.3, 2.6] (weak), [3, 6] (strong)
edge      detection edge of the *levelled* noise Z divided by that of white noise, measured once
          per (noise, shape) from two pure-noise draws by the D-transform (Benaych-Georges and
          Nadakuditi 2012), at the 99 % place of the top singular value; kept in edges.json
Seeds     0-9 to choose limits, 100+ to report.
"""

import json
import os
import zlib
import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.signal import lfilter

SHAPES = [(300, 1000), (1000, 300), (600, 600), (2000, 100), (60, 2000), (400, 150)]
IMAGE = {
    1000: (25, 40),
    300: (15, 20),
    600: (20, 30),
    100: (10, 10),
    2000: (40, 50),
    150: (10, 15),
    800: (20, 40),
    500: (20, 25),
    200: (10, 20),
    250: (10, 25),
    120: (10, 12),
}
SPEC = [
    "white",
    "rows",
    "cols",
    "both",
    "profile",
    "poisson",
    "negbin",
    "ar5f",
    "ar9f",
    "smooth",
    "ar5s",
    "ar9s",
    "t3",
    "gross",
    "outrows",
    "bytes",
    "offset",
    "units",
    "zeros30",
]
MORE = ["lognormal", "seasonal", "blockmiss", "mixed", "heavyar", "laplace", "ar3both", "likert", "topics"]
NOISES = SPEC + MORE
COUNTS = {"poisson", "negbin", "topics"}  # not centred: the mean is one of the dimensions
RANKS = [0, 1, 5, 15, 40]
_EDGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "edges.json")


def _ar(g, phi, axis, rng):
    """Stationary AR(1) of unit variance along an axis."""
    z = rng.standard_normal(g) * np.sqrt(1 - phi * phi)
    z = np.moveaxis(z, axis, 0)
    z[0] /= np.sqrt(1 - phi * phi)
    return np.moveaxis(lfilter([1], [1, -phi], z, axis=0), 0, axis)


def sinkhorn(S, rounds=200):
    """a, b with diag(a)^2 S diag(b)^2 of unit row and column means."""
    r, c = np.ones(S.shape[0]), np.ones(S.shape[1])
    for _ in range(rounds):
        r = 1 / (S @ c / S.shape[1])
        c = 1 / (S.T @ r / S.shape[0])
    return np.sqrt(r), np.sqrt(c)


def noise(kind, n, m, rng):
    """Levelled noise Z (unit variance on average) and the levels' weights a, b."""
    N = rng.standard_normal
    a, b = np.ones(n), np.ones(m)
    if kind in (
        "white",
        "bytes",
        "offset",
        "units",
        "zeros30",
        "likert",
        "gross",
        "blockmiss",
        "mixed",
        "outrows",
        "poisson",
        "negbin",
        "topics",
    ):
        Z = N((n, m))
        if kind == "units":
            b = 10.0 ** -rng.uniform(-3, 3, m)
        if kind == "outrows":
            a[rng.permutation(n)[: max(1, round(0.02 * n))]] = 0.1
        return Z, a, b
    if kind == "rows":
        return N((n, m)), np.exp(0.7 * N(n)), b
    if kind == "cols":
        return N((n, m)), a, np.exp(0.7 * N(m))
    if kind == "both":
        return N((n, m)), np.exp(0.6 * N(n)), np.exp(0.6 * N(m))
    if kind in ("profile", "seasonal"):
        if kind == "profile":
            S = rng.gamma(0.7, 1, (n, 3)) @ rng.gamma(0.7, 1, (3, m)) + 0.05
        else:
            S = np.exp(
                1.2 * np.sin(2 * np.pi * np.arange(n)[:, None] / 50 + rng.uniform(0, 2 * np.pi, 4)[np.arange(m) % 4])
            )
        a, b = sinkhorn(S)
        return N((n, m)) * np.sqrt(S) * a[:, None] * b, a, b
    if kind[:2] == "ar" and kind[-1] == "f":
        return _ar((n, m), 0.1 * int(kind[2]), 1, rng), a, b
    if kind[:2] == "ar" and kind[-1] == "s":
        return _ar((n, m), 0.1 * int(kind[2]), 0, rng), a, b
    if kind == "ar3both":
        Z = _ar((n, m), 0.3, 0, rng) * np.sqrt(1 - 0.09)
        return lfilter([1], [1, -0.3], Z, axis=1), a, b
    if kind == "smooth":
        h, w = IMAGE[m]
        Z = gaussian_filter(N((n, h, w)), (0, 1, 1), mode="wrap").reshape(n, m)
        return Z / Z.std(), a, b
    if kind == "t3":
        return rng.standard_t(3, (n, m)) / np.sqrt(3), a, b
    if kind == "lognormal":
        g = np.exp(0.8 * N((n, m)))
        return (g - np.exp(0.32)) / np.sqrt((np.exp(0.64) - 1) * np.exp(0.64)), a, b
    if kind == "heavyar":
        return _ar((n, m), 0.5, 1, rng), np.sqrt(rng.chisquare(4, n) / 4), b
    if kind == "laplace":
        return rng.laplace(size=(n, m)) / np.sqrt(2), np.exp(0.4 * N(n)), np.exp(0.4 * N(m))
    raise ValueError(kind)


def _dpoint(sig, n, m, z):
    """theta at which an outlier is predicted to lie at z, given noise singular values."""
    d1 = np.sum(z / (z * z - sig**2))
    big, small = max(n, m), min(n, m)
    return 1 / np.sqrt((d1 / small) * ((d1 + (big - small) / z) / big))


def _measure(kind, n, m):
    out = []
    for k in (kind, "white"):
        ts = []
        for s in range(2):
            Z = noise(k, n, m, np.random.default_rng([77, s, n, m]))[0]
            G = Z @ Z.T if n <= m else Z.T @ Z
            lam = np.maximum(np.linalg.eigvalsh(G)[::-1], 0)
            # local Tracy-Widom scale from the spacing of the leading ten; 99 % place of the top
            j = np.arange(1, 11)
            t = np.polyfit((1.5 * np.pi * (j - 0.25)) ** (2 / 3), lam[:10], 1)
            ts.append(_dpoint(np.sqrt(lam), n, m, np.sqrt(max(t[1] - 2.02 * t[0], lam[0] - 0.5 * t[0]))))
        out.append(np.mean(ts))
    return out[0] / out[1]


def edge(kind, n, m):
    """Detection edge in units of white noise's (1 for independent entries)."""
    if (
        kind in ("t3", "lognormal", "laplace")
        or kind not in ("profile", "seasonal", "smooth", "heavyar")
        and kind[:2] != "ar"
    ):
        return 1.0
    try:
        E = json.load(open(_EDGES))
    except Exception:
        E = {}
    key = f"{kind}/{n}x{m}"
    if key not in E:
        E[key] = _measure(kind, n, m)
        json.dump(E, open(_EDGES, "w"), indent=0)
    return E[key]


def make(kind, n, m, d, strength, seed):
    """Returns X and the truth (rank of the mean; for counts the mean is one of the dimensions)."""
    rng = np.random.default_rng([seed, n, m, d, zlib.crc32(kind.encode()), strength == "strong"])
    lo, hi = (1.3, 2.6) if strength == "weak" else (3.0, 6.0)
    th = rng.uniform(lo, hi, d) * (n * m) ** 0.25 * edge(kind, n, m)
    if kind in COUNTS:
        return _counts(kind, n, m, d, th, strength, rng)
    U = np.linalg.qr(rng.standard_normal((n, d)))[0]
    V = np.linalg.qr(rng.standard_normal((m, d)))[0]
    L = (U * th) @ V.T
    Z, a, b = noise(kind, n, m, rng)
    if kind == "zeros30":
        return np.where(rng.random((n, m)) < 0.3, 0, L / np.sqrt(0.7) + Z), d
    if kind == "mixed":
        kind3 = rng.integers(0, 3, m)
        mu = np.exp(rng.uniform(np.log(5), np.log(50), m))
        C = rng.poisson(np.maximum(mu + np.sqrt(mu) * L, 0)).astype(float)
        unit = 10.0 ** rng.uniform(-2, 2, m)
        X = (L + Z) * unit
        Q = np.round(4 * (L + Z)) + 100
        return np.where(kind3 == 0, X, np.where(kind3 == 1, C, Q)), d
    if kind == "blockmiss":
        X = L + Z
        for _ in range(5):
            i, j = rng.integers(0, n), rng.integers(0, m)
            X[i : i + max(1, n // 10), j : j + max(1, m // 5)] = 0
        return X, d
    if kind == "gross":
        hit = rng.random((n, m)) < 0.01
        return L + Z + hit * rng.choice([-1, 1], (n, m)) * rng.uniform(8, 20, (n, m)), d
    X = (L + Z) / a[:, None] / b
    if kind == "bytes":
        return np.clip(np.round(128 + 14 * X), 0, 255), d
    if kind == "likert":
        return np.clip(np.round(3 + 0.9 * X), 1, 5), d
    if kind == "offset":
        return X + 30 * rng.standard_normal(m), d
    return X, d


def _counts(kind, n, m, d, th, strength, rng):
    r = max(d, 1)
    if kind == "topics":  # sparse: topics x profiles, like single cells
        W = rng.dirichlet(np.full(r, 0.5), n)
        H = rng.gamma(0.5, 1, (r, m)) + 0.05
        Lam = (W @ H) * rng.lognormal(0, 0.4, n)[:, None]
        a, b = sinkhorn(Lam)
        s = np.linalg.svd(a[:, None] * Lam * b, compute_uv=False)[r - 1]
        target = (2.0 if strength == "weak" else 4.0) * (n * m) ** 0.25
        return rng.poisson(Lam * np.clip((target / s) ** 2, 0, 50)).astype(float), r
    s, pj = rng.lognormal(0, 0.5, n), rng.lognormal(0, 0.8, m)
    U, V = (
        np.linalg.qr(np.c_[np.ones(k), np.sign(rng.standard_normal((k, r - 1)))])[0][:, 1:] * np.sqrt(k) for k in (n, m)
    )
    c2 = th[1:] ** 2 / (n * m)  # (relative modulation)^2 needed at unit variance-to-mean^2
    if kind == "poisson":
        rate, disp = max(2.0, c2.sum() / 0.05), 0.0
    else:
        rate, disp = max(4.0, c2.sum() / 0.025), min(0.5, 0.025 / max(c2.sum(), 1e-9))
    rel = 1 / rate + disp
    Lam = rate * np.outer(s / s.mean(), pj / pj.mean()) * np.maximum(1 + (U * np.sqrt(c2 * rel)) @ V.T, 0.02)
    if disp:
        Lam = rng.gamma(1 / disp, Lam * disp)
    return rng.poisson(Lam).astype(float), r


def cells(shapes=None, noises=None, ranks=None):
    """Every cell of the zoo; ranks up to p/3."""
    for n, m in shapes or SHAPES:
        for kind in noises or NOISES:
            for d in ranks or RANKS:
                if d > min(n, m) / 3:
                    continue
                for st in ["weak", "strong"] if d else ["weak"]:
                    yield kind, n, m, d, st


if __name__ == "__main__":
    for n, m in SHAPES:
        for k in NOISES:
            e = edge(k, n, m)
            if e != 1:
                print(n, m, k, round(e, 3), flush=True)


def subset(seed, per=3, shapes=SHAPES[:5]):
    """`per` random cells (dimension and strength) of every noise and shape."""
    rng = np.random.default_rng(1000 + seed)
    for shape in shapes:
        for kind in NOISES:
            all_cells = list(cells([shape], [kind]))
            for i in rng.permutation(len(all_cells))[:per]:
                yield all_cells[i]
