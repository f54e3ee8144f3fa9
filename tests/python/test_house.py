"""The checks in `tests/house` find what they are there for."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "house"))
import dependencies
import duplicates

ALLOW = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]


@pytest.mark.parametrize(
    ("expression", "satisfied"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("Unlicense/MIT", True),
        ("(MIT OR GPL-3.0-only) AND Apache-2.0", True),
        ("(MIT OR Apache-2.0) AND GPL-3.0-only", False),
        # AND before OR.
        ("MIT OR Apache-2.0 AND GPL-3.0-only", True),
        ("GPL-3.0-only WITH LLVM-exception", False),
        ("Apache-2.0  WITH LLVM-exception", True),
    ],
)
def test_a_license_is_allowed_where_its_expression_can_be_met(expression, satisfied):
    assert dependencies.satisfied(expression, ALLOW) is satisfied


def package(name, version="1.0.0", license="MIT", source=None):
    return {"id": f"{name} {version}", "name": name, "version": version, "license": license, "source": source}


def faults(packages, uses=(), skip=()):
    nodes = [{"id": user, "deps": [{"pkg": used}]} for user, used in uses]
    rule = {"crate": "faer", "wrappers": ["eigenspan-linalg"], "reason": "a seam"}
    rules = {"licenses": {"allow": ALLOW}, "bans": {"deny": [rule], "skip": [{"crate": each} for each in skip]}}
    return list(dependencies.faults({"packages": packages, "resolve": {"nodes": nodes}}, rules))


def test_only_the_seam_may_name_the_backend():
    packages = [package("eigenspan-linalg"), package("eigenspan"), package("faer")]
    assert faults(packages, [("eigenspan-linalg 1.0.0", "faer 1.0.0")]) == []
    (fault,) = faults(packages, [("eigenspan 1.0.0", "faer 1.0.0")])
    assert fault == "eigenspan depends on faer, which only eigenspan-linalg may: a seam"


def test_a_second_version_has_to_be_listed_and_a_list_is_no_longer_than_it_must_be():
    both = [package("syn", "1.0.9"), package("syn", "2.0.1")]
    assert faults(both) == ["syn is there in the versions 1.0.9, 2.0.1"]
    assert faults(both, skip=["syn@1"]) == []
    assert len(faults([*both, package("syn", "3.1.0")], skip=["syn@1"])) == 1
    (fault,) = faults([package("syn", "2.0.1")], skip=["syn@1"])
    assert fault.startswith("deny.toml skips syn@1, which is not there")


def test_licenses_that_are_absent_or_not_allowed_and_git_repositories_are_named():
    assert len(faults([package("a", license=None), package("b", license="GPL-3.0-only")])) == 2
    assert faults([package("a", source="git+https://example.org/a#0")]) == ["a 1.0.0 comes from a git repository"]


CODE = """
    let total = first(rows, 1.0);
    for row in rows {
        total += row.length() * 2.0;
    }
    if total > limit {
        return Err(Error::TooMuch { total });
    }
    Ok(total)
"""


def found(*texts):
    return [kind for _, _, kind in duplicates.duplicates({f"{i}.rs": text for i, text in enumerate(texts)})]


def test_the_same_lines_are_found_to_the_letter_and_with_other_names():
    renamed = CODE.replace("total", "sum").replace("2.0", "3.5").replace("rows", "samples")
    assert found(CODE, CODE.replace("    ", "\t")) == [""]
    assert found(CODE, renamed) == ["shape"]
    assert found(CODE + "    let between = 1;" + CODE) == [""]


def test_comments_blank_lines_and_imports_neither_part_nor_make_a_run():
    assert found(CODE, CODE.replace("{\n", "{\n\n    // a remark\n")) == [""]
    imports = "".join(f"use a::b{i};\n" for i in range(9)) + "use c::{\n" + "    d,\n" * 9 + "};\n"
    assert found(imports, imports) == []


def test_five_lines_a_list_and_what_is_everywhere_are_no_duplicates():
    assert found(*["\n".join(CODE.splitlines()[:6])] * 2) == []
    lists = ["\n".join(f'    ("{letter}{i}", {i}, "{letter}"),' for i in range(20)) for letter in "ab"]
    assert found(*lists) == []
    assert found(*[CODE] * 9) == []
