"""`eigenspan.spark` against a master and two workers on loopback. Started by `tests/spark/run`; one line per check."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

warnings.simplefilter("ignore")
HERE = "127.0.0.1"
os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": HERE, "PYTHONWARNINGS": "ignore"}

import dask.array as da
import numpy as np
import pyarrow as pa
import pyspark
from pyarrow import parquet
from pyspark.ml.linalg import Vectors
from pyspark.sql import SparkSession

import eigenspan
import eigenspan.dask
import eigenspan.spark
from eigenspan import PCE, Summary

ROOT = Path(__file__).resolve().parents[2]
FEATURES, EMPTY = 30, 5
STARTED = time.monotonic()
WAIT = 300


def say(claim: str, holds: bool, more: str = "") -> None:
    print(f"{'ok    ' if holds else 'FAILED'} {claim}{': ' if more else ''}{more}", flush=True)
    if not holds:
        raise SystemExit(1)


def until(what: str, holds) -> None:
    limit = time.monotonic() + WAIT
    while not holds():
        if time.monotonic() > limit:
            raise SystemExit(f"FAILED {what}: not within {WAIT} s")
        time.sleep(0.05)


class Cluster:
    """A master and two workers, each with the processes that it starts in a group of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, {}
        self.start("master", "master.Master", "--host", HERE, "--port", "0", "--webui-port", "0")
        found = re.compile(rf"Starting Spark master at (spark://{HERE}:\d+)")
        until("a master", lambda: found.search(self.log("master")))
        self.address = found.search(self.log("master"))[1]
        for name in ("worker-a", "worker-b"):
            place = ["--work-dir", folder / name, "--webui-port", "0"]
            self.start(name, "worker.Worker", "--host", HERE, "-c", "1", "-m", "1g", *place, self.address)
        until("two workers", lambda: self.log("master").count("Registering worker") == 2)

    def start(self, name: str, kind: str, *options: object) -> None:
        words = [Path(pyspark.__file__).parent / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}", *options]
        with open(self.folder / f"{name}.log", "w") as log:
            self.processes[name] = subprocess.Popen(list(map(str, words)), stdout=log, stderr=log, start_new_session=True)

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def group_of(self, pid: int) -> str | None:
        """The worker that a process belongs to."""
        groups = {os.getpgid(process.pid): name for name, process in self.processes.items() if process.poll() is None}
        while pid > 1:
            if (group := groups.get(os.getpgid(pid))) is not None:
                return group
            pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        return None

    def kill(self, name: str) -> None:
        """The worker, and its executor with all that is below it, at once."""
        session = self.processes[name].pid
        rows = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], check=True, capture_output=True, text=True).stdout
        parents = dict(map(int, line.split()) for line in rows.splitlines())
        family = {session}
        while grown := {pid for pid, parent in parents.items() if parent in family} - family:
            family |= grown
        for pid in family:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.processes[name].wait()

    def stop(self) -> None:
        for name, process in self.processes.items():
            if process.poll() is None:
                self.kill(name)


def parts(folder: Path) -> list[np.ndarray]:
    """Twenty partitions of uneven sizes, one of them empty; they lie in files that every worker can read."""
    X, _ = eigenspan.datasets.make_subspaces(n_samples=24_000, n_features=FEATURES, n_subspaces=3, dim=3, noise=0.2)
    sizes = [0 if i == EMPTY else 700 + 97 * i for i in range(19)]
    parts = np.split(X, np.cumsum(sizes))
    for i, part in enumerate(parts):
        np.save(folder / f"{i}.npy", part)
    return parts


def source(spark, folder: Path, shape: str = "columns", seconds: float = 0.0, signs: str = ""):
    """A dataframe whose partition i is file i, in batches of 500 rows."""
    numbers = "float" if shape == "floats" else "double"
    schema = f"id bigint, x array<{numbers}>"
    if shape == "columns":
        schema = "id bigint, " + ", ".join(f"`f.{j}` double" for j in range(FEATURES))
    elif shape == "vectors":
        schema = "id bigint, x array<double>"
    count = len(list(folder.glob("*.npy")))

    def read(batches):
        for batch in batches:
            for i in batch.column(0).to_pylist():
                if signs:
                    Path(signs, f"{i}-{os.getppid()}").touch()  # The daemon, which lives as long as its executor.
                time.sleep(seconds)
                part = np.load(folder / f"{i}.npy")
                for start in range(0, len(part), 500):
                    rows = part[start : start + 500]
                    ids = pa.array(i * 100_000 + start + np.arange(len(rows)))
                    if shape == "columns":
                        columns = [pa.array(np.ascontiguousarray(rows[:, j])) for j in range(FEATURES)]
                        yield pa.RecordBatch.from_arrays([ids, *columns], ["id", *(f"f.{j}" for j in range(FEATURES))])
                    else:
                        flat = rows.astype(np.float32 if shape == "floats" else float).ravel()
                        lists = pa.ListArray.from_arrays(np.arange(0, flat.size + 1, FEATURES, dtype=np.int32), flat)
                        yield pa.RecordBatch.from_arrays([ids, lists], ["id", "x"])

    df = spark.range(0, count, 1, count).mapInArrow(read, schema)
    if shape == "vectors":
        from pyspark.ml.functions import array_to_vector

        df = df.select("id", array_to_vector("x").alias("x"))
    return df


def model(fitted) -> bytes:
    return fitted._fitted.to_bytes()


def by_hand(parts, **settings):
    """Partition after partition; an empty one adds nothing."""
    whole = Summary(**settings)
    for part in parts:
        if len(part):
            whole.merge(Summary(**settings).update(part))
    return whole.finish()


def features(df, name: str = "features") -> np.ndarray:
    rows = sorted(df.select("id", name).collect(), key=lambda row: row["id"])
    return np.array([row[name] for row in rows])


def refused(claim: str, words: str, run) -> None:
    try:
        run()
    except ValueError as error:
        say(claim, re.search(words, str(error)) is not None, str(error))
    else:
        say(claim, False, "nothing was said")


def fits(spark, folder: Path, parts: list[np.ndarray]):
    X = np.vstack(parts)
    names = [f"f.{j}" for j in range(FEATURES)]
    expected = by_hand(parts)
    signs = tempfile.mkdtemp(dir=folder)
    fitted = eigenspan.spark.fit(source(spark, folder, signs=signs, seconds=0.2), names)
    say("20 partitions on two workers: bytes of eigenspan.Summary merged in order", model(fitted) == model(expected))
    chunks = (tuple(map(len, parts)), (FEATURES,))
    in_dask = eigenspan.dask.fit(da.from_array(X, chunks=chunks))
    say("bytes of eigenspan.dask on the same partitions", model(fitted) == model(in_dask))
    whole = PCE().fit(X)
    apart = np.abs(fitted.singular_values_ - whole.singular_values_).max()
    ratio = apart / (len(X) * np.finfo(float).eps * whole.singular_values_[0] * np.log2(len(parts)))
    say("k of a fit in memory", fitted.k_ == whole.k_, f"{fitted.k_}")
    say("R13 against a fit in memory at most 10", ratio <= 10, f"{ratio:.2g}")
    say("names of the columns", list(fitted.feature_names_in_) == names)
    for shape in ("arrays", "vectors"):
        found = eigenspan.spark.fit(source(spark, folder, shape), "x")
        say(f"the same bytes from a column of {shape}", model(found) == model(expected))
    singles = eigenspan.spark.fit(source(spark, folder, "floats"), "x", dim=4, normalize="none")
    by_floats = by_hand([part.astype(np.float32) for part in parts], dim=4, normalize="none")
    say("32-bit floats stay what they are", model(singles) == model(by_floats))
    return fitted, signs


def transforms(spark, folder: Path, parts: list[np.ndarray], fitted) -> None:
    X = np.vstack(parts)
    df = source(spark, folder)
    out = df.transform(eigenspan.spark.transform, fitted)
    say("transform keeps the columns", out.columns == [*df.columns, "features"])
    say("features of columns to the last bit", np.array_equal(features(out), fitted.transform(X)))
    for shape, samples in (("arrays", X), ("vectors", X), ("floats", X.astype(np.float32))):
        nameless = PCE().fit(samples)
        got = eigenspan.spark.transform(source(spark, folder, shape), nameless, "x", output="z")
        kind = got.schema["z"].dataType.simpleString()
        say(f"features of {shape} to the last bit", np.array_equal(features(got, "z"), nameless.transform(samples)), kind)


def odd_samples(spark) -> None:
    rows = [(0, Vectors.dense(1.0, 2.0, 0.0)), (1, Vectors.sparse(3, {1: 4.0})), (2, Vectors.sparse(3, {})), (3, Vectors.dense(0, 1, 7))]
    df = spark.createDataFrame(rows, ["id", "v"]).coalesce(1)
    dense = np.array([row[1].toArray() for row in rows])
    fitted = eigenspan.spark.fit(df, "v", dim=2, normalize="none")
    say("sparse and dense vectors in one column", model(fitted) == model(by_hand([dense], dim=2, normalize="none")))
    back = eigenspan.spark.transform(df, fitted, "v")
    say("features of them", np.array_equal(features(back), fitted.transform(dense)), back.schema["v"].dataType.simpleString())
    one = lambda rows, schema: spark.createDataFrame(rows, schema).coalesce(1)
    none = one([(1.0, 2.0), (None, 3.0)], "a double, b double")
    refused("a null is refused by its place", "row 1: column 'a' is null", lambda: eigenspan.spark.fit(none))
    null = one([([1.0, 2.0],), ([1.0, None],)], "x array<double>")
    refused("a null in an array", "row 1: column 'x' holds a null", lambda: eigenspan.spark.fit(null))
    ragged = one([([1.0, 2.0],), ([1.0, 2.0],), ([1.0],)], "x array<double>")
    refused("arrays of different lengths", "row 2: column 'x' holds 1 numbers, others 2", lambda: eigenspan.spark.fit(ragged))
    nan = one([(1.0, 2.0), (1.0, float("nan"))], "a double, b double")
    refused("a NaN", "partition 0: .*row 1, column 1 is NaN", lambda: eigenspan.spark.fit(nan))
    text = one([(1.0, "z")], "a double, b string")
    refused("a column of text", "column 'b' is string, which is no number", lambda: eigenspan.spark.fit(text))
    refused("no samples at all", "no samples", lambda: eigenspan.spark.fit(none.filter("a > 5"), ["b"]))


def guide(spark) -> None:
    """Every block of the guide, one after the other, as a reader would type them."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "spark.md").read_text(), re.DOTALL)
    told: dict[str, object] = {"spark": spark}
    X, _ = eigenspan.datasets.load_digits()
    table = pa.table({f"pixel{j}": X[:, j].astype(float) for j in range(X.shape[1])})
    parquet.write_table(table, "digits.parquet", row_group_size=500)
    for block in blocks:
        exec(block, told)
    say(f"the {len(blocks)} examples of docs/spark.md run", len(blocks) >= 2 and told["pce"].n_components_ == 21)


def killed(spark, cluster: Cluster, folder: Path, parts: list[np.ndarray]) -> None:
    expected = model(by_hand(parts))
    signs = Path(tempfile.mkdtemp(dir=folder))
    victim: list[str] = []

    def assassin() -> None:
        until("four partitions", lambda: len(list(signs.iterdir())) >= 6)
        pid = max(signs.iterdir(), key=lambda sign: sign.stat().st_mtime_ns).name.split("-")[1]
        victim.append(cluster.group_of(int(pid)) or "")
        if victim[0]:
            cluster.kill(victim[0])

    thread = threading.Thread(target=assassin)
    thread.start()
    found = eigenspan.spark.fit(source(spark, folder, "arrays", seconds=1.0, signs=str(signs)), "x")
    thread.join()
    say("a worker with its executor was killed mid-job", bool(victim[0]), victim[0])
    read = [sign.name.split("-")[0] for sign in signs.iterdir()]
    say("partitions were read again", len(read) > len(set(read)) == len(parts), f"{len(read) - len(set(read))}")
    say("a worker killed mid-job: the same bytes", model(found) == expected)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="eigenspan-spark-") as name:
        folder = Path(name)
        os.chdir(folder)  # Before there is a session: its paths begin here.
        samples = parts(folder)
        cluster = Cluster(folder)
        settings = {
            "spark.ui.enabled": "false", "spark.driver.host": HERE, "spark.driver.bindAddress": HERE,
            "spark.executor.memory": "512m", "spark.ui.showConsoleProgress": "false",
        }  # fmt: skip
        try:
            builder = SparkSession.builder.master(cluster.address).appName("eigenspan")
            for key, value in settings.items():
                builder = builder.config(key, value)
            spark = builder.getOrCreate()
            spark.sparkContext.setLogLevel("OFF")
            say("a master and two workers on loopback", True, f"Spark {spark.version}")
            fitted, signs = fits(spark, folder, samples)
            owners = {cluster.group_of(int(sign.split("-")[1])) for sign in os.listdir(signs)}
            say("both workers read partitions", owners == {"worker-a", "worker-b"})
            transforms(spark, folder, samples, fitted)
            odd_samples(spark)
            guide(spark)
            killed(spark, cluster, folder, samples)
            spark.stop()
        finally:
            cluster.stop()
    print(f"all checks passed in {time.monotonic() - STARTED:.0f} s")


if __name__ == "__main__":
    main()
