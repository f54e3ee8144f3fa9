"""Whatever fails while a file is written, it is the old one or the new one, whole.

Every call to the system from the first look at the target to the end is made to fail, once with every error it can give,
and the program is killed at every one of them. `pytest -rA tests/python/test_faults.py` shows how many faults were tried.
"""

import random
import re
import resource
import shutil
import signal
import subprocess
from collections import Counter

import pytest

from conftest import BINARY

# Enough rows that the tables do not fit into one write.
ROWS = 2000


def may_trace():
    strace = shutil.which("strace")
    return strace and subprocess.run([strace, "-o", "/dev/null", "true"], capture_output=True).returncode == 0


traced = pytest.mark.skipif(not may_trace(), reason="skipped: no strace")


class Case:
    """A command that writes `target` into a folder of its own."""

    def __init__(self, folder, target, *command, old=None):
        self.target, self.old = folder / "out" / target, old
        self.command = [BINARY, *map(str, command), "-o", str(self.target), "--threads", "1"]
        self.reset()
        done = self.run()
        assert done.returncode == 0, done.stderr
        self.new = self.target.read_bytes()
        assert self.new != old

    def reset(self):
        shutil.rmtree(self.target.parent, ignore_errors=True)
        self.target.parent.mkdir()
        if self.old is not None:
            self.target.write_bytes(self.old)

    def run(self, *before, **how):
        return subprocess.run([*before, *self.command], capture_output=True, text=True, timeout=20, **how)

    def calls(self, folder):
        """The calls that concern the target or its folder: name, and how often it was called before, this one included."""
        log = folder / "log"
        self.reset()
        assert self.run("strace", "-f", "-y", "-e", "trace=%file,%desc", "-o", log).returncode == 0
        counts, calls, began = Counter(), [], False
        for line in log.read_text(errors="replace").splitlines():
            found = re.match(r"(\d+) +(\w+)\((.*)", line)
            if not found:
                continue
            thread, name, rest = found.groups()
            # strace counts for every thread.
            counts[thread, name] += 1
            began = began or (name != "execve" and str(self.target) in rest)
            # What is said on standard output may name the file, too.
            if began and str(self.target.parent) in rest and not re.match("[12]<", rest):
                calls.append((name, counts[thread, name]))
        assert [name for name, _ in calls].count("fsync") == 2, "the file, then its folder"
        return calls

    def check(self, done, killed=False):
        """The old file with an error in words, or the new file without; nothing beside it."""
        found = self.target.read_bytes() if self.target.exists() else None
        rest = [path.name for path in self.target.parent.iterdir() if path != self.target]
        if killed:
            assert found in (self.old, self.new)
            assert len(rest) <= 1 and all(re.fullmatch(r"\.eigenspan-\w+\.tmp", name) for name in rest), rest
            return
        assert not rest
        if done.returncode == 0:
            assert found == self.new
        else:
            assert done.returncode == 2
            assert found == self.old
            assert re.match(rf"(?s)(warning: .*)?error: cannot \w+ {re.escape(str(self.target))}: ", done.stderr), done


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    chance = random.Random(1)

    def table(name, rows):
        lines = (",".join(f"{chance.gauss(0, size):.6f}" for size in (10, 1, 0.1)) for _ in range(rows))
        (folder / name).write_text("a,b,c\n" + "\n".join(lines) + "\n")
        return folder / name

    few, other, many = table("few.csv", 12), table("other.csv", 12), table("many.csv", ROWS)
    old = Case(folder, "model.espan", "fit", other).new
    model = folder / "model.espan"
    model.write_bytes(old)
    return {
        "model": lambda: Case(folder, "model.espan", "fit", few, old=old),
        "first": lambda: Case(folder, "model.espan", "fit", few),
        "npy": lambda: Case(folder, "z.npy", "transform", model, many, old=b"old"),
        "csv": lambda: Case(folder, "z.csv", "transform", model, many, old=b"old"),
        "parquet": lambda: Case(folder, "z.parquet", "transform", model, many, old=b"old"),
    }


ERRORS = ["ENOSPC", "EACCES", "EINTR", "EIO", "EDQUOT"]


@traced
@pytest.mark.parametrize(
    ("case", "errors", "least"),
    [
        ("model", ERRORS, 60),
        ("first", ERRORS, 40),
        ("npy", ERRORS[::2], 40),
        ("csv", ERRORS[1::2], 40),
        ("parquet", ERRORS[::2], 40),
    ],
)
def test_the_file_is_the_old_or_the_new_one_whatever_call_fails(cases, tmp_path, record_property, case, errors, least):
    case = cases[case]()
    ends, runs = Counter(), 0
    for name, when in case.calls(tmp_path):
        for error in [*errors, None]:
            fault = f"error={error}" if error else "signal=KILL"
            case.reset()
            log = tmp_path / "fault"
            done = case.run("strace", "-f", "-o", log, "-e", f"inject={name}:{fault}:when={when}")
            note = f"{name} number {when}, {fault}"
            assert "(INJECTED)" in log.read_text(errors="replace") or not error, note
            try:
                case.check(done, killed=error is None)
            except AssertionError as broken:
                raise AssertionError(note) from broken
            ends["killed" if error is None else "new" if done.returncode == 0 else "old"] += 1
            runs += 1
    record_property("faults", runs)
    print(f"{runs} faults: {dict(ends)}")
    assert runs >= least
    assert min(ends["old"], ends["new"], ends["killed"]) > 0


@pytest.mark.parametrize("case", ["model", "first", "npy", "csv", "parquet"])
def test_a_file_that_may_not_grow_is_not_written(cases, case):
    case = cases[case]()
    size = len(case.new)

    def limit(most):
        # Ignored, the signal becomes an error of the write that goes beyond, after a short one up to the limit.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    for most in sorted({0, 1, 127, 128, size - 1, *(size * part // 12 for part in range(12))}):
        case.reset()
        done = case.run(preexec_fn=lambda: limit(most))
        assert done.returncode == 2, most
        case.check(done)
        assert "File too large" in done.stderr
        assert "hint: " in done.stderr
        assert ".tmp" not in done.stderr, "a name that nobody gave"
    case.reset()
    done = case.run(preexec_fn=lambda: limit(size))
    assert done.returncode == 0
    case.check(done)
