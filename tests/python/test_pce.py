"""PCE against NumPy, SciPy and the authors' released code."""

import numpy as np
import pytest
import scipy.linalg

from conftest import ROOT, fit, run, tensors

EPS = np.finfo(float).eps


def unit(x):
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    return x / np.where(lengths == 0, 1, lengths)


def planted(n, m, d, noise, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, m)) + noise * rng.normal(size=(n, m))


@pytest.fixture(scope="module")
def fixture():
    return np.load(ROOT / "fixtures" / "pce.npz")


def model_of(tmp_path, x, *args):
    np.save(tmp_path / "x.npy", x)
    report = fit(tmp_path / "x.npy", "-o", tmp_path / "m.espan", *args)
    return report, tensors(tmp_path / "m.espan")


@pytest.mark.parametrize("shape", [(40, 90), (90, 40), (64, 64), (3, 500), (500, 3)])
@pytest.mark.parametrize("normalize", ["unit", "none", "zscore"])
@pytest.mark.parametrize("center", [False, True])
def test_singular_values_and_directions_are_lapacks(tmp_path, shape, normalize, center):
    x = planted(*shape, 2, 0.3, sum(shape)) + 0.5
    report, model = model_of(tmp_path, x, "--normalize", normalize, "--dim", 2, *(["--center"] if center else []))
    prepared = {"unit": unit(x), "none": x, "zscore": (x - x.mean(0)) / x.std(0)}[normalize]
    prepared = prepared - prepared.mean(0) if center else prepared
    _, s, vt = np.linalg.svd(prepared, full_matrices=False)
    assert np.abs(model["sigma"] - s).max() <= 10 * max(shape) * EPS * s[0]
    projector = vt[:2].T @ vt[:2]
    gap = s[0] / (s[1] - (s[2] if len(s) > 2 else 0))
    assert np.abs(model["basis"] @ model["basis"].T - projector).max() <= 10 * max(shape) * EPS * gap
    assert report["columns"] == 2


def test_theta_solves_the_generalised_eigenproblem_of_a_dense_solver(tmp_path):
    x = unit(planted(80, 12, 4, 0.3, 1))
    report, model = model_of(tmp_path, x, "--lambda", 0.5)
    k, theta = report["k"], model["basis"] / model["sigma"][: report["columns"]]
    d = x.T
    _, _, vt = np.linalg.svd(d, full_matrices=False)
    c = vt[:k].T @ vt[:k]
    values, vectors = scipy.linalg.eigh(d @ c @ d.T, d @ d.T)  # scaled so that vᵀDDᵀv = 1
    assert np.allclose(np.sort(values)[::-1], [1] * k + [0] * (12 - k), atol=1e-10)
    leading = vectors[:, np.argsort(values)[-k:]]
    # All k eigenvalues are 1: the solutions are one k-dimensional space, equal up to a rotation.
    assert np.allclose(theta @ theta.T, leading @ leading.T, atol=1e-9 * np.abs(theta @ theta.T).max())


def test_the_released_code_finds_the_same_values_ranks_and_features(tmp_path, fixture):
    raw = fixture["Draw"].T
    for lam, released, theorem in zip(fixture["lams"].ravel(), fixture["kc"].ravel(), fixture["kp"].ravel()):
        np.save(tmp_path / "x.npy", raw)
        assert fit(tmp_path / "x.npy", "--lambda", lam)["k"] == theorem
        assert fit(tmp_path / "x.npy", "--lambda", lam, "--rank-rule", "released")["k"] == released
    lam = fixture["lam"].item()
    report, model = model_of(tmp_path, raw, "--lambda", lam, "--rank-rule", "released")
    assert report["k"] == fixture["k"].item() == 29
    assert np.abs(model["sigma"] - fixture["s"].ravel()).max() < 1e-8
    assert np.abs(model["basis"] @ model["basis"].T - fixture["Pspace"]).max() < 1e-8
    np.save(tmp_path / "y.npy", fixture["Yraw"].T)
    run("transform", tmp_path / "m.espan", tmp_path / "x.npy", "-o", tmp_path / "zx.npy")
    run("transform", tmp_path / "m.espan", tmp_path / "y.npy", "-o", tmp_path / "zy.npy")
    gram = np.load(tmp_path / "zy.npy") @ np.load(tmp_path / "zx.npy").T
    assert np.abs(gram - fixture["Gw"]).max() < 1e-8 * np.abs(fixture["Gw"]).max()


def test_offsets_of_1e9_do_not_touch_the_centred_spectrum(tmp_path):
    rng = np.random.default_rng(0)
    spread = rng.integers(-(2**20), 2**20, size=(200, 5)) / 2**20  # exact next to 1e9
    offset = np.array([1e8, -1e8, 3e7, 1e9, 0])
    _, model = model_of(tmp_path, spread + offset, "--normalize", "none", "--center", "--dim", 5)
    s = np.linalg.svd(spread - spread.mean(0), compute_uv=False)
    assert np.abs(model["sigma"] / s - 1).max() < 1e-12


@pytest.mark.parametrize("lam, low, high", [(5, 116, 124), (50, 326, 342)])
def test_extended_yale_b_has_the_papers_dimension_and_lapacks_count(tmp_path, shared_file, lam, low, high):
    path = shared_file("exyaleb_54x48_first58.npz")
    data = np.load(path)
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(len(data["X"]))[:1520]
        np.save(tmp_path / "rows.npy", rows)
        report = fit(path, "--rows", tmp_path / "rows.npy", "--lambda", lam)
        s = np.linalg.svd(unit(data["X"][rows].astype(float)), compute_uv=False)
        assert low <= report["k"] <= high
        assert report["k"] == (s**2 > 1 / lam).sum()
        assert report["certified"]


def test_usps_has_the_papers_dimension_and_lapacks_count(tmp_path, shared_file):
    path = shared_file("usps_11000.npz")
    data = np.load(path)
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(len(data["X"]))[:9500]
        np.save(tmp_path / "rows.npy", rows)
        report = fit(path, "--rows", tmp_path / "rows.npy", "--lambda", 0.05)
        s = np.linalg.svd(unit(data["X"][rows].astype(float)), compute_uv=False)
        assert 50 <= report["k"] <= 54 and report["k"] == (s**2 > 20).sum()


def test_recovery_is_the_projection_in_the_samples_own_units(tmp_path):
    x = planted(60, 30, 3, 0.2, 5) + 4
    report, model = model_of(tmp_path, x, "--center")
    run("recover", tmp_path / "m.espan", tmp_path / "x.npy", "-o", tmp_path / "r.npy", "--scores", tmp_path / "s.csv")
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    mean = unit(x).mean(0)
    u = model["basis"]
    clean = ((unit(x) - mean) @ u @ u.T + mean) * lengths
    assert np.abs(np.load(tmp_path / "r.npy") - clean).max() < 1e-12 * np.abs(x).max()
    score = np.loadtxt(tmp_path / "s.csv", skiprows=1)
    assert np.allclose(score, np.linalg.norm((x - clean) / lengths, axis=1), rtol=1e-10)
