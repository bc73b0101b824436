#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The line of progress on a terminal: drawn in place, never wider than the terminal, erased before a message and at
the end; no line without a reason.

usage: tests/progress_pty.py GPUHIST
"""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from check import check, report

PROGRAM = os.path.realpath(sys.argv[1])


def screen(data, columns):
    """Return the lines that a terminal shows, without blanks at their ends, or None if a line was too wide."""
    lines, at = [""], 0
    for c in data.decode():
        if c == "\r":
            at = 0
        elif c == "\n":
            lines.append("")
            at = 0
        else:
            if at >= columns:
                return None
            lines[-1] = lines[-1][:at].ljust(at) + c + lines[-1][at + 1 :]
            at += 1
    return [line.rstrip() for line in lines]


class Run:
    """A run whose standard error, and with `both` its standard output, is a terminal, and whose input is a pipe of ours."""

    def __init__(self, options, columns=80, both=False):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        begin = "import os,sys,fcntl,termios; os.setsid(); fcntl.ioctl(2, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
        self.process = subprocess.Popen(
            [sys.executable, "-c", begin, PROGRAM, "-t", "u8"] + ([] if both else ["-o", "h.csv"]) + options,
            stdin=subprocess.PIPE, stdout=slave if both else subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        self.data, self.columns = b"", columns

    def read(self, until=None, seconds=30):
        """Read until the text has come, or, without one, to the end."""
        end = time.monotonic() + seconds
        os.set_blocking(self.master, False)
        while time.monotonic() < end and not (until and re.search(until, self.data)):
            try:
                more = os.read(self.master, 65536)
            except BlockingIOError:
                time.sleep(0.005)
                continue
            except OSError:
                return True
            if not more:
                return True
            self.data += more
        return bool(until and re.search(until, self.data))

    def end(self):
        self.process.stdin.close()
        self.read()
        os.close(self.master)
        return self.process.wait(30)

    def feed(self, n):
        self.process.stdin.write(bytes(n))
        self.process.stdin.flush()


def main():
    # With --progress: drawn in place, at every width, and erased at the end.
    for columns in (1, 9, 10, 11, 20, 33, 40, 80, 200, 500):
        run = Run(["--progress"], columns)
        run.feed(1 << 20)
        if columns > 40:
            check(run.read(rb"1\.05 MB in 0:0"), f"{columns} columns: {run.data!r}")
            check(run.read(rb"(\r.*){3}"), f"{columns} columns: drawn again: {run.data!r}")
        else:
            time.sleep(0.6)
        check(run.end() == 0, f"{columns} columns: status")
        shown = screen(run.data, columns)
        check(shown is not None or columns < 10, f"{columns} columns: too wide: {run.data!r}")
        check(shown in ([""], None), f"{columns} columns: left on the terminal: {shown!r}")
    # Without it: after a second, and not before something was counted.
    run = Run([])
    check(not run.read(b".", 1.5), f"nothing counted: {run.data!r}")
    run.feed(1 << 20)
    check(run.read(rb"1\.05 MB"), f"by itself: {run.data!r}")
    # SIGUSR1 prints a line of its own, which stays.
    run.process.send_signal(signal.SIGUSR1)
    check(run.read(rb"MB[^\r]*\r*\n"), f"SIGUSR1: {run.data!r}")
    check(run.end() == 0, "status")
    shown = screen(run.data, 80)
    check(shown and len(shown) == 2 and re.fullmatch("gpuhist: 1.05 MB in [^g]*", shown[0]) and shown[1] == "", f"SIGUSR1: {shown!r}")
    # A message gets a line of its own.
    run = Run(["--progress", "-t", "u16"], 200)
    run.feed((1 << 20) + 1)
    check(run.read(rb"1\.05 MB"), f"{run.data!r}")
    check(run.end() == 3, "status of a cut sample")
    shown = screen(run.data, 200)
    check(shown and shown[0].startswith("gpuhist: standard input ends inside a record") and shown[1:] == [""],
          f"before a message: {shown!r}")
    # INT leaves the line, and a message tells what became of the counts.
    run = Run(["--progress"])
    run.feed(1 << 20)
    check(run.read(rb"1\.05 MB"), f"{run.data!r}")
    run.process.send_signal(signal.SIGINT)
    check(run.end() == -signal.SIGINT, "died of INT")
    shown = screen(run.data, 80)
    check(shown and shown[0].startswith("gpuhist: 1.05 MB in ") and
          shown[1:] == ["gpuhist: interrupted; nothing was written (--finish keeps what was counted)", ""], f"INT: {shown!r}")
    # Nothing is drawn among rows, or among the bytes that --tee passes on, on the same terminal.
    rows = ["-b", "2", "-r", "0:2"]
    for options in (["--each=64", "-f", "plot"], ["--each=64", *rows], ["--each=64", *rows, "-o", "/dev/tty"], ["--tee", "-o", "h.csv"]):
        run = Run(options, both=True)
        for _ in range(8):
            run.feed(1 << 15 if "--tee" in options else 64)
            run.read(rb"(?!)", 0.2)
        check(run.end() == 0, f"{options}: status")
        check(not re.search(rb"B in |\r[^\r\n]", run.data), f"{options}: {run.data!r}")
    # With --progress, it is a line of its own.
    run = Run(["--progress", "--each=512K", *rows, "-f", "csv"], both=True)
    run.feed(1 << 20)
    check(run.read(rb"524288,524288,524288,524288,0"), f"{run.data!r}")
    check(run.end() == 0, "status")
    check(re.fullmatch(rb"input,first,offset,records,0,1\r\n(-,[0-9,]*\r\n){2}gpuhist: 1\.05 MB in [^\r]*\r\n", run.data), f"{run.data!r}")
    # With -q or --no-progress, no line.
    for options in (["-q"], ["--no-progress"]):
        run = Run(options)
        run.feed(1 << 20)
        check(not run.read(b".", 1.6), f"{options}: {run.data!r}")
        check(run.end() == 0 and run.data == b"", f"{options}: {run.data!r}")
    return report()


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    status = main()
    os.chdir("/")
sys.exit(status)
