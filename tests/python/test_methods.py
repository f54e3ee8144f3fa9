"""The methods beside PCE and PCA: scikit-learn's checks, agreement with other programs, files, presets."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import NMF as TheirNMF
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import eigenspan
from eigenspan import (
    CESR,
    LLE,
    LPP,
    NMF,
    NPE,
    ROSL,
    SRC,
    Eigenfaces,
    L1Graph,
    LinearSVM,
    NearestNeighbour,
    NeNMF,
    RobustPCA,
    datasets,
)

# Scikit-learn's checks give a few samples of one or two features.
CHECKED = [
    Eigenfaces("auto"),
    LPP(1),
    NPE(1),
    LLE(1),
    L1Graph(1),
    NMF(1, max_iter=5000),
    NeNMF(1),
    RobustPCA(),
    ROSL(),
    CESR(),
    NearestNeighbour(),
    NearestNeighbour(3, metric="cosine"),
    LinearSVM(),
    LinearSVM(bias=1.0, solver="descent", tol=1e-3),
    SRC(),
    SRC(tol=1e-3, nonnegative=True, normalize="none"),
]


@pytest.mark.filterwarnings("ignore::eigenspan.SpectrumWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(CHECKED)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


REDUCERS = [
    Eigenfaces(12),
    LPP(12),
    LPP(12, weights="binary", center="plain"),
    LPP(12, weights="cosine", normalize="unit"),
    NPE(12, n_neighbors=8),
    L1Graph(12, lam=0.1),
    NMF(12, max_iter=50, tol=0.0),
    NeNMF(12, max_iter=20, tol=1e-2, features="projected"),
    RobustPCA(12, tol=1e-4),
    ROSL(12, tol=1e-4, max_rank=20),
]
FLAGS = {
    "eigenfaces": ["--dim", 12],
    "lpp": ["--dim", 9, "--neighbours", 7, "--weights", "binary"],
    "npe": ["--dim", 9, "--neighbours", 7],
    "l1-graph": ["--dim", 9, "--lambda", 0.1],
    "nmf": ["--dim", 9, "--max-iter", 30, "--seed", 5, "--tol", 0],
    "nenmf": ["--dim", 9, "--max-iter", 20, "--seed", 5],
    "robust-pca": ["--dim", 9, "--lambda", 0.05, "--tol", 1e-4],
    "rosl": ["--dim", 9, "--lambda", 0.05, "--tol", 1e-4],
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def few(digits):
    return digits[:400].astype(float)


@pytest.fixture(scope="module")
def untied(few):
    """The same without samples that are equally far from each other, which every program orders as it likes."""
    return few + np.random.default_rng(0).normal(scale=1e-3, size=few.shape)


@pytest.mark.parametrize("estimator", REDUCERS, ids=repr)
def test_a_model_file_holds_the_whole_model(tmp_path, few, estimator):
    fitted = clone(estimator).fit(few)
    eigenspan.save(fitted, tmp_path / "m.espan")
    loaded = eigenspan.load(tmp_path / "m.espan")
    assert (type(loaded), loaded.get_params()) == (type(fitted), fitted.get_params())
    assert (loaded.why_, loaded.n_components_) == (fitted.why_, fitted.n_components_)
    np.testing.assert_array_equal(loaded.transform(few), fitted.transform(few))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(few), fitted.transform(few))


@pytest.mark.parametrize("method", FLAGS)
def test_the_command_line_gives_the_same_bits(tmp_path, command, few, method):
    data, model, out = tmp_path / "x.npy", tmp_path / "m.espan", tmp_path / "z.npy"
    np.save(data, few)
    command("fit", data, "--method", method, "-o", model, "--features", out, *FLAGS[method])
    loaded = eigenspan.load(model)
    ours = clone(loaded).fit(few)
    np.testing.assert_array_equal(ours.transform(few), np.load(out))
    np.testing.assert_array_equal(loaded.transform(few), np.load(out))
    command("transform", model, data, "-o", out)
    np.testing.assert_array_equal(loaded.transform(few), np.load(out))


def test_the_command_line_knows_every_method(command):
    names = [line.split()[0] for line in command("methods").splitlines()]
    assert names == [
        "pce", "pce-auto", "pca", "eigenfaces", "lpp", "npe", "lle", "l1-graph", "nmf", "nenmf", "robust-pca", "rosl", "cesr", "nn",
        "svm", "src",
    ]  # fmt: skip


@pytest.mark.parametrize("estimator", REDUCERS, ids=repr)
def test_other_numbers_and_sparse_rows_are_the_same_samples(few, estimator):
    dense = clone(estimator).fit(few).transform(few)
    close = {"rtol": 1e-6, "atol": 1e-9 * np.abs(dense).max()}  # Gram matrices of bytes are exact, others are rounded
    np.testing.assert_allclose(clone(estimator).fit(few.astype(np.uint8)).transform(few), dense, **close)
    thin = sparse.csr_matrix(few)
    np.testing.assert_allclose(clone(estimator).fit(thin).transform(thin), dense, **close)
    single = clone(estimator).fit(few.astype(np.float32)).transform(few.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, dense, rtol=1e-5, atol=1e-5 * np.abs(dense).max())


@pytest.mark.parametrize("estimator", [*REDUCERS, LLE()], ids=repr)
def test_the_number_of_threads_changes_nothing(few, estimator):
    results = [clone(estimator).set_params(n_jobs=threads).fit_transform(few) for threads in (1, 2, 3)]
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_lle_is_that_of_scikit_learn(untied):
    theirs = LocallyLinearEmbedding(n_neighbors=12, n_components=3, eigen_solver="dense").fit(untied)
    ours = LLE(3, n_neighbors=12).fit(untied)
    # The same columns up to sign; the eigenvalues are of order 1e-5, so that 1e-6 is what their gaps leave.
    overlap = np.abs(np.sum(ours.embedding_ * theirs.embedding_, axis=0))
    np.testing.assert_allclose(overlap / np.linalg.norm(theirs.embedding_, axis=0), 1, atol=1e-6)
    assert not hasattr(ours, "transform")


def test_nmf_reaches_the_objective_of_scikit_learn(few):
    theirs = TheirNMF(12, solver="mu", init="random", max_iter=2000, tol=1e-5, random_state=0).fit(few)
    ours = NMF(12, max_iter=2000, tol=1e-5).fit(few)
    assert np.sqrt(2 * ours.trace_.values[-1]) < 1.02 * theirs.reconstruction_err_  # other minima are near
    assert np.all(np.diff(ours.trace_.values) <= 1e-9 * ours.trace_.values[0])
    h = ours.transform(few)
    error = np.linalg.norm(few - h @ ours.components_)
    assert h.min() >= 0 and error <= np.sqrt(2 * ours.trace_.values[-1]) * (1 + 1e-9)


def test_robust_pca_and_rosl_find_planted_parts():
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(150, 5)) @ rng.normal(size=(5, 90))
    errors = np.where(rng.random(truth.shape) < 0.05, rng.uniform(-30, 30, truth.shape), 0)
    for robust in (RobustPCA(), RobustPCA(solver="apg"), ROSL()):
        robust.fit(truth + errors)
        assert robust.trace_.converged and robust.n_components_ == 5
        np.testing.assert_allclose(robust.low_rank_ + robust.sparse_, truth + errors, atol=1e-3)
        np.testing.assert_allclose(robust.low_rank_, truth, atol=1e-2)


def test_rounds_that_are_used_up_are_said(few):
    with pytest.warns(ConvergenceWarning, match="after 3 rounds"):
        nmf = NMF(5, max_iter=3, tol=1e-9).fit(few)
    assert not nmf.trace_.converged and nmf.n_iter_ == 3


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_neighbours_are_those_of_scikit_learn(untied, metric):
    _, labels = datasets.load_digits()
    train, test = untied[:300], untied[300:]
    ours = NearestNeighbour(5, metric=metric).fit(train, labels[:300])
    theirs = KNeighborsClassifier(5, metric=metric, algorithm="brute").fit(train, labels[:300])
    for mine, yours in zip(ours.kneighbors(test), theirs.kneighbors(test), strict=True):
        np.testing.assert_allclose(mine, yours, atol=1e-7)
    assert np.mean(ours.predict(test) == theirs.predict(test)) > 0.95  # five votes may be tied


@pytest.mark.parametrize("classifier", [NearestNeighbour(), CESR(), LinearSVM(bias=2.0), SRC(tol=1e-4)], ids=repr)
def test_classifiers_come_back_from_their_file(tmp_path, few, classifier):
    _, labels = datasets.load_digits()
    for names in (labels[:300] + 3, np.array([f"digit {label}" for label in labels[:300]])):
        fitted = clone(classifier).fit(few[:300], names)
        eigenspan.save(fitted, tmp_path / "m.espan")
        loaded = eigenspan.load(tmp_path / "m.espan")
        np.testing.assert_array_equal(loaded.classes_, fitted.classes_)
        np.testing.assert_array_equal(loaded.predict(few[300:340]), fitted.predict(few[300:340]))
        assert fitted.score(few[300:340], [names[0]] * 40) < 0.5 < np.mean(fitted.predict(few[:40]) == names[:40])


@pytest.mark.parametrize("kind", [LPP, NPE, L1Graph, NMF, NeNMF, RobustPCA, ROSL])
def test_presets_are_named_and_can_be_changed(kind):
    preset = kind.as_published(n_components=7)
    assert preset.get_params() != kind().get_params() and preset.n_components == 7
    assert preset.normalize == "unit"


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"n_neighbors": 0}, ValueError, "`n_neighbors` must be a whole number from 1 on, got 0"),
        ({"n_neighbors": "many"}, TypeError, "`n_neighbors` must be a whole number from 1 on, got 'many'"),
        ({"weights": "hot"}, ValueError, "`weights` must be 'heat' or 'binary' or 'cosine', got 'hot'"),
        ({"t": -1.0}, ValueError, "`t` must be a number above 0, got -1.0"),
        ({"keep_mean": 1}, TypeError, "`keep_mean` must be True or False, got 1"),
        ({"n_components": 2.5}, TypeError, "`n_components` must be 'auto' or a whole number from 1 on, got 2.5"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(few, settings, kind, message):
    with pytest.raises(kind, match=message):
        LPP(**settings).fit(few)


def test_a_negative_value_is_named_where_parts_add_up(few):
    few = few.copy()
    few[3, 7] = -1
    with pytest.raises(ValueError, match="row 3, column 7 is -1"):
        NMF(3).fit(few)
