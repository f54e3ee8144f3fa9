#!/usr/bin/env python3
"""Counts what the crate `eigenspan` shows: modules, types, functions, public fields, all as rustdoc sees them.

    python tests/house/public.py            # counts
    python tests/house/public.py --list     # every name
    python tests/house/public.py eigenspan-linalg

A name that is exported twice counts once. Methods of a type are functions, variants of an enum are no fields; of a name that
comes from another crate only the name counts.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TYPES = {"struct", "enum", "union", "trait", "type_alias"}


def rustdoc(package: str) -> dict:
    """The documentation of one crate as JSON. The format is unstable, hence the switch for a stable compiler."""
    command = ["cargo", "rustdoc", "--quiet", "-p", package, "--lib", "--", "-Zunstable-options", "--output-format", "json"]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "RUSTC_BOOTSTRAP": "1"}, check=True)
    return json.loads((ROOT / "target/doc" / f"{package.replace('-', '_')}.json").read_text())


class Count:
    """A walk over all that can be reached from the root of a crate."""

    def __init__(self, crate: dict):
        self.index, self.paths, self.seen = crate["index"], crate["paths"], set()
        self.names: dict[str, list[str]] = {"modules": [], "types": [], "functions": [], "fields": []}
        self.walk(str(crate["root"]), "")

    def add(self, what: str, path: str, item: dict) -> None:
        if item["name"]:
            self.names[what].append(f"{path}::{item['name']}".lstrip(":"))

    def walk(self, key: str, path: str) -> None:
        item = self.index.get(key)
        if item is None or key in self.seen:
            return
        self.seen.add(key)
        kind, inner = next(iter(item["inner"].items()))
        here = f"{path}::{item['name']}" if item["name"] else path
        if kind == "use":
            key = str(inner["id"])
            if key in self.index:
                self.walk(key, path)
            elif key in self.paths and key not in self.seen:
                self.seen.add(key)
                self.add({"module": "modules", "function": "functions"}.get(self.paths[key]["kind"], "types"), path, inner)
        elif kind == "module":
            if path:
                self.add("modules", path, item)
            for child in inner["items"]:
                child = str(child)
                if self.is_public(child):
                    self.walk(child, here)
        elif kind in TYPES:
            self.add("types", path, item)
            self.members(inner, here)
        elif kind == "function":
            self.add("functions", path, item)

    def is_public(self, key: str) -> bool:
        return key in self.index and self.index[key]["visibility"] in ("public", "default")

    def members(self, inner: dict, here: str) -> None:
        for block in inner.get("impls", []):
            block = self.index.get(str(block))
            if block is None or block["inner"]["impl"]["trait"] is not None:
                continue
            for member in block["inner"]["impl"]["items"]:
                if self.is_public(str(member)):
                    self.walk(str(member), here)
        for method in inner.get("items", []):
            self.walk(str(method), here)
        shape = inner.get("kind")
        fields = shape.get("plain", {}).get("fields", []) if isinstance(shape, dict) else []
        fields += [f for f in shape.get("tuple", []) if f is not None] if isinstance(shape, dict) else []
        for field in map(str, fields):
            if self.is_public(field):
                self.add("fields", here, self.index[field])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", nargs="?", default="eigenspan")
    parser.add_argument("--list", action="store_true", help="print every name")
    args = parser.parse_args()
    count = Count(rustdoc(args.package))
    for what, names in count.names.items():
        print(f"{what:<10} {len(names)}")
        if args.list:
            print("".join(f"    {name}\n" for name in sorted(names)), end="")


if __name__ == "__main__":
    main()
