"""What a series of cases has in common: fits in turn, a row a case, all of it saved and printed."""

from collections.abc import Callable, Hashable
from typing import TypeVar

import cases
import machine
import results

Name = TypeVar("Name", bound=Hashable)
Result = TypeVar("Result")


def in_turn(runs: dict[Name, Callable[[], Result]], repeats: int) -> dict[Name, list[Result]]:
    """Each run once, then all again: what disturbs the machine disturbs them all."""
    found: dict[Name, list[Result]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            found[name].append(run())
    return found


def measured(
    name: str,
    about: str | None,
    names: list[str],
    measure: Callable[[cases.Problem, int], dict],
    table: Callable[[dict], str],
    repeats: int = 5,
) -> None:
    """Measures the cases `names`, writes `bench/results/NAME.json` and prints the table."""
    options = results.options(about, repeats).parse_args()
    machine.one_thread()
    rows = []
    for problem in cases.loaded(names, options.quick):
        case = problem.case
        found = {"case": case.name, "n": case.n, "m": case.m, "k": problem.k}
        rows.append(found | measure(problem, options.repeats))
    found = {"cases": rows, "machine": machine.facts()}
    results.save(name, found, options.quick)
    print(table(found))
