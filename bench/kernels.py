"""The Gram matrix of the small side alone, in f64, f32 and bytes, against OpenBLAS `dsyrk` on the same real images."""

import time

import numpy as np
from scipy.linalg.blas import dsyrk

import binding
import cases
import machine
import results
import tables
from results import talk

NAMES = ["exyaleb-5", "usps-0.05", "mnist"]


def blas(x: np.ndarray) -> tuple[np.ndarray, float]:
    """The lower triangle of XᵀX or XXᵀ. A row-major X is its transpose in the order that BLAS reads without a copy."""
    start = time.process_time()
    square = dsyrk(1.0, x.T, trans=x.shape[0] < x.shape[1], lower=False).T
    return square, time.process_time() - start


def measure(case: cases.Case, repeats: int) -> dict:
    """All in turn, the least of each; bytes have to give exactly what `dsyrk` gives of whole numbers. Clocks change, so the
    peak is measured right before and after every run in f64, and the share is that of the fastest run."""
    images = cases.rows_of(case)
    p, q = min(images.shape), max(images.shape)
    every = {"f64": images.astype(np.float64), "f32": images.astype(np.float32), "u8": images}
    seconds, peak = dict.fromkeys(("dsyrk", *every), np.inf), 0.0
    for _ in range(repeats):
        reference, spent = blas(every["f64"])
        seconds["dsyrk"] = min(seconds["dsyrk"], spent)
        for kind, x in every.items():
            before = binding.fma_peak() if kind == "f64" else 0.0
            square, spent = binding.gram(x)
            if kind == "f64" and spent < seconds[kind]:
                peak = (before + binding.fma_peak()) / 2
            seconds[kind] = min(seconds[kind], spent)
            off = np.abs(np.tril(square) - np.tril(reference)).max() / np.abs(reference).max()
            if off > (1e-6 if kind == "f32" else 0):
                raise SystemExit(f"{case.name}, {kind}: off by {off:.0e}")
    found = {"case": case.name, "n": case.n, "m": case.m, "operations": q * p * p, "seconds": seconds}
    return found | ({"share_of_peak": q * p * p / seconds["f64"] / peak} if peak else {})


def main() -> None:
    options = results.options(__doc__, repeats=10).parse_args()
    machine.one_thread()
    rows = []
    for case in cases.chosen(NAMES, options.quick):
        try:
            rows.append(measure(case, options.repeats))
        except FileNotFoundError as absent:
            talk(f"  skipped: {absent}")
    found = {"cases": rows, "machine": machine.facts()}
    results.save("kernels", found, options.quick)
    print(tables.kernels(found))


if __name__ == "__main__":
    main()
