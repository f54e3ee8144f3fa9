"""`partial_fit`: portions of any size, the same model."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from eigenspan import PCA, PCE


def portions(x, sizes):
    start = 0
    for size in sizes:
        yield x[start : start + size]
        start += size
    assert start == len(x)


def fed(estimator, x, sizes):
    for portion in portions(x, sizes):
        estimator.partial_fit(portion)
    return estimator


@pytest.mark.parametrize("numbers", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize("estimator", [PCE(), PCE(lam=0.3, center=True), PCE(dim=9, normalize="none"), PCA(7)])
def test_the_model_does_not_depend_on_the_portions(digits, estimator, numbers):
    x = digits.astype(numbers)
    settings = estimator.get_params()
    at_once = fed(type(estimator)(**settings), x, [1797])
    for sizes in ([1] * 40 + [1757], [1000, 797], [500, 1, 0, 1296]):
        in_parts = fed(type(estimator)(**settings), x, [size for size in sizes if size])
        assert in_parts.why_ == at_once.why_
        np.testing.assert_array_equal(in_parts.theta_, at_once.theta_)


@pytest.mark.parametrize(
    "estimator",
    [
        PCE(),
        PCE(lam=0.3),
        PCE(lam=0.3, center=True),
        PCE(normalize="zscore"),
        PCE(normalize="zscore", noise=2.0),
        PCE(lam="screenot"),
        PCE(rank_rule="released"),
        PCA("auto"),
        PCA(0.8),
        PCA(),
    ],
)
def test_it_is_the_model_of_a_fit(digits, estimator):
    settings = estimator.get_params()
    whole = type(estimator)(**settings).fit(digits)
    portioned = fed(type(estimator)(**settings), digits, [600, 600, 597])
    assert portioned.n_components_ == whole.n_components_
    assert portioned.n_samples_ == whole.n_samples_ == 1797
    np.testing.assert_allclose(portioned.singular_values_, whole.singular_values_, rtol=1e-11)
    np.testing.assert_allclose(np.abs(portioned.transform(digits)), np.abs(whole.transform(digits)), atol=1e-8)


def test_one_sample_after_the_other(subspaces):
    pce = PCE()
    for sample in subspaces:
        pce.partial_fit(sample[None, :])
    assert pce.n_components_ == 12


@pytest.mark.parametrize("settings", [{}, {"center": True}, {"normalize": "zscore"}, {"lam": 0.3}])
def test_a_pickle_goes_on_where_it_was(digits, settings):
    at_once = fed(PCE(**settings), digits, [1797])
    half = fed(PCE(**settings), digits[:900], [300, 600])
    for twin in (pickle.loads(pickle.dumps(half)), copy.deepcopy(half)):
        twin.partial_fit(digits[900:])
        assert twin.why_ == at_once.why_
        np.testing.assert_array_equal(twin.theta_, at_once.theta_)
    assert half.n_samples_ == 900


def test_fit_starts_anew_and_mistakes_change_nothing(subspaces):
    pce = PCE().partial_fit(subspaces[:200])
    before = pce.theta_.copy()
    bad = subspaces[200:].copy()
    bad[3, 5] = np.nan
    with pytest.raises(ValueError, match="row 3, column 5 is NaN"):
        pce.partial_fit(bad)
    np.testing.assert_array_equal(pce.theta_, before)
    with pytest.raises(ValueError, match="features"):
        pce.partial_fit(subspaces[:, :10])
    pce.partial_fit(subspaces[200:])
    assert pce.n_samples_ == 400
    assert pce.fit(subspaces[:50]).n_samples_ == 50
    with pytest.raises(NotFittedError):
        _ = PCE().theta_
