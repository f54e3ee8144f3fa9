"""`partial_fit(mode="online")`: Brand's incremental SVD against NumPy's SVD of the weighted rows."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import eigenspan
from eigenspan import PCA, PCE


def fed(estimator, x, size, **how):
    for start in range(0, len(x), size):
        estimator.partial_fit(x[start : start + size], mode="online", **how)
    return estimator


def exact(x, forget, center, unit):
    """Singular values and directions of rows weighted by forget^age, about their weighted mean."""
    rows = x / np.linalg.norm(x, axis=1, keepdims=True) if unit else x.astype(float)
    weights = forget ** np.arange(len(x) - 1, -1, -1, dtype=float)
    if center:
        rows = rows - np.average(rows, axis=0, weights=weights**2)
    _, sigma, directions = np.linalg.svd(weights[:, None] * rows, full_matrices=False)
    return sigma, directions, (weights**2).sum()


@pytest.fixture
def faces(digits):
    return np.random.default_rng(0).permutation(digits)[:500]


@pytest.mark.parametrize("size", [1, 7, 500])
@pytest.mark.parametrize("forget", [1.0, 0.99])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_it_is_the_svd_of_the_weighted_rows(faces, size, forget, center, unit):
    sigma, directions, _ = exact(faces, forget, center, unit)
    settings = {"normalize": "unit" if unit else "none", "center": center}
    lam = 1 / (sigma[9] * sigma[10])
    pce = fed(PCE(lam, **settings), faces, size, rank=64, forget=forget)
    assert pce.k_ == 10 and pce.k_interval_ == (10, 10) and pce.certified_ and pce.n_samples_ == 500
    np.testing.assert_allclose(pce.singular_values_, sigma[:10], rtol=1e-11)
    ours = pce.components_.T @ pce.components_
    np.testing.assert_allclose(ours, directions[:10].T @ directions[:10], atol=1e-9)
    if forget == 1.0:
        whole = PCE(lam, **settings).fit(faces)
        np.testing.assert_allclose(pce.transform(faces), whole.transform(faces), atol=1e-9 * np.abs(whole.theta_).max())


@pytest.mark.parametrize("rank", [5, 15, 30])
@pytest.mark.parametrize("forget", [1.0, 0.995])
def test_values_are_within_the_bound(faces, rank, forget):
    sigma, _, _ = exact(faces, forget, False, True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eigenspan.SpectrumWarning)
        pce = fed(PCE(0.5), faces, 50, rank=rank, forget=forget)
        low, high = pce.k_interval_
    assert low <= (sigma**2 > 2).sum() <= high
    known = pce.spectrum_
    assert (known <= sigma[: len(known)] * (1 + 1e-12)).all()
    assert (sigma[: len(known)] <= np.hypot(known, pce.drift_) * (1 + 1e-12)).all()
    assert (sigma[len(known) :] <= pce.drift_ * (1 + 1e-12) + 1e-12).all()
    lost = (sigma**2).sum() - (known**2).sum()
    assert pce.drift_**2 <= lost * (1 + 1e-9) + 1e-9


def test_the_model_does_not_depend_on_the_portions(faces):
    whole = fed(PCE(0.5), faces, 500, rank=12, forget=0.999)
    for size in (1, 60):
        np.testing.assert_array_equal(fed(PCE(0.5), faces, size, rank=12, forget=0.999).theta_, whole.theta_)


@pytest.mark.parametrize("settings", [{}, {"center": True}, {"weights": "soft", "gamma": 0.5}, {"dim": 5, "lam": "auto"}])
def test_a_pickle_goes_on_where_it_was(faces, settings):
    settings = {"lam": 0.5} | settings
    at_once = fed(PCE(**settings), faces, 500, rank=20)
    half = fed(PCE(**settings), faces[:333], 333, rank=20)
    for twin in (pickle.loads(pickle.dumps(half)), copy.deepcopy(half)):
        twin.partial_fit(faces[333:])
        assert twin.why_ == at_once.why_
        np.testing.assert_array_equal(twin.theta_, at_once.theta_)
    assert half.n_samples_ == 333


def test_it_goes_on_from_a_model(faces, tmp_path):
    first = PCE(0.5).fit(faces[:300])
    eigenspan.save(first, tmp_path / "m.espan")
    loaded = eigenspan.load(tmp_path / "m.espan")
    for pce in (first, loaded):
        pce.partial_fit(faces[300:], mode="online")
        assert pce.n_samples_ == 500 and pce.solver_ == "online" and pce.drift_ > 0
    np.testing.assert_array_equal(first.theta_, loaded.theta_)
    sigma, _, _ = exact(faces, 1.0, False, True)
    low, high = first.k_interval_
    assert low <= (sigma**2 > 2).sum() <= high
    first.fit(faces[:50])
    assert first.n_samples_ == 50 and first.drift_ == 0


def test_pca_forgets(faces):
    sigma, directions, weight = exact(faces, 0.98, True, False)
    pca = fed(PCA(6), faces, 100, rank=64, forget=0.98)
    np.testing.assert_allclose(pca.explained_variance_, sigma[:6] ** 2 / (weight - 1), rtol=1e-9)
    np.testing.assert_allclose(np.abs((pca.components_ * directions[:6]).sum(axis=1)), 1, rtol=1e-9)


def test_another_rank_or_factor_goes_on_with_it(faces):
    pce = fed(PCE(0.5), faces[:400], 100, rank=64)
    pce.partial_fit(faces[400:], rank=64, forget=0.9)
    weights = np.r_[np.full(400, 0.9**100), 0.9 ** np.arange(99, -1, -1.0)]
    rows = faces / np.linalg.norm(faces, axis=1, keepdims=True)
    sigma = np.linalg.svd(weights[:, None] * rows, compute_uv=False)
    np.testing.assert_allclose(pce.singular_values_, sigma[: pce.n_components_], rtol=1e-10)


def test_mistakes_are_named_and_change_nothing(faces):
    for settings in ({}, {"lam": "screenot"}, {"noise": 0.1}):
        with pytest.raises(ValueError, match="an online fit does not support this `lambda`.*give λ"):
            PCE(**settings).partial_fit(faces, mode="online")
    with pytest.raises(ValueError, match="z-scores need the deviation"):
        PCE(0.5, normalize="zscore").partial_fit(faces, mode="online")
    with pytest.raises(ValueError, match="'exact' or 'online', got 'fast'"):
        PCE(0.5).partial_fit(faces, mode="fast")
    with pytest.raises(ValueError, match="have no effect unless `mode` is 'online'"):
        PCE(0.5).partial_fit(faces, forget=0.9)
    for forget in (0.0, 1.5, -1.0, np.nan):
        with pytest.raises(ValueError, match="`forget` must be above 0 and at most 1"):
            PCE(0.5).partial_fit(faces, mode="online", forget=forget)
    with pytest.raises(ValueError, match="`rank` must be at least 1"):
        PCE(0.5).partial_fit(faces, mode="online", rank=0)
    with pytest.raises(ValueError, match="at least the dimension asked for, got 4"):
        PCE(dim=9).partial_fit(faces, mode="online", rank=4)
    pce = PCE(0.5).partial_fit(faces[:200], mode="online")
    before = pce.theta_.copy()
    bad = faces[200:].astype(float)
    bad[3, 5] = np.nan
    with pytest.raises(ValueError, match="row 3, column 5 is NaN"):
        pce.partial_fit(bad)
    with pytest.raises(ValueError, match="features"):
        pce.partial_fit(faces[:, :10])
    with pytest.raises(ValueError, match="cannot be taken in exactly"):
        pce.partial_fit(faces, mode="exact")
    np.testing.assert_array_equal(pce.theta_, before)
    assert pce.partial_fit(faces[200:]).n_samples_ == 500
