#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--text: each number compared with exact fractions: every type, rounded once, ties to even.

usage: text_check.py GPUHIST [SEED]
"""
import csv
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


def main():
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    gpuhist, chance = sys.argv[1], random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    done = failed = 0
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
