"""Every malformed file of `attacks/` is refused with the message in its table: no crash, no hang, no memory to speak of.

`python tests/python/test_attacks.py` prints the table anew, from what the program says now.
"""

import importlib
import itertools
import os
import pathlib
import pkgutil
import re
import shlex
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "attacks" / "README.md"
FILES = ROOT / "attacks" / "files"
PROGRAM = ROOT / "target" / "release" / "eigenspan"
MOST_MEMORY = 256 << 20
MOST_SECONDS = 5
DEFLATED = ("zeros", "-10-mb", "packed", "png")
HEAD = "| file | command | message |\n|---|---|---|"


def rows():
    """The file, the command and the message of every row of the table."""
    found = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| (.*) \|$", TABLE.read_text(encoding="utf-8"), re.M)
    return [(file, command, message.replace("\\|", "|")) for file, command, message in found]


MEASURE = """
import os, sys, time
seconds, *command = sys.argv[1:]
started = time.monotonic()
quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
child = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
while True:
    pid, status, usage = os.wait4(child, os.WNOHANG)
    took = time.monotonic() - started
    if pid:
        break
    if took > float(seconds):
        os.kill(child, 9)
    time.sleep(0.002)
print(os.waitstatus_to_exitcode(status), took, usage.ru_maxrss)
"""
"""Runs a command. The memory that the system notes for a process is at least that of its parent, so the parent has to be small."""


def attack(file, command):
    """What the program says of a file, its exit code, and the seconds and bytes it took."""
    arguments = [str(FILES / file) if word == "FILE" else word for word in shlex.split(command)]
    measure = [sys.executable, "-I", "-S", "-c", MEASURE, str(4 * MOST_SECONDS), str(PROGRAM), *arguments]
    done = subprocess.run(measure, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    code, seconds, memory = done.stdout.split()
    # Other files that are named, the labels beside images, keep their name.
    said = done.stderr.decode().replace(str(FILES / file), "FILE").replace(f"{FILES}{os.sep}", "")
    return said, int(code), float(seconds), int(memory) * (1 if sys.platform == "darwin" else 1024)


def first_line(said):
    return said.splitlines()[0].removeprefix("error: ") if said else ""


def attacks_there():
    """Every file, but those that only stand beside another: labels beside images, images in a folder."""
    paths = {path.relative_to(FILES) for path in FILES.rglob("*") if path.is_file()}
    tops = {str(pathlib.Path(*path.parts[:2])) for path in paths}
    beside = {file.replace("images-idx3", "labels-idx1") for file in tops if "images-idx3" in file}
    return tops - beside


@pytest.mark.parametrize(("file", "command", "message"), rows(), ids=lambda value: value[:60])
def test_refused_in_words(file, command, message):
    said, code, seconds, memory = attack(file, command)
    assert first_line(said) == message
    assert "hint: " in said, "what to do about it"
    assert code == 1
    assert seconds < MOST_SECONDS
    assert memory < MOST_MEMORY


def test_every_file_is_in_the_table_and_there_are_enough():
    listed = [file for file, _, _ in rows()]
    assert sorted(listed) == sorted(attacks_there())
    assert len(listed) >= 300


def test_the_makers_make_the_files_that_are_there(monkeypatch):
    monkeypatch.syspath_prepend(str(TABLE.parent))
    make = importlib.import_module("make")
    for module in pkgutil.iter_modules(make.__path__):
        if module.name.startswith("_"):
            continue
        made = dict(importlib.import_module(f"make.{module.name}").files())
        folder = FILES / module.name
        assert set(made) == {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        # What is deflated depends on the version of zlib: there the file counts.
        differing = {name for name, content in made.items() if (folder / name).read_bytes() != content}
        assert not {name for name in differing if not any(word in name for word in DEFLATED)}


def print_table():
    """The rows as they are now, in sections; files without a row are shown by `info` or `inspect`."""
    commands = {file: command for file, command, _ in rows()}
    sections = re.findall(r"^## (.*)$(?:\n(?!## ).*)*?\n\| `([^`/]+)/", TABLE.read_text(encoding="utf-8"), re.M)
    titles = {folder: title for title, folder in sections}
    for folder, files in itertools.groupby(sorted(attacks_there()), lambda file: file.split("/")[0]):
        print(f"\n## {titles.get(folder, folder)}\n\n{HEAD}")
        for file in files:
            command = commands.get(file, "inspect --verify FILE" if file.endswith(".espan") else "info FILE")
            said, code, seconds, memory = attack(file, command)
            fine = code == 1 and "hint: " in said and seconds < MOST_SECONDS and memory < MOST_MEMORY
            message = first_line(said).replace("|", "\\|")
            print(f"| `{file}` | `{command}` | {message}{'' if fine else ' (!)'} |")


if __name__ == "__main__":
    print_table()
