"""How the cost of a fit grows with the number of samples n and of features m; draws docs/plots/growth.svg."""

from pathlib import Path

import numpy as np

import binding
import cases
import limit
import machine
import plot
import results
import tables
from results import talk

K = 32
PLOT = Path(__file__).resolve().parent.parent / "docs" / "plots" / "growth.svg"
KINDS = {"f64": np.float64, "f32": np.float32}


def shapes(quick: bool) -> dict[str, list[tuple[int, int]]]:
    """The two walks: n at m = 256, and m at n = 8192."""
    samples = [2000 * 2**i for i in range(3 if quick else 7)]
    features = [128 * 2**i for i in range(2 if quick else 5)]
    return {"n": [(n, 256) for n in samples], "m": [(8192, m) for m in features]}


def cut_of(x: np.ndarray) -> float:
    """λ for which k = K."""
    squares = np.linalg.eigvalsh(x.T @ x)[::-1]
    return 1 / cases.between(np.sqrt(squares[: K + 1]), K) ** 2


def measure(walk: list[tuple[int, int]], repeats: int) -> dict[str, list[float]]:
    """Least CPU seconds for each shape, shapes interleaved."""
    data = [cases.synthetic(n, m, K) for n, m in walk]
    cuts = [cut_of(x) for x in data]
    least = {kind: [np.inf] * len(walk) for kind in KINDS}
    for kind, number in KINDS.items():
        typed = [x.astype(number, copy=False) for x in data]
        for _ in range(repeats):
            for i, (x, lam) in enumerate(zip(typed, cuts, strict=True)):
                fit = binding.fit(x, binding.LAMBDA, lam, unit=False, center=False)
                assert fit.k == K, f"{x.shape}: k = {fit.k}"
                least[kind][i] = min(least[kind][i], fit.seconds)
                talk(f"  {x.shape[0]} × {x.shape[1]} {kind}: {fit.seconds:.3f} s")
    return least


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """Slope of a straight line through the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def walked(along: str, walk: list[tuple[int, int]], repeats: int, peak: float) -> dict:
    sizes = [n if along == "n" else m for n, m in walk]
    least = measure(walk, repeats)
    return {
        "sizes": sizes,
        "fixed": "m = 256" if along == "n" else "n = 8192",
        "seconds": least,
        "limit_seconds": [limit.seconds(n, m, K, peak) for n, m in walk],
        "exponent": {kind: exponent(sizes, times) for kind, times in least.items()},
        "exponent_of_last_step": {kind: exponent(sizes[-2:], times[-2:]) for kind, times in least.items()},
    }


def main() -> None:
    options = results.options(__doc__, repeats=5).parse_args()
    machine.one_thread()
    facts = machine.facts()
    peak = facts["fma_peak_gflops"] * 1e9
    walks = shapes(options.quick).items()
    found = {along: walked(along, walk, options.repeats, peak) for along, walk in walks}
    results.save("growth", {"k": K, "machine": facts} | found, options.quick)
    print(tables.growth(found | {"k": K}))
    if not options.quick:
        PLOT.parent.mkdir(parents=True, exist_ok=True)
        PLOT.write_text(plot.growth(found))


if __name__ == "__main__":
    main()
