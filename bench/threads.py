"""What a second thread costs in CPU time and saves in wall time, and whether the bits stay the same."""

import numpy as np

import cases
import machine
import results
import tables

NAMES = ["exyaleb-5", "exyaleb-auto", "usps-0.05", "mnist", "3500x2200", "200000x512", "1000000x128"]


def measure(problem: cases.Problem, repeats: int) -> dict:
    """One and two threads in turn; the least of each clock."""
    cpu, wall, fits = {1: np.inf, 2: np.inf}, {1: np.inf, 2: np.inf}, {}
    for _ in range(repeats):
        for threads in (1, 2):
            fits[threads] = fit = problem.fit(threads=threads)
            cpu[threads] = min(cpu[threads], fit.seconds)
            wall[threads] = min(wall[threads], fit.wall)
    same = fits[1].k == fits[2].k and np.array_equal(fits[1].sigma, fits[2].sigma)
    case = problem.case
    found = {"case": case.name, "n": case.n, "m": case.m, "k": problem.k, "same_bits": bool(same)}
    return found | {"cpu_seconds": list(cpu.values()), "wall_seconds": list(wall.values())}


def main() -> None:
    options = results.options(__doc__, repeats=5).parse_args()
    machine.one_thread()
    rows = [measure(problem, options.repeats) for problem in cases.loaded(NAMES, options.quick)]
    found = {"cases": rows, "machine": machine.facts()}
    results.save("threads", found, options.quick)
    print(tables.threads(found))


if __name__ == "__main__":
    main()
