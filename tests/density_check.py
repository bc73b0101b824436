#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pictures tell the truth: for every kind of bins, the bars show the density of the model that made the samples.

The samples are quantiles of a model, so there is no noise. The values are read from the picture alone: in SVG from the path
and the numbers on both axes; in a plot from the labels and lengths of its rows. Usage: density_check.py GPUHIST
"""
import array
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

from check import check, report

gpuhist = os.path.abspath(sys.argv[1])
os.environ.update(LC_ALL="C.UTF-8", TERM="dumb", COLUMNS="120")
NORMAL = statistics.NormalDist()
N = 60000


class Model:
    """A mixture of (share, cdf, quantile)."""

    def __init__(self, name, *parts):
        self.name, self.parts = name, parts

    def below(self, x):
        """Return the share of the samples that are below x."""
        return sum(share * cdf(x) for share, cdf, _ in self.parts)

    def samples(self):
        return [quantile((i + 0.5) / n) for share, _, quantile in self.parts for n in [round(share * N)] for i in range(n)]


def uniform(lo, hi):
    return lambda x: min(max((x - lo) / (hi - lo), 0), 1), lambda q: lo + q * (hi - lo)


def lognormal(mean, deviation, sign=1):
    def cdf(x):
        return 0.0 if x <= 0 else NORMAL.cdf((math.log(x) - mean) / deviation)

    if sign > 0:
        return cdf, lambda q: math.exp(mean + deviation * NORMAL.inv_cdf(q))
    return lambda x: 1 - cdf(-x), lambda q: -math.exp(mean + deviation * NORMAL.inv_cdf(q))


ZERO = (lambda x: float(x > 0), lambda q: 0.0)
MODELS = (
    Model("uniform", (1, *uniform(1, 400))),
    Model("lognormal", (1, *lognormal(3, 0.8))),
    Model("mixture", (0.5, *lognormal(1, 0.4)), (0.5, *lognormal(5, 0.3))),
    Model("zeros", (0.1, *ZERO), (0.9, *lognormal(3, 0.8))),
    Model("signs", (0.1, *ZERO), (0.3, *lognormal(2, 0.6, -1)), (0.6, *lognormal(4, 0.6))),
)
LIST = [0.5, 0.8, 1.7, 2, 5, 9, 11, 30, 31, 50, 90, 200, 333, 1000]
POSITIVE = ("--log=0.5:1000 -b 80", "--edges=" + ",".join(str(0.5 * 1.2**i) for i in range(42)), "--edges=" + ",".join(map(str, LIST)))
ANY = ("-r -500:500 -b 100", "--auto -b 100", "--log=auto -b 128", "--log=auto -b 4096", "--edges=" + ",".join(str(i) for i in range(-500, 501, 10)),
       "--edges=" + ",".join(map(str, [-300, -100, -30, 0] + LIST)))


def run(*arguments):
    return subprocess.run([gpuhist, "-q", "-t", "f64", *arguments, "samples"], stdout=subprocess.PIPE, check=True).stdout.decode()


def number(text):
    text = text.replace("\u2009", "").replace("\u2212", "-")
    text = re.sub("[\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u207b]+", lambda m: "e" + "".join("-" if c == "\u207b" else str("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079".index(c)) for c in m[0]), text)
    return float(re.sub("^(-?)10e", r"\g<1>1e", text.replace("\u00d710e", "e")))


def ticks(svg, coordinate, attributes):
    """Return the positions and the numbers of an axis."""
    found = re.findall(r'<text %s x="([-0-9.]+)" y="([-0-9.]+)">([-\u2212.0-9\u00d7\u2009\u2070-\u207b\u00b9\u00b2\u00b3]+)</text>' % attributes, svg)
    return [(float(x if coordinate == "x" else y), number(text)) for x, y, text in found]


def between(marks, logarithmic):
    """Return the value at a position, from the two marks of its sign that are farthest apart."""

    def value(at, sign):
        own = [m for m in marks if not logarithmic or m[1] * sign > 0]
        (p, a), (q, b) = own[0], own[-1]
        part = (at - p) / (q - p)
        return a * (b / a) ** part if logarithmic else a + (b - a) * part

    return value


def bars(svg):
    """Return (from, to, height) of each bar of the path, in units of the picture."""
    path = re.search(r'class="bins" d="([^"]*)"', svg)[1]
    at = y = base = None
    for command, text in re.findall(r"([MHVZ])([^MHVZ]*)", path):
        numbers = [float(t) for t in text.split()]
        if command == "M":
            at, base = numbers
        elif command == "V":
            y = numbers[0]
        elif command == "H":
            yield at, numbers[0], base - y
            at = numbers[0]


def check_svg(model, bins, samples):
    svg = run(*bins.split(), "-f", "svg")
    logarithmic = "logarithmic<" in svg
    heights = ticks(svg, "y", 'text-anchor="end"')
    (p, a), (q, b) = heights[0], heights[-1]
    scale = (b - a) / (p - q)
    check(("samples per doubling" in svg) == logarithmic, f"{model.name} {bins}: the name of the heights")
    marks = ticks(svg, "x", 'text-anchor="(?:middle|end)"')
    marks = [m for m in marks if m not in ticks(svg, "x", 'text-anchor="end" x="92"') and m[0] != 92]
    value = between(marks, logarithmic)
    zero = [m[0] for m in marks if m[1] == 0]
    wanted = []
    for first, last, height in bars(svg):
        if logarithmic and zero and first < zero[0] < last:
            check(abs(height * scale - samples.count(0)) <= N * 0.001, f"{model.name} {bins}: {height * scale} zeros")
            continue
        sign = -1 if logarithmic and zero and last < zero[0] else 1
        if logarithmic and len([m for m in marks if m[1] * sign > 0]) < 2:
            continue
        lo, hi = value(first, sign), value(last, sign)
        width = abs(math.log2(hi / lo)) if logarithmic else hi - lo
        wanted.append((first, height * scale, N * (model.below(hi) - model.below(lo)) / width))
    if not logarithmic:  # the unit is a bin, or some difference, so compare the sums
        unit = sum(w[1] for w in wanted) / sum(w[2] for w in wanted)
        wanted = [(x, height, density * unit) for x, height, density in wanted]
    most = max(w[2] for w in wanted)
    for x, height, density in wanted:
        check(abs(height - density) <= 0.03 * density + 0.02 * most, f"{model.name} {bins}: svg at {x}: {height}, not {density}")
    check(len(wanted) > 1, f"{model.name} {bins}: {len(wanted)} bars")


def check_plot(model, bins, samples):
    edges = [float(line.split(",")[1]) for line in run(*bins.split(), "-f", "csv", "--no-header").splitlines()]
    lines = run(*bins.split(), "-f", "plot").splitlines()
    logarithmic = "per doubling" in lines[0]
    rows = []
    for line in lines:
        m = re.match(r" *(\S+) \u2502(.*?)\u2502 +(\d+) ", line)
        if m and m[1] not in ("under", "over"):
            eighths = sum(8 if c == "\u2588" else 0x2590 - ord(c) if c != " " else 0 for c in m[2])
            rows.append((min(edges, key=lambda e: abs(e - float(m[1]))), eighths / (8 * len(m[2])), int(m[3])))
    wanted = []
    for (lo, length, count), (hi, _, _) in zip(rows[1:], rows[2:]):
        if logarithmic and lo <= 0 <= hi:
            wanted.append((lo, length, count))
            continue
        width = abs(math.log2(hi / lo)) if logarithmic else hi - lo
        share = N * (model.below(hi) - model.below(lo))
        check(abs(count - share) <= 2 + 0.002 * N, f"{model.name} {bins}: row {lo} counts {count}, not {share}")
        wanted.append((lo, length, share / width))
    if not wanted or max(w[1] for w in wanted) < 0.99:  # the longest bar is the first or the last
        return
    most = max(w[2] for w in wanted)
    for lo, length, density in wanted:
        check(abs(length - density / most) < 0.02, f"{model.name} {bins}: row {lo} is {length}, not {density / most}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for model in MODELS:
        samples = model.samples()
        with open("samples", "wb") as file:
            array.array("d", samples).tofile(file)
        for bins in ANY + (POSITIVE if min(samples) > 0 else ()):
            check_svg(model, bins, samples)
            check_plot(model, bins, samples)
    os.chdir("/")
sys.exit(report())
