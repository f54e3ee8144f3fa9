"""Where results are kept: small JSON files, one a measurement."""

import argparse
import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "results"


def options(about: str | None, repeats: int) -> argparse.ArgumentParser:
    """What every measurement can be told."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help="small shapes; results go to results/quick")
    parser.add_argument("--repeats", type=int, default=repeats, help=f"runs of each candidate ({repeats})")
    return parser


def path(name: str, quick: bool = False) -> Path:
    return (FOLDER / "quick" if quick else FOLDER) / f"{name}.json"


def save(name: str, found: dict, quick: bool) -> None:
    file = path(name, quick)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def load(name: str, quick: bool = False) -> dict:
    """What was found, or nothing where it was not measured."""
    file = path(name, quick)
    return json.loads(file.read_text()) if file.exists() else {}


def talk(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
