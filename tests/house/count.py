"""How many files and places speak of each method: what a new one costs.

    python3 tests/house/count.py [REVISION …]        of the tree as committed (HEAD), or of other revisions

A place is a line outside the method's own Rust file, of code, of the Python package, of the guide or of the bibliography, that
has the method's name, its parameters, its model or its class. Tests and the pages on other subjects do not count: nothing there
has to change for a new method. Its own Rust file, its Python file and its laws count as one place each.
"""

import re
import subprocess
import sys

# A name, the parameters, the variants that it has or had, the class in Python, its own files, its citation.
METHODS = {
    "lpp": ("LppParams", "Lpp", "LPP", "lpp", "he2003"),
    "npe": ("NpeParams", "Npe", "NPE", "npe", "he2005"),
    "l1-graph": ("L1GraphParams", "L1Graph", "L1Graph", "l1_graph", "cheng2010"),
    "nmf": ("NmfParams", "Nmf", "NMF", "nmf", "lee2001"),
    "rosl": ("RoslParams", "Rosl", "ROSL", "rosl", "shu2014"),
    "random-projection": ("RandomProjectionParams", "RandomProjection", "RandomProjection", "random_projection", "dasgupta2003"),
}
WHERE = ["crates/*/src/*.rs", "python/eigenspan", "docs/methods.md", "docs/references.bib"]


def grep(revision: str, pattern: str) -> list[tuple[str, str]]:
    """File and line of every match."""
    command = ["git", "grep", "-nE", pattern, revision, "--", *WHERE]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return [tuple(line.split(":", 3)[1:3]) for line in found]


def places(revision: str, name: str) -> list[tuple[str, str]]:
    params, variant, kind, module, citation = METHODS[name]
    words = [f'"{name}"', rf"\b{params}\b", rf"\b(Method|Model|Self)::{variant}\b", rf"\b{kind}\b", rf"mod {module};", rf"[{{]{citation},"]
    found = grep(revision, "|".join(words))
    own = [file for file, _ in found if re.search(rf"/{module}\.rs$|/{module}/", file)]
    classes = grep(revision, rf"^class {kind}\(")
    counted = {(file, line) for file, line in found if file not in own}
    for file, line in classes:  # one place for a class, however often it names itself
        counted = {place for place in counted if place[0] != file} | {(file, line)}
    return sorted({(own[0], "")} | counted) if own else sorted(counted)


def main() -> None:
    for revision in sys.argv[1:] or ["HEAD"]:
        print(f"{revision}\n{'method':20} files places")
        for name in METHODS:
            found = places(revision, name)
            if found:
                print(f"{name:20} {len({file for file, _ in found}):5} {len(found):6}")


if __name__ == "__main__":
    main()
