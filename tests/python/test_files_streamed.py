"""Files that are read chunk by chunk: the same bytes as the command line, whatever the memory and the interruptions."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import eigenspan
from eigenspan import PCA, PCE, Summary


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two files of 20 features, 9000 samples in all, and the samples."""
    folder = tmp_path_factory.mktemp("files")
    X = eigenspan.datasets.make_subspaces(n_samples=9000, n_features=20, n_subspaces=3, dim=2, noise=0.2)[0]
    np.save(folder / "a.npy", X[:6000])
    np.savetxt(folder / "b.csv", X[6000:], delimiter=",", fmt="%.17g")
    return [folder / "a.npy", folder / "b.csv"], X


def saved(estimator, tmp_path):
    eigenspan.save(estimator, tmp_path / "saved.espan")
    return (tmp_path / "saved.espan").read_bytes()


@pytest.mark.parametrize(
    ("estimator", "flags"),
    [
        (PCE(lam=0.3), ["--lambda", 0.3]),
        (PCE(), []),
        (PCE(dim=0.9, center=True), ["--energy", 0.9, "--center"]),
        (PCA(4), ["--method", "pca", "--dim", 4]),
        (PCA("auto"), ["--method", "pca"]),
    ],
)
@pytest.mark.parametrize("form", ["gram", "triangle"])
def test_the_model_has_the_bytes_of_the_command_line_for_every_memory(tmp_path, command, files, estimator, flags, form):
    paths, _ = files
    command("fit", *paths, "--form", form, "--max-memory", "60MB", *flags, "-o", tmp_path / "m.espan")
    expected = (tmp_path / "m.espan").read_bytes()
    for max_memory in [30_000_000, "60MB", None]:
        fitted = estimator.fit_files(paths, max_memory=max_memory, form=form)
        assert fitted.n_features_in_ == 20 and fitted.n_samples_ == 9000
        assert saved(fitted, tmp_path) == expected


def test_a_model_of_files_is_that_of_their_samples(files):
    paths, X = files
    streamed, inside = PCE(lam=0.3).fit_files(paths, max_memory="100MB"), PCE(lam=0.3).fit(X)
    assert streamed.k_ == inside.k_
    np.testing.assert_allclose(streamed.singular_values_, inside.singular_values_, rtol=1e-10)
    np.testing.assert_allclose(np.abs(streamed.transform(X[:50])), np.abs(inside.transform(X[:50])), atol=1e-8)


def test_features_and_clean_samples_are_written_the_same_whatever_the_memory(tmp_path, files):
    paths, X = files
    pce = PCE(lam=0.3).fit_files(paths)
    for max_memory in [None, "20MB"]:
        assert pce.transform_files(paths, tmp_path / "z.npy", max_memory=max_memory) == 9000
        np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), pce.transform(X))
        scores = tmp_path / "scores.npy"
        assert pce.recover_file(paths[0], tmp_path / "clean.npy", scores=scores, max_memory=max_memory) == 6000
        clean, _, score = pce.recover(X[:6000])
        np.testing.assert_array_equal(np.load(tmp_path / "clean.npy"), clean)
        np.testing.assert_array_equal(np.load(scores)[:, 0], score)


def test_an_update_is_that_of_the_command_line(tmp_path, command, files):
    paths, _ = files
    command("fit", paths[0], "--lambda", 0.3, "--max-memory", "60MB", "-o", tmp_path / "m.espan")
    pce = eigenspan.load(tmp_path / "m.espan").update_files(paths[1], rank=12)
    command("update", tmp_path / "m.espan", paths[1], "--rank", 12, "-o", tmp_path / "m.espan")
    assert saved(pce, tmp_path) == (tmp_path / "m.espan").read_bytes()


def test_a_summary_of_files_is_that_of_the_command_line(tmp_path, command, files):
    paths, _ = files
    command("summarize", *paths, "-o", tmp_path / "s.essum")
    assert Summary().update_files(paths, max_memory="60MB").to_bytes() == (tmp_path / "s.essum").read_bytes()
    one_by_one = Summary().update_files(paths[0]).update_files(paths[1])
    assert one_by_one.finish().k_ == Summary().update_files(paths).finish().k_


INTERRUPTED = """
import sys, eigenspan
print("begins", flush=True)
eigenspan.PCE(lam=0.3).fit_files("much.npy", max_memory="30MB", checkpoint="c", checkpoint_every="1MB")
"""


def test_an_interrupted_fit_resumes_to_the_same_bytes(tmp_path):
    X = eigenspan.datasets.make_subspaces(n_samples=9000, n_features=40, n_subspaces=3, dim=2, noise=0.2)[0]
    np.save(tmp_path / "much.npy", np.tile(X, (30, 1)))
    expected = saved(PCE(lam=0.3).fit_files(tmp_path / "much.npy"), tmp_path)
    child = subprocess.Popen([sys.executable, "-c", INTERRUPTED], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout.readline() == b"begins\n"
    while not (tmp_path / "c").exists() and child.poll() is None:
        pass
    os.kill(child.pid, signal.SIGINT)
    _, said = child.communicate()
    assert b"KeyboardInterrupt" in said, said
    assert (tmp_path / "c").exists()
    before = os.getcwd()
    os.chdir(tmp_path)  # a checkpoint knows files by the paths they were given by
    try:
        resumed = PCE(lam=0.3).fit_files("much.npy", checkpoint="c")
    finally:
        os.chdir(before)
    assert saved(resumed, tmp_path) == expected
    assert not (tmp_path / "c").exists()


def test_what_cannot_be_is_refused_in_words(tmp_path, files):
    paths, _ = files
    with pytest.raises(ValueError, match=r"takes \d+ MiB, more than `max_memory` allows; allow \d+MiB"):
        PCE().fit_files(paths, max_memory="1MB")
    with pytest.raises(ValueError, match="`max_memory` must be a number of bytes or a size such as '2GB'"):
        PCE().fit_files(paths, max_memory="much")
    with pytest.raises(FileNotFoundError):
        PCE().fit_files(tmp_path / "none.npy")
    with pytest.raises(ValueError, match="no file is given"):
        PCE().fit_files([])
    with pytest.raises(TypeError, match="unexpected keyword argument 'lables'"):
        PCE().fit_files(paths, lables="y")
    with pytest.raises(ValueError, match="'mle'"):
        PCA("mle").fit_files(paths)
    with pytest.raises(ValueError, match="`passes` has no effect with a summary"):
        PCE(lam=0.3).fit_files(paths, passes=3)
    (tmp_path / "c").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="is not a checkpoint"):
        PCE(lam=0.3).fit_files(paths, checkpoint=tmp_path / "c")
