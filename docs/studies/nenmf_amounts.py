"""The nearest neighbour on features of NeNMF: amounts of the parts, found by a solver that is stopped early.

    python docs/studies/nenmf_amounts.py [FOLDER]      default ../shared/data; needs eigenspan (pip install .) and NumPy

NeNMF as published finds the parts W of the training samples. The features of a sample x are then the amounts h ≥ 0 that make
‖x − Wh‖ small, by the solver of NeNMF itself (Nesterov's method with steps of 1/‖WᵀW‖₂), begun at zero and stopped after so
many steps. One step gives max(Wᵀx, 0)/‖WᵀW‖₂, which is Wᵀx in another unit; all steps give the amounts by least squares.
Nearest neighbour, three partitions, the same as those of `eigenspan evaluate --seed 1`.
"""

import pathlib
import sys

import numpy as np

import eigenspan

STEPS = (1, 10, 15, 20, 25, 30, 50, 100, 1000)
PARTITIONS = (1, 2, 3)
# Samples to train on, columns, and the paper's accuracy: Table III, Table IV with 300 columns, Table IV with its best number.
CELLS = ((1520, 300, 47.63), (760, 300, 51.42), (760, 148, 69.88))


def amounts(parts, samples, steps):
    """h after each of some numbers of steps, a row a sample."""
    gram, products = parts @ parts.T, samples @ parts.T
    length = 1 / np.linalg.norm(gram, 2)
    here = led = np.zeros_like(products)
    momentum = 1.0
    for step in range(1, max(steps) + 1):
        before, here = here, np.maximum(led - (led @ gram - products) * length, 0)
        after = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        led, momentum = here + (momentum - 1) / after * (here - before), after
        if step in steps:
            yield here


def right(known, classes, asked, truth):
    """How many of a hundred have a nearest neighbour of their own class."""
    nearest = ((known**2).sum(1) - 2 * asked @ known.T).argmin(1)
    return 100 * np.mean(classes[nearest] == truth)


def accuracies(x, y, train, columns, partition):
    one, two = eigenspan.datasets.split(len(x), train, random_state=1, repeat=partition)
    published = {"start": "uniform", "tol": 1e-5, "normalize": "unit", "unit_parts": False}
    parts = eigenspan.NeNMF(columns, **published).fit(x[one]).components_
    both = zip(amounts(parts, x[one], STEPS), amounts(parts, x[two], STEPS))
    return [right(known, y[one], asked, y[two]) for known, asked in both]


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    with np.load(folder / "exyaleb_54x48_first58.npz") as file:
        x, y = file["X"].reshape(len(file["X"]), -1).astype(float), file["y"].ravel()
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    print("| train | columns | paper |" + "".join(f" {steps} |" for steps in STEPS))
    print("|--:" * (len(STEPS) + 3) + "|")
    for train, columns, paper in CELLS:
        found = np.array([accuracies(x, y, train, columns, partition) for partition in PARTITIONS])
        cells = "".join(f" {mean:.2f} ± {sd:.2f} |" for mean, sd in zip(found.mean(0), found.std(0, ddof=1)))
        print(f"| {train} | {columns} | {paper} |{cells}", flush=True)


if __name__ == "__main__":
    main()
