"""Fifty λ for the price of one: a fit at the largest λ, then k for every λ from its path."""

from functools import partial

import numpy as np

import binding
import cases
import series
import tables

NAMES = ["exyaleb-50", "usps-0.05", "mnist", "3500x2200"]
COUNT = 50


def measure(problem: cases.Problem, repeats: int) -> dict:
    case, x = problem.case, problem.raw["f64"]
    lambdas = np.geomspace(problem.value / 1e4, problem.value, COUNT)
    lambdas[-1] = problem.value
    sweep = partial(binding.sweep, x, lambdas, unit=case.unit, center=case.center)
    runs = series.in_turn({"one": problem.fit, "sweep": sweep}, repeats)
    swept, counts = zip(*runs["sweep"], strict=True)
    true = (problem.sigma[None, :] ** 2 > 1 / lambdas[:, None]).sum(axis=1)
    return {
        "lambdas": COUNT,
        "one_seconds": min(fit.seconds for fit in runs["one"]),
        "sweep_seconds": min(fit.seconds for fit in swept),
        "every_k_right": all(np.array_equal(ks, true) for ks in counts),
    }


if __name__ == "__main__":
    series.measured("sweep", __doc__, NAMES, measure, tables.sweep)
