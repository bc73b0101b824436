#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program where standard input is a terminal: what it says that it waits for.

usage: terminal_check.py GPUHIST
"""

import os
import pty
import subprocess
import sys
import tempfile

gpuhist = os.path.abspath(sys.argv[1])
passed = failed = 0


def check(condition, what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("FAILED", what)


def run(arguments, typed, on_terminal=True):
    """Status, standard output and standard error of a run whose standard input is a terminal with this typed."""
    master, slave = pty.openpty()
    os.write(master, typed)
    process = subprocess.Popen(
        [gpuhist, *arguments],
        stdin=slave if on_terminal else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    os.close(slave)
    os.close(master)
    return process.returncode, out.decode(), err.decode()


END = b"abc\n\x04"
BYTES = ["-t", "u8", "-b", "1", "-r", "full", "--no-header", "--no-progress"]
WAITS = "gpuhist: waiting for samples on standard input, a terminal: end with Ctrl-D\n"

status, out, err = run([], b"")
check((status, out) == (2, "") and err.startswith("gpuhist: nothing to count: "), f"no words: {status} {out!r} {err!r}")

status, out, err = run(BYTES, END)
check((status, out, err) == (0, "0,0,256,4\n", WAITS), f"options: {status} {out!r} {err!r}")
status, out, err = run([*BYTES, "-"], END)
check((status, out, err) == (0, "0,0,256,4\n", WAITS), f"-: {status} {out!r} {err!r}")
status, out, err = run(["-t", "u8", "-"], END)
check(status == 0 and err == WAITS, f"- alone: {status} {out!r} {err!r}")
status, out, err = run([*BYTES, "-q"], END)
check((status, out, err) == (0, "0,0,256,4\n", ""), f"-q: {status} {out!r} {err!r}")
status, out, err = run([*BYTES, gpuhist], b"")
check(status == 0 and "waiting" not in err, f"a file: {status} {err!r}")
status, out, err = run([], b"", on_terminal=False)
check((status, err) == (0, "gpuhist: warning: standard input: is empty\n"), f"no terminal: {status} {err!r}")
status, out, err = run(["-h"], b"")
check((status, err) == (0, ""), f"-h: {status} {err!r}")
status, out, err = run(["-b", "x"], b"")
check(status == 2 and "waiting" not in err, f"refused: {status} {err!r}")



def seen(arguments, samples):
    """What a terminal shows as standard error."""
    master, slave = pty.openpty()
    subprocess.run([gpuhist, "--no-progress", *arguments], input=samples, stdout=subprocess.DEVNULL, stderr=slave, check=True)
    os.set_blocking(master, False)
    os.close(slave)
    try:
        return os.read(master, 65536).decode()
    except OSError:
        return ""


READ_AS = "gpuhist: samples read as u32, little endian (-t)\r\n"
with tempfile.TemporaryDirectory() as folder:
    named = os.path.join(folder, "a.u32")
    with open(named, "wb") as file:
        file.write(bytes(8))
    for arguments, samples, want in (
        ([], bytes(8), READ_AS),
        (["-t", "u32"], bytes(8), ""),
        (["-q"], bytes(8), ""),
        (["-n", "0"], bytes(8), ""),
        ([named], b"", ""),
        ([], b"P5 2 1 255\nab", ""),
    ):
        got = seen(arguments, samples)
        check(got == want, f"{arguments} on a terminal: {got!r}")

print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
