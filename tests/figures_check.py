# SPDX-License-Identifier: MIT
"""
figures_check: --stats of random samples against Fraction: exact sums, mean, std and quantiles in JSON.

The samples of a run are counted whole, and in pieces that --merge and --into add in random order; both must write the
same figures, with the values of up to 4096 samples or the cells of a digest, which many channels have too. A document with other sums than its mean and
std, or other values than its figures, is refused.

    figures_check.py GPUHIST SEED
"""
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

from check import check, report

CODES = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "f16": "e",
         "f32": "f", "f64": "d"}


FEW = 4096  # samples whose values are kept
QUANTILES = (0, 1, 33, 50, 99, 100)


def draw(rng, kind):
    """A sample: often one of few, or at an end of the type."""
    bits, code = int(kind[1:]), CODES[kind]
    if kind[0] != "f":
        least = -(1 << bits - 1) if kind[0] == "i" else 0
        return rng.choice([least, least + (1 << bits) - 1, 0, 3, rng.randrange(100)]
                          + 5 * [least + rng.getrandbits(bits)])
    if rng.random() < 0.02:
        return rng.choice([math.inf, -math.inf, math.nan, -0.0])
    while True:
        raw = rng.choice([struct.pack("<" + code, rng.gauss(0, 1)), rng.getrandbits(bits).to_bytes(bits // 8, "little"),
                          struct.pack("<" + code, rng.randrange(-5, 5)), (1).to_bytes(bits // 8, "little")])
        value = struct.unpack("<" + code, raw)[0]
        if math.isfinite(value):
            return value


def run(program, args, data=b""):
    done = subprocess.run([program, *args], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def number(text):
    """A sum, such as -0x1f3p-1074."""
    minus, digits, power = re.fullmatch(r"(-?)0x([0-9a-f]+)p([-+]\d+)", text).groups()
    return (-1 if minus else 1) * int(digits, 16) * Fraction(2) ** int(power)


def figures(text, channels):
    """What the document says about each channel: its figures, without those of the files."""
    histogram = json.loads(text)
    counted = [(histogram[f"channel{c}"] if channels > 1 else histogram)["writer_info"]["gpuhist"]
               for c in range(channels)]
    return [{name: value for name, value in c.items() if name.startswith("stats_")} for c in counted]


def near(value, exact):
    """Is a double within one unit in its last place?"""
    return abs(Fraction(value) - exact) <= Fraction(math.ulp(value))


def value_of(rank, bits, mantissa):
    """The number of a type that comes rank-th after 0; after the greatest, the next power of two."""
    size, least = abs(rank), 3 - (1 << bits - mantissa - 2) - mantissa - 1
    exponent, part = size >> mantissa, size & (1 << mantissa) - 1
    value = (part + (1 << mantissa if exponent else 0)) * Fraction(2) ** (max(exponent, 1) + least - 1)
    return -value if rank < 0 else value


def cell_of(kind, x):
    """The ends of a digest's cell, which a power of two has 1024 of; of integers, the last whole number in it."""
    bits = int(kind[1:])
    if kind[0] != "f":
        own = int(x) if x >= 0 else -1 - int(x)
        unit = 1 << max(0, own.bit_length() - 11)
        low, high = own // unit * unit, own // unit * unit + unit - 1
        return (low, high) if x >= 0 else (-1 - high, -1 - low)
    mantissa = 23 if bits == 32 else 52
    raw = int.from_bytes(struct.pack("<" + CODES[kind], abs(float(x))), "little")
    unit = 1 << mantissa - 10
    first = (raw if x >= 0 else -raw) // unit * unit
    return value_of(first, bits, mantissa), value_of(first + unit, bits, mantissa)


def shortest(kind, exact, least, greatest):
    """The decimal number with the fewest digits, at least 3, in the sample's cell and between the extremes."""
    low, high = cell_of(kind, exact)
    middle = (low + high) // 2 if kind[0] != "f" else (low + high) / 2
    x = min(max(middle, least), greatest)
    power = next(p for p in range(-330, 330) if abs(x) < Fraction(10) ** (p + 1))
    for digits in range(3, 17):
        unit = Fraction(10) ** (power - digits + 1)
        if kind[0] != "f" and unit < 1:
            break
        some = [y for y in (x // unit * unit, -(-x // unit) * unit)
                if max(low, least) <= y <= min(high, greatest) and y != 0 and (kind[0] != "f" or y < high)]
        if some:
            return [y for y in some if abs(y - x) == min(abs(z - x) for z in some)]
    return [x]


def check_exact(job, kind, said, values, many):
    values = sorted(map(Fraction, filter(math.isfinite, values)))
    n = len(values)
    small = int(kind[1:]) <= 16
    check(many or small or ("stats_values" in said) == (n <= FEW) == ("stats_digest" not in said), f"{job}: {n} of {said}")
    rough = many and (not small or kind == "f16")  # cells of 1/128, which hold several values
    for q in QUANTILES if n > 0 else ():
        exact, got = values[max(1, math.ceil(Fraction(q, 100) * n)) - 1], said[f"stats_quantile_{q}"]
        if rough:
            near_zero = kind[0] == "f" and abs(exact) < Fraction(2) ** (-1022 if kind == "f64" else -126)
            check(near_zero or abs(Fraction(got) - exact) <= abs(exact) / 128, f"{job}: quantile {q} of {said}")
            continue
        alone = small or n <= FEW or exact == 0 or (kind[0] != "f" and -2048 <= exact <= 2047)
        right = [exact] if alone else shortest(kind, exact, values[0], values[-1])
        check(any(got == (float(x) if kind[0] == "f" else x) for x in right), f"{job}: quantile {q} is {got}, not {right}")
    if n > 0 and small:
        ends = (values.count(values[0]), values.count(values[-1]))
        check((said["stats_at_minimum"], said["stats_at_maximum"]) == ends, f"{job}: {ends} at the ends of {said}")
    if n == 0:
        check("stats_sum" not in said and "stats_mean" not in said, f"{job}: {said}")
        return
    total, squares = sum(values), sum(x * x for x in values)
    check(number(said["stats_sum"]) == total and number(said["stats_square"]) == squares, f"{job}: sums of {said}")
    check(near(said["stats_mean"], total / n), f"{job}: mean of {said}")
    # The std s is right if the variance is between those of s less and s plus a unit.
    variance, std = squares / n - (total / n) ** 2, said["stats_std"]
    unit = Fraction(math.ulp(std))
    check(max(Fraction(std) - unit, 0) ** 2 <= variance <= (Fraction(std) + unit) ** 2, f"{job}: std of {said}")


def refuse(program, text, pattern, other, why):
    changed = re.sub(pattern, other, text)
    status, _, message = run(program, ["--merge", "-q"], changed.encode())
    check(changed != text and status == 3 and why in message, f"{pattern} {other}: {status} {message}")


def check_refused(program, text):
    """A document that contradicts itself is refused."""
    follow = "do not follow from"
    refuse(program, text, r'"stats_sum": "[^"]*"', '"stats_sum": "0x3p+300"', follow)
    for other in ("", "0x", "0x1", "0xp1", "0x1p", "0x1p+", "0x1p1x", "1p1", "0x1p+123456", "0x1.8p0", "--0x1p+0", "0x1p-9999"):
        refuse(program, text, r'"stats_sum": "[^"]*"', f'"stats_sum": "{other}"', follow)
        refuse(program, text, r'"stats_square": "[^"]*"', f'"stats_square": "{other}"', follow)
    refuse(program, text, r'"stats_sum": "[^"]*", ', "", follow)
    refuse(program, text, r'"stats_square": "[^"]*", ', "", follow)
    refuse(program, text, r'"stats_square": "', '"stats_square": "-', follow)
    refuse(program, text, r'"stats_square": "[^"]*"', '"stats_square": "0x0p+0"', follow)
    refuse(program, text, r'"stats_mean": ([^,]*)', lambda m: f'"stats_mean": {float(m[1]) * 1.000001 + 1e-9}', follow)
    refuse(program, text, r'"stats_std": ([^,]*)', lambda m: f'"stats_std": {float(m[1]) * 1.000001 + 1e-9}', follow)
    values = re.search('"stats_values": "([^"]*)"', text)
    if not values:
        return
    pairs = values[1].split(",")
    for other in (pairs[:-1], pairs[1:], pairs + ["1e30 1"], pairs[::-1], pairs[:1] + pairs, [pairs[0] + "1"] + pairs[1:],
                  [pairs[0].split()[0]] + pairs[1:], ["x 1"] + pairs[1:], pairs[:-1] + [pairs[-1].replace(" 1", " 4294967297")],
                  pairs[:-1] + [pairs[-1].replace(" 1", " 4097")], pairs[:-1] + [pairs[-1].replace(" 1", " 0")],
                  pairs + [""], [""] + pairs, [pairs[0] + "x"] + pairs[1:], [pairs[0].replace(" ", "  ")] + pairs[1:], []):
        refuse(program, text, '"stats_values": "[^"]*"', f'"stats_values": "{",".join(other)}"', "stat")


def check_job(program, rng):
    kind, channels = rng.choice([*CODES, "i32", "f32", "f64", "f32", "f64"]), rng.choice([1, 1, 1, 2, 3, 70])
    bins = rng.choice([["-r", "0:10", "-b", "5"], ["--auto"]])
    options = ["-t", kind, "-c", str(channels), *bins]
    job = " ".join(options)
    records = (rng.choice([1, 3, 40, 200]) if channels == 70 else 23 if channels == 3
               else rng.choice([0, 3, 40, 400, FEW - 1, FEW, FEW + 1, FEW + FEW // 8, 3 * FEW]))
    threads = ["-T", rng.choice(["1", "3"])]
    samples = [draw(rng, kind) for _ in range(records * channels)]
    data = b"".join(struct.pack("<" + CODES[kind], x) for x in samples)
    stats = "--stats=" + ",".join(map(str, QUANTILES))
    status, whole, message = run(program, [*options, *threads, stats, "-q", "-f", "json"], data)
    check(status == 0, f"{job}: {message}")
    if status != 0:
        return
    said = figures(whole, channels)
    for c in range(channels):
        check_exact(job, kind, said[c], samples[c::channels], channels > 64)

    cuts = sorted(rng.randrange(records + 1) * channels * struct.calcsize("<" + CODES[kind])
                  for _ in range(rng.randrange(4)))
    pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)])]
    rng.shuffle(pieces)
    for i, piece in enumerate(pieces):
        run(program, [*options, stats, "-q", "-o", f"{i}.json"], piece)
        run(program, [*options, stats, "-q", "--into=sum.json"], piece)
    names = [f"{i}.json" for i in range(len(pieces))]
    status, merged, message = run(program, ["--merge", stats, "-q", "-f", "json", *names])
    check(status == 0 and figures(merged, channels) == said, f"{job}: --merge {message} {merged[:2000]}\n{said}")
    with open("sum.json", "rb") as file:
        check(figures(file.read(), channels) == said, f"{job}: --into\n{said}")
    os.unlink("sum.json")


def main():
    program, rng = os.path.abspath(sys.argv[1]), random.Random(int(sys.argv[2]))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for _ in range(60):
            check_job(program, rng)
        for kind, values in (("f32", [1.5, 2.5, -9.25]), ("i64", [5, -2, 1 << 40]), ("f16", [1, 2, 4.5])):
            data = b"".join(struct.pack("<" + CODES[kind], x) for x in values)
            text = run(program, ["-t", kind, "-r", "0:4", "-b", "3", "--stats", "-q", "-f", "json"], data)[1]
            check_refused(program, text.decode())
        os.chdir("/")
    return report()


sys.exit(main())
