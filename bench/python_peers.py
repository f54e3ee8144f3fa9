"""`eigenspan.PCE` as Python users call it against the peers: CPU time and peak memory, and what the binding costs.

Every run is a process of its own that holds nothing but the samples, one candidate after the other and all again. PCE gets
raw samples; peers get prepared ones and are given k.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import binding
import cases
import machine
import results
import tables
from memory import held
from peers import NOT_RUN, PEERS
from results import talk

OURS = "eigenspan.PCE"
NAMES = ["exyaleb-5", "exyaleb-auto", "usps-0.05", "usps-auto", "mnist", "3500x2200", "200000x512", "1000000x128"]
THEIRS = [peer for peer in PEERS if not peer.untold and not peer.name.startswith(("faer", "linfa"))]
SLOW = 10.0
OVERHEAD = (60_000, 256, 30)  # about a tenth of a second


def settings(problem: cases.Problem) -> dict:
    """The case in the words of PCE."""
    case = problem.case
    lam = "auto" if case.auto else problem.value
    return {"lam": lam, "normalize": "unit" if case.unit else "none", "center": case.center, "n_jobs": 1}


def ours(x: np.ndarray, ask: dict) -> tuple[float, int]:
    from eigenspan import PCE

    start = time.process_time()
    fitted = PCE(**ask["settings"]).fit(x)
    return time.process_time() - start, fitted.k_


def theirs(x: np.ndarray, ask: dict) -> tuple[float, int]:
    case = next(case for case in cases.CASES if case.name == ask["case"])
    problem = cases.Problem(case, {}, x, np.array(ask["sigma"]), np.array([]), tau=ask["tau"])
    fit = next(peer for peer in THEIRS if peer.name == ask["name"]).run(problem)
    return fit.seconds, int((fit.sigma[: problem.k] > problem.tau).sum())


def child(ask: dict) -> None:
    """Fits once; prints CPU time, k, and how much more memory was held at the peak."""
    machine.one_thread()
    x = np.fromfile(ask["file"]).reshape(ask["shape"])
    if ask["name"] == OURS:
        from eigenspan import PCE

        PCE(dim=1).fit(x[:50])  # modules that are loaded at the first call
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is what is held now
    before = held("VmRSS")
    seconds, k = (ours if ask["name"] == OURS else theirs)(x, ask)
    print(json.dumps({"seconds": seconds, "k": k, "more": held("VmHWM") - before}))


def run(ask: dict) -> dict:
    done = subprocess.run([sys.executable, __file__, "--child", json.dumps(ask)], capture_output=True, text=True)
    if done.returncode:
        return {"note": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout)


def measure(problem: cases.Problem, folder: str, repeats: int) -> dict:
    case = problem.case
    raw, prepared = Path(folder) / "raw", Path(folder) / "prepared"
    problem.raw["f64"].tofile(raw)
    problem.prepared.tofile(prepared)
    common = {"case": case.name, "shape": problem.prepared.shape, "tau": problem.tau}
    asks = [common | {"name": OURS, "file": str(raw), "settings": settings(problem)}]
    sigma = problem.sigma.tolist()
    skipped = NOT_RUN.get(case.name, ())
    asks += [common | {"name": p.name, "file": str(prepared), "sigma": sigma} for p in THEIRS if p.name not in skipped]
    # A PCA centers whether asked or not: its count is that of the centered samples.
    of_centred = int((problem.sigma_centred[: problem.k] > problem.tau).sum())
    expected = {peer.name: of_centred if peer.centres else problem.k for peer in THEIRS} | {OURS: problem.k}
    found: dict[str, dict] = {}
    for turn in range(repeats):
        for ask in asks:
            name = ask["name"]
            best = found.get(name)
            if best and ("note" in best or best["seconds"] > SLOW):
                continue
            answer = run(ask)
            answer["right_k"] = answer.get("k") == expected[name]
            talk(f"  {turn + 1}/{repeats} {name}: {answer.get('seconds', answer.get('note'))}")
            if not best or answer.get("seconds", np.inf) < best["seconds"]:
                found[name] = answer
    rows = [{"name": name} | answer for name, answer in found.items()]
    return {"case": case.name, "n": case.n, "m": case.m, "k": problem.k, "candidates": rows}


def overhead(repeats: int) -> dict:
    """The same fit through Python and through a bare C interface, in turn in one process."""
    from eigenspan import PCE

    n, m, k = OVERHEAD
    x = cases.synthetic(n, m, k)
    lam = cases.between(cases.reference(cases.centred(x)), k) ** -2
    python, native = [], []
    for _ in range(repeats):
        native.append(binding.fit(x, binding.LAMBDA, lam, unit=False, center=True).seconds)
        start = time.process_time()
        PCE(lam, normalize="none", center=True, n_jobs=1).fit(x)
        python.append(time.process_time() - start)
    return {"n": n, "m": m, "native": min(native), "python": min(python)}


def main() -> None:
    parser = results.options(__doc__, repeats=3)
    parser.add_argument("--case", action="append", help="only this one (again for more)")
    parser.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.child)
    machine.one_thread()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for problem in cases.loaded(options.case or NAMES, options.quick):
            rows.append(measure(problem, folder, options.repeats))
    found = {"cases": rows, "overhead": overhead(15), "machine": machine.facts()}
    results.save("python", found, options.quick)
    print(tables.python(found))
    return None


if __name__ == "__main__":
    main()
