#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The output of -f prom, as Prometheus' own client reads it: buckets equal the CSV's counts, and the sum the samples'.
Without bins (-b 0, --by) it is a summary, whose quantiles are the CSV's.

usage: prom_check.py GPUHIST [SEED]
"""
import csv
import fractions
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

from prometheus_client.parser import text_string_to_metric_families

from check import check, report

GPUHIST = os.path.realpath(sys.argv[1])
rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
LETTERS = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i64": "q", "u64": "Q", "f32": "f", "f64": "d"}


def run(arguments):
    done = subprocess.run([GPUHIST, "-q"] + arguments, capture_output=True, check=False, text=True)
    if done.returncode:
        raise RuntimeError(f"{arguments}: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def sample(kind):
    if kind[0] == "f":
        return rng.choice([rng.gauss(0, 3), rng.expovariate(1), 0.5 * rng.randrange(-8, 8)] * 9 + [math.nan, 1e30, -1e30])
    bits = int(kind[1:])
    low = -(1 << bits - 1) if kind[0] == "i" else 0
    return rng.choice([rng.randrange(100), rng.randrange(low, low + (1 << bits))]) if rng.random() < 0.9 else low


def least(kind):
    """Return the least sample of the type."""
    return {"f": -math.inf, "i": -(1 << int(kind[1:]) - 1), "u": 0}[kind[0]]


def limits(kind, rows, closed):
    """Return the largest sample below each edge, or the edge for floats, and the bins before it; equal limits are joined."""
    found = {}
    for i, row in enumerate(rows[:1] + rows):
        edge = fractions.Fraction(row["upper" if i else "lower"])
        last = closed and 0 < i == len(rows)
        if kind[0] != "f":
            edge = math.floor(edge) if last else math.ceil(edge) - 1
        if i > 0 or edge >= least(kind):
            found[float(edge)] = i
    return found


def job(path):
    kind = rng.choice(list(LETTERS))
    channels = rng.choice([1, 1, 2, 3])
    samples = [sample(kind) for _ in range(channels * rng.choice([0, 1, 50, 500]))]
    with open(path, "wb") as file:
        file.write(struct.pack(f"<{len(samples)}{LETTERS[kind]}", *samples))
    samples = list(struct.unpack(f"<{len(samples)}{LETTERS[kind]}", struct.pack(f"<{len(samples)}{LETTERS[kind]}", *samples)))
    bins = rng.choice([["-r", "0:100"], ["-r", "0:10", "-b", "40"], ["-r", "10:60", "--closed"], ["--edges=0.5,1,2.25,3,1e3"],
                       ["--auto", "-b", "30"], ["--log=auto", "-b", "30"], ["-r", "full", "-b", "7"]])
    bins = ["--auto"] if bins[0] == "-r" and bins[1] == "full" and kind[0] == "f" else bins
    closed = "--closed" in bins
    options = ["-t", kind, "-c", str(channels), path] + bins
    name = rng.choice(["gpuhist_samples", "adc:x", "_9"])
    text = run(options + ["-f", "prom"] + ([] if name == "gpuhist_samples" else ["--title", name]))
    rows = list(csv.DictReader(run(options + ["-f", "csv", "--flow"]).splitlines()))
    flow = {row["bin"]: row for row in rows if not row["bin"].isdigit()}
    rows = [row for row in rows if row["bin"].isdigit()]
    families = list(text_string_to_metric_families(text))
    histograms = [(f.name, f.type) for f in families if f.type != "gauge"]  # figures are gauges: formats_check.py
    check(histograms == [(name, "histogram")], f"{options}: one histogram named {name}")
    check(all(f.name.startswith(name + "_") for f in families[1:]), f"{options}: gauges of {name}")
    for c in range(channels):
        label = f"{options}: channel {c}: "
        count = "count" if channels == 1 else f"count{c}"
        mine = [s for s in families[0].samples if s.labels.get("channel", "0") == str(c)]
        check(all(("channel" in s.labels) == (channels > 1) for s in mine), label + "labels")
        buckets = [(float(s.labels["le"]), s.value) for s in mine if s.name == name + "_bucket"]
        wanted, below = [], int(flow["under"][count])
        whole = [below + sum(int(row[count]) for row in rows[:i]) for i in range(len(rows) + 1)]
        wanted = [(le, whole[i]) for le, i in limits(kind, rows, closed).items()]
        number = below + sum(int(row[count]) for row in rows) + int(flow["over"][count])
        check(buckets == wanted + [(math.inf, number)], f"{label}{buckets} instead of {wanted}, {number}")
        check([s.value for s in mine if s.name == name + "_count"] == [number], label + "count")
        exact = sum((fractions.Fraction(x) for x in samples[c::channels] if x == x), fractions.Fraction(0))
        size = sum((abs(fractions.Fraction(x)) for x in samples[c::channels] if x == x), fractions.Fraction(0))
        (total,) = [s.value for s in mine if s.name == name + "_sum"]
        check(abs(fractions.Fraction(total) - exact) <= size / 2**50, f"{label}sum {total} instead of {float(exact)}")
        if kind[0] != "f" and abs(exact) < 2**50:
            check(total == exact, f"{label}sum {total} instead of {exact}")


def summary(path):
    """Samples of several channels or keys, without bins."""
    kind = rng.choice(list(LETTERS))
    names = [str(i) for i in range(rng.choice([1, 1, 2, 3]))]
    keyed = rng.random() < 0.4
    samples = [(rng.choice(names) if keyed else names[i % len(names)], sample(kind)) for i in range(len(names) * rng.choice([1, 50, 500]))]
    if keyed:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{key} {value!r}\n" for key, value in samples)
        options = ["--text=2", "--by=1", "-t", kind] + rng.choice([[], ["-b", "0"]]) + [path]
    else:
        with open(path, "wb") as file:
            file.write(struct.pack(f"<{len(samples)}{LETTERS[kind]}", *[value for _, value in samples]))
        options = ["-b", "0", "-t", kind, "-c", str(len(names)), path]
    asked = rng.choice(["50,99.9", "0,1,50", "99"])
    label = "key" if keyed else "channel"
    series = {row.get(label, "0"): row for row in csv.DictReader(run(options + ["--stats=" + asked, "-f", "csv"]).splitlines())}
    families = list(text_string_to_metric_families(run(options + ["--stats=" + asked, "-f", "prom"])))
    check([(f.name, f.type) for f in families if f.type != "gauge"] == [("gpuhist_samples", "summary")], f"{options}: one summary")
    found = {}
    for s in families[0].samples:
        found.setdefault(s.labels.get(label, "0"), {})[s.labels.get("quantile", s.name)] = s.value
    check(found.keys() == series.keys(), f"{options}: {list(found)} instead of {list(series)}")
    for name, row in series.items():
        wanted = {str(float(fractions.Fraction(q) / 100)): float(row[q + "%"]) for q in asked.split(",") if row[q + "%"]}
        mine = {(str(float(q)) if q[0].isdigit() else q): float(value) for q, value in found[name].items()}
        number = int(row["samples"]) - int(row["nan"])
        check(mine.pop("gpuhist_samples_count") == number, f"{options}: {name}: count")
        total = mine.pop("gpuhist_samples_sum")
        check(not row["mean"] or math.isclose(total, float(row["mean"]) * number, rel_tol=1e-9, abs_tol=1e-9) or row["inf"] != "0",
              f"{options}: {name}: sum {total}")
        check(mine == wanted, f"{options}: {name}: {mine} instead of {wanted}")


with tempfile.TemporaryDirectory() as folder:
    for _ in range(120):
        job(os.path.join(folder, "samples"))
    for _ in range(60):
        summary(os.path.join(folder, "samples"))
sys.exit(report())
