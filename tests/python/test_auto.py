"""Soft weights and PCE-auto: the formula in NumPy, the choice by another nearest neighbour, files and graphs, real data."""

import numpy as np
import onnxruntime
import pytest
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline

import eigenspan
from eigenspan import PCA, PCE, NearestNeighbour, SpectrumWarning, datasets


def unit(z):
    return z / np.linalg.norm(z, axis=1, keepdims=True)


def weighted(x, tau, gamma):
    """Features by their definition, from NumPy's decomposition."""
    x = unit(x.astype(float))
    sigma, v = np.linalg.svd(x, full_matrices=False)[1:]
    columns = np.sum(sigma > tau / 2)
    s = sigma[:columns]
    w = (s / (s**2 + tau**2)) ** gamma * (s**2 / (s**2 + tau**2)) ** (1 - gamma)
    return (x @ v[:columns].T) * w


@pytest.mark.parametrize("gamma", [None, 0.0, 0.4, 1.0])
def test_soft_weights_are_their_formula(digits, gamma):
    pce = PCE(weights="soft", gamma=gamma).fit(digits)
    hard = PCE().fit(digits)
    assert (pce.k_, pce.tau_, pce.gamma_) == (hard.k_, hard.tau_, 1.0 if gamma is None else gamma)
    theirs, ours = weighted(digits, pce.tau_, pce.gamma_), pce.transform(digits)
    assert pce.n_components_ == theirs.shape[1] > pce.k_
    # Signs of directions are free: compare what does not see them.
    np.testing.assert_allclose(ours[:50] @ ours.T, theirs[:50] @ theirs.T, atol=1e-12 * np.max(theirs**2) * 64)
    scaled = PCE(weights="soft", gamma=gamma, unit_features=True).fit(digits).transform(digits)
    np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(scaled, unit(ours), atol=1e-14)


def test_the_choice_is_that_of_another_leave_one_out(digits):
    x, y = digits[:400], datasets.load_digits()[1][:400]
    pce = PCE.auto().fit(x, y)
    tau = PCE().fit(x).tau_
    assert len(pce.trials_) == 25
    for trial in pce.trials_[::3]:
        z = weighted(x, trial["factor"] * tau, trial["gamma"])
        assert z.shape[1] == trial["columns"]
        if z.shape[1] == 1:
            continue  # every cosine is 1 or −1
        # The first neighbour of a sample is itself.
        other = NearestNeighbors(n_neighbors=2, metric="cosine", algorithm="brute").fit(z).kneighbors(z)[1][:, 1]
        assert np.mean(y[other] == y) == pytest.approx(trial["known"], abs=1e-12)
    best = max(pce.trials_.tolist(), key=lambda t: (t[3], t[0], t[1]))
    assert (pce.tau_ / tau, pce.gamma_) == (pytest.approx(best[0]), best[1])


def test_classes_of_any_kind_choose_and_other_targets_do_not(digits):
    x, y = digits[:300], datasets.load_digits()[1][:300]
    by_number = PCE.auto().fit(x, y)
    by_name = PCE.auto().fit(x, np.array([f"digit {label}" for label in y]))
    np.testing.assert_array_equal(by_number.trials_, by_name.trials_)
    blind = PCE.auto().fit(x)
    assert (blind.gamma_, len(blind.trials_)) == (1.0, 0)
    assert PCE().fit(x, y).trials_ is None
    with pytest.warns(SpectrumWarning, match="continuous and tells no classes"):
        np.testing.assert_array_equal(PCE.auto().fit(x, np.linspace(0, 1, 300)).theta_, blind.theta_)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        PCE.auto().fit(x, y[:299])
    with pytest.warns(SpectrumWarning, match="portions choose no weights"):
        portions = PCE.auto().partial_fit(x, y)
    assert portions.gamma_ == 1.0
    assert not hasattr(by_number, "inverse_transform")
    assert hasattr(PCE(weights="auto"), "inverse_transform")
    clean, error, _ = by_number.recover(x)
    np.testing.assert_allclose(clean + error, x, atol=1e-12)


def test_pipelines_and_clones_hand_the_classes_over(digits):
    y = datasets.load_digits()[1]
    pipeline = make_pipeline(PCE.auto(), NearestNeighbour(metric="cosine")).fit(digits[:900], y[:900])
    assert pipeline.score(digits[900:], y[900:]) > 0.95
    assert len(pipeline[0].trials_) == 25
    twin = clone(pipeline[0])
    assert twin.get_params() == PCE.auto().get_params()


@pytest.mark.parametrize("settings", [{}, {"weights": "soft", "gamma": 0.25}, {"weights": "soft"}])
def test_files_and_graphs_carry_the_weights(tmp_path, digits, settings):
    x, y = digits[:300], datasets.load_digits()[1][:300]
    pce = PCE.auto(**settings).fit(x, y)
    file = tmp_path / "auto.espan"
    eigenspan.save(pce, file)
    again = eigenspan.load(file)
    assert again.get_params() == pce.get_params()
    assert (again.gamma_, again.k_) == (pce.gamma_, pce.k_)
    if pce.trials_ is not None:
        np.testing.assert_array_equal(again.trials_, pce.trials_)
    np.testing.assert_array_equal(again.transform(x), pce.transform(x))
    session = onnxruntime.InferenceSession(eigenspan.to_onnx(pce, dtype=np.float64))
    some = np.vstack([x[:20].astype(float), np.zeros((1, x.shape[1]))])
    np.testing.assert_allclose(session.run(None, {"x": some})[0], pce.transform(some), atol=1e-12)


def accuracy(estimator, x, y, train, test):
    learnt = estimator.fit(x[train], y[train])
    nearest = NearestNeighbour(metric="cosine").fit(learnt.transform(x[train]), y[train])
    return 100 * np.mean(nearest.predict(learnt.transform(x[test])) == y[test])


@pytest.mark.parametrize(
    ("file", "count", "most", "least"),
    # Fewer samples than in `docs/studies/pce-auto.md`, so that it takes seconds, and a point or two less.
    [("exyaleb_54x48_first58", 760, 500, 88.0), ("usps_11000", 1500, 2000, 93.0)],
)
def test_on_real_data_it_is_not_behind_pca(shared, file, count, most, least):
    data = shared(f"{file}.npz")
    x, y = data["X"], data["y"]
    train, test = datasets.split(len(x), train=count, random_state=1)
    ours = accuracy(PCE.auto(), x, y, train, test[:most])
    assert ours >= least
    assert ours >= accuracy(PCA("auto"), x, y, train, test[:most])
