"""The classifiers and verification against scikit-learn; corruptions and synthetic faces from Python."""

import numpy as np
import pytest
from sklearn import metrics
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path
from sklearn.svm import LinearSVC

import eigenspan
from eigenspan import CESR, PCE, SRC, LinearSVM, NearestNeighbour, datasets, verification


@pytest.fixture(scope="module")
def parts():
    X, y = datasets.load_digits()
    X = X.astype(float)
    return X[:600] / 16, y[:600], X[600:900] / 16, y[600:900]


def objectives(svm, X, y, bias=None):
    weights = np.atleast_2d(svm.coef_)
    margins = X @ weights.T + svm.intercept_
    total = (weights**2).sum(1) + (0 if bias is None else (svm.intercept_ / bias) ** 2)
    sides = np.where(y[:, None] == svm.classes_, 1.0, -1.0)
    return total / 2 + (np.maximum(0, 1 - sides * margins) ** 2).sum(0)


@pytest.mark.parametrize("bias", [None, 1.0, 3.0])
def test_the_svm_is_that_of_scikit_learn_or_lower(parts, bias):
    X, y, new, truth = parts
    ours = LinearSVM(bias=bias).fit(X, y)
    theirs = LinearSVC(
        fit_intercept=bias is not None, intercept_scaling=bias or 1.0, tol=1e-8, dual=True, max_iter=200_000
    ).fit(X, y)
    # LIBLINEAR stops at 1e-8 in the conditions; ours at rounding.
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
    np.testing.assert_allclose(objectives(ours, X, y, bias), ours.objective_, rtol=1e-12)
    assert np.all(ours.objective_ <= objectives(theirs, X, y, bias) * (1 + 1e-12))
    np.testing.assert_allclose(ours.decision_function(new), theirs.decision_function(new), atol=1e-4)
    assert np.mean(ours.predict(new) == theirs.predict(new)) > 0.995
    assert ours.score(new, truth) > 0.85 and ours.trace_.converged


def test_two_classes_and_the_published_descent(parts):
    X, y, new, _ = parts
    two = y < 5
    ours, theirs = LinearSVM().fit(X, two), LinearSVC(fit_intercept=False, tol=1e-8, dual=True, max_iter=200_000).fit(X, two)
    assert ours.coef_.shape == theirs.coef_.shape == (1, 64)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.decision_function(new), theirs.decision_function(new), atol=1e-4)
    published = LinearSVM.as_published()
    assert (published.tol, published.solver, published.bias, published.max_iter) == (0.1, "descent", None, 1000)
    assert np.all(published.fit(X, y).objective_ <= 1.05 * LinearSVM().fit(X, y).objective_)
    with pytest.warns(ConvergenceWarning, match="after 1 rounds"):
        LinearSVM(solver="descent", max_iter=1).fit(X, y)


def test_src_is_a_lasso_over_all_samples_and_the_closest_class(parts):
    X, y, new, truth = parts
    X, new, lam = X[:200], new[:25], 1e-2
    src = SRC(lam).fit(X, y[:200])
    a = X / np.linalg.norm(X, axis=1, keepdims=True)
    for sample, code, predicted in zip(new, src.codes(new), src.predict(new), strict=True):
        unit = sample / np.linalg.norm(sample)
        _, _, path = lars_path(a.T, unit, alpha_min=lam / len(unit), method="lasso", max_iter=5000)
        value = lambda x, unit=unit: lam * np.abs(x).sum() + np.sum((unit - a.T @ x) ** 2) / 2  # noqa: E731
        assert value(code) <= value(path[:, -1]) + 1e-10
        rest = [np.linalg.norm(unit - a.T @ np.where(y[:200] == c, code, 0)) for c in src.classes_]
        assert predicted == src.classes_[np.argmin(rest)]
    # These 25 are by other hands: the nearest neighbour is right for 16 of them.
    everything, _, others, _ = parts
    assert SRC(lam).fit(everything, y).score(others[:100], truth[:100]) > 0.9
    preset = SRC.as_published()
    assert (preset.lam, preset.tol, preset.max_iter, preset.normalize) == (1e-3, 1e-3, 1000, "none")
    with pytest.warns(ConvergenceWarning, match="25 samples"):
        SRC(max_iter=1).fit(X, y[:200]).predict(new)


@pytest.mark.parametrize("classifier", [LinearSVM(), SRC(1e-2), CESR()], ids=repr)
def test_the_number_of_threads_changes_nothing(parts, classifier):
    X, y, new, _ = parts
    answers = [classifier.set_params(n_jobs=threads).fit(X[:150], y[:150]).predict(new[:30]) for threads in (1, 2, 3)]
    assert all(np.array_equal(answers[0], other) for other in answers[1:])


def test_the_curve_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    same = rng.random(500) < 0.3
    scores = np.round(rng.normal(size=500) + same, 1)  # many equal ones
    for mine, yours in zip(
        verification.roc_curve(same, scores), metrics.roc_curve(same, scores, drop_intermediate=False), strict=True
    ):
        np.testing.assert_allclose(mine, yours, atol=1e-12)
    assert verification.roc_auc_score(same, scores) == pytest.approx(metrics.roc_auc_score(same, scores), abs=1e-12)
    rate = verification.equal_error_rate(same, scores)
    fpr, tpr, _ = verification.roc_curve(same, scores)
    along = np.linspace(0, 1, 100_001)
    assert abs(rate - along[np.argmin(np.abs(np.interp(along, fpr, tpr) - (1 - along)))]) < 1e-4
    folds = verification.fold_accuracy(same, scores, 5)
    assert folds.mean == pytest.approx(folds.accuracies.mean())
    assert folds.standard_error == pytest.approx(folds.accuracies.std(ddof=1) / np.sqrt(5))
    by_hand = verification.fold_accuracy(same, scores, np.arange(500) % 5)
    assert 0.6 < by_hand.mean < 0.9 and len(by_hand.thresholds) == 5


def test_pairs_and_cosines():
    y = np.repeat(["a", "b", "c"], 5)
    pairs, same = verification.make_pairs(y, random_state=3)
    assert same.sum() == 30 == (~same).sum()
    assert np.array_equal(y[pairs[:, 0]] == y[pairs[:, 1]], same)
    X = np.random.default_rng(0).normal(size=(15, 4))
    scores = verification.cosine_scores(X[pairs[:, 0]], X[pairs[:, 1]])
    np.testing.assert_allclose(scores, np.diag(metrics.pairwise.cosine_similarity(X[pairs[:, 0]], X[pairs[:, 1]])))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: verification.roc_auc_score([True], [0.5]), "some that are the same and some that differ"),
        (lambda: verification.roc_auc_score([True, False], [0.5]), "1 samples need 1 labels, got 2"),
        (lambda: verification.roc_auc_score([True, False], [0.5, np.nan]), "row 1"),
        (lambda: verification.fold_accuracy([True, False], [0.5, 0.1], 1), "`folds` must be at least 2"),
        (lambda: verification.fold_accuracy([True, False], [0.5, 0.1], [-1, 0]), "numbered from 0 without a gap"),
        (lambda: verification.cosine_scores(np.ones((2, 3)), np.ones((2, 4))), "3 features"),
        (lambda: datasets.corrupt(np.ones((2, 4)), "fog"), "`fog` is no corruption: write gaussian:sd=25"),
        (lambda: datasets.corrupt(np.ones((2, 4)), "block:0.5"), "no image shape"),
        (lambda: datasets.make_synthetic_faces(2, 2, disguise="hat"), "`disguise` must be None, 'sunglasses'"),
        (lambda: datasets.make_synthetic_faces(0), "`subjects` must be at least 1"),
        (lambda: LinearSVM(C=0).fit([[1.0], [2.0]], [0, 1]), "`C` must be a number above 0"),
        (lambda: SRC(lam=0).fit([[1.0], [2.0]], [0, 1]), "`lam` must be a number above 0"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_corruptions_are_those_that_are_written():
    X = np.full((20, 120), 100, dtype=np.uint8)
    for kind, count in [("rpc:0.25", 30), ("salt-pepper:0.1", 12), ("block:0.5", 60), ("gaussian:sd=9", 120)]:
        spoilt, rows = datasets.corrupt(X, kind, image_shape=(12, 10), share=0.25, random_state=2)
        changed = (spoilt != 100).sum(1)
        assert len(rows) == 5 and set(np.flatnonzero(changed)) == set(rows)
        assert np.all(np.abs(changed[rows] - count) <= (4 if kind.startswith("block") else 0))
        again, _ = datasets.corrupt(X.astype(float), kind, image_shape=(12, 10), share=0.25, random_state=2)
        np.testing.assert_array_equal(spoilt, again)


def test_synthetic_faces_are_told_apart_by_pce_and_carried_by_nine_dimensions():
    X, y = datasets.make_synthetic_faces(10, 32, image_shape=(36, 32), random_state=5)
    for person in range(3):
        sigma = np.linalg.svd(X[y == person].astype(float), compute_uv=False)
        assert (sigma[:9] ** 2).sum() > 0.95 * (sigma**2).sum()
    train, test = datasets.split(len(X), 0.6, random_state=1)
    pce = PCE(lam=5).fit(X[train])
    pixels = NearestNeighbour().fit(X[train], y[train]).score(X[test], y[test])
    features = NearestNeighbour().fit(pce.transform(X[train]), y[train]).score(pce.transform(X[test]), y[test])
    assert pixels < 0.85 < 0.9 < features
    glasses, _ = datasets.make_synthetic_faces(10, 32, image_shape=(36, 32), disguise="sunglasses", random_state=5)
    np.testing.assert_array_equal(glasses[::2], X[::2])
    assert np.all((glasses != X).any(1)[1::2][:40])


def test_the_command_line_has_the_same_faces(command, tmp_path):
    command("fit", "@synthetic-faces", "--method", "nn", "-o", tmp_path / "faces.espan")
    X, y = datasets.make_synthetic_faces()
    model = eigenspan.load(tmp_path / "faces.espan")
    np.testing.assert_array_equal(model.predict(X[::100]), y[::100] + 1)
