"""Fifty λ for the price of one: a fit at the largest λ, then k for every λ from its path."""

import numpy as np

import binding
import cases
import machine
import results
import tables

NAMES = ["exyaleb-50", "usps-0.05", "mnist", "3500x2200"]
COUNT = 50


def measure(problem: cases.Problem, repeats: int) -> dict:
    case, x = problem.case, problem.raw["f64"]
    lambdas = np.geomspace(problem.value / 1e4, problem.value, COUNT)
    lambdas[-1] = problem.value
    one = many = np.inf
    for _ in range(repeats):
        one = min(one, problem.fit().seconds)
        fit, ks = binding.sweep(x, lambdas, unit=case.unit, center=case.center)
        many = min(many, fit.seconds)
    true = (problem.sigma[None, :] ** 2 > 1 / lambdas[:, None]).sum(axis=1)
    right = bool((ks == true).all())
    found = {"case": case.name, "n": case.n, "m": case.m, "k": problem.k, "lambdas": COUNT}
    return found | {"one_seconds": one, "sweep_seconds": many, "every_k_right": right}


def main() -> None:
    options = results.options(__doc__, repeats=5).parse_args()
    machine.one_thread()
    rows = [measure(problem, options.repeats) for problem in cases.loaded(NAMES, options.quick)]
    found = {"cases": rows, "machine": machine.facts()}
    results.save("sweep", found, options.quick)
    print(tables.sweep(found))


if __name__ == "__main__":
    main()
