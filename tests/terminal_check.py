#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program where standard input is a terminal: what it says that it waits for.

usage: terminal_check.py GPUHIST
"""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios

gpuhist = os.path.abspath(sys.argv[1])
os.environ.update(LC_ALL="C", TERM="dumb")
os.environ.pop("COLUMNS", None)
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



def seen(arguments, samples, columns=80, lines=24, output=False):
    """What a terminal shows as standard error, and as standard output if it gets that too."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    subprocess.run([gpuhist, "--no-progress", *arguments], input=samples, stdout=slave if output else subprocess.DEVNULL,
                   stderr=slave, check=True)
    os.close(slave)
    data = b""
    try:
        while more := os.read(master, 65536):
            data += more
    except OSError:
        pass
    os.close(master)
    return data.decode()


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

# --stats: as many channels beside each other as there is room for, each once.
for columns in (1, 40, 55, 56, 80, 200):
    lines = seen(["-t", "u8", "-c", "7", "--stats=50", "-q"], b"\0\1\2\3\4\5\6", columns).splitlines()
    shown = [line.split()[3:] for line in lines if line.startswith("gpuhist: stats: channel ")]
    check(sum(shown, []) == list("0123456") and (columns == 1 or max(map(len, lines)) < columns), f"{columns} columns: {lines}")
    check(len(shown[0]) == {1: 1, 40: 1, 55: 2, 56: 2, 80: 5, 200: 7}[columns], f"{columns} columns: {lines}")

# Pictures are as wide as their terminal, from 40 columns to 200.
for columns in (1, 40, 77, 200, 300, 0):
    for arguments in (["-qp"], ["-f", "plot"]):
        lines = seen([*arguments, "-t", "u8", "-b", "9", "-r", "0:9"], bytes(9), columns, output="-f" in arguments).splitlines()
        wide = max(len(line) for line in lines if "|" in line)
        check(wide == (min(max(columns, 40), 200) or 80 if columns else 80), f"{columns} columns: {lines}")

# A table that a terminal scrolls by.
for arguments, lines, bins in ((["-b", "64"], 24, 64), (["-b", "24"], 24, 24), (["-b", "24"], 0, 24), (["-b", "23"], 24, 0), (["-b", "64", "-q"], 24, 0),
                               (["-b", "64"], 65, 0), (["-b", "64", "--nonzero"], 3, 4), (["-b", "64", "--nonzero"], 5, 0),
                               (["-b", "64", "-f", "tsv"], 9, 64), (["-b", "64", "-f", "json"], 9, 0),
                               (["-b", "64", "-o", "/dev/null"], 9, 0), (["-b", "64", "-f", "plot"], 9, 0), (["-b", "64", "-p"], 9, 0)):
    end = seen(["-t", "u8", *arguments], b"\0\1\1\2\3", lines=lines, output=True).splitlines()[-1:]
    want = [f"gpuhist: {bins} bins: -f plot shows them on one screen"]
    check((end == want) if bins else "one screen" not in str(end), f"{arguments} on {lines} lines: {end}")

print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
