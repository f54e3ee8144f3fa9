"""What was measured on: the machine, the versions, the thread counts."""

import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

import numpy  # noqa: F401 - loads the BLAS that is checked below
import scipy.linalg  # noqa: F401
from threadpoolctl import threadpool_info, threadpool_limits

import binding

PACKAGES = ("numpy", "scipy", "scikit-learn", "fbpca")
CRATES = ("faer", "linfa-reduction")


def one_thread() -> None:
    """Pins every library to one thread and makes sure that it took."""
    threadpool_limits(1)
    if many := [pool["filepath"] for pool in threadpool_info() if pool["num_threads"] != 1]:
        raise SystemExit(f"more than one thread in {many}: start by bench/run")


def processor() -> str:
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()


def crates() -> dict[str, str]:
    lock = (Path(__file__).resolve().parent / "native" / "Cargo.lock").read_text()
    pairs = dict(re.findall(r'name = "([^"]+)"\nversion = "([^"]+)"', lock))
    return {name: pairs[name] for name in CRATES}


def blas() -> str:
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return ", ".join(sorted({f"{pool['internal_api']} {pool['version']}" for pool in pools}))


def rustc() -> str:
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]


def facts() -> dict:
    return {
        "processor": processor(),
        "system": platform.system(),
        "fma_peak_gflops": round(binding.fma_peak() / 1e9, 1),
        "python": platform.python_version(),
        "rust": rustc(),
        "blas": blas(),
        "versions": {name: version(name) for name in PACKAGES} | crates(),
    }
