#!/usr/bin/env python3
"""Notices and bills of materials of what is shipped: the wheel, and the program with `columnar`.

    python tests/house/notices.py                  # writes THIRD_PARTY.md
    python tests/house/notices.py --check          # exit code 1 where THIRD_PARTY.md is not that of Cargo.lock
    python tests/house/notices.py --sbom FOLDER    # writes eigenspan-{wheel,program}.cdx.json, CycloneDX 1.5

Listed is what is linked into the binaries of the released platforms. Macros and build scripts, which run at build time
alone, and crates of tests are in Cargo.lock. THIRD_PARTY.md is committed: licenses want texts beside binaries, and
wheels are built from any copy of the tree, by `pip install` too. The bills are made at release: they follow from
Cargo.lock. The output depends on Cargo.lock and the sources of the crates, not on the machine and the time. Needs
Cargo, the crates it has fetched, and Python's standard library.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTICES = ROOT / "THIRD_PARTY.md"
# What is shipped: its package, and the features it is built with.
PRODUCTS = {"program": ("eigenspan-cli", ["columnar"]), "wheel": ("eigenspan-python", [])}
# The platforms of .github/workflows/release.yml.
PLATFORMS = [
    "aarch64-apple-darwin",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "x86_64-unknown-linux-gnu",
]
LICENSE_FILE = re.compile(r"(un)?licen[cs]e|copying|copyright|notice", re.IGNORECASE)
NOT_A_TEXT = {".rs", ".toml", ".py", ".json", ".html", ".yml", ".sh"}
# The other choice that zstd offers beside its BSD license: not the one that it is taken under.
DECLINED = "GNU GENERAL PUBLIC LICENSE"
# Where a crate ships no text of its own: what follows the name of the license and the authors in the manifest.
MIT = """\
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""


def cargo(*arguments: str) -> str:
    run = subprocess.run(["cargo", *arguments], check=False, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    if run.returncode:
        sys.exit(f"cargo {' '.join(arguments)}\n{run.stderr}")
    return run.stdout


class Crates:
    """All crates of Cargo.lock, and which of them are linked into what."""

    def __init__(self) -> None:
        self.of: dict[tuple[str, str], dict] = {}
        metadata = json.loads(cargo("metadata", "--format-version=1", "--locked"))
        keys = {}
        for package in metadata["packages"]:
            keys[package["id"]] = key = (package["name"], package["version"])
            # Two crates of one name and version would need their source beside them.
            assert key not in self.of, key
            self.of[key] = package
        self.uses = {
            keys[node["id"]]: sorted(
                keys[dep["pkg"]] for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])
            )
            for node in metadata["resolve"]["nodes"]
        }
        lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
        self.checksums = {(p["name"], p["version"]): p.get("checksum") for p in lock["package"]}
        self.linked = {product: linked(*how) for product, how in PRODUCTS.items()}

    def others(self) -> list[tuple[str, str]]:
        """Those of others, in all products."""
        return sorted(key for key in set().union(*self.linked.values()) if self.of[key]["source"])

    def folder(self, key: tuple[str, str]) -> Path:
        return Path(self.of[key]["manifest_path"]).parent

    def license(self, key: tuple[str, str]) -> str:
        """The SPDX expression; the slash is an older way to write OR."""
        return self.of[key]["license"].replace("/", " OR ")


def linked(package: str, features: list[str]) -> set[tuple[str, str]]:
    """The crates in a binary. `cargo metadata` answers for the whole workspace at once, the tree for one package."""
    platforms = [argument for platform in PLATFORMS for argument in ("--target", platform)]
    tree = cargo("tree", "--locked", "-p", package, "--features", ",".join(features), "-e", "normal,no-proc-macro",
                 "--prefix=none", "--no-dedupe", "--format={p}", *platforms)  # fmt: skip
    # A line is `name v1.2.3`, with the path behind it where the crate is ours.
    return {(name, version[1:]) for name, version in (line.split()[:2] for line in tree.splitlines() if line)}


def texts_of(folder: Path) -> list[str]:
    """The license texts that a crate ships, those of foreign sources in its subfolders too."""
    found = []
    for path, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if LICENSE_FILE.match(name) and Path(name).suffix.lower() not in NOT_A_TEXT:
                content = (Path(path) / name).read_text(encoding="utf-8", errors="replace")
                text = "\n".join(line.rstrip() for line in content.splitlines()).strip("\n")
                if text and not text.lstrip().startswith(DECLINED):
                    found.append(text)
    return found


def notices(crates: Crates) -> str:
    number: dict[str, int] = {}  # of a text, told apart by its words
    texts: list[str] = []
    rows, missing = [], []
    for key in crates.others():
        package, refers = crates.of[key], []
        for text in texts_of(crates.folder(key)) or [standard(package)]:
            words = "".join(re.findall("[a-z0-9]", text.lower().replace("https://", "http://")))
            if words not in number:
                number[words] = len(texts) + 1
                texts.append(text)
            if number[words] not in refers:
                refers.append(number[words])
        if not texts_of(crates.folder(key)):
            missing.append(package["name"])
        where = ", ".join(product for product in PRODUCTS if key in crates.linked[product])
        links = " ".join(f"[{n}](#text-{n})" for n in refers)
        source = package["repository"] or package["homepage"] or ""
        cells = [package["name"], package["version"], crates.license(key), where, links, source]
        rows.append(f"| {' | '.join(cells)} |")
    names = ", ".join(missing)
    stand_in = f"No license file comes with {names}: the standard text with the authors in the manifest stands for it."
    lines = [
        "# Third-party notices",
        "",
        "What the Python wheel and the program `eigenspan` contain beside the crates of this repository, over all",
        "released platforms. Written by `python tests/house/notices.py`; do not edit.",
        "",
        "The Rust standard library, MIT OR Apache-2.0, is in both: https://github.com/rust-lang/rust.",
        "",
        "| crate | version | license | in | texts | source |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
        stand_in if missing else "",
        "",
        "## Texts",
    ]
    for n, text in enumerate(texts, 1):
        fence = "~" * max(4, 1 + max(map(len, re.findall("~+", text)), default=0))
        lines += ["", f'### <a id="text-{n}"></a>{n}', "", f"{fence}text", text, fence]
    return "\n".join(lines) + "\n"


def standard(package: dict) -> str:
    """For a crate without a text: the one of its license."""
    authors = ", ".join(re.sub(r"\s*<.*?>", "", author) for author in package["authors"])
    authors = authors or f"the authors of {package['name']}"
    match package["license"]:
        case "MIT":
            return f"MIT License\n\nCopyright (c) {authors}\n\n{MIT}"
        case "Apache-2.0":
            return (ROOT / "LICENSE-APACHE").read_text(encoding="utf-8").strip("\n")
        case other:
            sys.exit(f"{package['name']} ships no license text, and no standard text of {other} is at hand")


def sbom(crates: Crates, product: str) -> str:
    """CycloneDX 1.5. The serial number follows from the contents, and no time is in it: same input, same bytes."""
    keys, root = crates.linked[product], PRODUCTS[product][0]
    (top,) = [key for key in keys if key[0] == root]
    components = [component(crates, key) for key in sorted(keys - {top})]
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {**component(crates, top), "type": "library" if product == "wheel" else "application"},
            "properties": [{"name": "cdx:rust:target", "value": platform} for platform in PLATFORMS],
        },
        "components": components,
        "dependencies": [
            {"ref": purl(key), "dependsOn": [purl(used) for used in crates.uses[key] if used in keys]}
            for key in sorted(keys)
        ],
    }
    digest = hashlib.sha256(json.dumps(bom).encode()).digest()
    serial = uuid.UUID(bytes=digest[:16], version=5)
    return json.dumps({**bom, "serialNumber": f"urn:uuid:{serial}"}, indent=1, ensure_ascii=False) + "\n"


def purl(key: tuple[str, str]) -> str:
    name, version = key
    return f"pkg:cargo/{name}@{version.replace('+', '%2B')}"


def component(crates: Crates, key: tuple[str, str]) -> dict:
    package, checksum = crates.of[key], crates.checksums[key]
    entry = {
        "type": "library",
        "bom-ref": purl(key),
        "name": package["name"],
        "version": package["version"],
        "description": " ".join((package["description"] or "").split()),
        "licenses": [{"expression": crates.license(key)}],
        "purl": purl(key),
    }
    if checksum:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package["repository"]:
        entry["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return entry


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare THIRD_PARTY.md, and write nothing")
    parser.add_argument("--sbom", type=Path, metavar="FOLDER", help="write a bill of materials for each product")
    parser.add_argument("--notices", type=Path, default=NOTICES, metavar="FILE", help="in place of THIRD_PARTY.md")
    given = parser.parse_args()
    crates = Crates()
    if given.sbom:
        given.sbom.mkdir(parents=True, exist_ok=True)
        for product in PRODUCTS:
            path = given.sbom / f"eigenspan-{product}.cdx.json"
            path.write_text(sbom(crates, product), encoding="utf-8", newline="\n")
    text = notices(crates)
    if given.check:
        if given.notices.is_file() and given.notices.read_text(encoding="utf-8") == text:
            return 0
        print(f"{given.notices.name} is not that of Cargo.lock: run python tests/house/notices.py", file=sys.stderr)
        return 1
    if not given.sbom:
        given.notices.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
