#!/usr/bin/env python3
"""The frozen table: what users compute, in bytes.

    python tests/frozen/frozen.py             prints the table
    python tests/frozen/frozen.py --check     compares with tests/frozen/table.tsv; exit code 1 where a line differs
    python tests/frozen/frozen.py --only pce  prints the cases whose name contains this

A line is `case<TAB>quantity<TAB>value`. Numbers are written in full (floats in hexadecimal), arrays as type, shape and the
first 16 digits of the SHA-256 of their bytes. A fourth column `changed: why` in the committed table allows a line to differ.
README.md says more.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

HERE = Path(__file__).resolve().parent
TABLE = HERE / "table.tsv"
MODELS = HERE / "models"
GOLDEN = HERE.parents[1] / "crates" / "io" / "tests" / "golden"

# ---------------------------------------------------------------------------------------------------------------------
# The adapter: the only section that knows the names of the package and of the command line. The cases below use the names of
# commit 7f37ca7. When a name changes, it is translated here, and nothing else in this file is edited.
# ---------------------------------------------------------------------------------------------------------------------

import eigenspan
from eigenspan import datasets, verification

THREADS: int | None = None
BINARY = HERE.parents[1] / "target" / "release" / "eigenspan"

KEYWORDS: dict[str, str] = {"threads": "n_jobs", "seed": "random_state"}
"""Keyword as here, or `Class.keyword`: keyword of the package."""
ATTRIBUTES: dict[str, str] = {}
"""Attribute of a fitted estimator as here: attribute of the package."""
FLAGS: dict[str, str] = {}
"""Flag of the command line as here, without hyphens in front: flag of the program."""
SETTINGS: dict[str, str] = {}
"""Setting of a method in `evaluate --method name:setting=value` as here: setting of the program."""
SOLVERS: dict[str, str] = {}
"""Name of a solver in the package: name of it here."""
TENSORS: dict[str, str] = {}
"""Name of an array in a model file of the package: name of it here."""


VECTORS = {"cut", "sigma", "mean", "deviation", "trail"}
"""Arrays of models of PCE that are vectors here. Since format 6 a vector in a file is a matrix of one row, as in files of other methods."""


def shape_here(name: str, shape: list[int], names: set[str]) -> list[int]:
    """The shape of an array in a model file, as it was in format 5."""
    return shape[-1:] if "basis" in names and name in VECTORS else shape


def keywords(kind: str, settings: dict[str, Any]) -> dict[str, Any]:
    settings = dict(settings)
    if kind == "Eigenfaces" and "subtract_mean" in settings:
        settings["keep_mean"] = not settings.pop("subtract_mean")
    if kind in ("RobustPCA", "ROSL") and "center" in settings:
        center = settings.pop("center")
        settings |= {"center": center != "none", "keep_mean": center == "basis"}
    return {KEYWORDS.get(f"{kind}.{name}", KEYWORDS.get(name, name)): value for name, value in settings.items()}


def make(kind: str, **settings: Any) -> Any:
    """An estimator that is not fitted, by the name of its class."""
    return getattr(eigenspan, kind)(**keywords(kind, {"threads": THREADS} | settings))


def make_auto(**settings: Any) -> Any:
    """PCE-auto."""
    return eigenspan.PCE.auto(**keywords("PCE", {"threads": THREADS} | settings))


def make_published(kind: str, **settings: Any) -> Any:
    """An estimator with the settings of the paper's comparisons."""
    return getattr(eigenspan, kind).as_published(**keywords(kind, {"threads": THREADS} | settings))


def make_summary(**settings: Any) -> Any:
    return make("Summary", **settings)


def summary_from_bytes(data: bytes) -> Any:
    summary = eigenspan.Summary.from_bytes(data)
    summary.n_jobs = THREADS
    return summary


def finish(summary: Any, **cut: Any) -> Any:
    return summary.finish(**keywords("Summary", cut))


def take_online(estimator: Any, x: Any, **how: Any) -> Any:
    return estimator.partial_fit(x, **({"mode": "online"} | keywords("online", how)))


def get(estimator: Any, name: str) -> Any:
    value = getattr(estimator, ATTRIBUTES.get(name, name))
    return SOLVERS.get(value, value) if name == "solver_" else value


def class_values(classifier: Any, x: Any) -> Any:
    """The codes of samples by a classifier that has no public method for them (CESR)."""
    return classifier._values(x)


def low_rank_and_sparse(estimator: Any) -> tuple[Any, Any]:
    return estimator.low_rank_, estimator.sparse_


def dimensions(x: Any, methods: list[str] | None = None, **settings: Any) -> Iterator[tuple[str, Any, Any]]:
    """Name, dimension and standard error of several estimators."""
    for one in eigenspan.dimension(x, methods, **keywords("dimension", {"threads": THREADS} | settings)):
        yield one.method, one.dimension, one.standard_error


def save(estimator: Any, path: Path) -> None:
    eigenspan.save(estimator, path)


def load(path: Path) -> Any:
    estimator = eigenspan.load(path)
    estimator.set_params(**keywords(type(estimator).__name__, {"threads": THREADS}))
    return estimator


def synthetic_faces(subjects: int, images: int, **settings: Any) -> Any:
    settings = {"threads": THREADS} | settings
    return datasets.make_synthetic_faces(subjects, images, **keywords("make_synthetic_faces", settings))


def subspaces(samples: int, features: int, **settings: Any) -> Any:
    return datasets.make_subspaces(samples, features, **keywords("make_subspaces", settings))


def corrupt(x: Any, kind: str, **settings: Any) -> Any:
    return datasets.corrupt(x, kind, **keywords("corrupt", settings))


def split(samples: int, train: float, **settings: Any) -> Any:
    return datasets.split(samples, train, **keywords("split", settings))


def pairs_of(y: Any, seed: int) -> Any:
    return verification.make_pairs(y, **keywords("make_pairs", {"random_state": seed}))


def fold_accuracy(same: Any, scores: Any, folds: Any, seed: int = 0) -> Any:
    return verification.fold_accuracy(same, scores, folds, **keywords("fold_accuracy", {"random_state": seed}))


def evaluate(x: Any, y: Any, methods: list[str], classifiers: list[str], **settings: Any) -> list[dict[str, Any]]:
    settings = keywords("evaluate", {"threads": THREADS} | settings)
    return eigenspan.evaluate(x, y, methods, classifiers, **settings)


def method_text(name: str, **settings: Any) -> str:
    """A method with settings, as `evaluate` reads it."""
    told = ",".join(f"{SETTINGS.get(f'{name}.{key}', SETTINGS.get(key, key))}={value}" for key, value in settings.items())
    return f"{name}:{told}" if told else name


def cli(command: str, *words: Any, at: Path, fails: bool = False, **flags: Any) -> str:
    """Runs the command line in the folder `at`. `fails`: the command has to be refused."""
    typed = [str(BINARY), command, *map(str, words)]
    if THREADS is not None:
        flags = {"threads": THREADS} | flags
    for name, value in flags.items():
        flag = "--" + FLAGS.get(f"{command}.{name}", FLAGS.get(name, name)).replace("_", "-")
        for one in value if isinstance(value, list) else [value]:
            typed += [flag] if one is True else [flag, str(one)]
    done = subprocess.run(typed, cwd=at, capture_output=True, text=True, check=False)
    if (done.returncode != 0) != fails:
        raise RuntimeError(f"{' '.join(typed)}\n{done.stderr}")
    return done.stdout


def cli_json(command: str, *words: Any, at: Path, **flags: Any) -> Any:
    """The same with the answer as plain data, under the names of commit 7f37ca7."""
    return json.loads(cli(command, *words, at=at, json=True, **flags))


# ---------------------------------------------------------------------------------------------------------------------
# Data: whole numbers from SplitMix64, and at most one division by a whole number. No BLAS, no libm: the same bytes everywhere.
# ---------------------------------------------------------------------------------------------------------------------


def whole(seed: int, *shape: int) -> np.ndarray:
    """Whole numbers, near normal, with a deviation of about 209: each the sum of the eight bytes of a word, less its mean."""
    with np.errstate(over="ignore"):
        at = np.arange(1, int(np.prod(shape)) + 1, dtype=np.uint64)
        z = (at + np.uint64(seed) * np.uint64(0x632BE59BD9B4E019)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return z.view(np.uint8).reshape(-1, 8).sum(axis=1, dtype=np.int64).reshape(shape) - 1020


def planted(seed: int, n: int, m: int, k: int, noise: int = 12, steep: int = 1) -> np.ndarray:
    """n samples of m features, k directions that fall off, and noise: whole numbers of about 1000."""
    left, right = whole(seed, n, k), whole(seed + 1, k, m)
    total = np.zeros((n, m), dtype=np.int64)
    for i in range(k):
        total += (left[:, i : i + 1] * right[i]) // (44 * (1 + steep * i))
    return total + noise * whole(seed + 2, n, m) // 10


def floats(x: np.ndarray) -> np.ndarray:
    return x / 999.0


def bytes_of(x: np.ndarray) -> np.ndarray:
    return np.clip(120 + x // 40, 0, 255).astype(np.uint8)


def thin(seed: int, x: np.ndarray, keep: int) -> sparse.csr_array:
    """One of `keep` entries of x, the others zero."""
    return sparse.csr_array(np.where(whole(seed, *x.shape) % keep == 0, x, 0.0))


def unit(x: np.ndarray) -> np.ndarray:
    """Rows of the same length: squares of whole numbers are added, so that their order does not matter."""
    return x / np.sqrt((x * x).sum(axis=1, dtype=np.int64).astype(np.float64))[:, None]


def of_type(kind: str, x: np.ndarray, seed: int = 77) -> Any:
    if kind == "u8":
        return bytes_of(x)
    if kind == "csr":
        return thin(seed, floats(x), 5)
    return floats(x).astype({"f64": np.float64, "f32": np.float32}[kind])


def labels(seed: int, n: int, classes: int) -> np.ndarray:
    """Classes in no order."""
    return whole(seed, n) % classes


def heaps(seed: int, n: int, m: int, classes: int, spread: int = 1500) -> tuple[np.ndarray, np.ndarray]:
    """Samples around the centre of their class."""
    y = labels(seed, n, classes)
    return planted(seed + 1, n, m, 4) + spread * (whole(seed + 9, classes, m) // 100)[y] // 2, y


def npy(path: Path, x: np.ndarray) -> Path:
    """A .npy file of version 1, whose bytes do not depend on the version of NumPy."""
    x = np.ascontiguousarray(x)
    head = f"{{'descr': '{x.dtype.str}', 'fortran_order': False, 'shape': {x.shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + x.astype(x.dtype.newbyteorder("<")).tobytes())
    return path


# ---------------------------------------------------------------------------------------------------------------------
# What is told of a result.
# ---------------------------------------------------------------------------------------------------------------------

Line = tuple[str, Any]
CASES: dict[str, Callable[[Path], Iterator[tuple[str, str, Any]]]] = {}
SEEN: set[str] = set()
FAILED: list[str] = []


def cases(function: Callable[[Path], Iterator[tuple[str, str, Any]]]) -> Callable[[Path], Iterator[tuple[str, str, Any]]]:
    CASES[function.__name__] = function
    return function


def text(value: Any) -> str:
    """A value as it stands in the table."""
    if value is None or isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return float(value).hex()
    if isinstance(value, str):
        return value
    if isinstance(value, tuple | list) and len(value) <= 4 and not any(isinstance(one, np.ndarray) for one in value):
        return " ".join(map(text, value))
    if sparse.issparse(value):
        return " ".join(map(text, (value.indptr.astype(np.int64), value.indices.astype(np.int64), value.data)))
    array = np.asarray(value)
    if array.dtype.names:
        return " ".join(text(array[name]) for name in array.dtype.names)
    kind = array.dtype.name
    if array.dtype.kind in "UO":
        kind, data = "text", "\n".join(map(str, array.ravel())).encode()
    else:
        data = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"))).tobytes()
    shape = "×".join(map(str, array.shape))
    return f"{kind}[{shape}] {hashlib.sha256(data).hexdigest()[:16]}"


def several(case: str, lines: Iterator[Line]) -> Iterator[tuple[str, str, Any]]:
    for quantity, value in lines:
        yield case, quantity, value


def given(name: str, x: Any) -> Iterator[tuple[str, str, Any]]:
    """The hash of an input, once."""
    if name not in SEEN:
        SEEN.add(name)
        yield "input", name, x


def file_arrays(data: bytes) -> Iterator[Line]:
    """The arrays of a model file or summary (safetensors), by name; texts of bytes are left out."""
    length = int.from_bytes(data[:8], "little")
    head = json.loads(data[8 : 8 + length])
    head.pop("__metadata__", None)
    named = sorted((TENSORS.get(name, name), about) for name, about in head.items())
    names = {name for name, _ in named}
    for name, about in named:
        start, end = about["data_offsets"]
        kind = {"F64": "<f8", "F32": "<f4", "U8": "u1", "I64": "<i8", "U64": "<u8"}[about["dtype"]]
        values = np.frombuffer(data[8 + length + start : 8 + length + end], dtype=kind)
        yield f"file {name}", values.reshape(shape_here(name, about["shape"], names))


SHORT = ("k_", "k_interval_", "certified_", "solver_", "lambda_", "tau_", "spectrum_", "theta_", "mean_")
LONG = (*SHORT, "n_components_", "n_samples_", "components_", "explained_variance_ratio_", "k_path_", "drift_")


def features_of(estimator: Any, test: Any) -> Iterator[Line]:
    if test is not None:
        yield "features", estimator.transform(test)


def short(estimator: Any, test: Any = None) -> Iterator[Line]:
    """A PCE or PCA in a few lines."""
    for name in SHORT:
        yield name, get(estimator, name)
    yield from features_of(estimator, test)


def long(estimator: Any, test: Any, path: Path) -> Iterator[Line]:
    """A PCE or PCA in full, and its model file."""
    for name in LONG:
        yield name, get(estimator, name)
    if type(estimator).__name__ == "PCA":
        yield "explained_variance_", get(estimator, "explained_variance_")
    else:
        yield "gamma_", get(estimator, "gamma_")
        trials = get(estimator, "trials_")
        yield "trials_", trials
    z = estimator.transform(test)
    yield "features", z
    clean, error, score = estimator.recover(test)
    yield from {"recover clean": clean, "recover error": error, "recover score": score}.items()
    if not getattr(estimator, KEYWORDS.get("unit_features", "unit_features"), False):
        yield "inverse", estimator.inverse_transform(z)
        yield "inverse, lengths", estimator.inverse_transform(z, np.arange(1.0, len(z) + 1))
    save(estimator, path / "m.espan")
    yield from file_arrays((path / "m.espan").read_bytes())
    again = load(path / "m.espan")
    yield "features of the file", again.transform(test)


def of_method(estimator: Any, test: Any, path: Path) -> Iterator[Line]:
    """A model of another method, and its model file."""
    for name in ("n_components_", "n_iter_", "theta_", "components_", "mean_", "singular_values_", "eigenvalues_", "embedding_"):
        value = getattr(estimator, ATTRIBUTES.get(name, name), NotImplemented)
        if value is not NotImplemented:
            yield name, value
    trace = get(estimator, "trace_")
    if trace is not None:
        yield from {"trace": trace.values, "rounds": trace.rounds, "converged": trace.converged}.items()
    if type(estimator).__name__ in ("RobustPCA", "ROSL"):
        yield from zip(("low rank", "sparse"), low_rank_and_sparse(estimator), strict=True)
    save(estimator, path / "m.espan")
    yield from file_arrays((path / "m.espan").read_bytes())
    again = load(path / "m.espan")
    if hasattr(estimator, "transform"):
        yield "features", estimator.transform(test)
        yield "features of the file", again.transform(test)


def of_classifier(classifier: Any, test: Any, path: Path) -> Iterator[Line]:
    kind = type(classifier).__name__
    yield "classes_", get(classifier, "classes_")
    yield "predictions", classifier.predict(test)
    if kind == "NearestNeighbour":
        yield from zip(("distances", "neighbours"), classifier.kneighbors(test, 3), strict=True)
    if kind == "LinearSVM":
        yield "decision", classifier.decision_function(test)
        for name in ("coef_", "intercept_", "objective_", "n_iter_"):
            yield name, get(classifier, name)
    if kind == "SRC":
        yield "codes", classifier.codes(test)
    if kind == "CESR":
        yield "codes", class_values(classifier, test)
    save(classifier, path / "m.espan")
    yield from file_arrays((path / "m.espan").read_bytes())
    yield "predictions of the file", load(path / "m.espan").predict(test)


TOLD = ("n", "m", "k", "columns", "k_interval", "lambda", "tau", "gamma", "energy", "gap", "certified", "online")


def of_json(told: dict[str, Any]) -> Iterator[Line]:
    """The numbers that the command line tells of a model."""
    for name in TOLD:
        value = told.get(name)
        if isinstance(value, dict):
            yield from ((f"json {name} {key}", one) for key, one in value.items())
        elif name in told:
            yield f"json {name}", value
    if "solver" in told:
        yield "json solver", SOLVERS.get(told["solver"], told["solver"])


# ---------------------------------------------------------------------------------------------------------------------
# Cases.
# ---------------------------------------------------------------------------------------------------------------------

PREPARATIONS = {
    "unit": {},
    "unit-centred": {"center": True},
    "none": {"normalize": "none"},
    "none-centred": {"normalize": "none", "center": True},
    "zscore": {"normalize": "zscore"},
}


def lam_of(kind: str, preparation: str) -> float:
    """A λ in the middle of the directions of `planted`."""
    if preparation.startswith("unit"):
        return 0.1 if kind != "u8" else 1.0
    return {"u8": 2e-5, "csr": 2e-3}.get(kind, 2e-3) if preparation.startswith("none") else 0.003


def rules_of(kind: str, preparation: str) -> dict[str, dict[str, Any]]:
    lam = lam_of(kind, preparation)
    all_rules: dict[str, dict[str, Any]] = {
        "auto": {},
        "fixed": {"lam": lam},
        "noise": {"noise": 7.0 if kind == "u8" else 0.3},
        "screenot": {"lam": "screenot"},
        "energy": {"dim": 0.9},
        "dim": {"dim": 3},
        "released": {"lam": lam, "rank_rule": "released"},
    }
    some = {"f64": tuple(all_rules), "f32": ("auto", "fixed", "screenot"), "u8": ("auto", "fixed", "noise")}
    return {name: all_rules[name] for name in some.get(kind, ("auto", "fixed", "noise"))}


SIDES = {"tall": (1000, 130), "wide": (130, 1000)}


@cases
def pce(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Rules × preparations × numbers × sides."""
    for side, (n, m) in SIDES.items():
        for kind in ("f64", "f32", "u8", "csr"):
            x = of_type(kind, planted(1, n + 8, m, 6))
            yield from given(f"planted {side} {kind}", x)
            train, test = x[:n], x[n:]
            for preparation, prepared in PREPARATIONS.items():
                for rule, asked in rules_of(kind, preparation).items():
                    model = make("PCE", **asked, **prepared).fit(train)
                    yield from several(f"pce {side} {kind} {preparation} {rule}", short(model, test))


@cases
def pce_small(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Samples so few that the whole decomposition is done at once."""
    for side, (n, m) in {"tall": (60, 20), "wide": (20, 60), "square": (30, 30), "one": (1, 5), "two": (2, 3)}.items():
        x = floats(planted(11, n + 8, m, min(4, n)))
        yield from given(f"small {side}", x)
        for preparation, prepared in PREPARATIONS.items():
            if n < 3 and preparation != "none":
                continue
            for rule, asked in rules_of("f64", preparation).items():
                if n < 3 and rule not in ("auto", "fixed", "energy"):
                    continue
                model = make("PCE", **asked, **prepared).fit(x[:n])
                yield from several(f"pce small {side} {preparation} {rule}", short(model, x[n:]))


@cases
def pce_in_full(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Weights, recovery, files."""
    x, y = heaps(21, 640, 60, 5)
    data = {"f64": floats(x), "f32": floats(x).astype(np.float32), "u8": bytes_of(x), "csr": of_type("csr", x)}
    weights = {
        "hard": {},
        "soft": {"weights": "soft"},
        "soft-half": {"weights": "soft", "gamma": 0.5, "lam": 0.5},
        "soft-none": {"weights": "soft", "gamma": 0.0, "center": True},
        "scores": {"weights": "scores", "center": True},
        "whitened": {"weights": "whitened", "normalize": "none"},
        "auto": {"weights": "auto"},
        "unit-features": {"unit_features": True, "dim": 5},
        "zscore": {"normalize": "zscore", "dim": 6},
        "noise-free": {"noise": 0.0},
        "released-auto": {"rank_rule": "released"},
    }
    yield "input", "heaps classes", y
    for kind, samples in data.items():
        yield from given(f"heaps {kind}", samples)
        for name, settings in weights.items():
            if kind != "f64" and name not in ("hard", "soft", "zscore"):
                continue
            model = make("PCE", **settings).fit(samples[:600])
            yield from several(f"pce in full {kind} {name}", long(model, samples[600:], path))
        model = make_auto().fit(samples[:600], y[:600])
        yield from several(f"pce-auto {kind}", long(model, samples[600:], path))
    model = make_auto().fit(data["f64"][:600])
    yield from several("pce-auto without classes", long(model, data["f64"][600:], path))
    model = make_auto(lam=0.3, center=True).fit(data["f64"][:600], y[:600])
    yield from several("pce-auto fixed centred", long(model, data["f64"][600:], path))
    wide, y = heaps(31, 70, 300, 4)
    model = make_auto().fit(floats(wide[:60]), y[:60])
    yield from several("pce-auto wide", long(model, floats(wide[60:]), path))


@cases
def pce_odd(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Samples that need care: copies, zeros, constant features, no signal, extreme numbers, rows of one length."""
    x = planted(41, 80, 30, 4)
    sets = {
        "copies": floats(np.concatenate([x, x[:40], x[:3]])),
        "zero-rows": floats(np.concatenate([x, np.zeros((4, 30), dtype=np.int64)])),
        "constant-feature": floats(np.concatenate([x, np.full((80, 1), 777), np.zeros((80, 1), dtype=np.int64)], axis=1)),
        "copied-features": floats(np.concatenate([x, x[:, :5]], axis=1)),
        "no-signal": floats(whole(42, 200, 50)),
        "low-rank": floats(planted(43, 200, 50, 3, noise=0)),
        "huge": floats(x) * 2.0**600,
        "tiny": floats(x) * 2.0**-600,
        "offset": floats(x) + 1e6,
        "fortran": np.asfortranarray(floats(x)),
        "strided": floats(planted(41, 160, 60, 4))[::2, ::2],
        "int64": x,
        "digits": datasets.load_digits()[0],
    }
    for name, samples in sets.items():
        yield from given(f"odd {name}", samples)
        for preparation, prepared in PREPARATIONS.items():
            for rule, asked in {"auto": {}, "dim": {"dim": 3}}.items():
                model = make("PCE", **asked, **prepared).fit(samples)
                yield from several(f"pce odd {name} {preparation} {rule}", short(model, samples[:6]))
    for side, (n, m) in {"tall": (500, 60), "wide": (60, 500), "tall-gram": (1000, 130), "wide-gram": (130, 1000)}.items():
        uneven = planted(44, n, m, 3, noise=0) + whole(47, n, m) * (2 + np.arange(n) % 17)[:, None]
        for kind in ("f64", "f32"):
            rows = unit(uneven).astype(np.float32 if kind == "f32" else np.float64)
            yield from given(f"rows of one length {side} {kind}", rows)
            for preparation in ("unit", "unit-centred", "none", "none-centred"):
                for rule, asked in {"auto": {}, "screenot": {"lam": "screenot"}, "noise": {"noise": 0.05}}.items():
                    model = make("PCE", **asked, **PREPARATIONS[preparation]).fit(rows)
                    yield from several(f"pce one length {side} {kind} {preparation} {rule}", short(model, rows[:4]))


@cases
def solvers(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Every way to singular values."""
    shapes = {"tall": (700, 300), "wide": (300, 700), "taller": (2600, 290), "large": (1110, 1060), "broad": (800, 1300)}
    for shape, (n, m) in shapes.items():
        x = planted(51, n, m, 8)
        for kind in ("f64", "f32", "u8"):
            samples = of_type(kind, x)
            yield from given(f"solver {shape} {kind}", samples)
            lam = lam_of(kind, "unit")
            ways: dict[str, dict[str, Any]] = {
                "few": {"lam": lam},
                "few, centred": {"lam": lam_of(kind, "none"), "normalize": "none", "center": True},
                "auto": {},
            }
            if shape in ("tall", "wide"):
                ways |= {
                    "dim": {"dim": 5},
                    "dim of many": {"dim": 150},
                    "energy": {"dim": 0.95},
                    "auto, centred": {"normalize": "none", "center": True},
                    "tiny lambda": {"lam": 1e16},
                    "noise-free": {"noise": 0.0},
                    "low cut": {"lam": 10.0 if kind != "u8" else 100.0},
                    "direct": {"lam": lam, "solver": "direct"},
                    "direct, centred": {"lam": lam, "solver": "direct", "center": True},
                    "direct, dim": {"dim": 5, "solver": "direct"},
                    "direct, energy": {"dim": 0.8, "solver": "direct"},
                    "direct, noise": {"noise": 7.0 if kind == "u8" else 0.3, "solver": "direct"},
                    "direct, zscore": {"dim": 4, "solver": "direct", "normalize": "zscore"},
                }
            elif shape == "taller":
                ways |= {
                    "not scaled": {"lam": lam_of(kind, "none"), "normalize": "none"},
                    "low cut": {"lam": 1.0, "normalize": "none"},
                    "energy": {"dim": 0.95},
                }
            elif kind != "f64":
                continue
            for way, asked in ways.items():
                yield from several(f"solver {shape} {kind} {way}", short(make("PCE", **asked).fit(samples), samples[:4]))
    for shape, (n, m) in {"tall": (3000, 320), "wide": (320, 3000)}.items():
        x = thin(58, floats(planted(57, n, m, 5)), 31)
        yield from given(f"solver sparse {shape}", x)
        for way, asked in {
            "few": {"lam": 0.1},
            "few, centred": {"lam": 0.1, "center": True},
            "dim, zscore": {"dim": 4, "normalize": "zscore"},
            "auto": {},
            "direct": {"lam": 0.1, "solver": "direct"},
            "direct, centred": {"dim": 4, "solver": "direct", "center": True},
        }.items():
            yield from several(f"solver sparse {shape} {way}", short(make("PCE", **asked).fit(x), x[:4]))


@cases
def pca(path: Path) -> Iterator[tuple[str, str, Any]]:
    asked: dict[str, dict[str, Any]] = {
        "all": {},
        "auto": {"n_components": "auto"},
        "mle": {"n_components": "mle"},
        "count": {"n_components": 5},
        "share": {"n_components": 0.9},
        "whiten": {"n_components": 4, "whiten": True},
        "whiten-auto": {"n_components": "auto", "whiten": True},
        "direct": {"n_components": 4, "solver": "direct"},
        "direct-share": {"n_components": 0.7, "solver": "direct"},
    }
    for side, (n, m) in {"tall": (400, 40), "wide": (40, 400), "krylov": (700, 300)}.items():
        for kind in ("f64", "f32", "u8", "csr"):
            x = of_type(kind, planted(61, n + 8, m, 5))
            yield from given(f"pca {side} {kind}", x)
            for name, settings in asked.items():
                if (side == "wide" and name == "mle") or (kind != "f64" and name not in ("auto", "mle", "count")):
                    continue
                model = make("PCA", **settings).fit(x[:n])
                told = long(model, x[n:], path) if kind == "f64" else short(model, x[n:])
                yield from several(f"pca {side} {kind} {name}", told)


@cases
def methods(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Every other reducer, with its defaults, as published, and with each setting that has a name of its own."""
    x, _ = heaps(71, 130, 24, 5)
    low = np.abs(planted(72, 130, 24, 4, noise=1))
    wrong = planted(73, 110, 24, 3, noise=0) + (whole(74, 110, 24) % 13 == 0) * 9000
    several_of: dict[str, tuple[np.ndarray, dict[str, dict[str, Any]]]] = {
        "Eigenfaces": (x, {
            "default": {}, "six": {"n_components": 6}, "less-mean": {"n_components": 6, "subtract_mean": True},
            "unit": {"n_components": 6, "normalize": "unit", "unit_features": False}, "zscore": {"normalize": "zscore"},
        }),
        "LPP": (x, {
            "default": {}, "six": {"n_components": 6}, "binary": {"n_components": 6, "weights": "binary", "center": "plain"},
            "cosine": {"n_components": 6, "weights": "cosine", "center": "none"},
            "width": {"n_components": 6, "t": 3.0, "n_neighbors": 7, "normalize": "unit"},
            "keep-mean": {"n_components": 6, "keep_mean": True, "columns": "unit"},
            "floor": {"n_components": 4, "floor": 0.2, "least": 0.01}, "zscore": {"n_components": 4, "normalize": "zscore"},
        }),
        "NPE": (x, {
            "default": {}, "six": {"n_components": 6}, "many": {"n_components": 6, "n_neighbors": 30, "ridge": None},
            "not-centred": {"n_components": 6, "center": False, "columns": "unit"},
            "keep-mean": {"n_components": 6, "keep_mean": True, "normalize": "unit"},
            "floor": {"n_components": 4, "floor": 0.2, "least": 0.01, "ridge": 0.0},
        }),
        "LLE": (x, {
            "default": {}, "auto": {"n_components": "auto"}, "four": {"n_components": 4, "n_neighbors": 9, "ridge": 0.01},
            "unit": {"n_components": 3, "normalize": "unit"},
        }),
        "L1Graph": (x, {
            "default": {}, "six": {"n_components": 6, "lam": 0.05}, "stop": {"n_components": 6, "tol": 1e-3},
            "centred": {"n_components": 6, "center": True, "lam": 0.1, "columns": "unit"},
            "exchanged": {"n_components": 6, "order": "exchanged", "max_iter": 50},
        }),
        "NMF": (low, {
            "default": {}, "five": {"n_components": 5}, "seed": {"n_components": 4, "random_state": 7, "start": "uniform"},
            "unit": {"n_components": 4, "normalize": "unit", "unit_parts": False, "max_iter": 40, "tol": 0.0},
            "projected": {"n_components": 4, "features": "projected"}, "orthonormal": {"n_components": 4, "features": "orthonormal"},
        }),
        "NeNMF": (low, {
            "default": {}, "five": {"n_components": 5}, "seed": {"n_components": 4, "random_state": 7, "start": "uniform"},
            "unit": {"n_components": 4, "normalize": "unit", "unit_parts": False, "max_iter": 20, "tol": 0.0},
            "projected": {"n_components": 4, "features": "projected"}, "orthonormal": {"n_components": 4, "features": "orthonormal"},
        }),
        "RobustPCA": (wrong, {
            "default": {}, "apg": {"solver": "apg", "max_iter": 150}, "three": {"n_components": 3, "lam": 0.15, "growth": 1.5},
            "basis": {"n_components": 3, "center": "basis", "unit_features": True, "tol": 1e-5},
            "unit": {"n_components": 3, "center": "none", "normalize": "unit"},
        }),
        "ROSL": (wrong, {
            "default": {}, "rank": {"max_rank": 6, "random_state": 3}, "three": {"n_components": 3, "lam": 0.2, "growth": 1.2},
            "basis": {"n_components": 3, "center": "basis", "unit_features": True, "tol": 1e-5},
            "unit": {"n_components": 3, "center": "none", "normalize": "unit", "max_iter": 60},
        }),
    }  # fmt: skip
    for kind, (samples, asked) in several_of.items():
        yield from given(f"method {kind}", samples)
        made = {name: make(kind, **settings) for name, settings in asked.items()}
        if kind != "LLE":
            made["as-published"] = make_published(kind, n_components=6)
        train, test = floats(samples[:-10]), floats(samples[-10:])
        for name, estimator in made.items():
            yield from several(f"{kind} {name}", of_method(estimator.fit(train), test, path))
        numbers = {"f32": train.astype(np.float32), "u8": np.abs(samples[:-10] // 40 % 256).astype(np.uint8)}
        numbers["csr"] = thin(75, train, 3)
        for number, other in numbers.items():
            yield from given(f"method {kind} {number}", other)
            estimator = make(kind, n_components=4).fit(other)
            yield from several(f"{kind} {number}", of_method(estimator, other[:9], path))
    wide, _ = heaps(76, 40, 90, 4)
    for kind in ("Eigenfaces", "LPP", "NPE", "LLE", "L1Graph", "RobustPCA", "ROSL"):
        estimator = make(kind, n_components=4).fit(floats(wide[:32]))
        yield from several(f"{kind} wide", of_method(estimator, floats(wide[32:]), path))
    for kind in ("NMF", "NeNMF"):
        estimator = make(kind, n_components=4).fit(floats(np.abs(wide[:32])))
        yield from several(f"{kind} wide", of_method(estimator, floats(np.abs(wide[32:])), path))


@cases
def classifiers(path: Path) -> Iterator[tuple[str, str, Any]]:
    asked: dict[str, dict[str, dict[str, Any]]] = {
        "NearestNeighbour": {
            "default": {}, "cosine": {"metric": "cosine"}, "three": {"n_neighbors": 3},
            "three-cosine": {"n_neighbors": 3, "metric": "cosine", "normalize": "zscore"}, "unit": {"normalize": "unit"},
        },
        "LinearSVM": {
            "default": {}, "unit": {"normalize": "unit"}, "bias": {"bias": 1.0, "C": 0.1, "normalize": "zscore"},
            "descent": {"solver": "descent", "random_state": 5, "tol": 1e-3, "max_iter": 30, "normalize": "unit"},
        },
        "SRC": {
            "default": {}, "stop": {"tol": 1e-3}, "nonnegative": {"lam": 0.01, "nonnegative": True},
            "plain": {"lam": 0.1, "normalize": "none", "max_iter": 20},
        },
        "CESR": {
            "default": {}, "free": {"nonnegative": False, "ridge": 0.01}, "plain": {"residual": "plain", "max_iter": 10},
            "narrow": {"width": 0.3, "normalize": "none"},
        },
    }  # fmt: skip
    x, y = heaps(81, 150, 20, 5, spread=700)
    names = np.array(["oak", "elm", "ash", "fir", "yew"])[y]
    sets = {"f64": floats(x), "f32": floats(x).astype(np.float32), "u8": bytes_of(x), "csr": of_type("csr", x)}
    yield "input", "classes", names
    for number, samples in sets.items():
        yield from given(f"classifier {number}", samples)
        for kind, several_of in asked.items():
            made = {name: make(kind, **settings) for name, settings in several_of.items()}
            if number != "f64":
                made = {"default": made["default"]}
            elif kind != "NearestNeighbour":
                made["as-published"] = make_published(kind)
            for name, classifier in made.items():
                fitted = classifier.fit(samples[:110], names[:110])
                yield from several(f"{kind} {number} {name}", of_classifier(fitted, samples[110:], path))
    for kind in asked:
        fitted = make(kind).fit(sets["f64"][:110], y[:110] > 2)
        yield from several(f"{kind} two classes", of_classifier(fitted, sets["f64"][110:], path))


@cases
def summaries(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Samples in portions and partitions."""
    n, m = 5000, 24
    x = planted(91, n, m, 4)
    sets = {"f64": floats(x), "f32": floats(x).astype(np.float32), "u8": bytes_of(x), "csr": of_type("csr", x)}
    sets["one length"] = unit(x)
    forms: dict[str, dict[str, Any]] = {
        "auto": {}, "gram": {"form": "gram"}, "triangle": {"form": "triangle"}, "centred": {"center": True},
        "triangle, centred": {"form": "triangle", "center": True}, "fixed": {"lam": 0.05}, "energy": {"dim": 0.9, "normalize": "none"},
        "dim": {"dim": 3, "normalize": "none", "center": True}, "zscore": {"normalize": "zscore"}, "noise": {"noise": 0.3},
        "noise-free": {"noise": 0.0}, "screenot": {"lam": "screenot"}, "soft": {"weights": "soft", "gamma": 0.5, "unit_features": True},
        "released": {"lam": 0.05, "rank_rule": "released"},
    }  # fmt: skip
    cuts = {"whole": [0, n], "portions": [0, 700, 701, 2048, 4100, n]}
    for kind, samples in sets.items():
        yield from given(f"summary {kind}", samples)
        for name, settings in forms.items():
            if kind != "f64" and name not in ("auto", "triangle, centred", "zscore", "screenot"):
                continue
            for how, ends in cuts.items():
                summary = make_summary(**settings)
                for start, end in zip(ends, ends[1:], strict=False):
                    summary.update(samples[start:end])
                yield f"summary {kind} {name} {how}", "form", summary.form
                yield from several(f"summary {kind} {name} {how}", file_arrays(summary.to_bytes()))
                yield from several(f"summary {kind} {name} {how}", short(finish(summary), samples[:6]))
            merged = make_summary(**settings)
            for start, end in zip([0, 1300, 1300, 4000], [1300, 1300, 4000, n], strict=True):
                part = make_summary(**settings).update(samples[start:end])
                merged.merge(summary_from_bytes(part.to_bytes()) if end > start else part)
            yield from several(f"summary {kind} {name} merged", file_arrays(merged.to_bytes()))
            yield from several(f"summary {kind} {name} merged", short(finish(merged), samples[:6]))
            if name in ("auto", "triangle"):
                for cut, asked in {"fixed": {"lam": 0.3}, "dim": {"dim": 2}, "energy": {"dim": 0.8}, "noise": {"noise": 0.4}}.items():
                    yield from several(f"summary {kind} {name}, cut at {cut}", short(finish(merged, **asked), samples[:6]))
    mixed = make_summary().update(sets["f64"][:900]).update(sets["f32"][900:2500]).update(sets["csr"][2500:])
    yield from several("summary of mixed numbers", short(finish(mixed), sets["f64"][:6]))
    for kind, settings in {"PCE": {}, "PCA": {"n_components": 4}}.items():
        model = make(kind, **settings)
        for start in range(0, n, 1250):
            model.partial_fit(sets["f64"][start : start + 1250])
        yield from several(f"partial_fit {kind}", long(model, sets["f64"][:6], path))
    broad = floats(planted(95, 400, 520, 5))
    yield from given("summary broad", broad)
    for form in ("gram", "triangle"):
        summary = make_summary(form=form, lam=0.1).update(broad[:150]).update(broad[150:])
        yield from several(f"summary broad {form}", short(finish(summary), broad[:4]))


@cases
def online(path: Path) -> Iterator[tuple[str, str, Any]]:
    x = planted(101, 700, 40, 6)
    sets = {"f64": floats(x), "f32": floats(x).astype(np.float32), "u8": bytes_of(x), "csr": of_type("csr", x)}
    ways: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "default": ({"lam": 0.1}, {}),
        "rank": ({"lam": 0.1}, {"rank": 12}),
        "forget": ({"lam": 0.1}, {"rank": 16, "forget": 0.99}),
        "forget, all": ({"lam": 0.1}, {"forget": 0.995}),
        "centred": ({"lam": 0.1, "center": True}, {"rank": 16, "forget": 0.999}),
        "not scaled": ({"lam": 0.002, "normalize": "none"}, {"rank": 10}),
        "dim": ({"dim": 4}, {"rank": 12}),
        "energy": ({"dim": 0.8}, {"rank": 20}),
        "soft": ({"lam": 0.1, "weights": "soft", "gamma": 0.5, "unit_features": True}, {"rank": 20}),
        "released": ({"lam": 0.1, "rank_rule": "released"}, {"rank": 20}),
    }
    for kind, samples in sets.items():
        yield from given(f"online {kind}", samples)
        for name, (settings, how) in ways.items():
            if kind != "f64" and name not in ("default", "forget"):
                continue
            model = make("PCE", **settings)
            for start, end in ((0, 1), (1, 300), (300, 700)):
                take_online(model, samples[start:end], **how)
            yield from several(f"online {kind} {name}", long(model, samples[:6], path))
    x64 = sets["f64"]
    one = make("PCE", lam=0.1)
    for row in range(200):
        take_online(one, x64[row : row + 1], rank=9, forget=0.98)
    yield from several("online one by one", long(one, x64[:6], path))
    for name, first in {"fit": make("PCE", lam=0.1).fit(x64[:400]), "auto": make("PCE").fit(x64[:400])}.items():
        model = first if name == "fit" else make("PCE", lam=0.1).fit(x64[:400])
        save(model, path / "begun.espan")
        for how, begun in {"": model, " and file": load(path / "begun.espan")}.items():
            yield from several(f"online after {name}{how}", long(take_online(begun, x64[400:]), x64[:6], path))
    changed = take_online(make("PCE", lam=0.1), x64[:400], rank=20)
    take_online(changed, x64[400:], rank=9, forget=0.9)
    yield from several("online with another rank", long(changed, x64[:6], path))
    share = take_online(make("PCA", n_components=5), x64, rank=20, forget=0.98)
    yield from several("online PCA", long(share, x64[:6], path))


@cases
def estimators(path: Path) -> Iterator[tuple[str, str, Any]]:
    """The dimension by every estimator."""
    x = floats(planted(111, 160, 12, 4, noise=2))
    curved = floats(np.concatenate([planted(112, 160, 9, 3, noise=0), planted(112, 160, 9, 3, noise=0) ** 2 // 2000], axis=1))
    for name, samples in {
        "f64": x, "curved": curved, "f32": x.astype(np.float32), "u8": bytes_of(planted(111, 160, 12, 4)),
        "csr": thin(113, x, 3), "copies": np.concatenate([x, x[:30]]), "wide": floats(planted(114, 40, 90, 4)),
    }.items():  # fmt: skip
        yield from given(f"dimension {name}", samples)
        for method, found, error in dimensions(samples):
            yield f"dimension {name} {method}", "dimension", found
            yield f"dimension {name} {method}", "standard error", error
    for method, found, error in dimensions(x, n_neighbors=7):
        yield f"dimension f64 {method}, 7 neighbours", "dimension", found
        yield f"dimension f64 {method}, 7 neighbours", "standard error", error
    asked: dict[str, dict[str, dict[str, Any]]] = {
        "MLE": {"arithmetic": {"mean": "arithmetic"}, "six": {"n_neighbors": 6}},
        "MiNDML": {"whole": {"whole": True}, "most": {"max_dim": 2, "n_neighbors": 5}},
        "MiNDKL": {"seed": {"random_seed": 3}, "most": {"max_dim": 6}},
        "DANCo": {"always": {"direct_below": 0.0, "max_dim": 7}, "seed": {"random_seed": 3, "direct_below": 0.0, "max_dim": 6}},
        "FastDANCo": {"always": {"direct_below": 0.0, "max_dim": 5, "draws": 2}},
        "TwoNN": {"share": {"discard": 0.25}},
        "CorrelationDimension": {"near": {"near": 4, "far": 12}},
        "ParallelAnalysis": {"draws": {"draws": 9, "quantile": 0.8, "random_seed": 4}},
    }
    for kind, several_of in asked.items():
        for name, settings in several_of.items():
            told = {"seed" if key == "random_seed" else key: value for key, value in settings.items()}
            model = make(kind, **told).fit(x)
            yield f"{kind} {name}", "dimension", get(model, "dimension_")
            yield f"{kind} {name}", "standard error", get(model, "standard_error_")
            if kind == "MLE":
                yield f"{kind} {name}", "per sample", get(model, "dimension_per_sample_")


@cases
def data(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Built-in and synthetic data, corruptions, splits, readers."""
    for name, value in zip(("samples", "classes"), datasets.load_digits(), strict=True):
        yield "digits", name, value
    for name, settings in {"default": {}, "other": {"n_subspaces": 2, "dim": 3, "noise": 0.1, "random_state": 7}}.items():
        for what, value in zip(("samples", "classes"), subspaces(60, 30, **settings), strict=True):
            yield f"subspaces {name}", what, value
    for disguise in (None, "sunglasses", "scarf", "mixed"):
        for what, value in zip(("samples", "classes"), synthetic_faces(3, 7, image_shape=(27, 24), disguise=disguise), strict=True):
            yield f"faces {disguise}", what, value
    yield "faces seed 5", "samples", synthetic_faces(2, 4, image_shape=(18, 16), random_state=5)[0]
    images = bytes_of(planted(121, 20, 120, 3))
    yield from given("images", images)
    for kind in ("gaussian:sd=25", "gaussian:relative=0.1", "rpc:0.3", "block:0.2", "salt-pepper:0.1"):
        for how, settings in {"all": {}, "half": {"share": 0.5, "seed": 3, "repeat": 2}}.items():
            for numbers in (images, images.astype(np.float32)):
                found = corrupt(numbers, kind, image_shape=(10, 12), **settings)
                for what, value in zip(("samples", "rows"), found, strict=True):
                    yield f"corrupt {kind} {how} {numbers.dtype}", what, value
    y = labels(122, 90, 4)
    for name, (train, settings) in {
        "count": (30, {}), "share": (0.7, {"seed": 1, "repeat": 3}), "each": (5, {"y": y}), "share of each": (0.4, {"y": y, "seed": 9}),
    }.items():  # fmt: skip
        for what, value in zip(("train", "test"), split(90, train, **settings), strict=True):
            yield f"split {name}", what, value
    x = floats(planted(123, 12, 5, 2))
    (path / "t.csv").write_text("a,b,c,d,e,class\n" + "".join(",".join(map(repr, row.tolist())) + f",c{i % 3}\n" for i, row in enumerate(x)))
    (path / "t.libsvm").write_text("".join(f"{i % 3} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(r.tolist()) if j % 2) + "\n" for i, r in enumerate(x)))
    npy(path / "t.npy", x)
    np.savez(path / "t.npz", X=x, y=labels(124, 12, 3))
    (path / "t.idx").write_bytes(b"\0\0\x08\x03" + b"".join(k.to_bytes(4, "big") for k in (20, 10, 12)) + images.tobytes())
    for name in ("t.csv", "t.libsvm", "t.npy", "t.npz", "t.idx"):
        found = datasets.load_file(path / name)
        yield f"file {name}", "samples", found.data
        yield f"file {name}", "classes", found.target


@cases
def verify(path: Path) -> Iterator[tuple[str, str, Any]]:
    x, y = heaps(131, 40, 9, 4, spread=400)
    yield from given("verification", x)
    for seed in (0, 3):
        pairs, same = pairs_of(y, seed)
        yield from several(f"pairs {seed}", iter([("pairs", pairs), ("same", same)]))
    for kind in ("f64", "f32", "u8", "csr"):
        samples = of_type(kind, x)
        scores = verification.cosine_scores(samples[pairs[:, 0]], samples[pairs[:, 1]])
        yield f"verification {kind}", "scores", scores
        for name, value in zip(("fpr", "tpr", "thresholds"), verification.roc_curve(same, scores), strict=True):
            yield f"verification {kind}", name, value
        yield f"verification {kind}", "area", verification.roc_auc_score(same, scores)
        yield f"verification {kind}", "equal error rate", verification.equal_error_rate(same, scores)
        for name, (folds, seed) in {"ten": (10, 0), "five": (5, 2), "given": (np.arange(len(same)) % 4, 0)}.items():
            found = fold_accuracy(same, scores, folds, seed)
            for what in ("mean", "standard_error", "accuracies", "thresholds"):
                yield f"verification {kind} folds {name}", what, getattr(found, what)


ACCURACIES = ("accuracy_mean", "accuracy_sd", "accuracies", "k", "columns", "dimensions", "samples")


@cases
def evaluation(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Accuracies, from the command line and from Python."""
    x, y = heaps(141, 110, 30, 5, spread=300)
    images = bytes_of(x)
    yield from given("evaluation", images)
    np.savez(path / "faces.npz", X=images, y=y, shape=np.array([5, 6]))
    everybody = ["nn", "nn-cosine", "svm", "src", "cesr", "auto"]
    reducers = [
        method_text("pce"), method_text("pce-auto"), method_text("pce", **{"lambda": 5, "rank_rule": "released"}),
        method_text("pca", dim=8), method_text("pca"), method_text("eigenfaces", dim=8), method_text("lpp", dim=8, neighbours=4),
        method_text("npe", dim=8), method_text("l1-graph", dim=8, **{"lambda": 0.1}), method_text("nmf", dim=6, rounds=100),
        method_text("nenmf", dim=6), method_text("robust-pca", dim=8), method_text("rosl", dim=8),
    ]  # fmt: skip
    own = ["cesr", "nn", "svm", "src"]
    runs: list[tuple[str, dict[str, Any]]] = [
        ("all", {"method": reducers[:2] + reducers[3:4], "classifier": ",".join(everybody), "repeats": 2}),
        ("reducers", {"method": reducers, "classifier": "nn-cosine", "repeats": 2}),
        ("own", {"method": own, "repeats": 2, "train": 40, "seed": 5}),
        ("published", {"method": ["pce", "eigenfaces", "lpp", "npe", "l1-graph", "nmf", "nenmf", "robust-pca", "rosl", *own],
                       "classifier": "nn,svm", "as_published": True, "repeats": 1}),
        ("stratified", {"method": "pce", "classifier": "nn,svm", "split": "stratified", "train": 0.6, "repeats": 2}),
        ("corrupted", {"method": ["pce", "pce-auto"], "classifier": "nn", "corrupt": "block:0.2", "corrupt_share": 0.5, "repeats": 2}),
    ]  # fmt: skip
    for run, flags in runs:
        for row in cli_json("evaluate", "faces.npz", at=path, **flags):
            for name in ACCURACIES:
                yield f"evaluate {run} {row['method']} {row['classifier']}", name, row[name]
    found = evaluate(images, y, ["pce-auto", method_text("lpp", dim=6)], ["nn-cosine", "auto"], repeats=2, seed=4)
    for row in found:
        for name in ACCURACIES:
            yield f"evaluate in Python {row['method']} {row['classifier']}", name, row[name]


@cases
def command_line(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Fits, streams, sketches, checkpoints and what follows, by the command line."""
    x, y = heaps(151, 120, 20, 4)
    np.savez(path / "x.npz", X=np.abs(floats(x)), y=y)
    npy(path / "new.npy", np.abs(floats(heaps(152, 15, 20, 4)[0])))
    yield from given("command line", np.abs(floats(x)))

    def written(*names: str) -> Iterator[Line]:
        for name in names:
            if name.endswith(".espan") or name.endswith(".essum"):
                yield from ((f"{name} {what}", value) for what, value in file_arrays((path / name).read_bytes()))
            else:
                yield name, np.load(path / name)

    for method in ("pce", "pce-auto", "pca", "eigenfaces", "lpp", "npe", "lle", "l1-graph", "nmf", "nenmf", "robust-pca", "rosl"):
        told = cli_json("fit", "x.npz", at=path, method=method, output="m.espan", features="z.npy")
        yield from several(f"fit {method}", of_json(told))
        yield from several(f"fit {method}", written("m.espan", "z.npy"))
        if method != "lle":
            cli("transform", "m.espan", "new.npy", at=path, output="t.npy")
            yield from several(f"fit {method}", written("t.npy"))
    for method in ("cesr", "nn", "svm", "src"):
        yield from several(f"fit {method}", of_json(cli_json("fit", "x.npz", at=path, method=method, output="m.espan")))
        yield from several(f"fit {method}", written("m.espan"))
    published = {"eigenfaces": 9, "lpp": 9, "npe": 9, "l1-graph": 9, "nmf": 5, "nenmf": 5, "robust-pca": 9, "rosl": 9}
    for method, dim in published.items():
        told = cli_json("fit", "x.npz", at=path, method=method, as_published=True, dim=dim, output="m.espan")
        yield from several(f"fit {method} as published", of_json(told))
        yield from several(f"fit {method} as published", written("m.espan"))
    flags: dict[str, dict[str, Any]] = {
        "lambda": {"lambda": 0.5}, "screenot": {"lambda": "screenot"}, "noise": {"noise": 0.3}, "energy": {"energy": 0.9},
        "dim": {"dim": 4}, "released": {"rank_rule": "released"}, "zscore": {"normalize": "zscore"},
        "none": {"normalize": "none", "center": True}, "direct": {"solver": "direct", "dim": 3},
        "soft": {"weights": "soft", "gamma": 0.25, "unit_features": True}, "pca": {"method": "pca", "dim": 3, "whiten": True},
        "pca-energy": {"method": "pca", "energy": 0.9},
        "lpp": {"method": "lpp", "neighbours": 4, "weights": "binary", "dim": 4},
        "svm": {"method": "svm", "cost": 2, "bias": 1, "tolerance": 1e-4, "rounds": 50, "seed": 3},
        "nmf": {"method": "nmf", "rounds": 30, "tolerance": 1e-5, "seed": 3, "dim": 4, "normalize": "unit"},
        "l1-graph": {"method": "l1-graph", "lambda": 0.1, "dim": 4, "rounds": 40, "tolerance": 1e-3},
        "nn": {"method": "nn", "neighbours": 3, "metric": "cosine"},
    }  # fmt: skip
    for name, asked in flags.items():
        yield from several(f"fit with {name}", of_json(cli_json("fit", "x.npz", at=path, output="m.espan", **asked)))
        yield from several(f"fit with {name}", written("m.espan"))
    cli("fit", "x.npz", at=path, method="robust-pca", low_rank="l.npy", sparse="s.npy")
    yield from several("fit robust-pca parts", written("l.npy", "s.npy"))
    cli("fit", "x.npz", at=path, output="m.espan")
    cli("recover", "m.espan", "new.npy", at=path, output="clean.npy", scores="scores.npy")
    yield from several("recover", written("clean.npy", "scores.npy"))
    for name, asked in {"auto": {}, "centred": {"center": True}, "fixed": {"lambda": 0.5}, "direct": {"dim": 3, "solver": "direct"}}.items():
        found = cli_json("path", "x.npz", at=path, **asked)
        yield f"path {name}", "steps", np.array([[step["lambda"], step["k"]] for step in found["steps"]])
        yield f"path {name}", "chosen", [found["chosen"]["lambda"], found["chosen"]["k"]]
    for row in cli_json("dimension", "x.npz", at=path, as_published=True, method="mle,mind-ml,mind-kl,danco", max_dim=5):
        yield f"dimension as published {row['method']}", "dimension", row["dimension"]
    for at, row in enumerate(cli_json("dimension", "x.npz", at=path, method="mle,danco", neighbours="5..9:2")):
        yield f"dimension, several neighbours {at} {row['method']}", "dimension", row["dimension"]

    # Files larger than memory: three partitions.
    tall = floats(planted(161, 9000, 16, 4))
    yield from given("stream", tall)
    ends = [0, 2500, 2501, 9000]
    for i, (start, end) in enumerate(zip(ends, ends[1:], strict=False)):
        npy(path / f"part{i}.npy", tall[start:end])
    parts = [f"part{i}.npy" for i in range(3)]
    streams: dict[str, dict[str, Any]] = {
        "auto": {}, "gram": {"form": "gram", "lambda": 0.1}, "triangle": {"form": "triangle", "center": True},
        "zscore": {"normalize": "zscore"}, "noise": {"noise": 0.3}, "screenot": {"lambda": "screenot"},
        "energy": {"energy": 0.8}, "dim": {"dim": 3, "normalize": "none"}, "pca": {"method": "pca", "dim": 3},
        "soft": {"weights": "soft"}, "released": {"lambda": 0.1, "rank_rule": "released"},
    }  # fmt: skip
    for name, asked in streams.items():
        for limit in ("20MB", "2GB"):
            told = cli_json("fit", *parts, at=path, max_memory=limit, output="m.espan", **asked)
            yield from several(f"stream {name} {limit}", of_json(told))
            yield from several(f"stream {name} {limit}", written("m.espan"))
        for i, part in enumerate(parts):
            cli("summarize", part, at=path, output=f"{i}.essum", **asked)
        cli("merge", "0.essum", "1.essum", "2.essum", at=path, output="all.essum")
        yield from several(f"stream {name} merged", of_json(cli_json("finish", "all.essum", at=path, output="m.espan")))
        yield from several(f"stream {name} merged", written("all.essum", "m.espan"))
    cli("summarize", *parts, at=path, output="all.essum")
    for name, asked in {"lambda": {"lambda": 0.3}, "dim": {"dim": 2}, "energy": {"energy": 0.7}, "noise": {"noise": 0.4}}.items():
        yield from several(f"finish at {name}", of_json(cli_json("finish", "all.essum", at=path, output="m.espan", **asked)))
        yield from several(f"finish at {name}", written("m.espan"))
    cli("transform", "m.espan", "part0.npy", at=path, output="t.npy", max_memory="20MB")
    cli("recover", "m.espan", "part0.npy", at=path, output="clean.npy", scores="scores.npy", max_memory="20MB")
    yield from several("transform and recover in portions", written("t.npy", "clean.npy", "scores.npy"))

    # A checkpoint, and what is made of it. The last file is broken at first: the fit stops there. Then the first one is, which
    # is not read again.
    for form in ("gram", "triangle"):
        asked = {"form": form, "max_memory": "20MB", "checkpoint": "c.check", "checkpoint_every": "1kB", "lambda": 0.1}
        npy(path / "part0.npy", tall[:2500])
        write_broken(path / "part2.npy", tall[2501:])
        cli("fit", *parts, at=path, fails=True, output="m.espan", **asked)
        checkpoint = (path / "c.check").read_bytes()
        for what, value in file_arrays(checkpoint):
            yield from ((f"checkpoint {form}", f"{what}: {inner}", one) for inner, one in file_arrays(value.tobytes()))
        npy(path / "part2.npy", tall[2501:])
        write_broken(path / "part0.npy", tall[:2500])
        yield from several(f"resumed {form}", of_json(cli_json("fit", *parts, at=path, output="m.espan", **asked)))
        yield from several(f"resumed {form}", written("m.espan"))
    npy(path / "part0.npy", tall[:2500])

    # Goes on with a model.
    for name, asked in {"lambda": {"lambda": 0.1}, "centred": {"dim": 3, "center": True}, "pca": {"method": "pca", "dim": 3}}.items():
        cli("fit", "part0.npy", at=path, output="m.espan", **asked)
        for how, more in {"": {}, " rank and forget": {"rank": 8, "forget": 0.999}}.items():
            told = cli_json("update", "m.espan", "part1.npy", "part2.npy", at=path, output="u.espan", **more)
            yield from several(f"update {name}{how}", of_json(told))
            yield from several(f"update {name}{how}", written("u.espan"))
    told = cli_json("update", "u.espan", "part0.npy", at=path, output="v.espan", dim=2)
    yield from several("update twice", of_json(told))
    yield from several("update twice", written("v.espan"))

    # Sketches.
    broad = planted(171, 260, 700, 5)
    npy(path / "broad.npy", floats(broad))
    npy(path / "broad32.npy", floats(broad).astype(np.float32))
    npy(path / "broad8.npy", bytes_of(broad))
    npy(path / "a.npy", floats(broad[:100]))
    npy(path / "b.npy", floats(broad[100:]))
    yield from given("sketch", broad)
    sketches: dict[str, tuple[list[str], dict[str, Any]]] = {
        "lambda": (["broad.npy"], {"lambda": 0.1}), "f32": (["broad32.npy"], {"lambda": 0.1}), "u8": (["broad8.npy"], {"lambda": 1}),
        "two files": (["a.npy", "b.npy"], {"lambda": 0.1}), "centred": (["broad.npy"], {"lambda": 0.1, "center": True}),
        "noise": (["broad.npy"], {"noise": 0.3}), "energy": (["broad.npy"], {"energy": 0.5}), "dim": (["broad.npy"], {"dim": 4}),
        "not scaled": (["broad.npy"], {"dim": 4, "normalize": "none"}), "pca": (["broad.npy"], {"method": "pca", "dim": 3}),
        "few columns": (["broad.npy"], {"lambda": 0.1, "sketch_columns": 8, "passes": 3, "sketch_seed": 5}),
        "low cut": (["broad.npy"], {"lambda": 2, "passes": 2, "sketch_columns": 30}),
        "soft": (["broad.npy"], {"lambda": 0.1, "weights": "soft"}),
        "released": (["broad.npy"], {"lambda": 0.1, "rank_rule": "released"}),
    }  # fmt: skip
    for name, (files, asked) in sketches.items():
        told = cli_json("fit", *files, at=path, form="sketch", output="m.espan", **asked)
        yield from several(f"sketch {name}", of_json(told))
        yield from several(f"sketch {name}", written("m.espan"))
    wide = floats(planted(181, 90, 5100, 4))
    npy(path / "wide.npy", wide)
    yield from given("wide", wide)
    yield from several("wide", of_json(cli_json("fit", "wide.npy", at=path, max_memory="400MB", dim=4, output="m.espan")))
    yield from several("wide", written("m.espan"))


# Golden files. `--write-models` wrote them with commit 7f37ca7; they are history and are not written again.

GOLDEN_METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "pce": ("PCE", {}), "pce-fixed-zscore": ("PCE", {"lam": 0.2, "normalize": "zscore"}),
    "pce-released-scores": ("PCE", {"lam": 0.5, "rank_rule": "released", "weights": "scores", "center": True}),
    "pce-direct": ("PCE", {"dim": 3, "solver": "direct"}), "pce-energy-none": ("PCE", {"dim": 0.9, "normalize": "none"}),
    "pce-screenot": ("PCE", {"lam": "screenot"}), "pce-noise": ("PCE", {"noise": 0.3}),
    "pce-soft": ("PCE", {"weights": "soft", "gamma": 0.5}), "pce-unit-features": ("PCE", {"unit_features": True, "dim": 3}),
    "pca-all": ("PCA", {}), "pca-count": ("PCA", {"n_components": 3}), "pca-mle": ("PCA", {"n_components": "mle"}),
    "pca-share-whitened": ("PCA", {"n_components": 0.9, "whiten": True}), "pca-auto": ("PCA", {"n_components": "auto"}),
    "eigenfaces": ("Eigenfaces", {"n_components": 3}), "lpp": ("LPP", {"n_components": 3}),
    "lpp-cosine": ("LPP", {"n_components": 3, "weights": "cosine", "keep_mean": True, "columns": "unit"}),
    "npe": ("NPE", {"n_components": 3}), "lle": ("LLE", {}), "l1-graph": ("L1Graph", {"n_components": 3}),
    "nmf": ("NMF", {"n_components": 3}), "nenmf": ("NeNMF", {"n_components": 3}),
    "robust-pca": ("RobustPCA", {"n_components": 3}), "rosl": ("ROSL", {"n_components": 3}),
    "cesr": ("CESR", {}), "nn": ("NearestNeighbour", {"n_neighbors": 3, "metric": "cosine"}), "svm": ("LinearSVM", {"bias": 1.0}),
    "src": ("SRC", {"lam": 0.01}),
}  # fmt: skip


def golden_input() -> tuple[np.ndarray, np.ndarray]:
    x, y = heaps(191, 30, 10, 3)
    return np.abs(floats(x)), y


def write_models() -> None:
    """Writes the golden files. Refuses where one exists."""
    MODELS.mkdir(exist_ok=True)
    if any(MODELS.iterdir()):
        raise SystemExit(f"{MODELS} is not empty: golden files are not written again")
    x, y = golden_input()
    npy(MODELS / "input.npy", x)
    names = np.array(["oak", "elm", "ash"])[y]
    for name, (kind, settings) in GOLDEN_METHODS.items():
        save(make(kind, **settings).fit(x, names), MODELS / f"{name}.espan")
    save(make_auto().fit(x, names), MODELS / "pce-auto.espan")
    for number, other in {"f32": x.astype(np.float32), "u8": (40 * x).astype(np.uint8)}.items():
        save(make("PCE", dim=3).fit(other), MODELS / f"pce-{number}.espan")
    save(take_online(make("PCE", lam=0.5, center=True), x, rank=6, forget=0.98), MODELS / "pce-online.espan")
    save(take_online(make("PCA", n_components=2), x, rank=6), MODELS / "pca-online.espan")
    for form in ("gram", "triangle"):
        (MODELS / f"{form}.essum").write_bytes(make_summary(form=form, lam=0.5, center=True).update(x[:20]).to_bytes())
    (MODELS / "auto.essum").write_bytes(make_summary().update(x[:20]).to_bytes())
    cli("fit", "input.npy", at=MODELS, form="sketch", dim=3, sketch_columns=6, output="pce-sketch.espan")
    with tempfile.TemporaryDirectory() as folder:
        write_checkpoint(Path(folder), broken=1)
        cli("fit", "first.npy", "second.npy", at=Path(folder), fails=True, **CHECKPOINT)
        (MODELS / "fit.check").write_bytes((Path(folder) / "fit.check").read_bytes())


CHECKPOINT = {"lambda": 0.001, "form": "gram", "checkpoint": "fit.check", "checkpoint_every": "1kB", "output": "m.espan"}


def write_broken(path: Path, x: np.ndarray) -> None:
    """Samples with one in the middle that is no number: whoever reads it stops there. A checkpoint does not look at the middle."""
    x = x.copy()
    x[len(x) // 2, 3] = np.nan
    npy(path, x)


def write_checkpoint(path: Path, broken: int) -> None:
    """The files of the golden checkpoint, one of them broken."""
    x = floats(planted(195, 8400, 6, 2))
    for i, (name, part) in enumerate({"first.npy": x[:4000], "second.npy": x[4000:]}.items()):
        (write_broken if i == broken else npy)(path / name, part)


@cases
def golden(path: Path) -> Iterator[tuple[str, str, Any]]:
    """Files that were written before: they load, and give what they gave."""
    x = np.load(MODELS / "input.npy")
    yield "input", "golden input", x
    for file in sorted([*GOLDEN.glob("*-v[1-5].espan"), *MODELS.glob("*.espan")]):
        case = f"golden {file.name}" if file.parent == MODELS else f"golden format {file.name}"
        model = load(file)
        yield case, "class", type(model).__name__
        yield from several(case, file_arrays(file.read_bytes()))
        if hasattr(model, "transform"):
            yield case, "features", model.transform(x)
        if hasattr(model, "predict"):
            yield case, "predictions", model.predict(x)
        if type(model).__name__ == "LLE":
            yield case, "embedding_", get(model, "embedding_")
        if hasattr(model, "recover"):
            for name in SHORT:
                yield case, name, get(model, name)
            yield case, "recover score", model.recover(x).score
            if file.stem in ("pce-v5", "pce-online", "pca-online"):
                yield case, "features after more", take_online(model, x[:9]).transform(x)
        # Written anew, the file says the same.
        save(load(file), path / "again.espan")
        yield from ((case, f"again {what}", value) for what, value in file_arrays((path / "again.espan").read_bytes()))
    for file in sorted(MODELS.glob("*.essum")):
        summary = summary_from_bytes(file.read_bytes())
        yield f"golden {file.name}", "form", summary.form
        yield from several(f"golden {file.name}", short(finish(summary.update(x[20:])), x))
        yield from several(f"golden {file.name}", of_json(cli_json("finish", file, at=path, output="m.espan")))
    write_checkpoint(path, broken=0)  # which is not read again
    (path / "fit.check").write_bytes((MODELS / "fit.check").read_bytes())
    yield from several("golden fit.check", of_json(cli_json("fit", "first.npy", "second.npy", at=path, **CHECKPOINT)))
    yield from several("golden fit.check", file_arrays((path / "m.espan").read_bytes()))


# ---------------------------------------------------------------------------------------------------------------------
# The table.
# ---------------------------------------------------------------------------------------------------------------------


def machine() -> str:
    """The kind of machine, as the kernels tell kinds apart."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return "portable"
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "x86-64 of unknown kind"
    flags = next((set(line.split(":")[1].split()) for line in lines if line.startswith("flags")), set())
    if not {"avx2", "fma"} <= flags:
        return "portable"
    return "avx512+vnni" if {"avx512f", "avx512vl", "avx512bw", "avx512dq", "avx512_vnni"} <= flags else "avx2"


def about() -> list[str]:
    """What else may move last bits: named, not compared."""
    libc = " ".join(platform.libc_ver()) or "unknown"
    caches = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        caches += [f"L{level} {size}"] if kind != "Instruction" else []
    return [f"libc {libc}", "caches " + (", ".join(caches) or "unknown"), f"numpy {np.__version__}"]


def lines(only: str) -> Iterator[tuple[str, str, str]]:
    known: set[tuple[str, str]] = set()
    warnings.simplefilter("ignore")
    for name, function in CASES.items():
        if only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                for case, quantity, value in function(Path(folder)):
                    if (case, quantity) in known:
                        raise SystemExit(f"two lines of the name {case}, {quantity}")
                    known.add((case, quantity))
                    yield case, quantity, text(value)
            except Exception as error:  # the other groups are compared all the same
                last = traceback.extract_tb(error.__traceback__)
                line = next((at.lineno for at in reversed(last) if at.filename == __file__), 0)
                FAILED.append(name)
                yield name, "failed", f"line {line}: {type(error).__name__}: {error}".replace("\n", " ").replace("\t", " ")


def check(only: str) -> int:
    """Compares with the committed table, and prints what differs."""
    committed, kind = {}, ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("# machine: "):
            kind = line.removeprefix("# machine: ")
        elif line and not line.startswith("#"):
            case, quantity, value, *more = line.split("\t")
            committed[case, quantity] = (value, " ".join(more))
    if kind != machine():
        print(f"skipped: table is of {kind}, this machine is {machine()}")
        return 0
    found = {(case, quantity): value for case, quantity, value in lines(only)}
    differ = allowed = 0
    for key, value in found.items():
        before, reason = committed.get(key, ("(no line)", ""))
        if value != before:
            allowed, differ = (allowed + 1, differ) if reason.startswith("changed: ") else (allowed, differ + 1)
            print("\t".join([*key, f"was {before}", f"is {value}", reason]).rstrip())
    missing = [] if only or FAILED else [key for key in committed if key not in found]
    for key in missing:
        value, reason = committed[key]
        allowed, differ = (allowed + 1, differ) if reason.startswith("changed: ") else (allowed, differ + 1)
        print("\t".join([*key, f"was {value}", "is (no line)", reason]).rstrip())
    if FAILED:
        print(f"groups that were not compared to their end: {', '.join(FAILED)}")
    print(f"{len(found)} lines compared on {machine()}: {differ} differ, {allowed} differ with a reason")
    return 1 if differ else 0


def main() -> int:
    global BINARY, THREADS
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the committed table")
    parser.add_argument("--binary", type=Path, default=BINARY, help="the command line program")
    parser.add_argument("--threads", type=int, help="threads, which results must not depend on")
    parser.add_argument("--only", default="", help="groups of cases whose name contains this: " + ", ".join(CASES))
    parser.add_argument("--commit", default="unknown", help="the commit to name in the head of the table")
    parser.add_argument("--write-models", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    BINARY, THREADS = asked.binary.resolve(), asked.threads
    if not BINARY.exists():
        parser.error(f"no program at {os.path.relpath(BINARY)}: build it, or give --binary")
    if asked.write_models:
        write_models()
        return 0
    if asked.check:
        return check(asked.only)
    print(f"# What users compute, in bytes. Written by tests/frozen/frozen.py; see tests/frozen/README.md.\n# commit: {asked.commit}")
    print(f"# machine: {machine()}")
    print("".join(f"# {line}\n" for line in about()), end="")
    for line in lines(asked.only):
        print("\t".join(line))
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
