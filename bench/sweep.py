#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
sweep: find cliffs. Count with every combination of types, channels, bins, threads and --stats, in rows and with keys, and
print the runs that are slower than a third of a neighbour's rate. A neighbour differs by one step in one dimension; more
threads are no neighbour of fewer.

A run that looks slow is repeated with its neighbour, and the best rates count. Runs that are refused are left out. Rates
are of whole processes, so with few bytes the start of large tables shows.

    sweep.py GPUHIST [GIB]        GiB of each file in $TMPDIR, 0.5 by default
"""
import itertools
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

LEAST = 1 / 3  # of a neighbour's rate
LIMIT = 60  # seconds of a run

TYPES = ["u8", "u16", "u32", "f32", "f64"]
CHANNELS = [1, 2, 8, 32, 64, 128, 1024, 65536]
BINS = [0, 16, 1024, 65536]
ROWS = ["none", "16M", "1M", "64K", "4K"]
KEYS = ["none", "u8@0", "u16@0"]
THREADS = [1, 2, 16]
STATS = [False, True]
# Each sweep: its name, and its dimensions, in the order of the arguments of command()
SWEEPS = {
    "channels": [TYPES, CHANNELS, BINS, ["none"], ["none"], THREADS, STATS],
    "rows": [TYPES, [1], [0, 1024], ROWS, ["none"], THREADS, STATS],
    "keys": [["u16", "f32"], [1], [16, 1024], ["none"], KEYS, THREADS, STATS],
}


def write(path, kind, size):
    """Write samples: integers below 1024 (or 256), floats of a bell curve. In records of 16 bytes, 64 keys come first."""
    rng, n = np.random.default_rng(1), 1 << 20
    block = (rng.integers(0, 256 if kind == "u8" else 1024, n).astype(kind[0] + str(int(kind[1:]) // 8)) if kind[0] == "u"
             else rng.standard_normal(n).astype("f" + str(int(kind[1:]) // 8)))
    if path.endswith(".records"):
        records = np.zeros((n, 16), np.uint8)
        records[:, 0] = rng.integers(0, 64, n)
        records[:, 8:8 + block.itemsize] = block.view(np.uint8).reshape(n, -1)
        block = records
    with open(path, "wb") as file:
        while file.tell() < size:
            file.write(block.tobytes()[:size - file.tell()])


def command(kind, channels, bins, rows, key, threads, stats):
    options = ["-t", kind, "-b", str(bins), "-T", str(threads), "-q", "--device=cpu", "-o", "/dev/null"]
    if bins > 0:
        options.append("--range=-4:4" if kind[0] == "f" else "--range=0:256" if kind == "u8" else f"--range=0:{max(bins, 1024)}")
    options += ["--stats"] if stats else []
    options += ["-f", "csv" if rows != "none" or key != "none" or stats or bins == 0 else "raw"]
    options += ["-c", str(channels)] if channels > 1 else []
    if rows != "none":
        options.append(f"--each={rows}")
    if key != "none":
        options += ["--record=16", "--offset=8", f"--by={key}"]
    return options + [f"{kind}.records" if key != "none" else kind]


def rate(program, point):
    """GB/s of a run; 0: it was stopped; None: it was refused."""
    options = command(*point)
    start = time.monotonic()
    # With a timeout, subprocess would look only now and then whether the run has ended.
    status = subprocess.call(["timeout", str(LIMIT), program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = time.monotonic() - start
    return os.path.getsize(options[-1]) / seconds / 1e9 if status == 0 else 0.0 if status == 124 else None


def neighbours(point, dimensions):
    for i, values in enumerate(dimensions):
        at = values.index(point[i])
        for step in (at - 1,) if values is THREADS else (at - 1, at + 1):
            if 0 <= step < len(values):
                yield (*point[:i], values[step], *point[i + 1:])


def sweep(program, name, dimensions):
    found = {point: rate(program, point) for point in itertools.product(*dimensions)}
    rates = {point: at for point, at in found.items() if at is not None}
    print(f"{name}: {len(rates)} runs, {len(found) - len(rates)} refused", flush=True)
    for point, at in rates.items():
        slow = [other for other in neighbours(point, dimensions) if at < LEAST * rates.get(other, 0)]
        if not slow:
            continue
        fastest = max(slow, key=rates.get)
        own, other = (max(rate(program, p) or 0 for _ in range(3)) for p in (point, fastest))
        if own < LEAST * other:
            print(f"{own / other:.2f}  {own:6.2f} GB/s  gpuhist {' '.join(command(*point))}\n"
                  f"      {other:6.2f} GB/s  gpuhist {' '.join(command(*fastest))}", flush=True)


def main():
    program, size = os.path.abspath(sys.argv[1]), round(float(sys.argv[2] if len(sys.argv) > 2 else 0.5) * 1024) << 20
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for kind in TYPES:
            write(kind, kind, size)
        for kind in SWEEPS["keys"][0]:
            write(f"{kind}.records", kind, size)
        for name, dimensions in SWEEPS.items():
            sweep(program, name, dimensions)
        os.chdir("/")


main()
