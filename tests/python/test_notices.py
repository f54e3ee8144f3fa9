"""Notices and bills of materials of what is shipped: complete, current, the same on every machine."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: object) -> subprocess.CompletedProcess:
    command = [sys.executable, ROOT / "tests/house/notices.py", *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_the_notices_are_those_of_the_lock_file():
    checked = run("--check")
    assert checked.returncode == 0, checked.stderr


def test_the_platforms_are_those_of_the_release():
    release = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    script = (ROOT / "tests/house/notices.py").read_text(encoding="utf-8")
    platforms = re.findall(r'^    "(\w+-[\w-]+)",$', script, flags=re.MULTILINE)
    assert set(platforms) == set(re.findall(r"target: (\w+-[\w-]+)", release)) and len(platforms) == 5


def test_notices_of_other_versions_are_stale(tmp_path):
    text = (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8")
    for stale in [re.sub(r"^\| faer \| \S+", "| faer | 0.1.0", text, flags=re.MULTILINE), text[:-2], ""]:
        assert stale != text
        (tmp_path / "stale.md").write_text(stale, encoding="utf-8")
        assert run("--check", "--notices", tmp_path / "stale.md").returncode == 1
    assert run("--check", "--notices", tmp_path / "missing.md").returncode == 1


def test_every_crate_in_the_notices_has_a_text_that_is_there():
    text = (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\S+) \| (\S+) \| [^|]+ \| [^|]+ \| ([^|]*) \|", text, flags=re.MULTILINE)[2:]
    assert len(rows) > 100
    ids = set(re.findall(r'<a id="(text-\d+)">', text))
    for name, version, texts in rows:
        refers = re.findall(r"\(#(text-\d+)\)", texts)
        assert refers and ids.issuperset(refers), (name, version)


def test_bills_of_materials_are_those_of_each_product_and_the_same_twice(tmp_path):
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    checksums = {(package["name"], package["version"]): package.get("checksum") for package in lock}
    names = {}
    for folder in ["once", "twice"]:
        assert run("--sbom", tmp_path / folder).returncode == 0
    for product in ["program", "wheel"]:
        once, twice = ((tmp_path / at / f"eigenspan-{product}.cdx.json").read_bytes() for at in ["once", "twice"])
        assert once == twice
        bom = json.loads(once)
        for component in bom["components"]:
            checksum = checksums[component["name"], component["version"]]
            assert component.get("hashes", []) == ([{"alg": "SHA-256", "content": checksum}] if checksum else [])
        refs = {component["bom-ref"] for component in bom["components"]} | {bom["metadata"]["component"]["bom-ref"]}
        assert refs == {entry["ref"] for entry in bom["dependencies"]}
        # Whatever is listed is used by something that is listed.
        reached, new = set(), {bom["metadata"]["component"]["bom-ref"]}
        uses = {entry["ref"]: entry["dependsOn"] for entry in bom["dependencies"]}
        while new:
            reached |= new
            new = {used for ref in new for used in uses[ref]} - reached
        assert reached == refs
        names[product] = {component["name"] for component in bom["components"]}
    assert {"parquet", "arrow-ipc", "faer", "zstd-sys"} <= names["program"] & names["wheel"]
    assert {"clap"} <= names["program"] - names["wheel"] and {"pyo3", "numpy"} <= names["wheel"] - names["program"]
    assert not {"serde_derive", "proc-macro2", "cc"} & (names["program"] | names["wheel"])
