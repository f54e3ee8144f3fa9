"""scikit-learn's own checks, dense and sparse, and its habits."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenspan import PCA, PCE, SpectrumWarning, datasets

ESTIMATORS = [
    PCE(),
    PCE(lam=2.0),
    PCE(lam="screenot", normalize="none"),
    PCE(weights="soft", gamma=0.5),
    PCE.auto(),
    PCE(normalize="zscore", rank_rule="released"),
    PCE(dim=0.9, center=True, n_jobs=2),
    PCA(),
    PCA("auto"),
    PCA(0.9, whiten=True),
    PCA(1, solver="direct"),
]


@pytest.mark.filterwarnings("ignore::eigenspan.SpectrumWarning")
@parametrize_with_checks(ESTIMATORS)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)


def test_in_a_pipeline_and_a_search(digits):
    _, labels = datasets.load_digits()
    pipeline = make_pipeline(PCE(), KNeighborsClassifier(1))
    search = GridSearchCV(pipeline, {"pce__lam": ["auto", 0.01]}, cv=3).fit(digits[:600], labels[:600])
    assert search.best_score_ > 0.85
    assert search.best_params_ == {"pce__lam": "auto"}


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_frames_come_out_where_they_are_asked_for(subspaces, container):
    frame = pd.DataFrame(subspaces, columns=[f"sensor {i}" for i in range(subspaces.shape[1])])
    pce = PCE().set_output(transform=container).fit(frame)
    features = pce.transform(frame)
    assert type(features).__module__.startswith(container)
    assert list(features.columns) == list(pce.get_feature_names_out()) == [f"pce{i}" for i in range(12)]
    assert list(pce.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        pce.transform(frame.rename(columns={"sensor 0": "sensor x"}))


def test_clones_carry_settings_and_nothing_else(subspaces):
    pce = PCE(lam=0.5, n_jobs=1).fit(subspaces)
    twin = clone(pce)
    assert twin.get_params() == pce.get_params()
    assert not hasattr(twin, "components_")


def test_nothing_above_the_cut_keeps_one_column_and_says_so():
    noise = np.random.default_rng(0).normal(size=(200, 50))
    with pytest.warns(SpectrumWarning, match="k = 0"):
        pce = PCE().fit(noise)
    assert (pce.k_, pce.n_components_, pce.transform(noise).shape) == (0, 1, (200, 1))


def test_zero_rows_stay_zero_and_are_named(subspaces):
    x = subspaces.copy()
    x[7] = 0
    with pytest.warns(SpectrumWarning, match="length zero .*7"):
        pce = PCE().fit(x)
    assert np.all(pce.transform(x)[7] == 0)


def test_the_notebook_diagram_ends_with_the_verdict(subspaces):
    pce = PCE()
    assert "k = 12" not in pce._repr_mimebundle_()["text/html"]
    assert "k = 12" in pce.fit(subspaces)._repr_mimebundle_()["text/html"]


def test_sparse_rows_are_fitted_without_a_dimension_and_without_being_filled():
    rng = np.random.default_rng(3)
    planted = sparse.random(3000, 6, density=0.05, random_state=rng, format="csr")
    x = planted @ sparse.random(6, 400, density=0.1, random_state=rng, format="csr")
    x = (x + 1e-3 * sparse.random(3000, 400, density=0.02, random_state=rng, format="csr")).tocsr()
    for estimator in (PCE(normalize="none"), PCE(lam=50.0), PCA("auto"), PCA(5)):
        thin, full = clone(estimator).fit(x), clone(estimator).fit(x.toarray())
        assert thin.n_components_ == full.n_components_
        np.testing.assert_allclose(thin.singular_values_, full.singular_values_, rtol=1e-10)
        overlap = np.abs(np.sum(thin.components_ * full.components_, axis=1))
        np.testing.assert_allclose(overlap, 1, atol=1e-8)
        np.testing.assert_allclose(np.abs(thin.transform(x)), np.abs(full.transform(x.toarray())), atol=1e-9)
