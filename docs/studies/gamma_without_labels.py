"""Can γ of PCE-auto be chosen without labels? Two rules beside γ = 1, on real data.

    python docs/studies/gamma_without_labels.py [FOLDER]      default ../shared/data; needs NumPy and scikit-learn

Samples have unit length, τ is the optimal hard threshold ω(β)·median(σ), directions count down to τ/2, features
w(σ)·uᵀy with w = σ^(2−γ)/(σ² + τ²) are scaled to unit length, and the nearest neighbour decides. Plain random partitions.

noise     the largest γ at which noise makes up at most half of the energy of the features. A direction carries σ², of which
          noise is τ²/ω² (its bulk is at τ/ω): share(γ) = Σ w²·min(σ², τ²/ω²) / Σ w²σ²
halves    the γ at which two random halves of the features (pixels) agree most: each half finds its own directions and
          nearest neighbours, and what counts is how often both name the same neighbour
"""

import pathlib
import sys

import numpy as np

GAMMAS = (0.0, 0.25, 0.5, 0.75, 1.0)
SPLITS = 3


def threshold(shape):
    """ω(β): the optimal hard threshold in units of the median, by its published polynomial."""
    beta = min(shape) / max(shape)
    return 0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43


def unit(rows):
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)


def directions(x):
    """σ and U down to τ/2, and τ."""
    _, sigma, u = np.linalg.svd(x, full_matrices=False)
    tau = threshold(x.shape) * np.median(sigma)
    count = max(1, int((sigma > tau / 2).sum()))
    return sigma[:count], u[:count].T, tau


def weights(sigma, tau, gamma):
    return sigma ** (2 - gamma) / (sigma**2 + tau**2)


def nearest(points, queries, others=False):
    cosine = queries @ points.T
    if others:
        np.fill_diagonal(cosine, -np.inf)
    return cosine.argmax(1)


def by_noise(sigma, tau, omega):
    level = np.minimum(sigma**2, (tau / omega) ** 2)
    share = [(w**2 * level).sum() / (w**2 * sigma**2).sum() for w in (weights(sigma, tau, g) for g in GAMMAS)]
    return max((g for g, s in zip(GAMMAS, share) if s <= 0.5), default=0.0)


def by_halves(x, rng):
    order = rng.permutation(x.shape[1])
    agreed = np.zeros(len(GAMMAS))
    scores = []
    for half in np.array_split(order, 2):
        part = unit(x[:, half])
        sigma, u, tau = directions(part)
        scores.append((part @ u, sigma, tau))
    for i, gamma in enumerate(GAMMAS):
        found = [nearest(z, z, others=True) for z in (unit(s * weights(sigma, tau, gamma)) for s, sigma, tau in scores)]
        agreed[i] = (found[0] == found[1]).mean()
    return GAMMAS[int(agreed.argmax())]


def data(folder):
    from sklearn.datasets import load_digits

    for name, file, train, test in (
        ("ExYaleB", "exyaleb_54x48_first58.npz", 1520, 684),
        ("COIL-100", "coil100_64x64_paper1000.npz", 500, 500),
        ("USPS", "usps_11000.npz", 3300, 3000),
    ):
        if (folder / file).exists():
            arrays = np.load(folder / file)
            yield name, arrays["X"].astype(float), arrays["y"], train, test
        else:
            print(f"skipped: no data for {name}", file=sys.stderr)
    digits = load_digits()
    yield "digits", digits.data, digits.target, 898, 899


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    print("| data | " + " | ".join(f"γ = {g:g}" for g in GAMMAS) + " | noise: γ | halves: γ | noise | halves |")
    print("|---|" + "--:|" * (len(GAMMAS) + 4))
    for name, x, y, train, test in data(folder):
        right, picks, got = np.zeros((SPLITS, len(GAMMAS))), [], []
        for split in range(SPLITS):
            rng = np.random.default_rng(split + 1)
            order = rng.permutation(len(x))
            a, b = order[:train], order[train : train + test]
            known, asked = unit(x[a]), unit(x[b])
            sigma, u, tau = directions(known)
            for i, gamma in enumerate(GAMMAS):
                w = weights(sigma, tau, gamma)
                found = nearest(unit(known @ u * w), unit(asked @ u * w))
                right[split, i] = 100 * (y[a][found] == y[b]).mean()
            pick = by_noise(sigma, tau, threshold(known.shape)), by_halves(x[a], rng)
            picks.append(pick)
            got.append([right[split, GAMMAS.index(p)] for p in pick])
        cells = [f"{r:.1f}" for r in right.mean(0)]
        chosen = [", ".join(f"{p[i]:g}" for p in picks) for i in range(2)]
        print(f"| {name} | " + " | ".join(cells + chosen + [f"{r:.1f}" for r in np.mean(got, 0)]) + " |", flush=True)


if __name__ == "__main__":
    main()
