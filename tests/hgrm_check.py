#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of -f hgrm equals, line by line, the one by the Python package hdrhistogram, which counted the same samples.

That package's iterator does not round the number of halvings down, as HdrHistogram in Java and C does, so this script
replaces that step.
usage: hgrm_check.py GPUHIST [SEED]
"""
import bisect
import io
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

from hdrh.histogram import HdrHistogram
from hdrh.iterators import PercentileIterator

from check import check, report

GPUHIST = os.path.realpath(sys.argv[1])
rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
WHOLE = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "i64": "q", "u64": "Q"}
REAL = {"f32": "f", "f64": "d"}


def increment(self):
    self.percentile_to_iterate_from = self.percentile_to_iterate_to
    gap = 100 - self.percentile_to_iterate_to
    if gap:
        halves = math.floor(math.log(100 / gap) / math.log(2)) + 1
        self.percentile_to_iterate_to += 100 / (self.percentile_ticks_per_half_distance * 2**halves)


PercentileIterator.increment_iteration_level = increment


def table(kind, letter, samples, folder, merged):
    """Return the table that gpuhist writes; merged: it counts two halves, and adds their documents."""
    parts = [samples[:len(samples) // 3], samples[len(samples) // 3:]] if merged else [samples]
    names = []
    for i, part in enumerate(parts):
        names.append(os.path.join(folder, str(i)))
        with open(names[-1], "wb") as file:
            file.write(struct.pack(f"<{len(part)}{letter}", *part))
        if merged:
            subprocess.run([GPUHIST, "-q", "-t", kind, "--stats", names[-1], "-o", names[-1] + ".json"], check=True)
            names[-1] += ".json"
    options = ["--merge"] if merged else ["-t", kind]
    return subprocess.run([GPUHIST, "-q", "-f", "hgrm"] + options + names, check=True, capture_output=True).stdout.decode()


def check_whole(kind, folder):
    bits = int(kind[1:]) - (kind[0] == "i")
    most = min(bits, rng.randrange(1, 53))
    samples = [rng.randrange(1 << rng.randrange(1, most + 1)) for _ in range(rng.choice([0, 1, 2, 10, 1000, 5000]))]
    samples += [rng.randrange(1 << most)] * rng.choice([0, 0, 5000])
    merged = rng.random() < 0.3
    label = f"{kind}, {len(samples)} samples below 2^{most}{', merged' * merged}"
    ours = table(kind, WHOLE[kind], samples, folder, merged).splitlines()
    # Every value of a type of up to 16 bits has a cell of its own: hence the number of digits.
    model = HdrHistogram(1, max([2] + samples), 5 if bits <= 16 else 3)
    for x in samples:
        model.record_value(x)
    model.significant_figures = 3
    text = io.BytesIO()
    model.output_percentile_distribution(text, 1)
    theirs = text.getvalue().decode().splitlines()
    check([x for x in ours if x[:1] != "#"] == [x for x in theirs if x[:1] != "#"], f"{label}: lines")
    if bits > 16:
        check(ours[-1] == theirs[-1], f"{label}: {ours[-1]} instead of {theirs[-1]}")
    mean, std, most, number = (float(x) for x in re.findall(r"= +([0-9.]+)", " ".join(ours[-3:-1])))
    exact = sum(samples) / len(samples) if samples else 0
    check(abs(mean - exact) <= 0.001 + exact * 1e-12, f"{label}: mean {mean} instead of {exact}")
    check(abs(mean - model.get_mean_value()) <= mean / 1000 + 1, f"{label}: mean {mean}")
    check(abs(std - model.get_stddev()) <= (mean + std) / 500 + 1, f"{label}: deviation {std}")
    check((most, number) == (max(samples, default=0), len(samples)), f"{label}: maximum {most}, count {number}")


def check_real(kind, folder):
    samples = [rng.lognormvariate(0, 4) for _ in range(rng.choice([1, 30, 3000]))] + [0.0] * rng.choice([0, 3])
    samples = struct.unpack(f"{len(samples)}{REAL[kind]}", struct.pack(f"{len(samples)}{REAL[kind]}", *samples))
    lines = table(kind, REAL[kind], samples, folder, rng.random() < 0.3).splitlines()
    ordered = sorted(samples)
    for line in lines[2:-3]:
        value, share, count = (float(x) for x in line.split()[:3])
        nth = ordered[max(1, math.ceil(share * len(ordered) - 1e-6)) - 1]
        check(nth * (1 - 6e-6) <= value <= nth * (1 + 1 / 1020), f"{kind}: {line}, but the sample is {nth}")
        check(bisect.bisect(ordered, value * (1 - 6e-6)) <= count <= bisect.bisect(ordered, value * (1 + 6e-6)),
              f"{kind}: the count of {line}")


with tempfile.TemporaryDirectory() as place:
    for name in list(WHOLE):
        check_whole(name, place)
    for name in list(REAL):
        check_real(name, place)
sys.exit(report())
