"""The border between Python and Rust: threads, signals, forks, pickles, files, pictures."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import joblib
import numpy as np
import pytest

import eigenspan
from eigenspan import PCA, PCE


def test_other_python_threads_run_meanwhile():
    x = np.random.default_rng(0).normal(size=(3000, 1500))
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.005):
            ticks.append(time.monotonic())

    ticking = threading.Thread(target=tick)
    ticking.start()
    start = time.monotonic()
    PCE(n_jobs=1).fit(x)
    end = time.monotonic()
    done.set()
    ticking.join()
    within = [start, *[t for t in ticks if start <= t <= end], end]
    # With the lock held there would be one gap as long as the fit.
    assert max(np.diff(within)) < 0.5 * (end - start)


INTERRUPTED = """
import sys, time, numpy as np
from eigenspan import PCE
x = np.random.default_rng(0).normal(size=(6000, 5000))
print("ready", flush=True)
try:
    PCE({settings}).fit(x)
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
"""


@pytest.mark.parametrize("settings", ["", "lam=1e-9", "n_jobs=1", "solver='direct', dim=500"])
@pytest.mark.parametrize("delay", [0.2, 1.0])
def test_control_c_is_answered_within_a_second(settings, delay):
    program = INTERRUPTED.format(settings=settings)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n"
        time.sleep(delay)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        said = child.stdout.read().split()
        assert child.wait() == 0
    if not said:
        pytest.skip("done before it was interrupted")
    assert said[0] == "interrupted"
    assert float(said[1]) - sent < 1


def fit_in_child(x, queue):
    queue.put(PCE().fit(x).n_components_)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_can_fit_after_its_parent_has(subspaces):
    PCE(n_jobs=4).fit(subspaces)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=fit_in_child, args=(subspaces, queue)) for _ in range(3)]
    for child in children:
        child.start()
    assert [queue.get(timeout=60) for _ in children] == [12, 12, 12]
    for child in children:
        child.join(timeout=60)
        assert child.exitcode == 0


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_forked_in_the_middle_of_a_fit_can_fit(subspaces):
    busy = threading.Thread(target=lambda: PCE(n_jobs=2).fit(np.random.default_rng(0).normal(size=(3000, 1500))))
    busy.start()
    time.sleep(0.1)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=fit_in_child, args=(subspaces, queue))
    child.start()
    assert queue.get(timeout=60) == 12
    child.join(timeout=60)
    busy.join()
    assert child.exitcode == 0


@pytest.mark.parametrize("estimator", [PCE(), PCA(3, whiten=True)])
@pytest.mark.parametrize("way", ["fit", "partial_fit"])
def test_models_travel(tmp_path, subspaces, estimator, way):
    fitted = getattr(copy.deepcopy(estimator), way)(subspaces)
    features = fitted.transform(subspaces)
    file = tmp_path / "model.joblib"
    joblib.dump(fitted, file)
    eigenspan.save(fitted, tmp_path / "model.espan")
    twins = [pickle.loads(pickle.dumps(fitted)), joblib.load(file), eigenspan.load(tmp_path / "model.espan")]
    for twin in [*twins, copy.deepcopy(fitted)]:
        assert twin.get_params() == fitted.get_params()
        assert twin.why_ == fitted.why_
        np.testing.assert_array_equal(twin.transform(subspaces), features)


def test_a_pickle_holds_the_bytes_of_a_model_file(subspaces):
    fitted = PCE().fit(subspaces)
    assert fitted._model.to_bytes() in pickle.dumps(fitted)


@pytest.mark.parametrize(
    "estimator",
    [
        PCE(0.5, normalize="none", center=True, weights="scores"),
        PCE(normalize="none", center=True, weights="whitened", rank_rule="released"),
        PCE(noise=0.02, normalize="none", center=True, weights="scores"),
        PCA(),
        PCA("auto"),
        PCA(0.9, whiten=True),
    ],
)
def test_a_file_says_which_class_and_which_settings(tmp_path, subspaces, estimator):
    eigenspan.save(estimator.fit(subspaces), tmp_path / "model.espan")
    twin = eigenspan.load(tmp_path / "model.espan")
    assert (type(twin), twin.get_params()) == (type(estimator), estimator.get_params())


def test_workers_of_joblib_fit(subspaces):
    ks = joblib.Parallel(n_jobs=2)(joblib.delayed(lambda x: PCE().fit(x).k_)(subspaces) for _ in range(2))
    assert ks == [12, 12]


def test_files_that_cannot_be_read_say_so(tmp_path, subspaces):
    with pytest.raises(FileNotFoundError, match="nowhere.espan"):
        eigenspan.load(tmp_path / "nowhere.espan")
    file = tmp_path / "model.espan"
    file.write_bytes(b"no model at all")
    with pytest.raises(ValueError, match="not an .espan model file"):
        eigenspan.load(file)
    eigenspan.save(PCE().fit(subspaces), file)
    whole = bytearray(file.read_bytes())
    whole[-5] ^= 1
    file.write_bytes(whole)
    with pytest.raises(ValueError, match="damaged"):
        eigenspan.load(file)
    with pytest.raises(ValueError, match="damaged"):
        pickle.loads(pickle.dumps(PCE().fit(subspaces)).replace(b"unit", b"none"))
    with pytest.raises(OSError):
        eigenspan.save(PCE().fit(subspaces), tmp_path / "no folder" / "model.espan")
    with pytest.raises(TypeError, match="`estimator` must be"):
        eigenspan.save(subspaces, file)


@pytest.mark.parametrize("numbers", [np.float64, np.float32, np.uint8])
@pytest.mark.parametrize(
    "estimator", [PCE(), PCE(normalize="zscore"), PCE(center=True, dim=5), PCA(9), PCA("auto", whiten=True)]
)
def test_other_runtimes_give_the_same_features(tmp_path, command, digits, estimator, numbers):
    import onnx
    import onnxruntime

    x = digits.astype(numbers)
    x[5] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eigenspan.SpectrumWarning)
        fitted = copy.deepcopy(estimator).fit(x)
    graph = eigenspan.to_onnx(fitted, tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == graph
    onnx.checker.check_model(graph, full_check=True)
    features = onnxruntime.InferenceSession(graph).run(["z"], {"x": x})[0]
    expected = fitted.transform(x)
    assert features.dtype == expected.dtype
    # Sums of 64 products, divided by singular values that are not small.
    tolerance = 200 * np.finfo(expected.dtype).eps * np.abs(expected).max()
    np.testing.assert_allclose(features, expected, atol=tolerance)
    eigenspan.save(fitted, tmp_path / "model.espan")
    command("export", tmp_path / "model.espan", "-o", tmp_path / "again.onnx")
    assert (tmp_path / "again.onnx").read_bytes() == graph


def test_onnx_numbers_are_checked(digits):
    with pytest.raises(ValueError, match="`dtype` must be float64, float32 or uint8, got int64"):
        eigenspan.to_onnx(PCE().fit(digits), dtype=np.int64)


def test_pictures(subspaces, digits):
    import matplotlib

    matplotlib.use("Agg")
    pce = PCE().fit(digits)
    drawn = pce.plot_spectrum()
    assert "21" in drawn.get_title()
    assert drawn.get_ylim()[0] > 1e-6  # three pixels are always blank: their values are rounding, and not drawn
    known, whole = pce.plot_path(), pce.plot_path(digits)
    assert len(whole.lines[0].get_xdata()) >= len(known.lines[0].get_xdata())
    assert pce.plot_recovery(digits).shape == (3, 8)
    assert pce.plot_recovery(digits[:2], shape=(4, 16)).shape == (3, 2)
    with pytest.raises(ValueError, match="height \\* width = 64"):
        pce.plot_recovery(digits, shape=(5, 5))
    assert PCE().fit(subspaces).plot_recovery(subspaces[:3]).shape == (3, 3)


def test_the_package_imports_without_matplotlib():
    program = "import sys; sys.modules['matplotlib'] = None; import eigenspan; X = eigenspan.datasets.load_digits()[0]\n"
    program += "try: eigenspan.PCE().fit(X).plot_spectrum()\nexcept ImportError as error: print(error)"
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert "pip install eigenspan[plot]" in said


def test_types_and_stubs_agree_with_the_package():
    pyproject = os.path.join(os.path.dirname(__file__), "..", "..", "pyproject.toml")
    checks = [
        ["mypy", "--config-file", pyproject, "--package", "eigenspan"],
        ["mypy.stubtest", "--mypy-config-file", pyproject, "eigenspan._eigenspan"],
    ]
    for module, *arguments in checks:
        outcome = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True)
        assert outcome.returncode == 0, outcome.stdout
