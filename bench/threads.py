"""What a second thread costs in CPU time and saves in wall time, and whether the bits stay the same."""

from functools import partial

import numpy as np

import cases
import series
import tables

NAMES = ["exyaleb-5", "exyaleb-auto", "usps-0.05", "mnist", "3500x2200", "200000x512", "1000000x128"]


def measure(problem: cases.Problem, repeats: int) -> dict:
    """One and two threads in turn; the least of each clock."""
    runs = {threads: partial(problem.fit, threads=threads) for threads in (1, 2)}
    fits = series.in_turn(runs, repeats)
    one, two = fits[1][-1], fits[2][-1]
    same = one.k == two.k and np.array_equal(one.sigma, two.sigma)
    return {
        "same_bits": bool(same),
        "cpu_seconds": [min(fit.seconds for fit in every) for every in fits.values()],
        "wall_seconds": [min(fit.wall for fit in every) for every in fits.values()],
    }


if __name__ == "__main__":
    # More often than others: with both processors in use, five runs are too few for the least to come out the same
    # again.
    series.measured("threads", __doc__, NAMES, measure, tables.threads, repeats=15)
