#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The cookbook's table of percentiles is, line by line, the one that the Python package hdrhistogram writes for the samples.

That package's iterator does not round the number of halvings down, as HdrHistogram in Java and C does, so this script
replaces that step.
usage: hgrm_check.py GPUHIST [SEED]
"""
import io
import math
import os
import pathlib
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
PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/cookbook.md"
RECIPE = re.search(r"^```python\n((?s:.*?))^```$", PAGE.read_text(encoding="utf-8"), re.M)[1]
rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
WHOLE = {"u32": "I", "i32": "i", "i64": "q", "u64": "Q"}


def increment(self):
    self.percentile_to_iterate_from = self.percentile_to_iterate_to
    gap = 100 - self.percentile_to_iterate_to
    if gap:
        halves = math.floor(math.log(100 / gap) / math.log(2)) + 1
        self.percentile_to_iterate_to += 100 / (self.percentile_ticks_per_half_distance * 2**halves)


PercentileIterator.increment_iteration_level = increment


def table(kind, letter, samples, folder, merged):
    """Return the table of the recipe; merged: gpuhist counts two halves, and adds their documents."""
    parts = [samples[:len(samples) // 3], samples[len(samples) // 3:]] if merged else [samples]
    names = []
    for i, part in enumerate(parts):
        names.append(os.path.join(folder, f"{i}.json"))
        subprocess.run([GPUHIST, "-q", "-t", kind, "-r", "full", "-b", "1", "--stats", "-o", names[-1]], check=True,
                       input=struct.pack(f"<{len(part)}{letter}", *part))
    if merged:
        names = [os.path.join(folder, "sum.json")] + names
        subprocess.run([GPUHIST, "-q", "--merge", "--stats", "-o"] + names, check=True)
    with open(names[0], "rb") as document:
        return subprocess.run([sys.executable, "-c", RECIPE], stdin=document, check=True, capture_output=True).stdout.decode()


def check_whole(kind, folder):
    most = min(int(kind[1:]) - (kind[0] == "i"), rng.randrange(1, 53))
    samples = [rng.randrange(1 << rng.randrange(1, most + 1)) for _ in range(rng.choice([3, 400, 4096, 5000, 6000, 30000]))]
    samples += [rng.randrange(1 << most)] * rng.choice([0, 0, 5000])
    merged = rng.random() < 0.5
    label = f"{kind}, {len(samples)} samples below 2^{most}{', merged' * merged}"
    ours = table(kind, WHOLE[kind], samples, folder, merged).splitlines()
    model = HdrHistogram(1, max([2] + samples), 3)
    for x in samples:
        model.record_value(x)
    text = io.BytesIO()
    model.output_percentile_distribution(text, 1)
    theirs = text.getvalue().decode().splitlines()
    check([x for x in ours if x[:1] != "#"] == [x for x in theirs if x[:1] != "#"], f"{label}: lines")
    check(ours[-1] == theirs[-1], f"{label}: {ours[-1]} instead of {theirs[-1]}")
    mean, std, most, number = (float(x) for x in re.findall(r"= +([0-9.]+)", " ".join(ours[-3:-1])))
    exact = sum(samples) / len(samples)
    check(abs(mean - exact) <= 0.001 + exact * 1e-12, f"{label}: mean {mean} instead of {exact}")
    check(abs(mean - model.get_mean_value()) <= mean / 1000 + 1, f"{label}: mean {mean}")
    check(abs(std - model.get_stddev()) <= (mean + std) / 500 + 1, f"{label}: deviation {std}")
    check((most, number) == (max(samples), len(samples)), f"{label}: maximum {most}, count {number}")


with tempfile.TemporaryDirectory() as place:
    for name in list(WHOLE) * 2:
        check_whole(name, place)
sys.exit(report())
