"""`eigenspan fit --form sketch` against NumPy's SVD: wide samples, written as files and read several times."""

import json

import numpy as np
import pytest

import eigenspan


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def wide():
    """300 samples of 5400 features: nine directions that fall off, and noise."""
    rng = np.random.default_rng(4)
    signal = rng.normal(size=(300, 9)) * 2.0 ** -np.arange(9) @ rng.normal(size=(9, 5400))
    return signal + 0.02 * rng.normal(size=(300, 5400))


@pytest.mark.parametrize("center", [False, True])
def test_values_and_directions_are_those_of_numpy(tmp_path, command, wide, center):
    np.save(tmp_path / "x.npy", wide)
    rows = unit(wide) - (unit(wide).mean(axis=0) if center else 0)
    _, sigma, directions = np.linalg.svd(rows, full_matrices=False)
    tau = np.sqrt(sigma[5] * sigma[6])
    flags = ["--center"] if center else []
    told = command(
        "fit", "x.npy", "--max-memory", "400MB", "--lambda", 1 / tau**2, "--json", "-o", "m.espan", *flags, cwd=tmp_path
    )
    told = json.loads(told)
    assert (told["k"], told["k_interval"], told["solver"]) == (6, [6, 6], "sketch")
    model = eigenspan.load(tmp_path / "m.espan")
    assert np.all(model.singular_values_[:6] <= sigma[:6] * (1 + 1e-9))
    np.testing.assert_allclose(model.singular_values_[:6], sigma[:6], rtol=1e-4)
    # Features are those of NumPy's directions, but for signs and the hundredth that residuals may be.
    features, expected = model.transform(wide), rows @ directions[:6].T / sigma[:6]
    cosines = np.abs(np.sum(features * expected, axis=0)) / np.linalg.norm(features, axis=0) / np.linalg.norm(expected, axis=0)
    assert np.all(cosines > 1 - 1e-3)


def test_an_interval_holds_the_count_of_numpy(tmp_path, command, faces):
    np.save(tmp_path / "faces.npy", faces)
    sigma = np.linalg.svd(unit(faces.astype(float)), compute_uv=False)
    for lam in [0.02, 0.1, 1.0]:
        told = json.loads(
            command("fit", "faces.npy", "--form", "sketch", "--passes", 3, "--lambda", lam, "--json", cwd=tmp_path)
        )
        low, high = told["k_interval"]
        assert low <= np.sum(sigma**2 > 1 / lam) <= high
