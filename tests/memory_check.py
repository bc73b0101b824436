#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The peak of the resident memory is at most -M and 24 MiB, for zstd frames of different lengths.

Usage: memory_check.py GPUHIST
"""
import os
import subprocess
import sys
import tempfile

from check import check, report

gpuhist = os.path.abspath(sys.argv[1])
LETTERS = bytes(48 + i % 64 for i in range(256))


def frame(size):
    """Return a frame that declares no size, of samples of 6 bits."""
    data = os.urandom(size).translate(LETTERS)
    return subprocess.run(["zstd", "-q", "-3", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


def peak(memory, path):
    """Count the file; return the peak of the memory, in MiB."""
    process = subprocess.Popen([gpuhist, "-q", "-t", "u8", "-T", "4", "-M", f"{memory}M", "--device=cpu", "-o", "out.csv", path])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    check(status == 0, f"-M {memory}M: status {status}")
    return usage.ru_maxrss >> 10


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        large, small = frame(8000000), frame(1500000)
        with open("frames.zst", "wb") as f:
            for _ in range(40):
                f.write(large + 2 * small)
        for memory in (16, 32, 64):
            mebibytes = peak(memory, "frames.zst")
            check(mebibytes <= memory + 24, f"-M {memory}M: {mebibytes} MiB")
        os.chdir("/")
    return report()


if __name__ == "__main__":
    sys.exit(main())
