"""How many dimensions are real? Reference implementation (NumPy) of the rule in results.md.

    dimension(X) -> dict(state, k, interval, evidence)        state: counted | at_least | not_countable

Symbols
-------
X        n x m data, rows are samples             p, q      min(n, m), max(n, m) of the table in use
a, b     weights of rows and of columns           Y         diag(a) X diag(b), noise of one strength
s_j      singular values of Y, descending         v         noise variance of an entry of Y
E, c     place and Tracy-Widom scale of the noise's edge, in units of s (not of s^2)
A_j      mean of the j-th point of the soft edge (GOE), A_0 = -1.27, A_1 = -3.31 ...
t_k      "fixed scale": how far s_k stands above where its successors put the edge, c from
         Marchenko-Pastur; k counted from 0: t_k tests the (k+1)-th direction
f_k      "free scale": the same, E and c both fitted to the successors; needs no noise model
K        largest number ever stated, p/3          KS        p-scaled Kolmogorov-Smirnov distance

Everything is deterministic, and does not change when X, or any one feature, is multiplied by a constant.
"""

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.stats import chi2

A = -np.array(
    [
        1.266,
        3.313,
        4.875,
        6.221,
        7.434,
        8.565,
        9.616,
        10.620,
        11.571,
        12.483,
        13.372,
        14.232,
        15.065,
        15.871,
        16.670,
        17.443,
        18.205,
        18.945,
        19.680,
        20.403,
        21.127,
    ]
)
ACCEPT, SURE, MAYBE = 3.72, 4.65, 1.92  # 99.7, 99.95, 94 % points of t under pure noise
KS0, KS1 = 1.6, 0.4  # KS <= KS0 (p - k)^0.2 + KS1 k: the rest is noise
CROWD = ((10.0, 3), (20.0, 5))  # so many directions within so many c of the edge: no number
WIDE = 3  # widest bracket of a number
DOMINATE = 2.0  # f_{k-1} >= 2 max f_j, j >= k: a gap like no later one
KAPPA = 3.0  # constant put in place of the mean while levelling
FLAT, GAP, GAP1, DOM, RATIO = 0.3, 2.0, 10.0, 8.0, 2.0  # narrow tables


# ---------------------------------------------------------------- 0 filter, counts, standardise
def keep(X):
    """Rows and features to use: not constant, at least max(4, 2 %) non-zero entries; twice."""
    r, c = np.ones(X.shape[0], bool), X.max(0) > X.min(0)

    def need(size):
        return max(min(4, size // 2), 0.02 * size)

    for _ in range(2):
        nz = X != 0
        r = r & (nz[:, c].sum(1) >= need(c.sum()))
        c = c & (nz[r].sum(0) >= need(r.sum()))
        if r.any():
            c = c & (X[r].max(0) > X[r].min(0))
    return r, c


def are_counts(X):
    """Whole numbers from 0 whose variance grows with their mean: their mean is not removed."""
    if X.min() < 0 or not np.all(X == np.round(X)):
        return False
    mu, var = X.mean(0), X.var(0)
    if (X == 0).mean() > 0.3 and np.median(var / mu) < 20:
        return True
    lm, lv = np.log(mu), np.log(var)
    if lm.std() < 0.2:
        return False
    r = np.corrcoef(lm, lv)[0, 1]
    return bool(r > 0.7 and 0.5 < r * lv.std() / lm.std() < 2.3)


def copies(Y0):
    """Features equal, up to sign, to an earlier one."""
    C = np.abs(Y0.T @ Y0) / len(Y0) if Y0.shape[1] <= 4000 else np.eye(1)
    return (np.triu(C > 1 - 1e-12, 1).any(0)) if len(C) == Y0.shape[1] else np.zeros(Y0.shape[1], bool)


# ---------------------------------------------------------------- 1 level rows and columns
def _noise_variance(g, w, s):
    """v such that white noise of variance v has tr(YY'/q + w)^-1 / p = s; g = p/q."""
    lo, hi = -60.0, 60.0  # in ln(v / w)
    for _ in range(100):
        mid = 0.5 * (lo + hi)
        v = w * np.exp(mid)
        z = w / v
        h = 1 - g + z
        mp = (np.sqrt(h * h + 4 * g * z) - h) / (2 * g * z) / v
        lo, hi = (mid, hi) if mp > s else (lo, mid)
    return w * np.exp(0.5 * (lo + hi))


def dyson(Y):
    """One round of the Dyson equaliser: factors x (rows), y (columns) of the noise variance, up to scale.

    G = YY'/q (smaller side), w = eta^2/q, L L' = G + w.  1/[(G + w)^-1]_ii - w is what the others
    cannot predict of row i. w lies near the noise: from the trace first, again if far off (no spectrum)."""
    n, m = Y.shape
    Z = Y if n <= m else Y.T
    p, q = Z.shape
    G = Z @ Z.T / q
    w = 0.4 * np.trace(G) / p
    for _ in range(4):
        Li = solve_triangular(cholesky(G + w * np.eye(p), lower=True), np.eye(p), lower=True)
        near = (Li**2).sum(0)  # [(G + w)^-1]_ii
        v = _noise_variance(p / q, w, near.mean())
        new = v * (0.9 - 0.5 * p / q)  # about the median of Marchenko-Pastur
        if 0.4 < new / w < 2.5:
            break
        w = new
    T = Li @ Z / np.sqrt(q)
    far = (1 - (T**2).sum(0)) / w  # [(Z'Z/q + w)^-1]_jj
    x, y = (1 / (w * d) - 1 for d in (near, far))
    x, y = (np.maximum(z, 1e-4 * np.median(z)) for z in (x, y))  # copies: predicted without noise
    return (x, y) if n <= m else (y, x)


def level(Y0, center, rounds=3, enough=0.15):
    """Weights a, b of rows and columns; a second and third round only where the first moved much."""
    n, m = Y0.shape
    a, b = np.ones(n), np.ones(m)
    shift = KAPPA if center else 0.0
    for r in range(rounds):
        x, y = dyson(a[:, None] * (Y0 + shift) * b)
        a, b = a / np.sqrt(x), b / np.sqrt(y)
        a /= np.sqrt((a * a).mean())
        b /= np.sqrt((b * b).mean())
        if max(np.log(x).std(), np.log(y).std()) / 2 < enough:
            break
    return a, b, r + 1


def levelled(Y0, a, b, center):
    """Y = diag(a) Y0 diag(b), the mean removed afterwards: Y - u u'Y with u = a/|a|."""
    Y = a[:, None] * Y0 * b
    if center:
        u = a / np.linalg.norm(a)
        Y = Y - np.outer(u, u @ Y)
    return Y


def spectrum(Y, n):
    """Singular values, descending; n rows count (one less than Y has when the mean was removed)."""
    G = Y @ Y.T if Y.shape[0] <= Y.shape[1] else Y.T @ Y
    return np.sqrt(np.maximum(np.linalg.eigvalsh(G)[::-1], 0))[: min(n, Y.shape[1])]


def full(s, n, m):
    """Without exact zeros (sums that are constant): the smaller side is the rank."""
    r = int((s > 1e-7 * s[0]).sum())
    return (s[:r], min(n, r), m) if n <= m else (s[:r], n, min(m, r))


# ---------------------------------------------------------------- 2 the edge of the noise
def noise_level(s, k, n, m):
    """Kritchman-Nadler: variance of an entry given k directions, their bias taken off."""
    p, q = min(n, m), max(n, m)
    l = s**2 / q
    v = l[k:].sum() / (p - k) / (1 - k / q)
    for _ in range(40 if k else 0):
        t = l[:k] + v - v * (p - k) / q
        rho = (t + np.sqrt(np.maximum(t * t - 4 * l[:k] * v, 0))) / 2
        new = (l[k:].sum() + np.maximum(l[:k] - rho, 0).sum()) / (p - k)
        done = abs(new - v) < 1e-10 * v
        v = new
        if done:
            break
    return v


def tw_scale(s, k, n, m):
    """Tracy-Widom scale of the largest singular value of the rest (p - k by q), in units of s."""
    p, q = min(n, m) - k, max(n, m)
    r, t = np.sqrt(q - 0.5), np.sqrt(p - 0.5)
    return np.sqrt(noise_level(s, k, n, m)) * (1 / r + 1 / t) ** (1 / 3) / 2


def fixed_scale(s, n, m, kmax):
    """t_k, k < kmax: place of the edge from the next h values, its scale from Marchenko-Pastur."""
    h = int(np.clip(min(n, m) // 10, 6, 12))
    t = np.empty(kmax)
    for k in range(kmax):
        c = tw_scale(s, k, n, m)
        t[k] = (s[k] - (s[k + 1 : k + 1 + h] - c * A[1 : h + 1]).mean()) / c - A[0]
    return t, h


def free_scale(s, p):
    """f_k: edge and scale by least squares from the next w values (any noise with a square-root edge)."""
    w = int(np.clip(round(0.8 * np.sqrt(p)), 6, 20))
    P = np.linalg.pinv(np.c_[np.ones(w), A[1 : w + 1]])
    f = []
    for k in range(max(min(p // 2, p - w - 2), 1)):
        E, c = P @ s[k + 1 : k + 1 + w]
        f.append((s[k] - E - c * A[0]) / max(c, 1e-300))
    return np.array(f), w


def ks(s, k, n, m):
    """(p - k) times the Kolmogorov-Smirnov distance of s_{k+1..}^2 from Marchenko-Pastur."""
    p, q = min(n, m) - k, max(n, m)
    g = p / q
    th = (np.arange(4000) + 0.5) / 4000 * np.pi
    x = 1 + g - 2 * np.sqrt(g) * np.cos(th)
    d = np.sin(th) ** 2 / x
    F = (np.cumsum(d) - d / 2) / d.sum()
    l = np.sort(s[k:] ** 2) / (noise_level(s, k, n, m) * q)
    F, i = np.interp(l, x, F, 0, 1), np.arange(p)
    return max((F - i / p).max(), ((i + 1) / p - F).max()) * p


def last(t, limit):
    """The last (deepest) k with t_{k-1} above the limit."""
    hit = np.nonzero(t > limit)[0]
    return int(hit[-1]) + 1 if len(hit) else 0


# ---------------------------------------------------------------- 3 state
def decide(s, n, m):
    """State, number and bracket from the levelled singular values."""
    p = min(n, m)
    K = p // 3
    t, h = fixed_scale(s, n, m, min(K + 1, p - 14))
    k, lo, up = (last(t[:K], z) for z in (ACCEPT, SURE, MAYBE))
    f, w = free_scale(s, p)
    c = tw_scale(s, k, n, m)
    E = (s[k : k + h] - c * A[:h]).mean()
    crowd = [int(((s[:k] - E) / c < z).sum()) for z, _ in CROWD]
    up = max(up, k + crowd[1] // 5)  # the directions that a crowded edge may hide
    rest, limit = ks(s, k, n, m), KS0 * (p - k) ** 0.2 + KS1 * k
    ev = dict(
        guess=k + crowd[1] // 7,
        t=t[max(0, k - 2) : k + 3].round(2).tolist(),
        ks=rest,
        ks_limit=limit,
        crowd=crowd,
        count=k,
        noise_sd=float(np.sqrt(noise_level(s, k, n, m))),
    )
    if rest <= limit and k < K - 1:
        if up - lo <= WIDE and all(have < most for have, (_, most) in zip(crowd, CROWD)):
            return "counted", k, (lo, up), ev
        return "not_countable", None, (lo, up), dict(ev, why="crowded edge")
    high = 4.3 + 16 / w  # 99.95 % point of f
    ev["guess"] = max([i for i in range(1, K + 1) if f[i - 1] >= max(3.0, 1.2 * f[i:].max(initial=0))], default=0)
    j = last(f[:K], high)
    for i in range(K if p >= 60 else 0, 0, -1):
        if f[i - 1] >= max(high, DOMINATE * f[i:].max(initial=0)):
            return "at_least", i, (i, max(i, j)), dict(ev, why="the rest is not white", gap=float(f[i - 1]))
    return "not_countable", None, (0, max(j, k)), dict(ev, why="no clear edge")


# ---------------------------------------------------------------- 4 gross entries
def without_gross(Y0, a, b, center, k, limit=5.0):
    """Entries more than 5 sd off the first k directions, on both sides: put on them. None if there are none."""
    Y = levelled(Y0, a, b, center)
    n, m = Y.shape
    if n <= m:
        U = np.linalg.eigh(Y @ Y.T)[1][:, n - k :]
        R = Y - U @ (U.T @ Y)
    else:
        V = np.linalg.eigh(Y.T @ Y)[1][:, m - k :]
        R = Y - (Y @ V) @ V.T
    sd = 1.2533 * np.abs(R).mean()
    up, down = (R > limit * sd).sum(), (R < -limit * sd).sum()
    if up + down < max(3, 1e-5 * R.size) or min(up, down) < 0.25 * (up + down):
        return None  # skewed tails (counts) are no gross errors
    return Y0 - np.where(np.abs(R) > limit * sd, R, 0) / (a[:, None] * b)


# ---------------------------------------------------------------- 5 narrow tables
def narrow(Y0, n):
    """Few columns (or rows): all remaining eigenvalues equal (Bartlett-Lawley), or one dominant gap.

    Decided on the correlation matrix and on it with every feature scaled to the noise that the others
    cannot predict; a number only where neither contradicts the other. None: too few columns to tell."""
    if Y0.shape[0] > Y0.shape[1]:
        Y, N = Y0, n
    else:  # few rows: their contrasts, without the mean
        Q = np.linalg.qr(np.c_[np.ones(len(Y0)), np.eye(len(Y0))[:, 1:]])[0][:, len(Y0) - n :]
        Y, N = Y0.T @ Q, Y0.shape[1]
    C = Y.T @ Y / N
    p = len(C)
    found = []
    for lev in (False, True):
        b = 1 / np.sqrt(np.diag(C))
        if lev:
            b = np.sqrt(np.diag(np.linalg.inv(C + 1e-10 * np.trace(C) / p * np.eye(p))))
        l = np.linalg.eigvalsh(C * b * b[:, None])[::-1]
        if l[-1] <= 1e-9 * l[0]:  # noise-free: the numerical rank
            found.append(int((l > 1e-9 * l[0]).sum()))
            continue
        for k in range(p):
            r, tail = p - k, l[k:]
            v = tail.mean()
            flat = r == 1
            if r > 1 and N - k > r + 2:
                x = (N - k - (2 * r * r + r + 2) / (6 * r) + (v * v / np.maximum(l[:k] - v, 1e-3 * v) ** 2).sum()) * (
                    r * np.log(v) - np.log(tail).sum()
                )
                flat = chi2.sf(x, (r - 1) * (r + 2) / 2) > FLAT
            if not flat:
                continue
            tw = (1 + np.sqrt(r / N)) * (N**-0.5 + r**-0.5) ** (1 / 3) / np.sqrt(N) if r > 1 else np.sqrt(2 / N)
            edge = v * ((1 + np.sqrt(r / N)) ** 2 + 2 * tw)
            gaps = np.log(l[:-1] / l[1:])
            if (
                k == 0
                or l[k - 1] >= (GAP if r > 1 else GAP1) * edge
                and (r > 2 or gaps[k - 1] >= gaps[: k - 1].max(initial=0))
            ):
                found.append(k)
            break
        g = np.log(l[:-1] / l[1:])
        k = int(np.argmax(g)) + 1
        if g[k - 1] >= np.log(DOM) and g[k - 1] >= RATIO * max(
            np.delete(g, k - 1).max(initial=0), np.log(l[k] / l[-1])
        ):
            found.append(k)
    return found[0] if found and min(found) == max(found) else None


# ---------------------------------------------------------------- the rule
def dimension(X, center=None):
    """State, number (None: not countable), interval and evidence. center=None: unless X are counts."""
    X = np.asarray(X, float)
    r, c = keep(X)
    X = X[np.ix_(r, c)]
    n, m = X.shape
    if min(n, m) < 2:
        return dict(state="not_countable", k=None, interval=(0, min(n, m)), evidence=dict(why="too small"))
    center = not are_counts(X) if center is None else bool(center)
    mu = X.mean(0) if center else np.zeros(m)
    Y0 = (X - mu) / np.sqrt(((X - mu) ** 2).mean(0))  # from here on no units are left
    Y0 = Y0[:, ~copies(Y0)]
    m = Y0.shape[1]
    n1 = n - center
    p = min(n1, m)

    def out(st, k, iv, ev):
        return dict(state=st, k=k, interval=tuple(int(z) for z in iv), evidence=dict(ev, p=p, centered=center))

    s = spectrum(Y0, n1)
    rank = int((s > 1e-7 * s[0]).sum())  # squares are what double precision sees of 1e-14
    if rank <= p // 2 or rank < p < 60:  # noise-free
        return out("counted", rank, (rank, rank), dict(why="exact rank"))
    if p < 60:
        k = narrow(Y0, n1)
        if k is not None and (p < 30 or k > p // 3):
            return out("counted", k, (k, k), dict(why="few columns: the rest are equal, or one gap dominates"))
        if p < 30:
            return out(
                "not_countable", None, (0, p - 1), dict(why="too few columns to tell noise from signal; give the noise")
            )
    a, b, rounds = level(Y0, center)
    Y = levelled(Y0, a, b, center)
    state, k, interval, ev = decide(*full(spectrum(Y, n1), n1, m))
    if (Y**4).mean() > 4 * (Y**2).mean() ** 2:  # heavy tails: gross entries?
        Y1 = without_gross(Y0, a, b, center, ev["count"])
        if Y1 is not None:
            a, b, rounds = level(Y1, center)
            state, k, interval, ev = decide(*full(spectrum(levelled(Y1, a, b, center), n1), n1, m))
            ev["gross"] = True
    return out(state, k, interval, dict(ev, rounds=rounds))
