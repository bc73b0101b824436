#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program compared with NumPy and the standard library's reader of WAVE files, to the last count.

usage: numpy_check.py GPUHIST [SEED]
"""
import csv
import decimal
import io
import json
import math
import os
import subprocess
import sys
import tempfile
import wave
from fractions import Fraction

try:
    import numpy
except ImportError:
    print("left out: NumPy is not installed")
    print("0 passed, 0 failed")
    sys.exit(0)

SAMPLES = 1_000_000
GPUHIST = sys.argv[1]
rng = numpy.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
results = []


def run(options, data, name="in"):
    with open(name, "wb") as f:
        f.write(data)
    done = subprocess.run([GPUHIST] + options + [name], capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"exit status {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def table(text):
    """Return lower edges, upper edges, and the counts, a column for each channel."""
    rows = [row for row in csv.reader(io.StringIO(text.decode()))][1:]
    numbers = [[int(x) for x in row[3:]] for row in rows]
    return [float(r[1]) for r in rows], [float(r[2]) for r in rows], numpy.array(numbers, dtype=numpy.uint64)


def check(name, good):
    results.append(bool(good))
    if not good:
        print(f"FAILED {name}")


def equal(name, ours, theirs):
    check(name, len(ours) == len(theirs) and numpy.array_equal(ours, numpy.asarray(theirs, dtype=numpy.uint64)))


def beside(x, edges):
    """Put samples on every edge and on its two neighbours in the samples' type."""
    on = edges.astype(x.dtype)
    less = numpy.nextafter(on, x.dtype.type(-numpy.inf))
    more = numpy.nextafter(on, x.dtype.type(numpy.inf))
    extra = numpy.concatenate([on, less, more, on])
    x[rng.choice(len(x), len(extra), replace=False)] = extra
    return x


def numpy_histogram(x, edges):
    # As binary64, because NumPy would round the edges to the samples' type.
    return numpy.histogram(x.astype(numpy.float64), bins=edges)[0]


def check_edges():
    lists = {
        "irregular": numpy.unique(rng.normal(0, 1, 1001)),
        "regular": numpy.linspace(-2, 2, 257),
        "crowded": numpy.unique(numpy.concatenate([rng.normal(0.5, 1e-9, 500), rng.normal(0, 1, 20)])),
    }
    for form, dtype in (("f32", "<f4"), ("f64", "<f8"), ("f32be", ">f4"), ("f64be", ">f8")):
        for name, edges in lists.items():
            x = beside(rng.normal(0, 1, SAMPLES).astype(dtype[1:]), edges).astype(dtype)
            with open("edges.txt", "w", encoding="ascii") as f:
                f.write("\n".join(map(repr, map(float, edges))) + "\n")
            _, _, counts = table(run(["-t", form, "--closed", "--edges=@edges.txt"], x.tobytes()))
            equal(f"--edges, {name}, {form}", counts[:, 0], numpy_histogram(x, edges))


def check_ranges():
    for form, dtype in (("f32", "f4"), ("f64", "f8")):
        edges = numpy.linspace(-3.7, 12.25, 1001)
        x = beside(rng.normal(4, 4, SAMPLES).astype(dtype), edges)
        _, _, counts = table(run(["-t", form, "--closed", "-r-3.7:12.25", "-b1000"], x.tobytes()))
        equal(f"--range, {form}", counts[:, 0], numpy_histogram(x, edges))


def log_edges(lo, hi, n):
    """Return the edges, each the binary64 nearest to the exact one."""
    with decimal.localcontext() as context:
        context.prec = 60
        ratio = (decimal.Decimal(hi) / decimal.Decimal(lo)).ln()
        return [lo] + [float(decimal.Decimal(lo) * (ratio * i / n).exp()) for i in range(1, n)] + [hi]


def check_log():
    for form, dtype in (("f32", "f4"), ("f64", "f8")):
        x = numpy.exp(rng.normal(0, 3, SAMPLES)).astype(dtype)
        lower, upper, counts = table(run(["-t", form, "--closed", "--log=0.01:100", "-b500"], x.tobytes()))
        edges = numpy.array(lower + upper[-1:])
        check("edges of --log", list(edges) == log_edges(0.01, 100.0, 500))
        equal(f"--log, {form}", counts[:, 0], numpy_histogram(x, edges))
    # Whole powers, subnormal numbers, all of binary64, the narrowest ranges, and ranges drawn at random.
    ranges = [(1.0, 1024.0, 10), (1.0, 1e15, 15), (5e-324, 2.0**-1064, 10), (1e-310, sys.float_info.max, 4096), (1e-315, 3e-308, 64),
              (94906263.0**2, 94906265.0**2, 2), (1.0, 1.5 + 2.0**-52, 1000), (0.1, 1e5, 3001)]
    for _ in range(60):
        lo, n = rng.random() * 2.0 ** int(rng.integers(-1000, 900)), int(rng.integers(1, 200))
        # Narrower bins than these are refused.
        width = max(rng.random() * 2.0 ** int(rng.integers(-40, 60)), n * 2.0**-50)
        ranges.append((lo, lo * (1 + width), n))
    for lo, hi, n in ranges:
        lower, upper, _ = table(run(["-t", "f64", f"--log={lo!r}:{hi!r}", f"-b{n}"], b""))
        check(f"edges of --log={lo!r}:{hi!r} -b {n}", lower + upper[-1:] == log_edges(lo, hi, n))


def check_mod():
    for form in ("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"):
        dtype = numpy.dtype({"u": "uint", "i": "int"}[form[0]] + form[1:])
        for n in (1, 2, 7, 256, 1000):
            limits = numpy.iinfo(dtype)
            x = rng.integers(limits.min, limits.max, SAMPLES // 4, dtype=dtype, endpoint=True)
            _, _, counts = table(run(["-t", form, "--mod", f"-b{n}"], x.tobytes()))
            # The residue, in a type that holds both the sample and N.
            wide = x if form == "u64" else x.astype(numpy.int64)
            residue = numpy.mod(wide, numpy.array(n, dtype=wide.dtype)).astype(numpy.int64)
            equal(f"--mod -b {n}, {form}", counts[:, 0], numpy.bincount(residue, minlength=n))


def check_packed():
    for bits in (10, 12, 14):
        for order in ("little", "big"):
            x = rng.integers(0, 1 << bits, SAMPLES // 4 * 4)
            planes = (x[:, None] >> numpy.arange(bits) & 1).astype(numpy.uint8)
            data = numpy.packbits(planes[:, ::-1] if order == "big" else planes, bitorder=order).tobytes()
            for kind in "ui":
                name = f"{kind}{bits}bit{'be' if order == 'big' else ''}"
                value = x - (x >> (bits - 1) << bits) if kind == "i" else x
                lowest = -(1 << (bits - 1)) if kind == "i" else 0
                _, _, counts = table(run(["-t", name, "-c4", "-r", "full", f"-b{1 << bits}"], data))
                for c in range(4):
                    equal(f"{name}, channel {c}", counts[:, c],
                          numpy.bincount(value[c::4] - lowest, minlength=1 << bits))


def auto_edges(x, most):
    """Return the edges of --auto for finite samples of a NumPy type, as the manual defines them."""
    low, high = Fraction(x.min().item()), Fraction(x.max().item())
    k = 0
    if x.dtype.kind == "f":
        greatest = max(x.max(), -x.min())
        k = round(math.log2(float(numpy.spacing(greatest)))) if x.dtype.itemsize < 8 or greatest > 1e-290 else -1074
    while True:
        width = Fraction(2) ** k
        first, last = math.floor(low / width), math.floor(high / width)
        if last - first < most:
            return [width * i for i in range(first, last + 2)]
        k += 1


def check_auto():
    cases = {
        "normal": rng.normal(0, 1, 100_000),
        "far from 0": 1e6 + rng.random(100_000),
        "below 0": -rng.random(1000) * 1e-3,
        "equal": numpy.full(1000, 0.1),
        "growing": numpy.arange(1.0, 100_000.0),
        "small": rng.normal(0, 1e-6, 1000),
        "barely below 0": numpy.array([-5e-324, 30000.0]),  # divided by 2^k it is -0
    }
    for name, x in cases.items():
        for form, dtype in (("f16", "f2"), ("f32", "f4"), ("f64", "f8"), ("i32", "i4"), ("i16", "i2"), ("i64", "i8")):
            y = numpy.clip(x, -30000, 30000).astype(dtype)
            for most in (2, 100, 256):
                edges = auto_edges(y, most)
                lower, upper, counts = table(run(["-t", form, "--auto", f"-b{most}"], y.tobytes()))
                label = f"--auto -b {most}, {form}, {name}"
                check(f"{label}: edges", lower + upper[-1:] == [float(e) for e in edges])
                equal(label, counts[:, 0], numpy_histogram(y, [float(e) for e in edges]))


def rank_edges(x, most):
    """Return the edges of --log=auto for finite samples, as the manual defines them; and the bins for each power of two."""
    real = x.dtype.kind == "f"
    form = x.dtype if real else numpy.dtype("f8")
    digits, word = numpy.finfo(form).nmant, numpy.dtype(f"i{form.itemsize}")
    smallest = numpy.finfo(form).smallest_subnormal.item() if real else 1
    past = numpy.inf if real else numpy.iinfo(x.dtype).max + 1

    def key(v):
        """Return the place of the number at v or next below it, among all numbers of the float type, or of binary64."""
        near = form.type(v)
        rank = int(numpy.abs(near).view(word)) * (1 if near >= 0 else -1)
        return rank - (float(near) > v)

    def number(rank):
        bits = min(abs(rank), int(form.type(numpy.inf).view(word)))
        v = numpy.array(bits, word).view(form).item() * (1 if rank >= 0 else -1)
        return v if real else -past if v <= -past else past if v >= past else math.ceil(v)

    def side(k, least, greatest):
        """Return the edges of the bins of one sign, unless they are too many; bins without a number are left out."""
        edges = [number(key(least) >> k << k)]
        while edges[-1] <= greatest and len(edges) <= most + 1:
            edges.append(number((key(edges[-1]) >> k) + 1 << k))
        return edges

    def span(k):
        below, above = (side(k, v.min(), v.max()) if len(v) else [] for v in (x[x < 0].astype(object), x[x > 0].astype(object)))
        above = [max(v, smallest) for v in above]
        if (x == 0).any() or (below and above):
            below, above = below or [0], above or [smallest]
        return below + above

    low, high = -1, 64
    while high - low > 1:
        k = (low + high) // 2
        low, high = (low, k) if len(span(k)) - 1 <= most else (k, high)
    return span(high), 2 ** max(digits - high, 0)


def check_log_auto_powers():
    """The sample next to zero is a power of two, at which a bin ends, or one number above or below it, on each side of 0."""
    for form, dtype, least, greatest in (("f16", "f2", -24, 12), ("f32", "f4", -149, 120), ("f64", "f8", -1074, 1000),
                                         ("i16", "i2", 0, 12), ("i32", "i4", 0, 28), ("i64", "i8", 0, 50)):
        for e in sorted({least, least + 1, greatest, *(int(e) for e in rng.integers(least, greatest, 3))}):
            near = numpy.array([2.0 ** e], dtype)
            if form[0] == "i":
                beside = (near - 1, near, near + 1)
            else:
                beside = (numpy.nextafter(near, near * 0), near, numpy.nextafter(near, near * 4))
            for v in (v for v in beside if v[0] > 0):
                for others in ([], [0], [float(near[0] * 2)], [0, float(near[0] * 2)]):
                    y = numpy.concatenate([-v, -v * 4, numpy.array(others, dtype)]).astype(dtype)
                    y = y if rng.integers(2) else -y
                    most = int(rng.choice((4, 40, 256)))
                    edges, _ = rank_edges(y, most)
                    lower, upper, counts = table(run(["-t", form, "--log=auto", f"-b{most}"], y.tobytes()))
                    label = f"--log=auto -b {most}, {form}, {y}"
                    check(f"{label}: edges", lower + upper[-1:] == [float(e) for e in edges])
                    wide = numpy.searchsorted(numpy.array([float(e) for e in edges]), y.astype("f8"), side="right") - 1
                    equal(label, counts[:, 0], numpy.bincount(wide, minlength=len(edges) - 1))


def check_log_auto():
    cases = {
        "latencies": numpy.exp(rng.normal(8, 1, 100_000)),
        "both signs": rng.normal(0, 1, 100_000) * 10.0 ** rng.integers(-2, 5, 100_000),
        "an outlier": numpy.append(rng.random(1000), 30000),
        "zeros": numpy.repeat([0.0, -0.0, 1.0, 5.0], 50),
        "below 0": -numpy.exp(rng.normal(0, 3, 1000)),
    }
    for name, x in cases.items():
        for form, dtype in (("f16", "f2"), ("f32", "f4"), ("f64", "f8"), ("i32", "i4"), ("i16", "i2"), ("i64", "i8")):
            y = numpy.clip(x, -30000, 30000).astype(dtype)
            for most in (40, 256, 3000):
                edges, parts = rank_edges(y, most)
                lower, upper, counts = table(run(["-t", form, "--log=auto", f"-b{most}"], y.tobytes()))
                label = f"--log=auto -b {most}, {form}, {name}"
                check(f"{label}: edges", lower + upper[-1:] == [float(e) for e in edges])
                equal(label, counts[:, 0], numpy_histogram(y, [float(e) for e in edges]))
                least = 0 if form[0] == "i" else numpy.finfo(dtype).tiny
                lower, upper = zip(*((a, b) for a, b in zip(lower, upper) if not a <= 0 < b))
                narrow = [b - a <= min(abs(a), abs(b)) / parts or (form[0] == "i" and b - a == 1)
                          for a, b in zip(lower, upper) if min(abs(a), abs(b)) > least]
                check(f"{label}: no bin is wider than 1/{parts}", all(narrow) or parts == 1)
    check_log_auto_powers()
    # Of every size: bins of many digits, of one power of two, and of several; the range keeps growing.
    for form in ("i32", "i64", "u32", "u64"):
        bits = int(form[1:])
        limits = numpy.iinfo(f"{form[0]}{bits // 8}")
        y = numpy.array([limits.min, limits.max] + [
            limits.max >> int(s) if limits.min == 0 or j % 2 else -(limits.max >> int(s))
            for j, s in enumerate(numpy.sort(rng.integers(0, bits - 1, 6000))[::-1])], dtype=limits.dtype)
        for most in (3, 5, 12, 40, 3000):
            edges, _ = rank_edges(y, most)
            lower, upper, counts = table(run(["-t", form, "--log=auto", f"-b{most}"], numpy.roll(y, -2).tobytes()))
            check(f"--log=auto -b {most}, {form}, every size: edges", lower + upper[-1:] == [float(e) for e in edges])
            wide = numpy.searchsorted([int(e) for e in edges], y.astype(object), side="right") - 1
            equal(f"--log=auto -b {most}, {form}, every size", counts[:, 0],
                  numpy.bincount(wide.astype(int), minlength=len(edges) - 1))


def check_npy_output():
    x = rng.integers(0, 300, SAMPLES, dtype=numpy.uint32)
    with open("in", "wb") as f:
        f.write(x.tobytes())
    for options, dtype in (([], "<u8"), (["-C", "u32"], "<u4"), (["-C", "sat8"], "|u1"), (["-C", "sat16"], "<u2")):
        out = run(["-f", "npy", "-b", "256"] + options, x.tobytes())
        loaded = numpy.load(io.BytesIO(out), allow_pickle=False)
        counts = numpy.bincount(x, minlength=256)[:256]
        check(f"-f npy {options}: dtype", loaded.dtype == numpy.dtype(dtype))
        equal(f"-f npy {options}", loaded, numpy.minimum(counts, min(int(numpy.iinfo(loaded.dtype).max), SAMPLES)))


def check_channels():
    x = rng.integers(-32768, 32767, (100_000, 3), dtype=numpy.int16)
    _, _, counts = table(run(["-t", "i16", "-c", "3", "-r-32768:32768", "-b64"], x.tobytes()))
    for c in range(3):
        equal(f"-c 3, channel {c}", counts[:, c], numpy.bincount((x[:, c].astype(int) + 32768) // 1024, minlength=64))


def statistics(options, data):
    """Return the statistics in the document of --stats, by name."""
    document = json.loads(run(options + ["-q", "-fjson"], data))
    return {name[6:]: value for name, value in document["writer_info"]["gpuhist"].items() if name.startswith("stats_")}


def entropy(counts):
    share = counts[counts > 0] / counts.sum()
    return -(share * numpy.log2(share)).sum()


def check_stats():
    """The quantiles invert the cumulative distribution, as NumPy's method of that name does."""
    percents = ["0", "0.0001", "2", "12.5", "50", "97.3", "99.9", "99.9999", "100"]
    samples = {
        "u8": numpy.minimum(rng.poisson(240, SAMPLES), 255).astype("u1"),
        "i16be": numpy.clip(rng.normal(0, 20000, SAMPLES), -32768, 32767).astype(">i2"),
        "f16": rng.normal(0, 1, SAMPLES).astype("<f2"),
        "f32": rng.normal(0, 1, SAMPLES).astype("<f4"),
        "i64": rng.integers(-10**18, 10**18, SAMPLES),
    }
    for form, x in samples.items():
        found = statistics(["-t", form, "--auto", "-b700", "--stats=" + ",".join(percents)], x.tobytes())
        cells = found.pop("cells", 0), found.pop("digest", "")
        counts = table(run(["-t", form, "--auto", "-b700"], x.tobytes()))[2]
        small = x.dtype.itemsize <= 2
        if form != "u8":  # its bins hold one value each
            check(f"--stats, {form}: the digest", cells[0] == (65536 if small else 1024) and
                  sum(int(pair.split(" ")[1]) for pair in cells[1].split(",")) == len(x))
        if small:
            counts = numpy.bincount(x.view(f"u{x.dtype.itemsize}"))
            check(f"--stats, {form}: the ends", [found["at_minimum"], found["at_maximum"]] ==
                  [(x == x.min()).sum(), (x == x.max()).sum()])
            values = numpy.arange(2**(8 * x.dtype.itemsize), dtype=f"u{x.dtype.itemsize}").view(x.dtype)
            values = numpy.unique(values[(values >= x.min()) & (values <= x.max())])
            check(f"--stats, {form}: never hit", found["never_hit"] == len(numpy.setdiff1d(values, x)))
        check(f"--stats, {form}: zeros", found["zeros"] == (x == 0).sum())
        check(f"--stats, {form}: extremes", [found["minimum"], found["maximum"]] == [x.min(), x.max()])
        check(f"--stats, {form}: count", found["count"] == len(x))
        check(f"--stats, {form}: mean and std", math.isclose(found["mean"], x.mean(dtype="f8"), abs_tol=1e-6 * x.max()) and
              math.isclose(found["std"], x.std(dtype="f8"), rel_tol=1e-9))
        check(f"--stats, {form}: entropy", abs(found["entropy"] - entropy(counts)) < 6e-7)
        expected = numpy.sort(x)[[max(math.ceil(Fraction(p) * len(x) / 100), 1) - 1 for p in percents]]
        named = numpy.quantile(x, [float(p) / 100 for p in percents], method="inverted_cdf")
        for percent, value, theirs in zip(percents, expected, named):
            # Numbers of 16 bits are exact; others are in the same cell as the sample.
            ours, value = found[f"quantile_{percent}"], float(value)
            check(f"--stats, {form}: {percent}%", ours == value if small else abs(ours - value) <= abs(value) / 1024)
            # NumPy's rank is a rounded product, so it may name the neighbour.
            if percent in ("0", "50", "12.5", "100"):
                check(f"--stats, {form}: {percent}% of NumPy", value == theirs)
        check(f"--stats, {form}: {len(found)} figures", len(found) ==
              9 + len(percents) + 3 * small + 2 * (form[0] == "f") + (form == "u8"))


def check_few_quantiles():
    """Few samples: ties, all equal, one; for floats infinities, NaN, zeros of both signs, and the smallest and largest."""
    percents = ["0", "0.1", "50", "99.99", "100"]
    for form in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"):
        kind, small = numpy.dtype("<" + form), int(form[1]) <= 2
        limits = numpy.finfo(kind) if form[0] == "f" else numpy.iinfo(kind)
        cases = [[limits.max] * 3, [limits.min, limits.max], [5, 7, 7, 7, 9, 100, 100], [3] * 1000 + [100], [0] * 7 + [1], [9]]
        if form[0] != "u":
            cases += [[-7, -7, -100], [-64, -64, 64], [limits.min, -1, 0, 0, 0, 1]]
        if form[0] == "f":
            tiny, least, finite = limits.tiny, limits.smallest_subnormal, limits.max
            cases += [[numpy.inf, -numpy.inf, numpy.nan, -finite, finite, 1], [numpy.inf, numpy.nan], [-0.0, 0.0, -0.0], [-0.0, 1, -1],
                      [least, least * 3, -least, -0.0, numpy.nan], [tiny, tiny - least, -tiny, -tiny + least], [-least] * 2 + [least]]
        for case in cases:
            x = numpy.array(case, kind)
            found = statistics(["-t", kind.str, "--stats=" + ",".join(percents)], x.tobytes())
            x = numpy.sort(x[numpy.isfinite(x)])
            near = 0 if small else limits.tiny / 1024 if form[0] == "f" else 0
            for p in percents if len(x) else []:
                value = x[max(math.ceil(Fraction(p) * len(x) / 100), 1) - 1].item()
                ours = found[f"quantile_{p}"]
                exact = small or value == 0 or (form[0] != "f" and abs(value) <= 2048) or x[0] == x[-1]
                check(f"--stats, {kind.str}, {case[:9]}: {p}%", ours == value if exact else
                      (ours > 0) == (value > 0) and x[0].item() <= ours <= x[-1].item() and
                      abs(Fraction(ours) - Fraction(value)) <= max(abs(Fraction(value)) / 1024, Fraction(float(near))))
            check(f"--stats, {kind.str}, {case[:9]}: none", len(x) > 0 or "quantile_50" not in found)


def check_npy_input():
    for version in ((1, 0), (2, 0), (3, 0)):
        for dtype in ("u1", "<i2", ">i2", ">u4", "<i8", ">f8", "<f4", "<f2"):
            x = rng.integers(0, 100, (1000, 4)).astype(dtype)
            out = io.BytesIO()
            numpy.lib.format.write_array(out, x, version=version)
            options = ["-r0:100", "-b100"]
            _, _, counts = table(run(options, out.getvalue()))
            equal(f".npy {version}, {dtype}", counts[:, 0], numpy.bincount(x.astype(int).ravel(), minlength=100))
            _, _, counts = table(run(options + ["-c", "last"], out.getvalue()))
            for c in range(4):
                theirs = numpy.bincount(x[:, c].astype(int), minlength=100)
                equal(f".npy {version}, {dtype}, -c last, channel {c}", counts[:, c], theirs)


def check_wave_input():
    for channels in (1, 2, 5):
        for bytes_each in (1, 2, 3, 4):
            with wave.open("in.wav", "wb") as w:
                w.setparams((channels, bytes_each, 44100, 0, "NONE", ""))
                w.writeframes(rng.bytes(channels * bytes_each * 10_001))
            with open("in.wav", "rb") as f:
                out = run(["-r", "full", "-b256"], f.read())
            with wave.open("in.wav", "rb") as w:
                frames = w.readframes(w.getnframes())
            # The last byte of a little-endian sample is its bin, apart from the sign, which 8-bit samples do not have.
            top = numpy.frombuffer(frames, numpy.uint8).reshape(-1, channels, bytes_each)[:, :, -1]
            top = top if bytes_each == 1 else top ^ 128
            _, _, counts = table(out)
            for c in range(channels):
                equal(f"WAVE, {channels} x {bytes_each} bytes, channel {c}", counts[:, c],
                      numpy.bincount(top[:, c], minlength=256))


def parts_of(data, options):
    document = json.loads(run(["-q", "-f", "json", *options], data))
    return [document] if "axes" in document else list(document.values())


def same_parts(name, documents, parts, edges):
    """Compare the documents of channels or keys with their samples."""
    check(f"{name}: parts", len(documents) == len(parts))
    for document, part in zip(documents, parts):
        facts, finite = document["writer_info"]["gpuhist"], part[numpy.isfinite(part)]
        equal(f"{name}: counts", document["storage"]["values"][1:-1], numpy_histogram(finite, edges))
        check(f"{name}: NaN", facts["nan"] == numpy.isnan(part).sum())
        if "stats_count" in facts:
            check(f"{name}: figures", facts["stats_count"] == len(finite) and facts["stats_minimum"] == finite.min()
                  and facts["stats_maximum"] == finite.max() and math.isclose(facts["stats_mean"], finite.mean(), rel_tol=1e-9)
                  and facts["stats_zeros"] == (finite == 0).sum())


def draw_numbers(dtype, n):
    dtype = numpy.dtype(dtype)
    if dtype.kind != "f":
        limits = numpy.iinfo(dtype)
        x = rng.integers(limits.min, limits.max, n, dtype.newbyteorder("="), endpoint=True).astype(dtype)
        x[:9] = limits.min
        return x
    x = (rng.normal(size=n) * 40).astype(dtype)
    x[::97], x[5::97], x[6::97] = numpy.nan, -numpy.inf, -0.0
    return x


def check_abs():
    edges = numpy.linspace(0, 100, 51)
    types = {"i8": "i1", "i16": "<i2", "i16be": ">i2", "f16": "<f2", "f16be": ">f2", "f32": "<f4", "f32be": ">f4", "f64": "<f8",
             "f64be": ">f8"}
    options = ["--abs", "--closed", "-r0:100", "-b50"]
    for form, dtype in types.items():
        x = draw_numbers(dtype, 6930)
        size = abs(x.astype("f8"))
        for channels in (1, 3, 70):
            for stats in ([], ["--stats=50"]):
                same_parts(f"|{form}| -c {channels} {stats}", parts_of(x.tobytes(), ["-t", form, f"-c{channels}", *options, *stats]),
                           [size[c::channels] for c in range(channels)], edges)
        records = numpy.zeros(len(x), [("x", dtype), ("key", "u1")])
        records["x"], records["key"] = x, rng.integers(0, 5, len(x))
        by = [f"--record={records.itemsize}", f"--by=u8@{x.itemsize}", "--stats"]
        same_parts(f"|{form}| {by}", parts_of(records.tobytes(), ["-t", form, *options, *by]),
                   [size[records["key"] == key] for key in range(5)], edges)
    for form, dtype in {"cu8": "u1", "ci8": "i1", "ci16": "<i2", "ci16be": ">i2", "cu16": "<u2", "ci32": "<i4", "cf16": "<f2",
                        "cf32": "<f4", "cf64be": ">f8"}.items():
        x = draw_numbers(dtype, 8400).astype("f8") - {"cu8": 127.5, "cu16": 32767.5}.get(form, 0)
        size = numpy.sqrt(x[::2] * x[::2] + x[1::2] * x[1::2])
        data = (x + {"cu8": 127.5, "cu16": 32767.5}.get(form, 0)).astype(dtype).tobytes()
        edges = numpy.linspace(0, float(size[numpy.isfinite(size)].max()), 51)
        options = ["--abs", "--closed", f"-r0:{float(edges[-1])!r}", "-b50", "--stats"]
        for channels in (1, 3, 70):
            same_parts(f"|{form}| -c {channels}", parts_of(data, ["-t", form, f"-c{channels}", *options]),
                       [size[c::channels] for c in range(channels)], edges)
    with open("z.npy", "wb") as file:
        numpy.save(file, x.astype("<f8").view("<c16").reshape(-1, 3))
    document = json.loads(subprocess.run([GPUHIST, "-qfjson", "--abs", "-clast", "z.npy", f"-r0:{float(edges[-1])!r}", "-b50", "--closed"],
                                         capture_output=True, check=True).stdout)
    same_parts("|complex128| of a .npy", list(document.values()), [size[c::3] for c in range(3)], edges)


def check_missing():
    """A missing float is like NaN, a missing integer like none at all."""
    edges = numpy.linspace(-100, 100, 51)
    options = ["--closed", "-r-100:100", "-b50", "--stats"]
    for form, dtype in {"i8": "i1", "u8": "u1", "i16": "<i2", "u16be": ">u2", "f16": "<f2", "f32": "<f4", "f32be": ">f4",
                        "f64": "<f8", "f64be": ">f8"}.items():
        x = draw_numbers(dtype, 6930)
        values = [float(v) for v in rng.choice(x[numpy.isfinite(x.astype("f8"))], 3)] + [0.0, 1.0]
        x[7::11] = values[0]
        option = "--missing=" + ",".join(f"{v:.17g}" for v in values)
        wide = x.astype("f8")
        wide[numpy.isin(wide, values)] = numpy.nan
        for channels in (1, 3):
            for absolute in ([], ["--abs"] if form[0] in "if" else []):
                parts = [wide[c::channels] for c in range(channels)]
                same_parts(f"{form} -c {channels} {option} {absolute}",
                           parts_of(x.tobytes(), ["-t", form, f"-c{channels}", option, *options, *absolute]),
                           [abs(part) for part in parts] if absolute else parts, edges)
    x = draw_numbers("<i2", 8400)
    x[3::7] = -32768
    wide = x.astype("f8").reshape(-1, 2)
    size = numpy.sqrt(wide[:, 0] * wide[:, 0] + wide[:, 1] * wide[:, 1])
    size[(wide == -32768).any(axis=1)] = numpy.nan
    edges = numpy.linspace(0, 50000, 51)
    same_parts("|ci16|", parts_of(x.tobytes(), ["-t", "ci16", "--abs", "--missing=-32768", "-r0:50000", "-b50", "--closed", "--stats"]),
               [size], edges)


def main():
    global GPUHIST
    GPUHIST = os.path.realpath(GPUHIST)
    checks = [check_ranges, check_edges, check_log, check_mod, check_packed, check_auto, check_log_auto, check_npy_output, check_channels,
              check_abs, check_missing, check_stats, check_few_quantiles, check_npy_input, check_wave_input]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for one in checks:
            try:
                one()
            except (RuntimeError, ValueError, IndexError, KeyError) as error:
                check(f"{one.__name__}: {error}", False)
        os.chdir("/")
    failed = len(results) - sum(results)
    print(f"{sum(results)} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
