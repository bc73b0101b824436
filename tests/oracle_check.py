#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The oracle beside a second definition, in fractions: every way to bin, layouts, headers.

usage: oracle_check.py ORACLE [SEED [JOBS]]
"""
import csv
import decimal
import io
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

decimal.getcontext().prec = 90
TYPES = {
    "u8": "B", "i8": "b", "u16": "H", "i16": "h", "u24": None, "i24": None, "u32": "I", "i32": "i",
    "u64": "Q", "i64": "q", "f16": "e", "bf16": None, "f32": "f", "f64": "d",
}
DIGITS = {"f16": (11, -24), "bf16": (8, -133), "f32": (24, -149), "f64": (53, -1074)}  # precision, smallest exponent
NUMPY = {"u8": "u1", "i8": "i1", "u16": "u2", "i16": "i2", "u32": "u4", "i32": "i4", "u64": "u8", "i64": "i8",
         "f16": "f2", "f32": "f4", "f64": "f8"}


def size_of(kind):
    return int(kind.strip("uifb")) // 8


def value(kind, big, data):
    """One sample: a Fraction, or a float that is none."""
    order = "big" if big else "little"
    if kind in ("u24", "i24"):
        return Fraction(int.from_bytes(data, order, signed=kind == "i24"))
    if kind == "bf16":
        x = struct.unpack(">f", (data if big else data[::-1]) + b"\0\0")[0]
    else:
        x = struct.unpack((">" if big else "<") + TYPES[kind], data)[0]
    if isinstance(x, int):
        return Fraction(x)
    return Fraction(x) if math.isfinite(x) else x


def log_edges(lo, hi, n):
    ratio = (decimal.Decimal(hi) / decimal.Decimal(lo)).ln()
    inner = [float(decimal.Decimal(lo) * (ratio * i / n).exp()) for i in range(1, n)]
    return [lo] + inner + [hi]


def auto_edges(kind, finite, most):
    k = 0
    if kind in DIGITS:
        precision, k = DIGITS[kind]
        top = max(map(abs, finite))
        while top >= Fraction(2) ** (k + precision):
            k += 1
    while True:
        width = Fraction(2) ** k
        first, last = (math.floor(x / width) for x in (min(finite), max(finite)))
        if last - first + 1 <= most:
            return [width * i for i in range(first, last + 2)]
        k += 1


def count(job, channels):
    """Rows as the text has them: (lower, upper, counts...), numbers as Fractions."""
    finite = [x for c in channels for x in c if isinstance(x, Fraction)]
    edges = job["edges"]
    if job["how"] == "auto":
        edges = auto_edges(job["type"], finite, job["bins"]) if finite else [0]
    columns = []
    for samples in channels:
        n = job["bins"] if job["how"] == "mod" else len(edges) - 1
        cells = [0] * n
        under = over = nan = 0
        for x in samples:
            if x != x:
                nan += 1
            elif job["how"] == "mod":
                cells[int(x % n)] += 1
            elif n and (x < edges[0] or x == -math.inf):
                if job["clamp"]:
                    cells[0] += 1
                else:
                    under += 1
            elif n and (x >= edges[-1] or x == math.inf):
                if job["clamp"] or (job["closed"] and x == edges[-1]):
                    cells[-1] += 1
                else:
                    over += 1
            elif not n:
                under, over = under + (x < 0), over + (x > 0)
            else:
                cells[max(i for i in range(n) if edges[i] <= x)] += 1
        columns.append([under] + cells + [over, nan])
    return columns, edges


def near(rng, kind, values):
    """The bytes of a sample at a value or beside it, little endian; or noise."""
    n = size_of(kind)
    if rng.random() < 0.25:
        return rng.randbytes(n)
    x = rng.choice(values)
    if kind in DIGITS:
        form, whole = {"f16": "eH", "bf16": "fI", "f32": "fI", "f64": "dQ"}[kind]
        try:
            code = int.from_bytes(struct.pack("<" + form, float(x)), "little")
        except OverflowError:
            code = 0x7c00
        code = max(0, code + rng.choice((-1, 0, 0, 1)) * (65536 if kind == "bf16" else 1))
        data = code.to_bytes(struct.calcsize(whole), "little", signed=False)
        return data[-n:]
    bits = 8 * n
    low = -(1 << (bits - 1)) if kind[0] == "i" else 0
    whole = min(max(math.floor(x) + rng.choice((-1, 0, 0, 1)), low), low + (1 << bits) - 1)
    return (whole & ((1 << bits) - 1)).to_bytes(n, "little")


def draw_bins(rng, kind):
    """How to bin: the options, the edges where they are known, and values to be near."""
    how = rng.choice(["log", "edges", "edges", "auto", "auto"] + (["mod"] if kind not in DIGITS else []))
    job = {"type": kind, "how": how, "bins": rng.choice((2, 3, 7, 256, 1000)), "edges": [], "clamp": False,
           "closed": False}
    scale = 2.0 ** min(8 * size_of(kind), 40)
    if how == "log":
        lo = rng.choice((1.0, 0.1, 3.0, 1e-3, 2.0 ** -20))
        hi = lo * rng.choice((2.0, 10.0, 1e3, 1e6, 1.5))
        job["bins"] = rng.choice((1, 2, 7, 60))
        job["edges"] = log_edges(lo, hi, job["bins"])
        job["options"] = [f"--log={lo!r}:{hi!r}", "-b", str(job["bins"])]
    elif how == "edges":
        job["edges"] = sorted({rng.choice((rng.uniform(-scale, scale), float(rng.randrange(-300, 300)), rng.random()))
                               for _ in range(rng.randrange(2, 30))} | {0.0, 1.0})
        job["options"] = ["--edges=" + rng.choice((",", " ", ", ", "\n")).join(map(repr, job["edges"]))]
    else:
        job["options"] = ["--" + how, "-b", str(job["bins"])]
    near_to = job["edges"]
    if how == "mod":
        near_to = [job["bins"] * rng.randrange(-50, 50) for _ in range(5)]
    if how == "auto":
        centre = rng.uniform(-scale, scale)
        near_to = [centre * (1 + rng.random() * 2.0 ** -rng.randrange(40)) for _ in range(5)]
        if rng.random() < 0.2:
            near_to = [0.0]
    for flag in ("clamp", "closed"):
        if how in ("log", "edges") or (how == "auto" and flag == "clamp"):
            if rng.random() < 0.3:
                job[flag] = True
                job["options"].append("--" + flag)
    return job, near_to


def numpy_file(rng, kind, big, payload):
    n = len(payload) // size_of(kind)
    order = "|" if size_of(kind) == 1 else "<>"[big]
    text = "{'descr': '%s%s', 'fortran_order': False, 'shape': (%d,), }" % (order, NUMPY[kind], n)
    version = rng.choice((1, 2, 3))
    prefix = 10 if version == 1 else 12
    text += " " * (-(prefix + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY" + bytes((version, 0)) + len(text).to_bytes(prefix - 8, "little") + text.encode() + payload


def wave_file(rng, kind, channels, payload):
    n = size_of(kind)
    tag = 3 if kind[0] == "f" else 1
    form = struct.pack("<HHIIHH", tag, channels, 8000, 8000 * n * channels, n * channels, 8 * n)
    if rng.random() < 0.4:
        form = struct.pack("<H", 0xFFFE) + form[2:] + struct.pack("<HHIH", 22, 8 * n, 0, tag)
        form += bytes.fromhex("000000001000800000aa00389b71")

    def chunk(name, body):
        return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)

    chunks = chunk(b"fmt ", form)
    if rng.random() < 0.5:
        chunks = chunk(b"LIST", rng.randbytes(rng.randrange(30))) + chunks
    chunks += chunk(b"data", payload)
    if rng.random() < 0.5:
        chunks += chunk(b"id3 ", rng.randbytes(rng.randrange(30)))
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def picture_file(rng, kind, channels, payload):
    n = len(payload) // size_of(kind) // channels
    most = 255 if size_of(kind) == 1 else 1000
    comment = rng.choice(("", "# a comment\n"))
    return f"P{6 if channels == 3 else 5}\n{comment}{n} 1\n{most}\n".encode() + payload


def draw_input(rng, kind, near_to):
    """Options, the bytes of a file, and the samples of each channel."""
    n = size_of(kind)
    big = rng.random() < 0.4 and n > 1
    channels = rng.choice((1, 1, 1, 2, 3, 5))
    layout = rng.choice(("plain", "plain", "record", "rows", "npy", "wave", "picture"))
    if layout == "wave" and (kind in ("u64", "u32", "u24", "u16", "i8", "f16", "bf16") or big):
        layout = "plain"
    if layout == "npy" and kind not in NUMPY:
        layout = "plain"
    if layout == "picture":
        channels, big = rng.choice((1, 3)), n > 1
        if kind not in ("u8", "u16"):
            layout, channels = "plain", 1
    records = rng.randrange(1, 60)
    width = channels * rng.randrange(1, 9) if layout == "rows" else channels
    before = rng.randrange(9) if layout == "record" else 0
    after = rng.randrange(9) if layout in ("record", "rows") else 0
    body, columns = b"", [[] for _ in range(channels)]
    for _ in range(records):
        body += rng.randbytes(before)
        for i in range(width):
            data = near(rng, kind, near_to)
            data = data[::-1] if big else data
            columns[i % channels].append(value(kind, big, data))
            body += data
        body += rng.randbytes(after)
    options = [] if layout in ("wave", "picture", "npy") else ["-t", kind + ("be" if big else "")]
    if layout not in ("wave", "picture") and (channels > 1 or rng.random() < 0.3):
        options += ["-c", str(channels)]
    if layout == "record":
        options += [f"--record={before + width * n + after}", f"--offset={before}"]
    elif layout == "rows":
        options += [f"--rows={width}:{width * n + after}"]
    elif layout == "npy":
        body = numpy_file(rng, kind, big, body)
    elif layout == "wave":
        body = wave_file(rng, kind, channels, body)
    elif layout == "picture":
        body = picture_file(rng, kind, channels, body)
    if layout in ("wave", "picture") and channels > 1 and rng.random() < 0.3:
        options += ["-c", "1"]
        columns = [sum(columns, [])]
    return options, body, columns


def same_number(text, exact):
    x = float(text)
    try:
        return x == float(exact)
    except OverflowError:
        return math.isinf(x)


def agrees(job, text, columns, edges):
    rows = list(csv.reader(io.StringIO(text)))[1:]
    if job["how"] == "mod":  # which has no rows for under, over and NaN
        if any(c[0] or c[-1] or c[-2] for c in columns):
            return "a residue without a bin"
        rows = [None] + rows + [None, None]
    if len(rows) != len(columns[0]):
        return "%d rows, not %d" % (len(rows), len(columns[0]))
    for i, row in enumerate(rows):
        if row is None:
            continue
        if [int(x) for x in row[3:]] != [c[i] for c in columns]:
            return "row %s" % row
        if 0 < i < len(rows) - 2:
            ends = (i - 1, i - 1) if job["how"] == "mod" else (edges[i - 1], edges[i])
            if not all(same_number(t, e) for t, e in zip(row[1:3], ends)):
                return "edges of %s, not %s" % (row, ends)
    return None


def main():
    oracle = sys.argv[1]
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    jobs = int(sys.argv[3]) if len(sys.argv) > 3 else 400
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "in")
        for number in range(jobs):
            job, near_to = draw_bins(rng, rng.choice(list(TYPES)))
            options, body, channels = draw_input(rng, job["type"], near_to)
            with open(name, "wb") as f:
                f.write(body)
            command = [oracle, "--flow"] + options + job["options"] + [name]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            columns, edges = count(job, channels)
            wrong = run.stderr if run.returncode else agrees(job, run.stdout, columns, edges)
            if wrong:
                failed += 1
                print(f"job {number}: {wrong}: {' '.join(command)[:300]}")
    print(f"{jobs - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
