"""The tables from bench/results: to the screen, or with --write into README.md and bench/results/README.md.

In README.md the summary goes between the lines <!-- bench:start --> and <!-- bench:end -->.
"""

import argparse
import re
from pathlib import Path

import cases
import results
import tables
import targets
from peers import THIN
from results import talk

START, END = "<!-- bench:start -->", "<!-- bench:end -->"
TOP = Path(__file__).resolve().parent.parent / "README.md"

COLUMNS = """\
One thread, CPU time, the least of several interleaved runs (`bench/run`), as multiples of ours in f64: 2.0× took twice
as long. eigenspan gets raw samples, finds k itself and proves it; peers get prepared samples and are given k. *Exact*: right
k, and every singular value to 1e-6. *Ours in f32, in 8 bits*: how many times as fast on the same samples in those numbers.
*÷ flop limit*: our time ÷ that of the least arithmetic at the peak of the core."""

NOTE = "¹ centres the samples whatever is asked, a slightly different problem; k and error are judged on that problem."


def measured(quick: bool) -> list[dict]:
    found = [results.load(f"cases/{case.name}", quick) for case in cases.CASES]
    return [case for case in found if case]


def summary(every: list[dict]) -> str:
    on = tables.machine(every[0]["machine"])
    return f"{tables.summary(every, THIN)}\n\n{COLUMNS} {on}\n"


def rest(quick: bool) -> str:
    """The measurements that are not against peers."""
    drawn = {"growth": tables.growth, "sweep": tables.sweep, "threads": tables.threads, "memory": tables.memory}
    drawn |= {"kernels": tables.kernels, "python": tables.python, "methods": tables.methods}
    found = {name: results.load(name, quick) for name in drawn}
    parts = [f"## {name.capitalize()}\n\n{draw(found[name])}\n" for name, draw in drawn.items() if found[name]]
    return "\n".join([*parts, "![cost against size](../../docs/plots/growth.svg)\n" if found["growth"] else ""])


def promises(every: list[dict], quick: bool) -> str:
    lines = [target.line() for target in targets.every(every, quick)]
    return f"## Targets\n\n{tables.table(['claim', 'measured', 'target', 'kept'], lines)}\n"


def page(every: list[dict], quick: bool) -> str:
    """Everything that was measured."""
    peers = "".join(tables.peers_of(found) for found in every)
    parts = [
        "# Results\n\nWritten by `bench/run report --write`; do not edit.\n",
        summary(every),
        promises(every, quick),
        f"## Every candidate\n{peers}\n{NOTE}\n",
        rest(quick),
    ]
    return "\n".join(parts)


def put_between(text: str, inside: str) -> str | None:
    """`text` with `inside` between the markers, or nothing where it has none."""
    pattern = re.compile(f"({START}\n).*?({END})", re.DOTALL)
    return pattern.sub(lambda found: found[1] + inside + found[2], text) if pattern.search(text) else None


def write(every: list[dict]) -> None:
    (results.FOLDER / "README.md").write_text(page(every, quick=False))
    with_table = put_between(TOP.read_text(), summary(every))
    if with_table is None:
        talk(f"README.md has no {START} and {END}: left alone")
    else:
        TOP.write_text(with_table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="of the quick results")
    parser.add_argument("--write", action="store_true", help="write the files instead of the screen")
    parser.add_argument("--check", action="store_true", help="fail where a target is missed")
    options = parser.parse_args()
    every = measured(options.quick)
    if not every:
        raise SystemExit("nothing measured yet: bench/run cases")
    if options.write and not options.quick:
        write(every)
    else:
        print(page(every, options.quick))
    if options.check and not all(target.kept for target in targets.every(every, options.quick)):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
