"""What every class must do that stands for a method, whatever the method: by iteration, so that none is forgotten."""

import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

import eigenspan
from eigenspan import _eigenspan
from eigenspan._settings import CLASSES

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def few(digits):
    return digits[:120, 8:40].astype(float) + 1.0


@pytest.fixture(scope="module")
def classes():
    return eigenspan.datasets.load_digits()[1][:120]


def fitted(kind, few, classes, **keywords):
    estimator = kind(**keywords)
    if "n_components" in estimator.get_params() and "n_components" not in keywords:
        estimator.set_params(n_components=3)
    return estimator.fit(few, classes)


def test_every_method_has_a_class():
    assert set(CLASSES) == {name for name, _ in _eigenspan.methods()}


@pytest.mark.parametrize("kind", CLASSES.values(), ids=CLASSES)
def test_keywords_are_settings_and_come_back(kind, few, classes, tmp_path):
    estimator = fitted(kind, few, classes, n_jobs=1)
    keywords = {name: value for name, value in estimator.get_params().items() if name != "n_jobs"}
    settings = json.loads(estimator._fitted.settings())
    asked = estimator._asked()
    assert settings["method"] == asked["method"] == kind.METHOD
    # PCE's `strict` is for the command line: Python has warnings.
    assert set(settings) - set(asked) <= {"strict"}
    assert {name: settings[name] for name in asked} == asked
    assert kind._keywords(settings) == keywords
    eigenspan.save(estimator, tmp_path / "m.espan")
    loaded = eigenspan.load(tmp_path / "m.espan")
    assert type(loaded) is kind
    assert {name: value for name, value in loaded.get_params().items() if name != "n_jobs"} == keywords
    assert loaded.why_ == pickle.loads(pickle.dumps(estimator)).why_ == estimator.why_


@pytest.mark.parametrize("kind", CLASSES.values(), ids=CLASSES)
def test_one_idea_has_one_name(kind):
    other = {"threads", "seed", "rng", "rounds", "tolerance", "iterations", "n_iter", "subtract_mean", "k", "n_dims"}
    assert not other & set(kind().get_params())
    with pytest.raises(TypeError, match="threads"):
        kind(threads=1)


@pytest.mark.parametrize("kind", CLASSES.values(), ids=CLASSES)
@pytest.mark.parametrize(("n_jobs", "error"), [(0, ValueError), (-2, ValueError), ("many", TypeError), (True, TypeError)])
def test_nonsense_of_jobs_is_refused(kind, few, classes, n_jobs, error):
    with pytest.raises(error, match="`n_jobs` must be"):
        fitted(kind, few, classes, n_jobs=n_jobs)


@pytest.mark.parametrize("kind", CLASSES.values(), ids=CLASSES)
def test_jobs_change_nothing(kind, few, classes):
    one, all_cores = (clone(fitted(kind, few, classes, n_jobs=n)).fit(few, classes) for n in (1, -1))
    if is_classifier(one):
        np.testing.assert_array_equal(one.predict(few), all_cores.predict(few))
    else:
        np.testing.assert_array_equal(one.fit_transform(few), all_cores.fit_transform(few))
