"""What is promised, and whether the results keep it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import results
import tables
from peers import THIN, UNTOLD

COVARIANCE = {"mnist": 1.1, "mnist-centred": 1.1, "200000x512": 1.1, "1000000x128": 1.3}
ITERATIVE = ("exyaleb-5", "3500x2200")
TALL = ("mnist", "200000x512", "1000000x128")  # not mnist-centred: whole numbers are multiplied as such in any type


@dataclass(frozen=True)
class Target:
    """A claim about one number."""

    claim: str
    value: float
    bound: float
    least: bool = True  # the number should be at least the bound, or at most

    @property
    def kept(self) -> bool:
        return self.value >= self.bound if self.least else self.value <= self.bound

    def line(self) -> list[str]:
        sign = "≥" if self.least else "≤"
        return [self.claim, tables.small(self.value), f"{sign} {self.bound:g}", "yes" if self.kept else "**no**"]


def thin_bound(found: dict) -> float:
    """How much faster than a thin SVD; 0 where nothing is promised."""
    if found["cut"] == "auto":
        return 2.5
    share = found["k"] / min(found["n"], found["m"])
    return 5.0 if share <= 1 / 8 else 3.5 if share <= 1 / 4 else 0.0


def of_case(found: dict) -> Iterator[Target]:
    name, base = found["case"], tables.ours(found).get("seconds", math.nan)
    mine = [row for row in found["candidates"] if row["family"] == "ours"]
    right = [row.get("right_k") for row in mine]
    yield Target(f"{name}: share of number types with k right", right.count(True) / len(right), 1)
    proved = [row.get("certified") for row in mine if row["name"] != "eigenspan f32"]
    yield Target(f"{name}: share of f64 and 8 bits with k proved", proved.count(True) / len(proved), 1)
    if peer := tables.fastest(found):
        yield Target(f"{name}: fastest exact peer ({peer['name']}) ÷ ours", peer["seconds"] / base, 1)
        whole = (peer["seconds"] + (0 if peer["centres"] else found["preparing_seconds"])) / base
        yield Target(f"{name}: the same with its samples prepared by NumPy", whole, 1)
    if peer := tables.named(found, UNTOLD):
        yield Target(f"{name}: {UNTOLD}, ÷ ours", peer["seconds"] / base, 1)
    if name in ITERATIVE and (peer := tables.fastest(found, "iterative")):
        yield Target(f"{name}: best iterative exact peer ({peer['name']}) ÷ ours", peer["seconds"] / base, 2)
    if name in COVARIANCE and (peer := tables.named(found, "sklearn PCA covariance_eigh")):
        yield Target(f"{name}: covariance_eigh ÷ ours", peer["seconds"] / base, COVARIANCE[name])
    thin = [row["seconds"] for peer in THIN if (row := tables.named(found, peer))]
    if thin and (bound := thin_bound(found)):
        yield Target(f"{name}: fastest thin SVD ÷ ours", min(thin) / base, bound)
    if name in TALL:
        yield Target(f"{name}: ours f64 ÷ ours f32", base / tables.ours(found, "f32").get("seconds", math.nan), 1.6)


def of_rest(quick: bool) -> Iterator[Target]:
    for row in results.load("sweep", quick).get("cases", ()):
        ratio = row["sweep_seconds"] / row["one_seconds"]
        yield Target(f"{row['case']}: sweep of {row['lambdas']} λ ÷ one fit", ratio, 1.1, least=False)
    for row in results.load("threads", quick).get("cases", ()):
        one, two = row["cpu_seconds"]
        yield Target(f"{row['case']}: CPU time of two threads ÷ one", two / one, 1.1, least=False)
    for row in results.load("memory", quick).get("cases", ()):
        share = row["peak"] / row["limit"]
        yield Target(f"{row['case']} {row['kind']}: peak memory ÷ allowed", share, 1, least=False)


    kernels = results.load("kernels", quick)
    for row in kernels.get("cases", ()):
        seconds, share = row["seconds"], tables.share_of_peak(row, kernels["machine"])
        yield Target(f"{row['case']}: Gram of bytes, dsyrk ÷ ours", seconds["dsyrk"] / seconds["u8"], 2)
        yield Target(f"{row['case']}: Gram in f64 ÷ in f32", seconds["f64"] / seconds["f32"], 1.7)
        if share and min(row["n"], row["m"]) >= 512:
            yield Target(f"{row['case']}: Gram in f64, share of the FMA peak", share, 0.75)


def of_python(quick: bool) -> Iterator[Target]:
    found = results.load("python", quick)
    if found:
        cost = found["overhead"]
        yield Target("CPU time of a fit from Python ÷ from C", cost["python"] / cost["native"], 1.02, least=False)
        right = [row["right_k"] for case in found["cases"] for row in case["candidates"][:1]]
        yield Target("PCE in Python: share of cases with k right", right.count(True) / len(right), 1)


def of_methods(quick: bool) -> Iterator[Target]:
    for part in results.load("methods", quick).get("parts", {}).values():
        for row in part:
            yield Target(row["what"], row["value"], row["wanted"], row["least"])


def every(cases: list[dict], quick: bool) -> list[Target]:
    rest = [*of_rest(quick), *of_python(quick), *of_methods(quick)]
    return [target for found in cases for target in of_case(found)] + rest
