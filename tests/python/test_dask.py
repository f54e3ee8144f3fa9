"""`eigenspan.dask`: the same model whoever computes it, and whoever dies meanwhile."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.distributed import Client, LocalCluster
from scipy import sparse

import eigenspan
import eigenspan.dask
from eigenspan import PCE, Summary

EPS = np.finfo(float).eps


def model(fitted):
    """The bytes of a model file."""
    return fitted._fitted.to_bytes()


def summary(x, **settings):
    return Summary(**settings).update(x)


def by_hand(parts, **settings):
    """Partition after partition, as the guide tells it."""
    whole = Summary(**settings)
    for part in parts:
        whole.merge(summary(part, **settings))
    return whole.finish()


def cut(x, rows):
    return [x[i : i + rows] for i in range(0, len(x), rows)]


@pytest.fixture(scope="module")
def samples():
    """For twelve partitions: a block of rows and some more in all but the last, and more of them than a task merges."""
    return eigenspan.datasets.make_subspaces(n_samples=26000, n_features=40, n_subspaces=3, dim=3, noise=0.2)[0]


@pytest.fixture(scope="module")
def expected(samples):
    return model(by_hand(cut(samples, 2300)))


@pytest.fixture(scope="module")
def cluster():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def late(block, block_info=None, folder=None, seconds=()):
    """The block, a while after a sign that it was begun."""
    number = block_info[0]["chunk-location"][0]
    with open(os.path.join(folder, f"{number}-{os.getpid()}"), "w"):
        time.sleep(seconds[number])
    return block


def slowed(x, folder, seconds):
    lazy = da.from_array(x, chunks=(2300, x.shape[1]))
    return lazy.map_blocks(late, folder=str(folder), seconds=seconds, dtype=x.dtype, meta=np.empty((0, 0), x.dtype))


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_every_scheduler_gives_the_bytes_of_summaries_merged_in_order(samples, expected, scheduler):
    with dask.config.set(scheduler=scheduler, num_workers=2):
        assert model(eigenspan.dask.fit(da.from_array(samples, chunks=(2300, 40)))) == expected


def test_two_worker_processes_give_the_same_bytes_in_any_order_of_arrival(cluster, samples, expected, tmp_path):
    seconds = [0.6, 0.5, 0.0, 0.4, 0.0, 0.2, 0.0, 0.0, 0.4, 0.3, 0.0, 0.0]
    assert model(eigenspan.dask.fit(slowed(samples, tmp_path, seconds))) == expected
    assert len({name.split("-")[1] for name in os.listdir(tmp_path)}) == 2


def test_a_worker_that_is_killed_changes_nothing(cluster, samples, expected, tmp_path):
    killed = []

    def kill():
        while not (begun := [name for name in os.listdir(tmp_path) if name.startswith("3-")]):
            time.sleep(0.02)
        killed.append(int(begun[0].split("-")[1]))
        os.kill(killed[0], signal.SIGKILL)

    assassin = threading.Thread(target=kill)
    assassin.start()
    fitted = eigenspan.dask.fit(slowed(samples, tmp_path, [0.2] * 12))
    assassin.join()
    assert model(fitted) == expected
    again = {name.split("-")[1] for name in os.listdir(tmp_path) if name.startswith("3-")} - {str(killed[0])}
    assert again, "the partition that was lost was read again"


def test_files_merged_by_the_command_line_give_the_same_numbers(command, samples, tmp_path):
    names = []
    for i, part in enumerate(cut(samples, 2300)):
        np.save(tmp_path / f"{i}.npy", part)
        command("summarize", tmp_path / f"{i}.npy", "-o", tmp_path / f"{i}.essum")
        names.append(tmp_path / f"{i}.essum")
    command("merge", *names, "-o", tmp_path / "all.essum")
    command("finish", tmp_path / "all.essum", "-o", tmp_path / "model.espan")
    by_files = eigenspan.load(tmp_path / "model.espan")
    fitted = eigenspan.dask.fit(da.from_array(samples, chunks=(2300, 40)))
    assert by_files.why_ == fitted.why_
    np.testing.assert_array_equal(by_files.spectrum_, fitted.spectrum_)
    np.testing.assert_array_equal(by_files.theta_, fitted.theta_)


@pytest.mark.parametrize(
    "settings",
    [{}, {"center": True}, {"normalize": "none", "dim": 5}, {"lam": 0.3, "form": "triangle"}, {"normalize": "zscore", "form": "triangle"}],
)
def test_it_is_the_model_of_a_fit_in_memory(samples, settings):
    whole = PCE(**{name: value for name, value in settings.items() if name != "form"}).fit(samples)
    fitted = eigenspan.dask.fit(da.from_array(samples, chunks=(2300, 40)), **settings)
    assert (fitted.k_, fitted.n_samples_, fitted.n_features_in_) == (whole.k_, 26000, 40)
    # R13: σ in units of max(m, n)·eps·σ₁·log₂(partitions).
    apart = np.abs(fitted.singular_values_ - whole.singular_values_).max()
    assert apart / (26000 * EPS * whole.singular_values_[0] * np.log2(12)) <= 10


def test_real_faces(faces):
    x = np.ascontiguousarray(faces[:, ::6], dtype=np.float32)
    fitted = eigenspan.dask.fit(da.from_array(x, chunks=(400, -1)), form="triangle", lam=5.0)
    whole = PCE(lam=5.0).fit(x)
    assert fitted.k_ == whole.k_
    apart = np.abs(fitted.singular_values_ - whole.singular_values_).max()
    assert apart / (len(x) * EPS * whole.singular_values_[0] * 2) <= 10


@pytest.mark.parametrize("numbers", [np.float64, np.float32, np.uint8])
def test_features_are_those_of_the_model_to_the_last_bit(cluster, digits, numbers):
    x = digits.astype(numbers)
    fitted = PCE().fit(x)
    lazy = eigenspan.dask.transform(da.from_array(x, chunks=(500, 64)), fitted)
    features = fitted.transform(x)
    assert (lazy.shape, lazy.dtype, lazy.chunks[1]) == (features.shape, features.dtype, (21,))
    np.testing.assert_array_equal(lazy.compute(), features)
    assert lazy.compute().dtype == features.dtype


def test_chunks_of_unknown_size_and_empty_ones(samples):
    lazy = da.from_array(samples, chunks=(2300, 40))
    some = lazy[lazy[:, 0] > 0.5]
    kept = [part[part[:, 0] > 0.5] for part in cut(samples, 2300)]
    fitted = eigenspan.dask.fit(some)
    assert model(fitted) == model(by_hand(kept))
    np.testing.assert_array_equal(eigenspan.dask.transform(some, fitted).compute(), fitted.transform(np.vstack(kept)))

    third = samples[:6900].copy()
    third[2300:4600, 0] = -9.0
    holes = da.from_array(third, chunks=(2300, 40))
    holes = holes[holes[:, 0] > -9.0]
    fitted = eigenspan.dask.fit(holes)
    assert model(fitted) == model(summary(third[:2300]).merge(summary(third[4600:])).finish())
    assert eigenspan.dask.transform(holes, fitted).compute().shape == (4600, fitted.n_components_)
    with pytest.raises(ValueError, match="no samples"):
        eigenspan.dask.fit(lazy[lazy[:, 0] > 1e9])


def test_frames_keep_their_index_and_their_names(cluster, digits):
    frame = pd.DataFrame(digits.astype(float), columns=[f"pixel{j}" for j in range(64)]).set_index(np.arange(1797) * 2)
    lazy = dd.from_pandas(frame, npartitions=3)
    fitted = eigenspan.dask.fit(lazy)
    parts = [part.to_numpy() for part in dask.compute(*lazy.to_delayed())]
    assert model(fitted) == model(by_hand(parts))
    assert list(fitted.feature_names_in_) == list(frame.columns)
    features = eigenspan.dask.transform(lazy, fitted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = fitted.transform(frame)
    assert list(features.columns) == list(features.compute().columns) == list(fitted.get_feature_names_out())
    np.testing.assert_array_equal(features.compute().to_numpy(), expected)
    np.testing.assert_array_equal(features.compute().index, frame.index)
    few = lazy[lazy["pixel2"] > 1e9]
    assert eigenspan.dask.transform(few, fitted).compute().shape == (0, 21)
    nameless = PCE().fit(digits.astype(float))
    np.testing.assert_array_equal(eigenspan.dask.transform(lazy, nameless).compute().to_numpy(), nameless.transform(digits))


def test_sparse_blocks(digits):
    blocks = da.from_array(digits.astype(float), chunks=(600, 64)).map_blocks(sparse.csr_matrix)
    fitted = eigenspan.dask.fit(blocks)
    assert fitted.k_ == PCE().fit(sparse.csr_matrix(digits.astype(float))).k_
    features = fitted.transform(sparse.csr_matrix(digits.astype(float)))
    np.testing.assert_array_equal(eigenspan.dask.transform(blocks, fitted).compute(), features)


def test_features_in_several_chunks_are_brought_together_with_a_warning(samples, expected):
    lazy = da.from_array(samples, chunks=(2300, 15))
    with pytest.warns(da.PerformanceWarning, match="3 chunks"):
        fitted = eigenspan.dask.fit(lazy)
    assert model(fitted) == expected
    with pytest.warns(da.PerformanceWarning, match="3 chunks"):
        features = eigenspan.dask.transform(lazy, fitted)
    np.testing.assert_array_equal(features.compute(), fitted.transform(samples))


def test_one_summary_answers_several_lambdas(samples):
    kept = eigenspan.dask.summarize(da.from_array(samples, chunks=(2300, 40)), lam=0.3, form="triangle")
    for lam in (0.01, 0.3, 2.0):
        assert kept.finish(lam).k_ == PCE(lam=lam).fit(samples).k_


def test_the_class_is_a_scikit_learn_one_with_dask_inside(samples, expected, digits):
    lazy = da.from_array(samples, chunks=(2300, 40))
    estimator = eigenspan.dask.PCE()
    features = estimator.fit_transform(lazy)
    assert isinstance(features, da.Array) and features.shape == (26000, estimator.n_components_)
    assert model(estimator) == model(pickle.loads(pickle.dumps(estimator))) == expected
    np.testing.assert_array_equal(features[:50].compute(), estimator.transform(samples[:50]))
    assert estimator.fit(digits).n_components_ == 21


def test_mistakes_are_told_with_their_place(cluster, samples):
    bad = samples.copy()
    bad[2300 + 17, 5] = np.nan
    with pytest.raises(ValueError, match="partition 1: .*row 17, column 5 is NaN"):
        eigenspan.dask.fit(da.from_array(bad, chunks=(2300, 40)))
    lazy = da.from_array(samples, chunks=(2300, 40))
    with pytest.raises(TypeError, match="lamda"):
        eigenspan.dask.fit(lazy, lamda=3.0)
    with pytest.raises(TypeError, match="Dask array or dataframe, got ndarray"):
        eigenspan.dask.fit(samples)
    with pytest.raises(ValueError, match="1 dimension"):
        eigenspan.dask.fit(lazy[:, 0])
    with pytest.raises(ValueError, match="X has 40 features, and the model was fitted to 64"):
        eigenspan.dask.transform(lazy, PCE().fit(eigenspan.datasets.load_digits()[0]))
    with pytest.raises(TypeError, match="`model` must be"):
        eigenspan.dask.transform(PCE(), lazy)


@pytest.mark.parametrize("engine", ["dask", "spark"])
def test_what_is_missing_is_named(engine):
    program = f"import sys; sys.modules['dask'] = sys.modules['pyspark'] = None; import eigenspan.{engine}\n"
    program += f"try: eigenspan.{engine}.fit(None)\nexcept ImportError as error: print(error)"
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert f"pip install eigenspan[{engine}]" in said
