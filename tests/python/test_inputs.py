"""Every container that people have, read where it lies; and mistakes answered by name."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from eigenspan import PCA, PCE


@pytest.fixture(scope="module")
def expected(digits):
    return PCE().fit(digits.astype(float)).transform(digits.astype(float))


def strided(x):
    wide = np.zeros((2 * len(x), x.shape[1] + 3))
    wide[::2, 1:-2] = x
    return wide[::2, 1:-2]


def backwards(x):
    return np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1]


def unaligned(x):
    raw = np.zeros(x.size * 8 + 1, dtype=np.uint8)
    odd = raw[1:].view(np.float64).reshape(x.shape)
    odd[...] = x
    return odd


CONTAINERS = {
    "lists": lambda x: x.tolist(),
    "int64": lambda x: x.astype(np.int64),
    "by columns": lambda x: np.asfortranarray(x, dtype=float),
    "big-endian": lambda x: x.astype(">f8"),
    "strided": lambda x: strided(x.astype(float)),
    "backwards": lambda x: backwards(x.astype(float)),
    "unaligned": lambda x: unaligned(x.astype(float)),
    "pandas": lambda x: pd.DataFrame(x, columns=[f"p{i}" for i in range(x.shape[1])]).astype(float),
    "polars": lambda x: pl.DataFrame(x.astype(float), schema=[f"p{i}" for i in range(x.shape[1])]),
    "arrow": lambda x: pa.table({f"p{i}": x[:, i].astype(float) for i in range(x.shape[1])}),
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_every_container_gives_the_same_features(digits, expected, container):
    x = container(digits)
    pce = PCE().fit(x)
    np.testing.assert_allclose(pce.transform(x), expected, atol=1e-12)
    if isinstance(x, pd.DataFrame | pl.DataFrame | pa.Table):
        assert list(pce.feature_names_in_) == [f"p{i}" for i in range(64)]


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_array, sparse.coo_matrix])
def test_every_sparse_kind_gives_the_same_features(digits, expected, kind):
    x = kind(digits.astype(float))
    np.testing.assert_allclose(PCE().fit(x).transform(x), expected, atol=1e-12)


def test_sparse_rows_out_of_order_and_twice_are_put_right_and_left_alone():
    data, columns, starts = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])
    x = sparse.csr_matrix((data, columns, starts), shape=(2, 3))
    z = PCE(dim=1).fit(x).transform(x)
    np.testing.assert_allclose(z, PCE(dim=1).fit(x.toarray()).transform(x.toarray()), atol=1e-14)
    np.testing.assert_array_equal(x.indices, [2, 0, 1, 1])


@pytest.mark.parametrize("numbers", [np.float64, np.float32, np.uint8])
def test_dense_samples_are_read_where_they_lie(numbers):
    x = np.random.default_rng(0).integers(0, 255, size=(20_000, 200)).astype(numbers)
    PCE(lam=0.01).fit(x[:300])  # modules that are loaded at the first call
    tracemalloc.start()
    PCE(lam=0.01).fit(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < x.nbytes / 10


def test_bad_values_are_named(subspaces):
    for value in (np.nan, np.inf, -np.inf):
        x = subspaces.copy()
        x[11, 3] = value
        with pytest.raises(ValueError, match=r"row 11, column 3 is (NaN|-?inf)"):
            PCE().fit(x)
        with pytest.raises(ValueError, match=r"row 11, column 3"):
            PCE().fit(subspaces).transform(x)


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"lam": "best"}, ValueError, "`lam` must be 'auto', .* or a positive number, got 'best'"),
        ({"lam": -1.0}, ValueError, "`lam` must be .* got -1.0"),
        ({"lam": None}, TypeError, "`lam` must be .* got None"),
        ({"lam": True}, TypeError, "`lam` must be .* got True"),
        ({"dim": 0}, ValueError, "`dim` must be .* got 0"),
        ({"dim": 1.5}, ValueError, "`dim` must be .* got 1.5"),
        ({"dim": 10_000}, ValueError, "have rank 200; use a dimension of 200 or less"),
        ({"lam": 1.0, "noise": 0.1}, ValueError, "`lam` and `noise` both"),
        ({"lam": 1.0, "dim": 0.9}, ValueError, "`lam` and `dim` both"),
        ({"noise": -1}, ValueError, "`noise` must be"),
        ({"noise": "loud"}, TypeError, "`noise` must be"),
        ({"normalize": "l2"}, ValueError, "`normalize` must be 'unit' or 'none' or 'zscore', got 'l2'"),
        ({"center": "yes"}, TypeError, "`center` must be True or False, got 'yes'"),
        ({"weights": "mild"}, ValueError, "`weights` must be"),
        ({"gamma": 0.5}, ValueError, "`gamma` has no effect unless `weights` is 'soft'"),
        ({"weights": "auto", "gamma": 0.5}, ValueError, "`gamma` has no effect unless `weights` is 'soft'"),
        ({"weights": "soft", "gamma": 1.5}, ValueError, "`gamma` must be None or a number from 0"),
        ({"weights": "soft", "gamma": "one"}, TypeError, "`gamma` must be None or a number from 0"),
        ({"unit_features": "yes"}, TypeError, "`unit_features` must be True or False"),
        ({"rank_rule": 3}, TypeError, "`rank_rule` must be .* got 3"),
        ({"solver": "fast"}, ValueError, "`solver` must be"),
        ({"solver": "direct"}, ValueError, "needs all singular values"),
        ({"n_jobs": 0}, ValueError, "`n_jobs` must be"),
        ({"n_jobs": "many"}, TypeError, "n_jobs"),
    ],
)
def test_mistakes_are_answered_by_the_name_of_the_parameter(subspaces, settings, error, text):
    with pytest.raises(error, match=text):
        PCE(**settings).fit(subspaces)


@pytest.mark.parametrize("asked", ["most", 0, 1.5, True, [3]])
def test_mistakes_in_pca_speak_of_components(subspaces, asked):
    with pytest.raises((TypeError, ValueError), match="`n_components` must be"):
        PCA(asked).fit(subspaces)


def test_numbers_of_numpy_are_numbers(subspaces):
    assert PCE(np.float32(0.5), dim=np.int64(3)).fit(subspaces).n_components_ == 3
    assert PCE(dim=np.float64(0.5), center=np.bool_(True)).fit(subspaces).mean_ is not None
    assert PCA(np.int32(3)).fit(subspaces).n_components_ == 3
