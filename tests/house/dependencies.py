"""Checks the dependencies against `deny.toml`: who may name which crate, licenses, versions side by side.

`python3 tests/house/dependencies.py` in the root of the repository. `cargo deny check` does the same and more, but
takes three CPU minutes to install.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def satisfied(expression, allow):
    """Whether the SPDX expression of a license can be met with the allowed licenses alone."""
    # `/` is how older crates write OR. AND binds more tightly than OR.
    tokens = re.findall(r"[()]|[^\s()]+(?:\s+WITH\s+[^\s()]+)?", expression.replace("/", " OR "))
    tokens = [" ".join(token.split()) for token in tokens]

    def any_of():
        met = all_of()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            met = all_of() or met
        return met

    def all_of():
        met = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            met = one() and met
        return met

    def one():
        token = tokens.pop(0)
        if token != "(":
            return token in allow
        met = any_of()
        tokens.pop(0)
        return met

    return any_of()


def of_version(version, wanted):
    """Whether `version` is of the line `wanted`: 0.2.17 is of 0.2, not of 0."""
    parts = wanted.split(".")
    return version.split(".")[: len(parts)] == parts


def license_faults(packages, allow):
    for package in packages:
        license = package["license"]
        if license is None or not satisfied(license, allow):
            yield f"{package['name']} {package['version']}: the license is {license}, which deny.toml does not allow"


def wrapper_faults(packages, nodes, rules):
    names = {package["id"]: package["name"] for package in packages}
    for rule in rules:
        for node in nodes:
            user = names[node["id"]]
            uses = any(names[dependency["pkg"]] == rule["crate"] for dependency in node["deps"])
            if uses and user not in rule["wrappers"]:
                wrappers = ", ".join(rule["wrappers"])
                yield f"{user} depends on {rule['crate']}, which only {wrappers} may: {rule['reason']}"


def version_faults(packages, skip):
    versions = defaultdict(set)
    for package in packages:
        versions[package["name"]].add(package["version"])
    lines = [entry["crate"].split("@") for entry in skip]
    for name, all_versions in sorted(versions.items()):
        listed = [line for skipped, line in lines if skipped == name]
        others = [v for v in all_versions if not any(of_version(v, line) for line in listed)]
        if len(others) > 1:
            yield f"{name} is there in the versions {', '.join(sorted(others))}"
    for name, line in lines:
        if len(versions[name]) < 2 or not any(of_version(v, line) for v in versions[name]):
            yield f"deny.toml skips {name}@{line}, which is not there beside another version: remove the line"


def source_faults(packages):
    for package in packages:
        if (package["source"] or "").startswith("git"):
            yield f"{package['name']} {package['version']} comes from a git repository"


def faults(metadata, rules):
    """What is wrong, a sentence each."""
    packages = metadata["packages"]
    yield from license_faults(packages, rules["licenses"]["allow"])
    yield from wrapper_faults(packages, metadata["resolve"]["nodes"], rules["bans"]["deny"])
    yield from version_faults(packages, rules["bans"]["skip"])
    yield from source_faults(packages)


def main():
    command = ["cargo", "metadata", "--format-version", "1", "--all-features"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    found = list(faults(metadata, tomllib.loads((ROOT / "deny.toml").read_text())))
    print("\n".join(found) or f"{len(metadata['packages'])} packages keep to deny.toml")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
