"""Estimators of the dimension: scikit-learn's checks, agreement with NumPy and with other programs, bad input."""

import json
import pickle

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.estimator_checks import parametrize_with_checks

import eigenspan
from eigenspan import (
    MLE,
    CorrelationDimension,
    DANCo,
    FastDANCo,
    MiNDKL,
    MiNDML,
    ParallelAnalysis,
    SpectrumWarning,
    TwoNN,
    dimension,
)

# Scikit-learn's checks give a few samples.
CHECKED = [
    MLE(3),
    MLE(2, mean="arithmetic"),
    MiNDML(3, whole=True),
    MiNDKL(3),
    DANCo(3),
    FastDANCo(3, draws=1),
    TwoNN(),
    CorrelationDimension(2, 8),
    ParallelAnalysis(3),
]
pytestmark = pytest.mark.filterwarnings("ignore::eigenspan.SpectrumWarning")


@parametrize_with_checks(CHECKED)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


def ball(n, d, m, seed):
    """Points that are even in a ball of d dimensions, turned into m."""
    r = np.random.default_rng(seed)
    x = r.normal(size=(n, d))
    x *= r.random((n, 1)) ** (1 / d) / np.linalg.norm(x, axis=1, keepdims=True)
    return x @ np.linalg.qr(r.normal(size=(m, d)))[0].T + r.normal(size=m)


def distances(x, k):
    return NearestNeighbors(n_neighbors=k + 1, algorithm="brute").fit(x).kneighbors(x)[0][:, 1:]


@pytest.fixture(scope="module", params=[(3, 8), (8, 20)], ids=str)
def points(request):
    return ball(400, *request.param, seed=1)


def test_the_likelihood_of_distances_is_that_of_the_definition(points):
    t = distances(points, 11)
    inverse = np.log(t[:, 10:11] / t[:, :10]).mean(axis=1)
    mle = MLE().fit(points)
    # Another program's distances: a few roundings.
    assert mle.dimension_ == pytest.approx(1 / inverse.mean(), rel=1e-9)
    assert mle.dimension_per_sample_ == pytest.approx(1 / inverse, rel=1e-7)
    assert MLE(mean="arithmetic").fit(points).dimension_ == pytest.approx((1 / inverse).mean(), rel=1e-9)
    assert mle.standard_error_ == pytest.approx(mle.dimension_**2 * inverse.std(ddof=1) / 20, rel=1e-7)


def test_mind_ml_is_the_root_of_the_derivative(points):
    t = distances(points, 11)
    r = t[:, 0] / t[:, 10]

    def derivative(d):
        return len(r) / d + (np.log(r) - 9 * r**d * np.log(r) / (1 - r**d)).sum()

    root = optimize.brentq(derivative, 0.1, 100, xtol=1e-13)
    assert MiNDML().fit(points).dimension_ == pytest.approx(root, rel=1e-9)
    squares = [derivative(d) ** 2 for d in range(1, points.shape[1] + 1)]
    assert MiNDML(whole=True).fit(points).dimension_ == 1 + np.argmin(squares)


def test_two_nn_and_pairs_are_those_of_the_definition(points):
    t = distances(points, 20)
    x = np.sort(np.log(t[:, 1] / t[:, 0]))[:360]
    y = -np.log(1 - np.arange(1, 361) / 400)
    assert TwoNN().fit(points).dimension_ == pytest.approx(x @ y / (x @ x), rel=1e-9)
    r = np.median(t[:, [9, 19]], axis=0)
    every = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))[np.triu_indices(400, 1)]
    slope = np.log((every < r[1]).sum() / (every < r[0]).sum()) / np.log(r[1] / r[0])
    assert CorrelationDimension().fit(points).dimension_ == pytest.approx(slope, rel=1e-9)


def test_parallel_analysis_is_above_what_shuffles_reach():
    r = np.random.default_rng(0)
    x = r.normal(size=(300, 5)) @ r.normal(size=(5, 25)) + r.normal(size=(300, 25))
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    values = np.linalg.svd(z, compute_uv=False)
    shuffled = [np.linalg.svd(r.permuted(z, axis=0), compute_uv=False) for _ in range(20)]
    above = values > np.quantile(shuffled, 0.95, axis=0)
    # Shuffles are of another seed; the five stand out by far.
    assert ParallelAnalysis().fit(x).dimension_ == np.argmin(above) == 5


def test_balls_of_known_dimension_are_told():
    for d, m in [(2, 10), (6, 30), (12, 100)]:
        x = ball(700, d, m, seed=2)
        assert abs(DANCo().fit(x).dimension_ - d) <= 1


def test_mind_kl_is_right_on_the_mean():
    found = [MiNDKL(random_state=seed).fit(ball(400, 8, 20, seed)).dimension_ for seed in range(8)]
    # One answer scatters by 13 % of d, that of a NumPy version of ten lines as well; the mean of eight by 5 %: three
    # such.
    assert abs(np.mean(found) - 8) < 0.15 * 8


def test_all_stand_side_by_side_and_print_as_a_table(points):
    found = dimension(points)
    assert [one.method for one in found][:4] == ["mle", "mind-ml", "mind-kl", "danco"]
    assert "fast-danco" not in [one.method for one in found]
    table = str(found)
    assert table.count("\n") == len(found) + 1 and table.endswith(found.agreement)
    assert found[0].dimension == MLE().fit(points).dimension_
    assert found[3].dimension == DANCo().fit(points).dimension_
    wide = dimension(points[:9])
    refused = {one.method: one.why for one in wide if one.dimension is None}
    assert "12 samples are needed" in refused["mle"]
    with pytest.raises(ValueError, match="magic"):
        dimension(points, ["magic"])


def test_results_depend_on_neither_threads_nor_container_nor_what_is_known(points, tmp_path):
    file = tmp_path / "balls.json"
    want = DANCo(n_jobs=1).fit(points).dimension_
    for estimator in [DANCo(n_jobs=2), DANCo(calibration=file), DANCo(calibration=str(file))]:
        assert estimator.fit(points).dimension_ == want
    assert DANCo().fit(sparse.csr_array(points)).dimension_ == want
    twin = pickle.loads(pickle.dumps(DANCo(calibration=file).fit(points)))
    assert twin.dimension_ == want
    if want >= 5:
        assert file.exists()
        file.write_text("{}")
        with pytest.raises(ValueError, match="not a calibration file"):
            DANCo(calibration=file).fit(points)
    assert not hasattr(clone(twin), "dimension_")


def test_bad_input_is_refused_by_name(points):
    for estimator, word in [
        (MLE(0), "n_neighbors"),
        (MLE(mean="best"), "mean"),
        (MiNDML(max_dim=0), "max_dim"),
        (DANCo(1), "n_neighbors"),
        (DANCo(random_state=-1), "random_state"),
        (TwoNN(1.0), "discard"),
        (CorrelationDimension(20, 10), "far"),
        (ParallelAnalysis(quantile=2.0), "quantile"),
    ]:
        with pytest.raises(ValueError, match=word):
            estimator.fit(points)
    with pytest.raises(TypeError, match="n_neighbors"):
        MLE(2.5).fit(points)
    broken = points.copy()
    broken[3, 2] = np.nan
    with pytest.raises(ValueError, match="row 3, column 2"):
        MLE().fit(broken)
    with pytest.raises(ValueError, match="equally"):
        TwoNN().fit(np.eye(30))
    with pytest.raises(ValueError, match="that differ"):
        MLE().fit(np.ones((50, 3)))


def test_copies_are_said_and_left_out(points):
    with pytest.warns(SpectrumWarning, match="400 samples are exact copies"):
        twice = MLE().fit(np.vstack([points, points]))
    assert twice.dimension_ == MLE().fit(points).dimension_
    assert len(twice.dimension_per_sample_) == 800


def test_faces_have_the_same_dimension_on_the_command_line(faces, command, tmp_path):
    np.save(tmp_path / "faces.npy", faces[:500])
    text = command("dimension", tmp_path / "faces.npy", "--method", "mle,mind-ml,danco", "--json")
    told = {row["method"]: row["dimension"] for row in json.loads(text)}
    for one in eigenspan.dimension(faces[:500], ["mle", "mind-ml", "danco"]):
        assert told[one.method] == one.dimension
        assert 2 < one.dimension < 40
