"""What comes out is what Rust computes, to the last bit, and what NumPy and scikit-learn compute, to rounding."""

import numpy as np
import pytest
from sklearn.decomposition import PCA as TheirPCA

import eigenspan
from eigenspan import PCA, PCE


@pytest.mark.parametrize("numbers", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("settings", [{}, {"lam": 0.5}, {"dim": 5, "center": True}, {"normalize": "none", "dim": 0.9}])
def test_the_command_line_gives_the_same_bits(tmp_path, command, digits, numbers, settings):
    flags = {"lam": "--lambda", "dim": "--dim", "center": "--center", "normalize": "--normalize"}
    arguments = []
    for name, value in settings.items():
        flag = "--energy" if isinstance(value, float) and name == "dim" else flags[name]
        arguments += [flag] if value is True else [flag, value]
    data, model, out = tmp_path / "x.npy", tmp_path / "m.espan", tmp_path / "z.npy"
    x = digits.astype(numbers)
    np.save(data, x)
    command("fit", data, "-o", model, *arguments)
    command("transform", model, data, "-o", out)
    theirs, ours = eigenspan.load(model), PCE(**settings).fit(x)
    assert theirs.get_params() == ours.get_params()
    assert (theirs.tau_, theirs.k_, theirs.why_) == (ours.tau_, ours.k_, ours.why_)
    for name in ("components_", "theta_", "spectrum_", "explained_variance_ratio_"):
        np.testing.assert_array_equal(getattr(theirs, name), getattr(ours, name))
    features = ours.transform(x)
    assert features.dtype == (np.float32 if numbers is np.float32 else np.float64)
    np.testing.assert_array_equal(features, np.load(out))
    np.testing.assert_array_equal(features, theirs.transform(x))


def test_the_definition_in_numpy(digits):
    x = digits / np.linalg.norm(digits, axis=1, keepdims=True)
    sigma, v = np.linalg.svd(x, full_matrices=False)[1:]
    pce = PCE(lam=0.3).fit(digits)
    k = int(np.sum(sigma**2 > 1 / 0.3))
    assert pce.n_components_ == pce.k_ == k
    np.testing.assert_allclose(pce.singular_values_, sigma[:k], rtol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(pce.components_ * v[:k], axis=1)), 1, rtol=1e-9)
    np.testing.assert_allclose(pce.theta_, pce.components_.T / pce.singular_values_, rtol=1e-14)
    np.testing.assert_allclose(pce.transform(digits), x @ pce.theta_, atol=1e-13)
    np.testing.assert_allclose(pce.explained_variance_ratio_, sigma[:k] ** 2 / np.sum(sigma**2), rtol=1e-12)
    clean, error, score = pce.recover(digits)
    np.testing.assert_allclose(clean + error, digits, atol=1e-12)
    np.testing.assert_allclose(score, np.linalg.norm(x - x @ pce.components_.T @ pce.components_, axis=1), atol=1e-12)
    lengths = np.linalg.norm(digits, axis=1)
    np.testing.assert_allclose(pce.inverse_transform(pce.transform(digits), lengths), clean, atol=1e-11)
    # Just above each λ of the path.
    assert all(np.sum(sigma**2 > (1 - 1e-9) / lam) == k for lam, k in pce.k_path_)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("components", [None, 7, 0.8])
def test_pca_is_that_of_scikit_learn(digits, components, whiten):
    x = digits.astype(float)
    ours, theirs = PCA(components, whiten=whiten).fit(x), TheirPCA(components, whiten=whiten, svd_solver="full").fit(x)
    k = ours.n_components_
    # Three pixels are the same in every image: scikit-learn keeps three directions of variance zero.
    assert k == (61 if components is None else theirs.n_components_)
    for name in ("singular_values_", "explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name)[:k], rtol=1e-9)
    np.testing.assert_allclose(ours.mean_, theirs.mean_, atol=1e-13)
    np.testing.assert_allclose(np.abs(np.sum(ours.components_ * theirs.components_[:k], axis=1)), 1, rtol=1e-9)
    features = ours.transform(x)
    np.testing.assert_allclose(np.abs(features), np.abs(theirs.transform(x)[:, :k]), atol=1e-8)
    if components is None:
        np.testing.assert_allclose(ours.inverse_transform(features), x, atol=1e-10)


def test_pca_finds_a_dimension_where_scikit_learn_cannot():
    x = eigenspan.datasets.make_subspaces(n_samples=60, n_features=300, n_subspaces=1, dim=5, noise=0.2)[0]
    assert PCA("auto").fit(x).n_components_ == 5
    with pytest.raises(ValueError, match="mle"):
        TheirPCA("mle").fit(x)


def test_real_faces(faces):
    pce = PCE(lam=5.0).fit(faces)
    x = faces / np.linalg.norm(faces, axis=1, keepdims=True)
    sigma = np.linalg.svd(x @ x.T, hermitian=True, compute_uv=False)
    assert pce.k_ == np.sum(sigma > 1 / 5)
    assert pce.certified_ and abs(pce.k_ - 118) <= 6  # the paper's k
    np.testing.assert_allclose(pce.singular_values_**2, sigma[: pce.k_], rtol=1e-10)


def test_threads_do_not_change_a_bit(digits):
    one, four = PCE(n_jobs=1).fit(digits), PCE(n_jobs=4).fit(digits)
    np.testing.assert_array_equal(one.theta_, four.theta_)
    np.testing.assert_array_equal(one.transform(digits), four.transform(digits))
