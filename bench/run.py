"""Time against the peers: one thread, CPU time, candidates interleaved, the least of several runs.

Prints a Markdown table for each case and writes `bench/results/cases/CASE.json`.
"""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import cases
import limit
import machine
import results
import tables
from binding import Fit, Refused
from cases import Problem
from peers import NOT_RUN, PEERS
from results import talk

EXACT = 1e-6  # a peer is exact where k is right and every singular value is right to this


@dataclass
class Candidate:
    """A way to solve a problem, and how its runs went."""

    name: str
    family: str
    run: Callable[[Problem], Fit]
    centres: bool = False
    fits: list[Fit] = field(default_factory=list)
    note: str = ""

    def once(self, problem: Problem) -> None:
        gc.collect()
        try:
            self.fits.append(self.run(problem))
        except (Refused, RuntimeError, ValueError, np.linalg.LinAlgError, MemoryError) as refusal:
            self.note = f"failed: {refusal or 'gave no result'}"

    @property
    def seconds(self) -> float:
        return min((fit.seconds for fit in self.fits), default=np.inf)


def ours(kind: str) -> Candidate:
    return Candidate(f"eigenspan {kind}", "ours", lambda problem: problem.fit(kind))


def candidates(problem: Problem, wanted: str) -> list[Candidate]:
    """Ours in every number type, then the peers whose name has `wanted` in it."""
    full_size = problem.case in cases.CASES
    skipped = NOT_RUN.get(problem.case.name, ()) if full_size else ()
    found = [ours(kind) for kind in problem.raw]
    for peer in (peer for peer in PEERS if wanted.lower() in peer.name.lower()):
        if peer.untold and not problem.case.auto:
            continue
        note = "not run" if peer.name in skipped else ""
        found.append(Candidate(peer.name, peer.family, peer.run, peer.centres, note=note))
    return found


def preparing(problem: Problem) -> float:
    """What scaling or centring the samples costs in NumPy."""
    start = time.process_time()
    cases.prepare(problem.case, problem.raw["f64"])
    return time.process_time() - start


def measure(problem: Problem, wanted: str, repeats: int, slow: float) -> tuple[list[Candidate], float]:
    """Every candidate in turn, again and again, and the preparation that peers get for free. A candidate that takes over
    `slow` seconds and three times ours runs once."""
    every, prepared = candidates(problem, wanted), np.inf
    for turn in range(repeats):
        prepared = min(prepared, preparing(problem))
        for candidate in every:
            too_slow = turn > 0 and candidate.seconds > max(slow, 3 * every[0].seconds)
            if not candidate.note and not too_slow:
                candidate.once(problem)
                talk(f"  {turn + 1}/{repeats} {candidate.name}: {candidate.seconds:.3f} s {candidate.note}")
    return every, prepared


def judged(candidate: Candidate, problem: Problem) -> dict:
    """Time, k and the largest relative error among the k values requested."""
    row = {"name": candidate.name, "family": candidate.family, "note": candidate.note}
    if not candidate.fits:
        return row
    fit = candidate.fits[0]
    true = (problem.sigma_centred if candidate.centres else problem.sigma)[: problem.k]
    found = fit.sigma[: problem.k]
    k = fit.k if candidate.family == "ours" else int((found > problem.tau).sum())
    missing = len(found) < len(true)
    error = 1.0 if missing else float(np.abs(found / true - 1).max(initial=0))
    right = k == int((true > problem.tau).sum())
    row |= {"seconds": candidate.seconds, "runs": len(candidate.fits), "k": k, "error": error}
    row |= {"exact": right and error <= EXACT, "right_k": right, "centres": candidate.centres}
    if candidate.family == "ours":
        row |= {"solver": fit.solver, "certified": fit.certified}
    return row


def record(problem: Problem, every: list[Candidate], prepared: float, facts: dict) -> dict:
    case = problem.case
    peak = facts["fma_peak_gflops"] * 1e9
    return {
        "case": case.name,
        "n": case.n,
        "m": case.m,
        "cut": "auto" if case.auto else "k" if case.k else "lambda",
        "lambda": problem.tau**-2,
        "k": problem.k,
        "unit_rows": case.unit,
        "centred": case.center,
        "limit_seconds": limit.seconds(case.n, case.m, problem.k, peak),
        "preparing_seconds": prepared,
        "candidates": [judged(candidate, problem) for candidate in every],
        "machine": facts,
    }


def main() -> None:
    parser = results.options(__doc__, repeats=5)
    parser.add_argument("--case", action="append", help="only this one (again for more)")
    parser.add_argument("--peer", default="", help="only peers with this in their name; nothing is written then")
    parser.add_argument("--limit", type=float, default=10, help="slower peers run once, seconds (10)")
    options = parser.parse_args()
    machine.one_thread()
    facts = machine.facts()
    for problem in cases.loaded(options.case, options.quick):
        every, prepared = measure(problem, options.peer, options.repeats, options.limit)
        found = record(problem, every, prepared, facts)
        if not options.peer:
            results.save(f"cases/{problem.case.name}", found, options.quick)
        print(tables.peers_of(found), flush=True)


if __name__ == "__main__":
    main()
