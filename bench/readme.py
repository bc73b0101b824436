#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of README.md, and a second one: whole runs of gpuhist compared with other programs that do the same work.

usage: readme.py GPUHIST BENCH [GIB [RUNS [SECONDS]]]

The files are made in $TMPDIR; u32 and f32 have GIB (1) GiB each. After one run that does not count, the two commands
of a row run in turn, A B A B, RUNS (9) times; a row that takes more than SECONDS (60) ends once it has three pairs.
Slow programs get the first part of a file. Programs that are not installed are named below the tables. bench/hdr.c is
compiled by cc; CPATH and LIBRARY_PATH tell where HdrHistogram_c is, if cc does not find it.
"""
import datetime
import math
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

CORES = len(os.sched_getaffinity(0))
HERE = os.path.dirname(os.path.realpath(__file__))
GPU = f"{CORES} + GPU"
F32 = "-t f32 -r -4:4 -b 1000"
TIMES4 = " ".join(["f32"] * 4)
NOISE4 = " ".join(["noise"] * 4)
PYTHON = f"exec {sys.executable} {HERE}/rivals.py "

# A row: gpuhist's command, inputs, threads; the other program's name, command, inputs, threads, and what it needs,
# whose version becomes the {} in the name.
README = [
    ("gpuhist -b 1024 u32", "u32", CORES,
     "a bare loop in C over the same blocks", f"exec $BENCH bare u32 {CORES}", "u32", CORES, "sh"),
    ("cat u32 | gpuhist -b 1024", "u32", CORES,
     "`cat` into a pipe whose reader discards", "cat u32 | $BENCH drain", "u32", 1, "sh"),
    (f"gpuhist -T 1 {F32} f32", "f32", 1,
     "NumPy {}: `histogram`", PYTHON + "numpy f32.part", "f32.part", 1, "numpy"),
    (f"gpuhist {F32} f32", "f32", CORES,
     "boost-histogram {}", PYTHON + f"boost f32 {CORES}", "f32", CORES, "boost_histogram"),
    ("gpuhist --text -r 0:1 -b 1000 text", "text", CORES,
     "DuckDB {}: `read_csv`", PYTHON + f"duckdb text {CORES}", "text", CORES, "duckdb"),
    ("gpuhist --text -r 0:1 -b 1000 text", "text", CORES,
     "Polars {}: `scan_csv`", PYTHON + f"polars text {CORES}", "text", CORES, "polars"),
    ("gpuhist --log=auto --stats=50,99,99.9 latencies", "latencies", CORES,
     "HdrHistogram_c {}, one in each thread", f"exec ./hdr latencies {CORES}", "latencies", CORES, "HdrHistogram_c"),
    ("gpuhist -b 1024 u32.zst", "u32.zst", CORES,
     "`zstd -dc` {}", "exec zstd -dc u32.zst", "u32.zst", 1, "zstd"),
    ("gpuhist -b 1024 u32.zst", "u32.zst", CORES,
     "`zstd -dc` {} into a bare loop", "zstd -dc u32.zst | $BENCH tally", "u32.zst", 2, "zstd"),
    (f"gpuhist {F32} {TIMES4}", TIMES4, GPU,
     "CuPy {}: `histogram`, page-locked buffers", PYTHON + f"cupy f32 {CORES}", TIMES4, GPU, "cupy"),
    (f"gpuhist {F32} {TIMES4}", TIMES4, GPU,
     "the cores alone", f"exec gpuhist --device=cpu {F32} {TIMES4}", TIMES4, CORES, "gpu"),
    (f"taskset -c 0,1 gpuhist {F32} {TIMES4}", TIMES4, "2 + GPU",
     "the two cores alone", f"exec taskset -c 0,1 gpuhist --device=cpu {F32} {TIMES4}", TIMES4, 2, "gpu"),
]
MORE = [
    ("gpuhist -T 1 --text -r 0:1 -b 1000 text", "text", 1,
     "`mawk` {}", "exec mawk '{ n[int($1 * 1000)]++ } END { for (i in n) print i, n[i] }' text.part", "text.part", 1,
     "mawk"),
    (f"gpuhist {F32} f32.zst", "f32.zst", CORES,
     "`zstd -dc` {}", "exec zstd -dc f32.zst", "f32.zst", 1, "zstd"),
    (f"gpuhist {F32} f32.pz.zst", "f32.pz.zst", CORES,
     "`pzstd -dc` {}", "exec pzstd -dc f32.pz.zst", "f32.pz.zst", CORES, "pzstd"),
    (f"gpuhist -b 16M -r full -f raw {NOISE4}", NOISE4, GPU,
     "the cores alone", f"exec gpuhist --device=cpu -b 16M -r full -f raw {NOISE4}", NOISE4, CORES, "gpu"),
    ("gpuhist -b 1024 u32.all.zst", "u32.all.zst", GPU,
     "the cores alone", "exec gpuhist --device=cpu -b 1024 u32.all.zst", "u32.all.zst", CORES, "gpu"),
    ("gpuhist --device=gpu -b 1024 u32", "u32", GPU,
     "the cores alone", "exec gpuhist --device=cpu -b 1024 u32", "u32", CORES, "gpu"),
]
# Files made of the first part of another file, by a filter.
DERIVED = {
    "f32.part": ("f32", 4, "cat"),
    "text.part": ("text", 8, "cat"),
    "u32.zst": ("u32", 4, "zstd -q -c"),
    "f32.zst": ("f32", 4, "zstd -q -c"),
    "f32.pz.zst": ("f32", 1, "pzstd -q -c"),
    "u32.all.zst": ("u32", 1, "zstd -q -c -T0"),
}


def timed(command):
    """Return the seconds and CPU seconds of a shell command with all its children, or None if it fails."""
    start = time.monotonic()
    child = subprocess.Popen(["timeout", "100", "sh", "-c", command],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, child.returncode, usage = os.wait4(child.pid, 0)
    return None if child.returncode else (time.monotonic() - start, usage.ru_utime + usage.ru_stime)


def samples(name, rng):
    """Return some samples of a file: 4 Mi words of 32 bits, or lines."""
    n = 1 << 22
    if name == "u32":
        return rng.integers(0, 1024, n, "u4")
    if name == "noise":
        return rng.integers(0, 1 << 32, n, "u4")
    if name == "f32":
        return rng.standard_normal(n, "f4")
    if name == "latencies":
        return (1e6 * 2 ** rng.standard_normal(n, "f4")).astype("u4")
    lines = rng.integers(ord("0"), ord("9") + 1, (n, 9), "u1")
    lines[:, [0, 1, 8]] = list(b"0.\n")
    return lines


def make(name, blocks, sizes):
    """Make a file if it is not there; sizes[name] are the bytes that it stands for."""
    if name in sizes:
        return
    if name in DERIVED:
        source, parts, command = DERIVED[name]
        make(source, blocks, sizes)
        sizes[name] = sizes[source] // parts // 36 * 36  # whole words and lines
        timed(f"head -c {sizes[name]} {source} | {command} >{name}")
        return
    import numpy
    rng = numpy.random.default_rng(1)
    with open(name, "wb") as f:
        for _ in range(max(blocks // 9, 1) if name == "text" else blocks):
            samples(name, rng).tofile(f)
        sizes[name] = f.tell()


def two(x):
    """Return a number with two digits."""
    x = float(f"{x:.1e}")
    return f"{x:.{max(1 - math.floor(math.log10(x)), 0) if x else 0}f}"


def print_row(row, version, runs, seconds, blocks, sizes):
    """Time a row and print it."""
    mine, my_input, my_threads, name, theirs, their_input, their_threads, _ = row
    for file in my_input.split() + their_input.split():
        make(file, blocks, sizes)
    my_gb, their_gb = [sum(sizes[f] for f in inputs.split()) / 1e9 for inputs in (my_input, their_input)]
    if "GPU" not in str(my_threads):
        mine = mine.replace("gpuhist", "gpuhist --device=cpu", 1)
    name = name.format(version)
    pairs, end = [(timed(mine), timed(theirs))], time.monotonic() + seconds
    while None not in pairs[-1] and len(pairs) <= runs and (len(pairs) <= 3 or time.monotonic() < end):
        pairs.append((timed(mine), timed(theirs)))
    shown = "`" + row[0].replace("|", "\\|") + "`"
    if None in pairs[-1]:
        print(f"| {shown} | | | | {name} | | | | {'the first' if pairs[-1][0] is None else 'the second'} failed |")
        return
    a, b = zip(*pairs[1:])
    ratios = sorted(y[0] / their_gb / (x[0] / my_gb) for x, y in zip(a, b))

    def cells(threads, times, gb):
        wall, cpu = [statistics.median(t) for t in zip(*times)]
        return f"{threads} | {two(gb / wall)} | {two(cpu / gb)}"
    few = f" ({len(ratios)} runs)" if len(ratios) < runs else ""
    print(f"| {shown} | {cells(my_threads, a, my_gb)} | {name} | {cells(their_threads, b, their_gb)} | "
          f"{two(statistics.median(ratios))} ({two(ratios[0])} to {two(ratios[-1])}){few} |", flush=True)


def output(command):
    """Return the first line that a command prints, or nothing."""
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().split("\n")[0] if done.returncode == 0 else ""


def versions():
    """Return what is installed, with its version; nothing for what is not."""
    found = {"sh": "sh", "gpu": output("gpuhist --device=gpu -q -t u8 -f raw /bin/sh >gpu && { nvidia-smi "
                                       "--query-gpu=name,driver_version --format=csv,noheader || echo unknown; }")}
    for module in ("numpy", "boost_histogram", "duckdb", "polars", "cupy"):
        found[module] = output(f"{sys.executable} -c 'import {module} as m; print(m.__version__)'")
    for program in ("zstd", "pzstd", "mawk"):
        version = output(f"{program} {'-W version' if program == 'mawk' else '-V'}") if shutil.which(program) else ""
        found[program] = "".join(re.findall(r"\d+(?:\.\d+)+", version)[:1])
    header = "#include <hdr/hdr_histogram_version.h>"
    if timed(f"cc -O3 -D_GNU_SOURCE -pthread {HERE}/hdr.c -o hdr -lhdr_histogram -lm"):
        found["HdrHistogram_c"] = output(f"echo '{header}' | cc -E -dM - | sed -n 's/.*_VERSION \"\\(.*\\)\"/\\1/p'")
    return found


def main():
    """Print both tables."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # removes the files
    gpuhist, bench = map(os.path.realpath, sys.argv[1:3])
    gib, runs, seconds = (list(map(float, sys.argv[3:])) + [1, 9, 60][len(sys.argv) - 3:])[:3]
    with tempfile.TemporaryDirectory(prefix="gpuhist-bench-") as directory:
        os.chdir(directory)
        os.mkdir("bin")
        os.symlink(gpuhist, "bin/gpuhist")
        os.environ.update(PATH=f"{directory}/bin:{os.environ['PATH']}", BENCH=bench)
        found = versions()
        cpu = output("sed -n 's/^model name.*: *//p' /proc/cpuinfo")
        others = [f"{name} {version}" for name, version in found.items() if version and name not in ("sh", "gpu")]
        print("; ".join([f"{cpu}, {CORES} cores", f"GPU: {found['gpu'] or 'none'}", f"Linux {platform.release()}",
                         output("gpuhist -V"), f"Python {platform.python_version()}"] + others) +
              f"; {datetime.date.today()}. Medians of {int(runs)} runs in turn, files in {tempfile.gettempdir()}.")
        print(f"u32: {gib:g} GiB, uniform below 1024. f32: {gib:g} GiB, normal. text: 0.271828 and the like, uniform. "
              "latencies: u32, log-normal. noise: any u32. u32.zst, f32.zst: one frame. f32.pz.zst: by pzstd. "
              "Rows without GPU: --device=cpu.")
        sizes = {}
        for rows in (README, MORE):
            print("\n| whole runs | threads | GB/s | CPU s/GB | compared with | threads | GB/s | CPU s/GB "
                  "| speedup |\n|---|--:|--:|--:|---|--:|--:|--:|--:|", flush=True)
            for row in rows:
                if found.get(row[-1]):
                    print_row(row, found[row[-1]], int(runs), seconds, max(round(gib * 64), 1), sizes)
        missing = sorted({row[-1] for row in README + MORE if not found.get(row[-1])})
        print("\nLeft out, not installed here: " + (", ".join(missing) or "none") + ".")
        os.chdir("/")


if __name__ == "__main__":
    main()
