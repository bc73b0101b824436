#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare_check: the distances of --compare, computed again in fractions from the samples

usage: tests/compare_check.py GPUHIST [SEED]
"""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

from check import check, report


def run(program, *args, data=b""):
    return subprocess.run([program, "-q", *args], input=data, capture_output=True)


def pack(kind, samples):
    return struct.pack(f"<{len(samples)}{kind}", *samples)


def draw(random, kind, n, center):
    """Samples that lie close together or far apart, with zeros and both signs."""
    if kind in "BHIq":
        top = {"B": 255, "H": 65535, "I": 2**32 - 1, "q": 2**62}[kind]
        low = -top if kind == "q" else 0
        width = random.choice([4, 100, 5000])
        return [min(top, max(low, center + random.randrange(-width, width))) for _ in range(n)]
    scale = 10.0 ** random.randrange(-3, 4)
    samples = [random.gauss(center / 50, 1) * scale * (0 if random.random() < 0.02 else 1) for _ in range(n)]
    return list(struct.unpack(f"<{n}{kind}", struct.pack(f"<{n}{kind}", *samples)))


def distances(a, b, edges_after, middle):
    """Return KS, the place where it is reached, Wasserstein's distance and Jensen and Shannon's divergence.
    a, b: sorted lists of (place, count); the first and the last place may be "below" and "above", and NaN is apart."""
    places = sorted({p for p, _ in a} | {p for p, _ in b})
    count = [dict(a), dict(b)]
    n = [sum(v for p, v in side.items() if p[0] != "nan") for side in count]
    whole = [sum(side.values()) for side in count]
    cumulated, worst, where, moved, before, terms = [0, 0], Fraction(0), None, Fraction(0), None, []
    for place in places:
        here = [side.get(place, 0) for side in count]
        share = [Fraction(h, w) for h, w in zip(here, whole)]
        for p in share:
            if p:
                terms.append(float(p) / 2 * math.log2(float(p / (sum(share) / 2))))
        if place[0] == "nan" or not any(here):
            continue
        difference = abs(Fraction(cumulated[0], n[0]) - Fraction(cumulated[1], n[1]))
        if place[0] == "in":
            if before is not None:
                moved += difference * (middle(place) - before)
            before = middle(place)
        for i in range(2):
            cumulated[i] += here[i]
        difference = abs(Fraction(cumulated[0], n[0]) - Fraction(cumulated[1], n[1]))
        if difference > worst:
            worst, where = difference, edges_after(place)
    return worst, where, moved, math.fsum(terms)


def figures(document, channel=None):
    one = json.loads(document)
    counted = (one if channel is None else one[f"channel{channel}"])["writer_info"]["gpuhist"]
    return [counted.get(f"compare_{name}") for name in ("ks", "ks_at", "wasserstein", "jensen_shannon")]


def same(what, document, expected, inside, channel=None):
    ks, at, moved, bits = figures(document, channel)
    worst, where, w, terms = expected
    check(ks == float(worst), f"{what}: KS {ks}, not {float(worst)}")
    check(at == (None if where is None else float(where)), f"{what}: KS at {at}, not {where}")
    check((moved is None) == (not inside), f"{what}: Wasserstein {moved}, samples out of range: {not inside}")
    if inside and moved is not None:
        check(math.isclose(moved, float(w), rel_tol=1e-12, abs_tol=1e-300), f"{what}: Wasserstein {moved}, not {float(w)}")
    check(math.isclose(bits, terms, rel_tol=1e-9, abs_tol=1e-12), f"{what}: divergence {bits}, not {terms}")


def tally(places):
    count = {}
    for p in places:
        count[p] = count.get(p, 0) + 1
    return sorted(count.items())


def check_ranges(program, random):
    """Bins of a range: the model bins by fractions."""
    for case in range(40):
        kind = random.choice("BHIqfd")
        name = {"B": "u8", "H": "u16", "I": "u32", "q": "i64", "f": "f32", "d": "f64"}[kind]
        integer = kind in "BHIq"
        lo, bins = random.randrange(0, 100), random.choice([1, 2, 7, 100])
        hi = lo + bins * random.choice([1, 3, 1000]) if integer else lo + bins
        if integer and kind in "BH":
            hi = min(hi, 2**16)
        sides = [draw(random, kind, random.choice([1, 3, 200, 3000]), random.choice([0, 50, 120])) for _ in range(2)]
        if not integer and random.random() < 0.5:
            sides[0] += [math.nan, math.inf, -math.inf]
        edge = [lo + Fraction((hi - lo) * i, bins) for i in range(bins + 1)]

        def place(x):
            if math.isnan(x):
                return ("nan", 0)
            if x < lo:
                return ("below", 0)
            if x >= hi:
                return ("over", 0)
            i = int((Fraction(x) - lo) * bins / (hi - lo))
            return ("in", i)

        def middle(p):
            low, high = edge[p[1]], edge[p[1] + 1]
            return Fraction(math.ceil(low) + math.ceil(high) - 1, 2) if integer else (low + high) / 2

        counted = [tally(map(place, side)) for side in sides]
        # "below" sorts before "in", "over" after it; "nan" is apart.
        if any(not any(p[0] != "nan" for p, _ in c) for c in counted):
            continue
        options = ["-t", name, "-r", f"{lo}:{hi}", "-b", str(bins)]
        with open("ref.json", "wb") as file:
            file.write(run(program, *options, "-f", "json", data=pack(kind, sides[1])).stdout)
        result = run(program, *options, "--compare=ref.json", "-f", "json", data=pack(kind, sides[0]))
        expected = distances(*counted, lambda p: lo if p[0] == "below" else edge[p[1] + 1] if p[0] == "in" else None, middle)
        inside = not any(p[0] in ("below", "over") for c in counted for p, _ in c)
        same(f"case {case}, {' '.join(options)}", result.stdout, expected, inside)
        # The alarm is raised above KS, not at it.
        ks = figures(result.stdout)[0]
        for alarm, status in ((ks, 0), (math.nextafter(ks, 0), 6 if ks > 0 else 0)):
            again = run(program, *options, "--compare=ref.json", f"--alarm={alarm!r}", "-o", "out.csv", data=pack(kind, sides[0]))
            check(again.returncode == status and os.path.exists("out.csv"), f"case {case}: alarm {alarm}: {again.returncode}")
            os.unlink("out.csv")
        # The sum of a run's parts is at the same distance as the run.
        cut = len(sides[0]) // 2
        for i, part in enumerate((sides[0][:cut], sides[0][cut:])):
            with open(f"part{i}.json", "wb") as file:
                file.write(run(program, *options, "-f", "json", data=pack(kind, part)).stdout)
        merged = run(program, "--merge", "--compare=ref.json", "-f", "json", "part1.json", "part0.json")
        check(figures(merged.stdout) == figures(result.stdout), f"case {case}: merged: {merged.stderr}")


def bits_of(x):
    return struct.unpack("<I", struct.pack("<f", abs(x)))[0]


def check_automatic(program, random):
    """Bins at different k: the model bins the samples at the larger k."""
    for case in range(40):
        log, n = random.random() < 0.5, [random.choice([2, 50, 2000]) for _ in range(2)]
        sides = [draw(random, "f", n[i], random.choice([0, 50, 120])) for i in range(2)]
        options = ["-t", "f32", "--log=auto" if log else "--auto", "-b", str(random.choice([3, 10, 300]))]
        with open("ref.json", "wb") as file:
            file.write(run(program, *options, "-f", "json", data=pack("f", sides[1])).stdout)
        result = run(program, *options, "--compare=ref.json", "-f", "json", data=pack("f", sides[0]))
        ks = []
        for side in sides:
            lines = run(program, *options, "--no-header", data=pack("f", side)).stdout.decode().split()
            edges = [tuple(map(float, line.split(",")[1:3])) for line in lines]
            if log:  # keys in a bin that does not touch 0
                apart = [(a, b) for a, b in edges if a * b > 0 and min(abs(a), abs(b)) > 2.0**-120 and not math.isinf(b)]
                # The first and the last bin have as many keys as the others.
                ks.append({(bits_of(max(a, b, key=abs)) - bits_of(min(a, b, key=abs))).bit_length() - 1 for a, b in apart})
            else:
                ks.append({math.frexp(b - a)[1] - 1 for a, b in edges})
        if not ks[0] or not ks[1]:
            continue
        k = max(max(side) for side in ks)

        def place(x):
            if not log:
                return ("in", 0, math.floor(Fraction(x) / Fraction(2) ** k))
            if x == 0:
                return ("in", 1, 0)
            # A bin of negative numbers holds its lower edge's magnitude, not its upper edge's.
            return ("in", 2, bits_of(x) >> k) if x > 0 else ("in", 0, -1 - ((bits_of(x) - 1) >> k))

        def number(key):
            return struct.unpack("<f", struct.pack("<I", key))[0]

        counted = [tally(map(place, side)) for side in sides]
        places = sorted({p for c in counted for p, _ in c})

        def after(p):
            if not log:
                return (p[2] + 1) * Fraction(2) ** k
            if p[1] == 2:
                return number((p[2] + 1) << k)
            return "zero" if p[1] == 1 else -number((-1 - p[2]) << k)

        def middle(p):
            if not log:
                return (2 * p[2] + 1) * Fraction(2) ** (k - 1)
            if p[1] == 1:
                return Fraction(0)
            ends = (p[2] << k, (p[2] + 1) << k) if p[1] == 2 else ((-p[2]) << k, (-1 - p[2]) << k)
            low, high = (Fraction(number(end)) for end in ends)
            return (low + high) / 2 if p[1] == 2 else -(low + high) / 2

        what = f"case {case}, {' '.join(options)}, k {ks}"
        expected = distances(*counted, after, middle)
        if expected[1] == "zero":  # the end of that bin depends on its neighbours
            expected = expected[0], figures(result.stdout)[1], *expected[2:]
            check(0 < expected[1] and all(p[1] != 2 or expected[1] <= number((p[2] + 1) << k) for p in places), what)
        same(what, result.stdout, expected, True)


def check_edges(program):
    """Histograms that cannot be compared, and empty ones."""
    options = ["-t", "u8", "-r", "0:10", "-b", "5"]

    def write(name, data, *others):
        with open(name, "wb") as file:
            file.write(run(program, *(others or options), "-f", "json", data=data).stdout)

    write("ref.json", bytes(range(10)))
    write("none.json", b"")
    write("other.json", bytes(9), "-t", "u8", "-b", "5")
    write("two.json", bytes(10), *options, "-c", "2")
    write("nan.json", struct.pack("<2f", math.nan, math.nan), "-t", "f32", "-r", "0:1", "-b", "2")
    write("f.json", struct.pack("<2f", 0.5, 0), "-t", "f32", "-r", "0:1", "-b", "2")
    for what, args, data, status in (
            ("empty side", [*options, "--compare=ref.json"], b"", 3),
            ("empty reference", [*options, "--compare=none.json"], b"\1", 3),
            ("NaN only", ["-t", "f32", "-r", "0:1", "-b", "2", "--compare=nan.json"], struct.pack("<f", 1), 3),
            ("only NaN", ["-t", "f32", "-r", "0:1", "-b", "2", "--compare=f.json"], struct.pack("<f", math.nan), 3),
            ("other bins", [*options, "--compare=other.json"], b"\1", 3),
            ("other channels", [*options, "-c", "1", "--compare=two.json"], b"\1\2", 3),
            ("no such file", [*options, "--compare=no.json"], b"\1", 1),
            ("an alarm alone", [*options, "--alarm=0.1"], b"\1", 2),
            ("a wrong alarm", [*options, "--compare=ref.json", "--alarm=1.1"], b"\1", 2)):
        result = run(program, *args, "-o", "never.csv", data=data)
        # A run without samples is written, without the comparison.
        written = what in ("empty side", "only NaN")
        check(result.returncode == status and result.stderr and os.path.exists("never.csv") == written,
              f"{what}: {result.returncode}: {result.stderr}")
        if written:
            os.unlink("never.csv")
    # All samples are below the range: the shares differ where the bins begin.
    result = run(program, "-t", "i8", "-r", "0:10", "-b", "5", "-f", "json", data=bytes([200, 250]))
    with open("low.json", "wb") as file:
        file.write(result.stdout)
    result = run(program, "-t", "i8", "-r", "0:10", "-b", "5", "--compare=low.json", "-f", "json", data=bytes([1, 5]))
    check(figures(result.stdout) == [1, 0, None, 1], f"all under: {figures(result.stdout)}")
    # Each channel by itself; a document of --into that holds only the sum.
    write("pair.json", bytes([1, 2, 1, 3]), *options, "-c", "2")
    result = run(program, *options, "-c", "2", "--compare=pair.json", "--into=sum.json", "-f", "json", data=bytes([1, 9, 1, 9]))
    check(figures(result.stdout, 0)[0] == 0 and figures(result.stdout, 1)[0] == 1, "two channels")
    with open("sum.json", "rb") as file:
        check(b"compare_" not in file.read(), "--into with the distances of a run")
    # The alarm comes after everything was written.
    result = run(program, *options, "-c", "2", "--compare=pair.json", "--alarm=0.5", "--into=sum.json", data=bytes([1, 9, 1, 9]))
    with open("sum.json", "rb") as file:
        check(result.returncode == 6 and b"channel 1" in result.stderr and
              json.load(file)["channel0"]["writer_info"]["gpuhist"]["samples"] == 4, f"an alarm: {result.stderr}")


def rank(samples, q):
    return sorted(samples)[max(1, math.ceil(Fraction(q) * len(samples) / 100)) - 1]


def check_alarms(program, random):
    """Limits next to what they limit, of channels and of a reference."""
    for case in range(60):
        channels, n = random.choice([1, 1, 3]), random.choice([1, 7, 200, 1000])
        kind, name = random.choice([("H", "u16"), ("h", "i16")])
        low, high = (0, 65535) if kind == "H" else (-32768, 32767)
        width = random.choice([3, 300, 60000])
        sides = [[[min(high, max(low, random.randrange(-width, width) + 50)) for _ in range(n)] for _ in range(channels)] for _ in range(2)]
        data = [pack(kind, [x for record in zip(*side) for x in record]) for side in sides]
        lo, hi = low, random.choice([10, 60, 5000])
        options = ["-t", name, "-c", str(channels), "-r", f"{lo}:{hi}", "-b", "4", "-o", "out.csv"]
        with open("ref.json", "wb") as file:
            file.write(run(program, *options[:-2], "--stats", "-f", "json", data=data[1]).stdout)
        q, below = random.choice(["50", "0", "100", "99.9", "12.5"]), random.random() < 0.5
        values = [rank(side, q) for side in sides[0]]
        worst, limit = (min if below else max)(values), random.choice([0, 0, 1, -1, Fraction(1, 2), Fraction(-1, 2)])
        limit += worst
        passed = worst < limit if below else worst > limit
        factor = Fraction(random.randrange(1, 64), 8)
        times = any((x < factor * rank(y, q)) if below else (x > factor * rank(y, q)) for x, y in zip(values, sides[1]))
        parts = max(sum(not lo <= x < hi for x in side) for side in sides[0])
        share = random.choice([Fraction(parts, n), Fraction(1, 100), Fraction(random.randrange(0, 1000001), 1000000)])
        share = Fraction(math.floor(share * 1000000), 1000000)  # up to four decimals of a percentage
        sign = "<" * below
        limits = {f"p{q}:{sign}{float(limit)!r}": passed, f"p{q}:{sign}{float(factor)!r}x": times,
                  f"out:{float(share * 100):.4f}%": Fraction(parts, n) > share, "nan:0%": False, "empty": False}
        result = run(program, *options, "--compare=ref.json", "--alarm=" + ",".join(limits), data=data[0])
        said = result.stderr.decode()
        check(result.returncode == (6 if any(limits.values()) else 0) and os.path.exists("out.csv"),
              f"case {case}: {limits}: {result.returncode}: {said}")
        for limit, passed in limits.items():
            check((f"--alarm {limit} allows" in said) == passed, f"case {case}: {limit}, worst {worst}: {said}")
        os.unlink("out.csv")


def main():
    program = os.path.realpath(sys.argv[1])
    generator = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_ranges(program, generator)
        check_automatic(program, generator)
        check_edges(program)
        check_alarms(program, generator)
        os.chdir("/")
    return report()


sys.exit(main())
