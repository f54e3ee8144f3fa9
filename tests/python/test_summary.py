"""`Summary`: portions, partitions, bytes, one model."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

from eigenspan import PCE, Summary


def made(x, sizes, **settings):
    summary, start = Summary(**settings), 0
    for size in sizes:
        summary.update(x[start : start + size])
        start += size
    assert start == len(x) == summary.n_samples_seen_
    return summary


SETTINGS = [
    {},
    {"form": "triangle"},
    {"lam": 0.3, "center": True},
    {"dim": 9, "normalize": "none"},
    {"normalize": "zscore"},
    {"noise": 1.0},
    {"weights": "soft", "gamma": 0.5, "unit_features": True},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_it_is_the_model_of_a_fit(digits, settings):
    fitted = PCE(**{name: value for name, value in settings.items() if name != "form"}).fit(digits)
    summary = made(digits, [600, 0, 597, 600], **settings)
    model = summary.finish()
    assert isinstance(model, PCE)
    assert model.get_params() == fitted.get_params()
    assert (model.k_, model.n_samples_, model.n_features_in_) == (fitted.k_, 1797, 64)
    np.testing.assert_allclose(model.singular_values_, fitted.singular_values_, rtol=1e-10)
    np.testing.assert_allclose(np.abs(model.transform(digits)), np.abs(fitted.transform(digits)), atol=1e-7)


def test_singular_values_are_those_of_numpy(digits):
    x = digits / np.linalg.norm(digits, axis=1, keepdims=True)
    x -= x.mean(axis=0)
    exact = np.linalg.svd(x, compute_uv=False)
    for form in ("gram", "triangle"):
        model = made(digits, [1000, 797], dim=20, center=True, form=form).finish()
        # R13: a few roundings of the largest, per sample.
        assert np.max(np.abs(model.singular_values_ - exact[:20])) <= 10 * 1797 * np.finfo(float).eps * exact[0]


@pytest.mark.parametrize("settings", SETTINGS)
def test_partitions_merged_in_order_give_the_same_bytes(digits, settings):
    cuts = [0, 500, 500, 1300, 1797]
    parts = [made(digits[a:b], [b - a], **settings) for a, b in zip(cuts, cuts[1:], strict=False)]
    direct = Summary(**settings)
    sent = Summary(**settings)
    for part in parts:
        direct.merge(part)
        twin = Summary.from_bytes(part.to_bytes())
        assert (twin.n_samples_seen_, twin.form) == (part.n_samples_seen_, part.form)
        sent.merge(pickle.loads(pickle.dumps(twin)))
    assert direct.to_bytes() == sent.to_bytes()
    assert direct.finish()._fitted.to_bytes() == sent.finish()._fitted.to_bytes()
    one = made(digits, [1797], **settings).finish()
    assert one.k_ == direct.finish().k_
    np.testing.assert_allclose(one.singular_values_, direct.finish().singular_values_, rtol=1e-10)


def test_the_number_of_threads_does_not_matter():
    x = np.random.default_rng(2).normal(size=(9000, 40))
    parts = [made(x, [9000], n_jobs=threads).to_bytes() for threads in (1, 2, 3)]
    assert parts[0] == parts[1] == parts[2]


def test_one_summary_finishes_at_several_lambdas(digits):
    summary = made(digits, [1797])
    for lam in (0.05, 0.3, 2.0):
        assert summary.finish(lam).k_ == PCE(lam).fit(digits).k_
    assert summary.finish(dim=5).n_components_ == 5
    assert summary.finish(dim=0.8).k_ == PCE(dim=0.8).fit(digits).k_
    assert summary.finish(noise=2.0).k_ == PCE(noise=2.0).fit(digits).k_
    assert summary.finish().k_ == PCE().fit(digits).k_
    with pytest.raises(ValueError, match="looks for noise in the samples as they came"):
        made(digits, [1797], lam=0.3).finish("auto")


def test_a_gram_summary_asks_to_read_again(digits):
    lowrank = np.random.default_rng(1).normal(size=(500, 3)) @ np.random.default_rng(2).normal(size=(3, 20))
    with pytest.raises(ValueError, match='form="triangle"'):
        made(lowrank, [500]).finish()
    assert made(lowrank, [500], form="triangle").finish().k_ == PCE().fit(lowrank).k_ == 3
    assert Summary(noise=0.0).update(lowrank).form == "triangle"


def test_sparse_and_other_numbers(digits):
    dense = made(digits, [1797]).finish()
    rows = Summary().update(sparse.csr_array(digits))
    np.testing.assert_array_equal(rows.finish().theta_, dense.theta_)
    assert Summary().update(digits.astype(np.uint8)).finish().k_ == dense.k_


def test_nothing_is_neutral_and_mistakes_change_nothing(digits):
    summary = made(digits[:900], [900])
    before = summary.to_bytes()
    assert summary.merge(Summary()).to_bytes() == before
    assert summary.merge(Summary().update(digits[:0])).to_bytes() == before
    assert Summary().merge(summary).to_bytes() == before
    assert copy.deepcopy(summary).to_bytes() == before
    bad = digits[900:].copy().astype(float)
    bad[7, 3] = np.nan
    with pytest.raises(ValueError, match="row 7, column 3 is NaN"):
        summary.update(bad)
    with pytest.raises(ValueError, match="features"):
        summary.update(digits[:, :10])
    with pytest.raises(ValueError, match="`form` is gram in the one and triangle in the other"):
        summary.merge(Summary(form="triangle"))
    with pytest.raises(ValueError, match="`lambda` is auto in the one and fixed"):
        summary.merge(Summary(0.3).update(digits[:10]))
    with pytest.raises(ValueError, match="features"):
        summary.merge(Summary().update(digits[:10, :5]))
    with pytest.raises(TypeError, match="must be a Summary"):
        summary.merge(PCE())
    assert summary.to_bytes() == before


def test_it_refuses_what_makes_no_sense(digits):
    for wrong, text in [({"form": "lu"}, "`form`"), ({"lam": -1.0}, "lam"), ({"form": "gram", "normalize": "zscore"}, "z-scores")]:
        with pytest.raises(ValueError, match=text):
            Summary(**wrong)
    with pytest.raises(ValueError, match="no samples were seen"):
        Summary().finish()
    with pytest.raises(ValueError, match="no samples were seen"):
        Summary().to_bytes()
    with pytest.raises(AttributeError):
        _ = Summary().n_features_in_
    assert Summary().n_samples_seen_ == 0
    whole = made(digits, [1797]).to_bytes()
    with pytest.raises(ValueError, match="checksum"):
        Summary.from_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ValueError, match="is a model"):
        Summary.from_bytes(PCE().fit(digits)._fitted.to_bytes())


def test_self_merge_counts_samples_twice(digits):
    summary = made(digits, [1797], dim=5)
    summary.merge(summary)
    assert summary.n_samples_seen_ == 2 * 1797
