"""Counts the pairs of files that share six or more lines of code, to the letter or alike but for names and values.

    python3 tests/house/duplicates.py            the number of pairs
    python3 tests/house/duplicates.py --list     a line for each: places, and `shape` where they are only alike

Only lines of code count: blank lines, comments, imports and lone punctuation are passed over, and white space is
folded. A file may make a pair with itself. Six lines that stand in more than eight places are too common to count.
Lines that are only alike need four different ones among the six, and 32 words and signs: a table of values is no
duplicate.
"""

import argparse
import re
import subprocess
from collections import defaultdict
from itertools import combinations
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {".rs", ".py", ".pyi", ".sh"}
RUN, PLACES = 6, 8
DIFFERENT, TOKENS = 4, 32
KEYWORDS = set(
    "as async await break case class const continue def dyn elif else enum except extern False finally fn for from "
    "global if impl import in is lambda let loop match mod move mut None not or and pass pub raise ref return Self self "
    "static struct super trait True true false try type unsafe use where while with yield assert assert_eq assert_ne "
    "panic vec format Ok Err Some".split()
)
TOKEN = re.compile(r"""r?#*"(?:\\.|[^"\\])*"#*|'(?:\\.|[^'\\])'|'[^']{2,}'|\d[\w.]*|[A-Za-z_]\w*|\S""")
STRINGS = re.compile(r"""^r?#*["']""")


def shape(line):
    """The line with every name, string and number made equal."""
    folded = []
    for token in TOKEN.findall(line):
        if token[0].isdigit():
            token = "1"
        elif STRINGS.match(token) and len(token) > 1:
            token = "''"
        elif re.match(r"[A-Za-z_]", token) and token not in KEYWORDS:
            token = "x"
        folded.append(token)
    return " ".join(folded)


def code(text, suffix):
    """Number and text of the lines that count."""
    comment = re.compile(r"//|/\*|\*") if suffix == ".rs" else re.compile("#(?!!?\\[)")
    imports = re.compile(r"(pub(\(\w+\))? )?(use|mod) |extern crate " if suffix == ".rs" else r"(from|import) ")
    closing = ";" if suffix == ".rs" else ")"
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        line = " ".join(line.split())
        if inside:
            inside = not line.endswith(closing)
        elif imports.match(line):
            inside = line.endswith(("{", "(", ",")) and closing not in line
        elif re.search(r"\w", line) and not comment.match(line):
            yield number, line


def says_something(shapes):
    return len(set(shapes)) >= DIFFERENT and sum(len(line.split()) for line in shapes) >= TOKENS


def runs(files, key, counts):
    """Pairs of places that share a run that counts, by the pair of files: for each the places of its first lines."""
    lines = {name: [(number, key(line)) for number, line in content] for name, content in files.items()}
    places = defaultdict(list)
    for name, content in lines.items():
        for start in range(len(content) - RUN + 1):
            places[tuple(line for _, line in content[start : start + RUN])].append((name, start))
    pairs = defaultdict(set)
    for run, found in places.items():
        if 1 < len(found) <= PLACES and counts(run):
            for (a, i), (b, j) in combinations(found, 2):
                if a != b or abs(i - j) >= RUN:
                    pairs[a, b].add((i, j))
    return pairs, lines


def longest(starts):
    """The longest of the runs that begin at these pairs of lines, and its length."""
    best = (0, None)
    for i, j in starts:
        if (i - 1, j - 1) not in starts:
            length = 1
            while (i + length, j + length) in starts:
                length += 1
            best = max(best, (length + RUN - 1, (i, j)))
    return best


def duplicates(files):
    """Rows `(length, places, kind)`, longest first, of texts by name."""
    content = {name: list(code(text, Path(name).suffix)) for name, text in files.items()}
    rows, exact = [], set()
    for kind, key, counts in ("", str, lambda run: True), ("shape", shape, says_something):
        pairs, lines = runs(content, key, counts)
        for (a, b), starts in pairs.items():
            if (a, b) in exact:
                continue
            exact.add((a, b))
            length, (i, j) = longest(starts)
            spans = [f"{name}:{lines[name][at][0]}-{lines[name][at + length - 1][0]}" for name, at in ((a, i), (b, j))]
            rows.append((length, " ~ ".join(spans), kind))
    return sorted(rows, key=lambda row: (row[2], -row[0], row[1]))


def main():
    arguments = argparse.ArgumentParser(description="Pairs of files that share six or more lines of code.")
    arguments.add_argument("--list", action="store_true", help="name the places")
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    tracked = listing.stdout.splitlines()
    names = sorted(name for name in tracked if Path(name).suffix in SUFFIXES and (ROOT / name).exists())
    rows = duplicates({name: (ROOT / name).read_text() for name in names})
    if arguments.parse_args().list:
        for length, places, kind in rows:
            print(f"{length:3}  {places}  {kind}".rstrip())
    print(f"{len(rows)} pairs, {sum(kind == '' for _, _, kind in rows)} of them to the letter, in {len(names)} files")


if __name__ == "__main__":
    main()
