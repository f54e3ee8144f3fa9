"""The rule over the zoo: `run.py FIRST_SEED SEEDS CELLS OUT.pkl`, with CELLS random cells of every noise and shape a seed."""

import pickle
import sys
import time

import reference
from zoo import SHAPES, make, subset

first, seeds, per, out = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
results = []
for seed in range(first, first + seeds):
    for cell in subset(seed, per, SHAPES):
        samples, truth = make(*cell, seed)
        started = time.process_time()
        found = reference.dimension(samples)
        seconds = time.process_time() - started
        results.append((cell, seed, truth, found["state"], found["k"], found["interval"], found["evidence"], seconds))
    with open(out, "wb") as file:
        pickle.dump(results, file)
