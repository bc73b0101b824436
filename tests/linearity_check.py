# SPDX-License-Identifier: MIT
"""--linearity of simulated converters: exact for the counts, and true for widths of codes that are known.

usage: linearity_check.py GPUHIST SEED
"""
import csv
import io
import json
import math
import random
import struct
import subprocess
import sys
from fractions import Fraction

from check import check, report

program, seed = sys.argv[1], int(sys.argv[2])
rng = random.Random(seed)


def run(data, bins, wave, *options):
    command = [program, "-t", "u16", "-b", str(bins), f"--linearity={wave}", "-f", "csv", *options]
    done = subprocess.run(command, input=data, capture_output=True, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout.decode()))), done.stderr.decode()


def arrays(data, bins, wave, *options):
    """Return dnl and inl of the JSON of the same run, by name of the CSV's column."""
    command = [program, "-t", "u16", "-b", str(bins), f"--linearity={wave}", "-q", "-f", "json", *options]
    document = json.loads(subprocess.run(command, input=data, capture_output=True, check=True).stdout)
    channels = [document] if "uhi_schema" in document else [document[f"channel{i}"] for i in range(len(document))]
    return {column + (str(i) if len(channels) > 1 else ""): channel["writer_info"]["gpuhist"][column]
            for i, channel in enumerate(channels) for column in ("dnl", "inl")}


def check_said(what, line, counts):
    """Check the codes that a line on standard error names."""
    hit = [i for i, n in enumerate(counts) if n > 0]
    missing = [i for i in range(hit[0], hit[-1]) if counts[i] == 0]
    text = f"{len(missing)} missing code{'' if len(missing) == 1 else 's'}"
    if missing:
        text += ": " + ", ".join([str(i) for i in missing[:10]] + ["..."] * (len(missing) > 10))
    text = f"codes {hit[0]} to {hit[-1]} of {len(counts)}, {text}"
    check(line.split("; ")[1] == text, f"{what}: {line}, not {text}")


def expected(counts, below, above, wave):
    """Return DNL and INL of the codes between the first and the last; fractions for a ramp."""
    hit = [i for i, n in enumerate(counts) if n > 0]
    first, last = hit[0], hit[-1]
    total = below + sum(counts) + above
    share, levels = below, {}
    for i in range(first, last):
        share += counts[i]
        levels[i] = Fraction(share, total) if wave == "ramp" else -math.cos(math.pi * share / total)
    mean = (levels[last - 1] - levels[first]) / (last - first - 1)
    dnl = {i: (levels[i] - levels[i - 1]) / mean - 1 for i in range(first + 1, last)}
    inl = {i: sum(dnl[j] for j in range(first + 1, i)) for i in dnl}
    return dnl, inl


# By definition: any counts, missing codes, samples above the range, two channels.
for job in range(60):
    wave, bins = rng.choice(["sine", "ramp"]), rng.choice([3, 4, 16, 100])
    channels = rng.choice([1, 1, 2])
    samples = [[rng.choice([0, bins // 2, bins - 1, rng.randrange(bins + bins // 4)]) for _ in range(400)]
               for _ in range(channels)]
    for own in samples:
        own[:3] = 0, bins // 2, bins - 1
    data = b"".join(struct.pack("<%dH" % channels, *frame) for frame in zip(*samples))
    rows, said = run(data, bins, wave, "-q", "-c", str(channels))
    lists = arrays(data, bins, wave, "-c", str(channels), *rng.choice([[], ["--nonzero"]]))
    check({name: [float(row[name]) if row[name] else None for row in rows] for name in lists} == lists,
          f"job {job}: {lists}, and in the CSV {rows}")
    for channel, own in enumerate(samples):
        name = str(channel) if channels > 1 else ""
        check_said(f"job {job}, channel {channel}", said.splitlines()[channel], [own.count(i) for i in range(bins)])
        dnl, inl = expected([own.count(i) for i in range(bins)], 0, sum(x >= bins for x in own), wave)
        for i, line in enumerate(rows):
            for column, true in ("dnl", dnl), ("inl", inl):
                got = line[column + name]
                check(abs(float(got) - true[i]) <= 5.1e-7 if got and i in true else not got and i not in true,
                      f"job {job}, channel {channel}, code {i}: {column} {got}, not {float(true.get(i, math.nan))}")

# By construction: an 8-bit converter with known thresholds, its input at random phases.
SAMPLES = 200000
for wave in "sine", "ramp":
    widths = [rng.choice([0.0, 0.5, 1, 1, 1, 1.5]) for _ in range(254)]
    scale = 254 / sum(widths)
    edges = [0]
    for width in widths:
        edges.append(edges[-1] + width * scale)
    codes = []
    for _ in range(SAMPLES):
        x = rng.random()
        # The input is a little larger than the range between the first and the last threshold.
        x = 130 * math.sin(2 * math.pi * x) + 127 if wave == "sine" else 256 * x - 1
        low, high = 0, 255
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if edges[middle] <= x else (low, middle)
        codes.append(low)
    rows, said = run(struct.pack(f"<{SAMPLES}H", *codes), 256, wave)
    error = float(said.split("standard error of DNL ")[1].split(";")[0])
    for i in range(1, 255):
        true = widths[i - 1] * scale - 1
        # The error of a width grows with the square root of the width.
        check(abs(float(rows[i]["dnl"]) - true) <= 5 * error * max(1, math.sqrt(true + 1)),
              f"{wave}, code {i}: {rows[i]}, width {true}, error {error}")
        check(abs(float(rows[i]["inl"]) - sum(w * scale - 1 for w in widths[: i - 1])) <= 5 * error * 16,
              f"{wave}, code {i}: {rows[i]}, error {error}")
    missing = [i for i, width in enumerate(widths, 1) if width == 0]
    check(f"codes 0 to 255 of 256, {len(missing)} missing codes: {', '.join(map(str, missing[:10]))}, ..." in said,
          f"{wave}: {said}")

# A signal that reaches some codes, about half of them.
for reached in [7, 8, 9, *(rng.randrange(3, 16) for _ in range(5))]:
    start = rng.randrange(17 - reached)
    codes = [start, start + 1, start + reached - 1]
    _, said = run(struct.pack("<3H", *codes), 16, "ramp")
    check_said(f"{codes}", said.splitlines()[0], [i in codes for i in range(16)])
    check((f"warning: linearity: the signal reached only {reached} of 16 codes;" in said) == (reached < 8), f"{codes}: {said}")

# Parts and merges give the same text.
data = struct.pack("<9000H", *(min(max(int(rng.gauss(50, 20)), 0), 99) for _ in range(9000)))
whole, _ = run(data, 100, "ramp", "-q")
parts = b"".join(subprocess.run([program, "-t", "u16", "-b", "100", "-q", "-f", "json"], input=data[i:i + 6000],
                                capture_output=True, check=True).stdout for i in range(0, len(data), 6000))
merged = subprocess.run([program, "--merge", "-q", "--linearity=ramp"], input=parts, capture_output=True, check=True)
check(list(csv.DictReader(io.StringIO(merged.stdout.decode()))) == whole, "the merged parts differ from the whole")
check(json.loads(parts.splitlines()[0]), "an empty document")
sys.exit(report())
