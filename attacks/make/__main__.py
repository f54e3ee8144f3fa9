"""Writes every malformed file: `python3 -m make` in the folder `attacks`. Needs Python alone."""

import importlib
import pathlib
import pkgutil

import make


def main() -> None:
    folder = pathlib.Path(__file__).resolve().parents[1] / "files"
    for module in pkgutil.iter_modules(make.__path__):
        if module.name.startswith("_"):
            continue
        for name, content in importlib.import_module(f"make.{module.name}").files():
            path = folder / module.name / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


if __name__ == "__main__":
    main()
