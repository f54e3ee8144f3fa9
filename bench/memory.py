"""Peak memory of a fit, in a process of its own that holds nothing but the samples.

The child reads the samples from a file, notes what it holds, sets the peak back, fits once and notes the peak. What the
fit took is the difference; the samples themselves are added, the interpreter is not.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import binding
import limit
import results

if TYPE_CHECKING:
    from cases import Problem

NUMBERS = {"f64": np.float64, "f32": np.float32, "u8": np.uint8}


def held(field: str) -> int:
    """A line of /proc/self/status, in bytes: VmRSS now, VmHWM at most so far."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024


def child(ask: dict) -> None:
    """Fits once and prints how much more memory was held at the peak."""
    x = np.fromfile(ask["file"], NUMBERS[ask["kind"]]).reshape(ask["n"], ask["m"])
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is what is held now
    before = held("VmRSS")
    fit = binding.fit(x, ask["rule"], ask["value"], unit=ask["unit"], center=ask["center"])
    print(json.dumps({"more": held("VmHWM") - before, "k": fit.k}))


def measure(problem: "Problem", kind: str, folder: str) -> dict:
    case, file = problem.case, Path(folder) / "samples"
    problem.raw[kind].tofile(file)
    ask = {"file": str(file), "kind": kind, "n": case.n, "m": case.m, "unit": case.unit, "center": case.center}
    ask |= {"rule": problem.rule, "value": problem.value}
    done = subprocess.run(
        [sys.executable, __file__, "--child", json.dumps(ask)], capture_output=True, text=True, check=True
    )
    answer = json.loads(done.stdout)
    parts = limit.memory_bytes(case.n, case.m, answer["k"], problem.raw[kind].itemsize)
    found = {"case": case.name, "n": case.n, "m": case.m, "k": answer["k"], "kind": kind}
    return found | {"input": parts["input"], "peak": parts["input"] + answer["more"], "limit": sum(parts.values())}


def parent(options: argparse.Namespace) -> None:
    import cases  # not in the child: it would hold SciPy
    import machine
    import tables

    machine.one_thread()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for problem in cases.loaded(options.case, options.quick):
            rows += [measure(problem, kind, folder) for kind in problem.raw]
    found = {"cases": rows, "machine": machine.facts()}
    results.save("memory", found, options.quick)
    print(tables.memory(found))


def main() -> None:
    parser = results.options(__doc__, repeats=1)
    parser.add_argument("--case", action="append", help="only this one (again for more)")
    parser.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child)
    else:
        parent(options)


if __name__ == "__main__":
    main()
