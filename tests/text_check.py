#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--text: each number compared with exact fractions: every type, rounded once, ties to even. Columns as Python's csv
and float() read them: whether they are whole, and the bins and quantiles that follow.

usage: text_check.py GPUHIST [SEED]
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

# Explicit bits of the mantissa, bits of the exponent; in f8e4m3 the greatest finite number ends with another bit.
FLOATS = {"f64": (52, 11), "f32": (23, 8), "f16": (10, 5), "bf16": (7, 8), "f8e4m3": (3, 4), "f8e5m2": (2, 5)}
INTEGERS = ["u8", "i8", "u16", "i16", "u24", "i24", "u32", "i32", "u64", "i64"]


def rounded(x, mantissa, exponents):
    """Return the nearest number, or inf; of two, the one that is an even multiple of its last place."""
    bias = 2 ** (exponents - 1) - 1
    size = abs(x)
    scale = max(size.numerator.bit_length() - size.denominator.bit_length() - 1, 1 - bias)
    scale += size >= Fraction(2) ** (scale + 1)
    unit = Fraction(2) ** (scale - mantissa)
    size = round(size / unit) * unit  # of a Fraction: ties to even
    most = Fraction(448) if mantissa == 3 else (2 - Fraction(1, 2**mantissa)) * Fraction(2) ** bias
    if size > most:
        return "nan" if mantissa == 3 else "over" if x > 0 else "under"
    return size if x > 0 else -size


def decimal(x):
    """Return all digits of a fraction whose denominator is a power of two."""
    places = x.denominator.bit_length() - 1
    digits = str(abs(x.numerator) * 5**places).rjust(places + 1, "0")
    return digits[: len(digits) - places] + "." + digits[len(digits) - places :]


def near(chance, mantissa, exponents):
    """Return a number of the type, or the middle to its neighbour, or a number very close to that."""
    most = 2 ** (exponents - 1) - 1
    unit = Fraction(2) ** (chance.randrange(1 - most, most) - mantissa)
    x = chance.randrange(2**mantissa, 2 ** (mantissa + 1)) * unit + chance.choice([0, unit / 2])
    return decimal(x) + chance.choice(["", "0" * 30, "0" * chance.randrange(900) + "1", "e0", "0" * 800])


def subnormal(chance, mantissa, exponents):
    """Return a subnormal number or the middle to the next, at times more or less by a bit just past a normal mantissa."""
    bits = chance.choice([mantissa, chance.randrange(1, mantissa + 1)])
    above = chance.choice([0, 1, -1]) * Fraction(1, 2 ** (mantissa + 2 - bits)) + chance.choice([0, Fraction(1, 2)])
    return decimal(abs(chance.randrange(2 ** (bits - 1), 2**bits) + above) * Fraction(2) ** (2 - 2 ** (exponents - 1) - mantissa))


def any_number(chance):
    real = struct.unpack("d", struct.pack("Q", chance.randrange(0x7FF << 52)))[0]
    digits = "".join(chance.choice("0123456789") for _ in range(chance.randrange(1, 900)))
    return chance.choice([
        repr(real),
        real.hex(),
        "%.17g" % abs(chance.gauss(0, 1)),
        "%.18e" % abs(chance.gauss(0, 10.0 ** chance.randrange(-30, 30))),
        "%.6f" % chance.uniform(0, 1000),
        "%g" % chance.uniform(0, 1000),
        str(chance.getrandbits(chance.randrange(1, 100))),
        "0.%s%d" % ("0" * chance.randrange(30), chance.getrandbits(40)),
        "%de%d" % (chance.getrandbits(chance.randrange(1, 70)), chance.randrange(-340, 320)),
        "%d.%se%d" % (chance.getrandbits(20), digits, chance.randrange(-400, 300)),
        "%s.e%d" % (digits, chance.randrange(-1300, 0)),
    ])


def value(text):
    if "x" not in text:
        return Fraction(text.replace(".e", ".0e") + ("0" if text.endswith(".") else ""))
    digits, _, power = text[2:].partition("p")
    whole, _, part = digits.partition(".")
    return Fraction(int(whole + part, 16), 16 ** len(part)) * Fraction(2) ** int(power or 0)


def read(gpuhist, kind, lines):
    """Return the value of each line, a row each."""
    run = subprocess.run(
        [gpuhist, "-q", "--text", "-t", kind, "-r", "0:1", "-b", "1", "--each=1", "--stats"],
        input="\n".join(lines), stdout=subprocess.PIPE, text=True, check=True)
    for row in csv.DictReader(run.stdout.splitlines()):
        yield Fraction(float(row["min"])) if row["min"] else next(k for k in ("under", "over", "nan") if row[k] == "1")


MISSING = ["", "NA", "null", "-", "nan", "n/a", "not known"]  # the last two are words of --missing


def draw_column(chance, n):
    """Return the texts of a column: mostly whole numbers, in every form."""
    most = chance.choice([9, 120, 3000, 10**6, 2**53])
    forms = chance.choice([["%d"], ["%d", "%d.0", "%de0", "%d000e-3", "0x%x"]])
    others = chance.choice([[], [], MISSING, ["0.5"], ["1e-300"], [str(2**53), str(-(2**53))], ["9007199254740994"], ["inf"]])
    low = chance.choice([0, -most])
    return [chance.choice(others) if others and chance.random() < 0.01 else ("-" if x < 0 else "") + chance.choice(forms) % abs(x)
            for x in (chance.randint(low, most) for _ in range(n))]


def numbers(texts):
    return [float.fromhex(t) if "x" in t else float(t) for t in texts if t not in MISSING]


def is_whole(x):
    return all(math.isfinite(v) and v == int(v) and abs(v) <= 2**53 for v in x)


def place(x, most, least):
    """Return the k of --auto for these finite numbers, and the edges of its bins."""
    low, high = Fraction(min(x)), Fraction(max(x))
    k = max(least, math.frexp(max(abs(low), abs(high)))[1] - 53 if low or high else -1074)
    while high // Fraction(2) ** k - low // Fraction(2) ** k >= most:
        k += 1
    unit = Fraction(2) ** k
    return k, low // unit * unit, (high // unit + 1) * unit


def faults(document, x, halves, most, asked):
    """Compare a document of the numbers, each half counted by itself unless there is one, with the numbers."""
    counted, axis = document["writer_info"]["gpuhist"], document["axes"][0]
    finite, whole = sorted(v for v in x if math.isfinite(v)), all(map(is_whole, halves))
    if counted.get("whole", False) != whole:
        yield "whole"
    parts = [[v for v in half if math.isfinite(v)] for half in halves]
    least = max(place(part, most, 0 if is_whole(half) else -1074)[0] for part, half in zip(parts, halves) if part)
    edges = axis.get("edges") or [axis["lower"], axis["upper"]]
    if (Fraction(edges[0]), Fraction(edges[-1])) != place(finite, most, least)[1:]:
        yield "edges"
    for q in asked:
        got, exact = counted["stats_quantile_%d" % q], finite[max(1, -(-len(finite) * q // 100)) - 1]
        alone = len(finite) <= 4096 or (whole and -2048 <= exact <= 2047)
        if (got != exact if alone else abs(got - exact) > abs(exact) / 1024) or (whole and got != int(got)):
            yield "quantile %d" % q


def check_columns(gpuhist, chance):
    """Return how many columns were as they should be, and how many were not."""
    done = failed = 0
    for job in range(40):
        n, most, asked = chance.choice([20, 300, 9000]), chance.choice([2, 50, 256, 5000]), [5, 50, 95]
        table = io.StringIO()
        texts, before = draw_column(chance, n), chance.choice(["x", 'a "b", c', ""])
        texts += ["7", "8"]  # so that both halves have finite numbers
        chance.shuffle(texts)
        csv.writer(table).writerows([["name", "value"]] + [[before, t] for t in texts])
        lines = table.getvalue().splitlines(keepends=True)
        cut = 1 + (0 if chance.random() < 0.5 else texts.index("7") + 1)
        options = ["--auto", "-b", str(most), "--stats=" + ",".join(map(str, asked)), "-q", "-f", "json"]
        documents = [subprocess.run([gpuhist, "--text=2", "--missing=n/a,not known", *options], input="".join(some).encode(), stdout=subprocess.PIPE, check=True).stdout
                     for some in ([lines] if cut == 1 else [lines[:cut], lines[:1] + lines[cut:]])]
        if cut > 1:
            documents = [subprocess.run([gpuhist, "--merge", *options[3:]], input=b"".join(documents), stdout=subprocess.PIPE, check=True).stdout]
        rows = [row["value"] for row in csv.DictReader(lines)]
        halves = [numbers(rows)] if cut == 1 else [numbers(rows[: cut - 1]), numbers(rows[cut - 1 :])]
        wrong = list(faults(json.loads(documents[0]), numbers(rows), halves, most, asked))
        done, failed = done + (not wrong), failed + bool(wrong)
        if wrong:
            print("FAILED columns: job %d, %s" % (job, ", ".join(wrong)))
    return done, failed


def quoted(name):
    """A name as --text takes it; one that is all digits would be a number."""
    return '"%s"' % name.replace('"', '""') if set(name) & set(',"') or name.isdigit() else name


def check_several(gpuhist, chance):
    """Several columns at once: figures and bins of each, as Python's csv reads them."""
    done = failed = 0
    for job in range(30):
        names = chance.sample(["price", "qty, net", 'a "b"', "age", "x y", ""], chance.randint(2, 6))
        n, separator = chance.choice([3, 100, 3000]), chance.choice(",;\t")
        table = io.StringIO()
        columns = [draw_column(chance, n) if chance.random() < 0.7 else
                   ["%.*f" % (chance.randrange(6), chance.gauss(0, 50)) for _ in range(n)] for _ in names]
        csv.writer(table, delimiter=separator, quoting=chance.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])).writerows(
            [names, *zip(*columns)])
        picked = chance.sample(range(len(names)), chance.randint(2, len(names)))
        given = [quoted(names[i]) if names[i] and chance.random() < 0.7 else str(i + 1) for i in picked]
        bins = chance.choice([[], ["-r", "-100:100", "-b", "8"]])
        text = subprocess.run([gpuhist, "--text=" + ",".join(given), "--stats=0,50,99", "-q", "-f", "json", "-T", chance.choice("13"), "--missing=not known,n/a",
                               *bins], input=table.getvalue().encode(), stdout=subprocess.PIPE, check=True).stdout
        rows = list(csv.reader(io.StringIO(table.getvalue()), delimiter=separator))[1:]
        document = json.loads(text)
        for c, i in enumerate(picked):
            channel = document["channel%d" % c]
            said, x = channel["writer_info"]["gpuhist"], numbers([row[i] for row in rows])
            finite = sorted(v for v in x if math.isfinite(v))
            right = [said["nan"] == n - len(x), said["stats_count"] == len(finite), said.get("whole", False) == is_whole(x),
                     channel["metadata"]["column"] == (given[c] if given[c].isdigit() else names[i])]
            for q in (0, 50, 99) if finite else ():
                right.append(said["stats_quantile_%d" % q] == finite[max(1, math.ceil(q * len(finite) / 100)) - 1])
            if bins:
                counts = [sum(-100 + 25 * b <= v < -75 + 25 * b for v in finite) for b in range(8)]
                right.append(channel["storage"]["values"][1:-1] == counts)
            done, failed = done + all(right), failed + (not all(right))
            if not all(right):
                print("FAILED several columns: job %d, %s of %s: %s" % (job, given[c], given, right))
    return done, failed


def main():
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    gpuhist, chance = sys.argv[1], random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    done, failed = (sum(pair) for pair in zip(check_columns(gpuhist, chance), check_several(gpuhist, chance)))
    for kind, shape in FLOATS.items():
        texts = [any_number(chance) if chance.random() < 0.5 else chance.choice([near, near, subnormal])(chance, *shape)
                 for _ in range(1500)]
        lines = [chance.choice(["", "-"]) + text for text in texts]
        rows = list(read(gpuhist, kind, lines))
        assert len(rows) == len(lines)
        for line, got in zip(lines, rows):
            exact = value(line.lstrip("-")) * (-1 if line[0] == "-" else 1)
            good = got == rounded(exact, *shape)
            done, failed = done + good, failed + (not good)
            if not good:
                print("FAILED", kind, line[:200], got, rounded(exact, *shape))
    for kind in INTEGERS:
        bits = int(kind[1:])
        low, high = (0, 2**bits - 1) if kind[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        for x, fits in [(low, True), (high, True), (low - 1, False), (high + 1, False)]:
            for form in ["%d", "%d.", "%d.000", "%de0", "0%d", "%d0e-1", "0x%x", "%d" + "0" * 40 + "e-40", "0x%xp-3"]:
                digits = form % (abs(x) * 8 if "p" in form else abs(x))
                line = ("-" if x < 0 else chance.choice(["", "+"])) + digits
                run = subprocess.run([gpuhist, "--text", "-t", kind, "-r", "%d:%d" % (x, x + 1), "-b", "1", "--no-header"]
                    if fits else [gpuhist, "--text", "-t", kind], input=line, capture_output=True, text=True)
                good = run.stdout.endswith(",1\n") if fits else run.returncode == 3 and "fits --type" in run.stderr
                done, failed = done + good, failed + (not good)
                if not good:
                    print("FAILED", kind, line, run.stdout, run.stderr)
    print("%d passed, %d failed" % (done, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
