"""A fit that reads a file once, against the fit in memory and scikit-learn's `IncrementalPCA`, on the same bytes.

    cargo build --release -p eigenspan-cli
    python bench/scale.py [--gigabytes 4] [--features 1000] [--numbers f8] [--rounds 3] [--max-memory 200]

The file is written first and read once, so that it lies in the page cache where that is large enough. Programs take turns; every
figure is a ratio of medians of one run of this script. All of them keep 20 directions of centred samples; how far each is from
the eigenvalues of the exact scatter matrix is printed beside it, and the most memory that the streaming fit held. Where a cgroup
can be made (as root), it runs in one that allows 64 MB more than it was told.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np
from sklearn.decomposition import IncrementalPCA

ROOT = pathlib.Path(__file__).resolve().parents[1]
KEEP = 20


def write(path, gigabytes, m, numbers):
    """Planted directions of falling strength in noise, in chunks."""
    n = int(gigabytes * 1e9 / np.dtype(numbers).itemsize / m)
    random = np.random.default_rng(0)
    directions = random.normal(size=(40, m)).astype(np.float32) * (np.geomspace(3, 0.1, 40, dtype=np.float32)[:, None])
    file = np.lib.format.open_memmap(path, mode="w+", dtype=numbers, shape=(n, m))
    for start in range(0, n, 10_000):
        rows = min(10_000, n - start)
        file[start : start + rows] = random.normal(size=(rows, 40)).astype(np.float32) @ directions
        file[start : start + rows] += random.standard_normal((rows, m), dtype=np.float32)
    file.flush()
    return n


def exact(path):
    """The largest singular values of the centred samples, by the scatter matrix in double precision."""
    x = np.load(path, mmap_mode="r")
    total, mean = np.zeros((x.shape[1], x.shape[1])), np.zeros(x.shape[1])
    for start in range(0, len(x), 20_000):
        mean += x[start : start + 20_000].sum(axis=0, dtype=np.float64)
    mean /= len(x)
    for start in range(0, len(x), 20_000):
        block = x[start : start + 20_000].astype(np.float64) - mean
        total += block.T @ block
    return np.sqrt(np.linalg.eigvalsh(total)[::-1][:KEEP])


@contextlib.contextmanager
def confined(limit):
    """A cgroup whose processes may hold so many bytes: its file of processes, or None where there can be none."""
    for folder, name in ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"):
        group = pathlib.Path(folder, f"eigenspan-bench-{os.getpid()}")
        with contextlib.suppress(OSError):
            group.mkdir()
            if (group / name).exists():  # made by the kernel: elsewhere it is a folder like any other
                (group / name).write_text(str(limit))
                break
            group.rmdir()
    else:
        yield None
        return
    try:
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


def eigenspan(program, path, folder, *more, inside=None):
    """Seconds of a fit, and the most bytes that it held in memory."""
    model = folder / "model.espan"
    command = [program, "fit", path, "--method", "pca", "--dim", str(KEEP), "-o", model, *more]
    enter = (lambda: inside.write_text(str(os.getpid()))) if inside else None
    started = time.perf_counter()
    child = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, preexec_fn=enter)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(child.args)}: exit code {child.returncode}")
    return time.perf_counter() - started, used.ru_maxrss * 1024


def sigma_of(folder):
    """The singular values in a model file: safetensors."""
    content = (folder / "model.espan").read_bytes()
    length = int.from_bytes(content[:8], "little")
    start, end = json.loads(content[8 : 8 + length])["sigma"]["data_offsets"]
    return np.frombuffer(content[8 + length + start : 8 + length + end])[:KEEP]


def incremental(path):
    started = time.perf_counter()
    x = np.load(path, mmap_mode="r")
    pca = IncrementalPCA(KEEP)
    for start in range(0, len(x), 5 * x.shape[1]):
        block = np.array(x[start : start + 5 * x.shape[1]])
        if len(block) >= KEEP:
            pca.partial_fit(block)
    return time.perf_counter() - started, pca.singular_values_


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--features", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--numbers", default="f8", choices=["f4", "f8"])
    parser.add_argument("--max-memory", default=1000, type=int, metavar="MB")
    parser.add_argument("--program", default=ROOT / "target" / "release" / "eigenspan")
    parser.add_argument("--folder", default=None)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = pathlib.Path(name)
        path = folder / "x.npy"
        n = write(path, args.gigabytes, args.features, args.numbers)
        want = exact(path)
        times, errors, most = {}, {}, 0
        allowed = args.max_memory * 10**6 + (64 << 20)

        def note(who, seconds, sigma):
            times.setdefault(who, []).append(seconds)
            errors[who] = float(np.max(np.abs(sigma - want)) / want[0])

        for _ in range(args.rounds):
            with confined(allowed) as inside:
                limit = ["--max-memory", f"{args.max_memory}MB"]
                seconds, held = eigenspan(args.program, path, folder, *limit, inside=inside)
            most = max(most, held)
            note("streaming", seconds, sigma_of(folder))
            seconds, _ = eigenspan(args.program, path, folder)
            note("in memory", seconds, sigma_of(folder))
            note("IncrementalPCA", *incremental(path))
    middle = {who: statistics.median(seconds) for who, seconds in times.items()}
    print(f"{n} x {args.features} {args.numbers}, {args.gigabytes} GB, {os.cpu_count()} cores, {args.rounds} rounds, {KEEP} directions")
    print(f"streaming / in memory        {middle['streaming'] / middle['in memory']:.2f}")
    print(f"IncrementalPCA / streaming   {middle['IncrementalPCA'] / middle['streaming']:.2f}")
    where = "in a cgroup that allows no more" if inside else "no cgroup could be made"
    print(f"most memory held: {most / 1e6:.0f} MB of {allowed / 1e6:.0f} MB allowed; {where}")
    for who, error in errors.items():
        print(f"largest error of a singular value, share of the first: {who:<15} {error:.1e}")


if __name__ == "__main__":
    main()
