"""Every example in the docstrings and in the documents runs, and the documents build."""

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import eigenspan

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = ["eigenspan", *(f"eigenspan.{module.name}" for module in pkgutil.iter_modules(eigenspan.__path__))]
MODULES.remove("eigenspan._eigenspan")
STYLE = doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=STYLE).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_in_documents_run(page):
    text = page.read_text()
    # Line numbers stay those of the page: what is between two blocks becomes empty lines.
    blocks = [(m.start(1), m.end(1)) for m in re.finditer(r"```pycon\n(.*?)```", text, re.DOTALL)]
    kept = list(re.sub(r"[^\n]", " ", text))
    for start, end in blocks:
        kept[start:end] = text[start:end]
    examples = doctest.DocTestParser().get_doctest("".join(kept), {}, page.name, str(page), 0)
    assert doctest.DocTestRunner(optionflags=STYLE).run(examples).failed == 0


def test_commands_in_documents_run(tmp_path, command, digits):
    np.save(tmp_path / "digits.npy", digits)
    np.save(tmp_path / "new.npy", digits[:10])
    lines = [line for page in PAGES[1:] for line in re.findall(r"^\$ eigenspan (.*)$", page.read_text(), re.MULTILINE)]
    assert len(lines) >= 3
    for line in lines:
        command(*shlex.split(line), cwd=tmp_path)
    assert np.load(tmp_path / "features.npy").shape == (10, 21)


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    tried = sum(len(t.examples) for name in MODULES for t in finder.find(importlib.import_module(name)))
    in_pages = sum(page.read_text().count(">>> ") for page in PAGES)
    assert tried >= 15 and in_pages >= 50


def test_the_site_builds_without_a_warning(tmp_path):
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path]
    outcome = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stderr
    assert "n_components_" in (tmp_path / "python.html").read_text()
