"""Rows of the table of seeds in docs/studies/pce-auto.md: name and the paper's number, from JSON lists on standard input."""

import json
import statistics
import sys

NAME, PAPER = sys.argv[1:]
decoder, text, found = json.JSONDecoder(), sys.stdin.read().strip(), {}
while text:
    rows, end = decoder.raw_decode(text)
    text = text[end:].lstrip()
    for row in rows:
        found.setdefault((row["method"], row["classifier"]), []).append(row["accuracy_mean"])
for (method, classifier), values in found.items():
    mean, error = statistics.mean(values), statistics.stdev(values) / len(values) ** 0.5
    print(f"| {NAME} | {method} | {classifier} | {mean:.2f} | {error:.2f} | {PAPER} |")
