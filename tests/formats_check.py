#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every figure of every series is in every format that shows figures, and is what this script computes from the samples;
the name of every series is in every format.

KINDS makes series: channels, keys, rows, files. FORMATS reads them back: the table below has a cell for each kind and
format, None if that format has no such series. NAMES has one for the names.
usage: formats_check.py GPUHIST [SEED]
"""
import csv
import io
import json
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter

from check import check, report

GPUHIST = os.path.realpath(sys.argv[1])
rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
LETTERS = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i64": "q", "f32": "f"}


def run(options):
    done = subprocess.run([GPUHIST, *options], capture_output=True, check=False, text=True, encoding="utf-8", errors="replace")
    if done.returncode:
        raise RuntimeError(f"{options}: exit status {done.returncode}: {done.stderr}")
    return done.stdout, done.stderr


def draw(kind, n):
    if kind == "f32":
        odd = [0.0, -0.0, math.inf, -math.inf, math.nan]
        samples = [rng.choice(odd) if rng.random() < 0.2 else rng.gauss(0, 9) for _ in range(n)]
        return list(struct.unpack(f"<{n}f", struct.pack(f"<{n}f", *samples)))
    bits = int(kind[1:])
    low = -(1 << bits - 1) if kind[0] == "i" else 0
    return [low + rng.randrange(1 << rng.randrange(1, bits + 1)) for _ in range(n)]


def figures(kind, samples):
    """Compute the figures."""
    finite = [x for x in samples if math.isfinite(x)]
    of = {"samples": len(samples), "count": len(finite), "zeros": finite.count(0), "nan": sum(map(math.isnan, samples)),
          "inf": sum(map(math.isinf, samples))}
    bits = int(kind[1:])
    if bits <= 16:
        of["50%"] = sorted(samples)[(len(samples) + 1) // 2 - 1]
    if kind == "f32":
        of["minus_inf"], of["plus_inf"] = samples.count(-math.inf), samples.count(math.inf)
    if kind != "f32" and bits == 8:
        share = len(samples) / 256
        of["chi2"] = sum((Counter(samples)[x] - share) ** 2 for x in set(samples)) / share
        of["chi2"] += (256 - len(set(samples))) * share
    of["min"], of["max"] = min(finite), max(finite)
    of["mean"] = math.fsum(finite) / len(finite)
    of["std"] = math.sqrt(math.fsum((x - of["mean"]) ** 2 for x in finite) / len(finite))
    if kind != "f32" and bits <= 16:
        of["at_min"], of["at_max"] = samples.count(min(samples)), samples.count(max(samples))
        of["never_hit"] = max(samples) - min(samples) + 1 - len(set(samples))
    if kind != "f32" and bits <= 16:
        of["entropy"] = -sum(n / len(samples) * math.log2(n / len(samples)) for n in Counter(samples).values())
    return of


# ---- formats: return the figures of each series by its name ----


def read_csv(options, names):
    lines = csv.DictReader(io.StringIO(run(["-q", "-f", "csv", *options])[0]))
    return {"/".join(line[name] for name in names): line for line in lines}


def read_json(options, names):
    found = {}
    for line in run(["-q", "-f", "json", *options])[0].splitlines():
        document = json.loads(line)
        for name, one in document.items() if "uhi_schema" not in document else [("", document)]:
            facts = one["writer_info"]["gpuhist"]
            own = {"input": facts.get("row_of", ""), "first": str(facts.get("row_first", "")),
                   "channel": name.removeprefix("channel"), "key": name.removeprefix("key="),
                   "name": one["metadata"].get("name", ""), "tensor": facts.get("tensor", ""), "column": one["metadata"].get("column", "")}
            found["/".join(own[n] for n in names)] = facts
    return found


def read_prom(options, names):
    found = {}
    for line in run(["-q", "-f", "prom", *options])[0].splitlines():
        match = re.fullmatch(r'gpuhist_samples_(\w+)(?:\{(\w+)="([^"]*)"\})? (.*)', line)
        if match and match[1] not in ("bucket", "sum"):
            check([match[2] or ""] == (names or [""]), f"{options}: the label {match[2]}")
            found.setdefault(match[3] or "", {})[match[1]] = match[4]
    return found


def read_report(options, names):
    """Tables of up to 64 channels."""
    rows = [(line[:12].strip(), line[12:].split()) for line in
            re.findall(r"^gpuhist: stats: (.*)$", run(["-f", "json", *options])[1], re.M)]
    channels = next((cells for head, cells in rows if head in ("channel", "column")), [""])
    found = {channel: {} for channel in channels}
    for row, cells in rows:
        for channel, cell in zip(channels, cells if len(cells) == len(channels) else []):
            found[channel][row] = cell
    return found


JSON = {"inf": None, "min": "stats_minimum", "max": "stats_maximum", "50%": "stats_quantile_50",
        "at_min": "stats_at_minimum", "at_max": "stats_at_maximum", "samples": "samples", "nan": "nan"}
REPORT = {"minus_inf": "-inf", "plus_inf": "inf", "inf": None, "min": "minimum", "max": "maximum", "at_min": "at minimum",
          "at_max": "at maximum", "never_hit": "never hit", "samples": None}
# The name of a figure in a format, if it is not the same one; the last member: numbers are shortened.
FORMATS = {
    "csv": (read_csv, {"count": None, "minus_inf": None, "plus_inf": None}, False),
    "json": (read_json, JSON, False),
    "prom": (read_prom, {"count": None, "samples": None, "minus_inf": None, "plus_inf": None, "mean": None, "50%": None}, False),
    "report": (read_report, REPORT, True),
}

# ---- names ----


def strings(found):
    """All strings in a document, and the names of its members."""
    if isinstance(found, dict):
        return [text for name, value in found.items() for text in [name, *strings(value)]]
    return [found] if isinstance(found, str) else []


# All texts that a format shows.
TEXTS = {
    "csv": lambda text: [field for line in csv.reader(io.StringIO(text)) for field in line],
    "tsv": lambda text: [field for line in csv.reader(io.StringIO(text), delimiter="\t") for field in line],
    "json": lambda text: [found for line in text.splitlines() for found in strings(json.loads(line))],
    "prom": lambda text: [re.sub(r"\\(.)", r"\1", value) for value in re.findall(r'\{\w+="((?:\\.|[^"])*)"', text)],
    "plot": lambda text: [part.strip() for part in re.split(r"[|\u2502\n]|  +", text)],
    "svg": lambda text: [part.split(" \u00b7 ")[0] for part in ElementTree.fromstring(text).itertext()],
    "report": lambda text: [part.strip() for part in re.split(r"\n|  +", text)],
}


def check_names(make, kind, options, names):
    """The name of each series is in each format, with bins and with figures."""
    for fmt, texts_of in TEXTS.items():
        for figures_too in (False, True):
            shown = SHOWN[make].get(fmt)
            shown = shown[figures_too] if isinstance(shown, tuple) else shown
            if shown is None:
                continue
            bins = ["-b", "0"] if figures_too and fmt != "report" else ["-r", "0:100", "-b", "4"]
            stats = ["--stats"] if figures_too and fmt == "report" or make is tensors else []
            out, err = run([*([] if make is tensors else ["-t", kind]), *bins, *stats, "-f", "raw" if fmt == "report" else fmt, *options])
            texts = texts_of(err if fmt == "report" else out)
            for i, name in enumerate(names):
                wanted = shown.format(name=name, i=i)
                found = any(text == wanted or (fmt == "plot" and text.startswith(f"{wanted} ")) for text in texts)
                check(found, f"{make.__name__} of {kind} in {fmt}{' of figures' * figures_too}: no {wanted} in {texts[:60]}")
            if figures_too and fmt in ("csv", "tsv"):
                lines = csv.DictReader(io.StringIO(out), delimiter="," if fmt == "csv" else "\t")
                headed = [line.get(HEADS[make]) for line in lines]
                check(headed == list(names), f"{make.__name__} of {kind} in {fmt}: {HEADS[make]} is {headed}, not {names}")


# ---- kinds of series ----


def write(path, letter, samples):
    with open(path, "wb") as file:
        file.write(struct.pack(f"<{len(samples)}{letter}", *samples))


def one(kind):
    samples = draw(kind, 200)
    write("one", LETTERS[kind], samples)
    return ["one"], {"": samples}


def channels(kind):
    samples = draw(kind, 3 * 100)
    write("three", LETTERS[kind], samples)
    return ["-c", "3", "three"], {str(c): samples[c::3] for c in range(3)}


def pairs(kind):
    """Complex samples: one, or two in a record."""
    samples, names = draw(kind, 4 * 100), rng.choice((["I", "Q"], ["I0", "Q0", "I1", "Q1"]))
    write("pairs", LETTERS[kind], samples)
    return ["-t", f"c{kind}", "-c", str(len(names)), "pairs"], {name: samples[c::len(names)] for c, name in enumerate(names)}


def many(kind):
    samples = draw(kind, 70 * 30)
    write("many", LETTERS[kind], samples)
    return ["-c", "70", "--stats=50", "many"], {str(c): samples[c::70] for c in range(70)}


def rows(kind):
    samples = draw(kind, 3 * 100)
    write("rows", LETTERS[kind], samples)
    return ["--each=100", "rows"], {str(i): samples[i:i + 100] for i in range(0, 300, 100)}


def files(kind):
    series = {name: draw(kind, 100) for name in ("a", "b c")}
    for name, samples in series.items():
        write(name, LETTERS[kind], samples)
    return ["--each=file", *series], series


def keys(kind):
    samples = draw(kind, 300)
    with open("keys", "wb") as file:
        file.write(b"".join(struct.pack(f"<{LETTERS[kind]}B", x, i % 3 * 7) for i, x in enumerate(samples)))
    size = struct.calcsize(f"<{LETTERS[kind]}B")
    return [f"--record={size}", f"--by=u8@{size - 1}", "keys"], {str(7 * k): samples[k::3] for k in range(3)}


def texts(kind):
    """Keys that are texts, of a column with a name."""
    samples, names = draw(kind, 300), ["<b>&c", 'say "hi"', "\u00fc b"]
    with open("texts.csv", "w", encoding="utf-8") as file:
        file.write("value,side\n")
        file.writelines(f"{x!r},{names[i % 3]}\n" for i, x in enumerate(samples))
    return ["--text=value", "--by=side", "texts.csv"], {name: samples[i::3] for i, name in enumerate(names)}


def columns(kind):
    """Several columns of text."""
    samples = draw(kind, 200)
    with open("columns.csv", "w", encoding="utf-8") as file:
        file.write("price,other,qty\n")
        file.writelines(f"{a!r},x,{b!r}\n" for a, b in zip(samples[::2], samples[1::2]))
    return ["--text=price,qty", "columns.csv"], {"price": samples[::2], "qty": samples[1::2]}


def tensors(kind):
    series = {name: draw(kind, 100) for name in ("model.a", 'model."b"')}
    size = struct.calcsize(LETTERS[kind]) * 100
    facts = {name: {"dtype": kind.upper(), "shape": [100], "data_offsets": [size * i, size * (i + 1)]} for i, name in enumerate(series)}
    with open("tensors", "wb") as file:
        header = json.dumps(facts).encode()
        file.write(struct.pack("<Q", len(header)) + header)
        file.writelines(struct.pack(f"<100{LETTERS[kind]}", *samples) for samples in series.values())
    return ["--each=tensor", "tensors"], series


# Of each kind: how its series are named in each format; None: the format has no such series.
KINDS = {
    one: {"csv": None, "json": [], "prom": [], "report": []},
    channels: {"csv": None, "json": ["channel"], "prom": ["channel"], "report": ["channel"]},
    many: {"csv": ["channel"], "json": ["channel"], "prom": ["channel"], "report": None},
    pairs: {"csv": None, "json": ["name"], "prom": ["channel"], "report": ["channel"]},
    rows: {"csv": ["first"], "json": ["first"], "prom": None, "report": None},
    files: {"csv": ["input"], "json": ["input"], "prom": None, "report": None},
    keys: {"csv": ["key"], "json": ["key"], "prom": ["key"], "report": None},
    columns: {"csv": None, "json": ["column"], "prom": ["channel"], "report": ["column"]},
    texts: {"csv": ["key"], "json": ["key"], "prom": None, "report": None},
    tensors: {"csv": ["tensor"], "json": ["tensor"], "prom": None, "report": None},
}


# How each format shows the name of series i, with bins and with figures if these differ; None, or missing: there is none.
ROWS = {"csv": "{name}", "tsv": "{name}", "json": "{name}", "plot": "{name}", "svg": "{name}"}
CHANNELS = {"csv": ("count{i}", "{name}"), "tsv": ("count{i}", "{name}"), "json": "channel{i}", "prom": "{name}",
            "plot": ("channel {name}", "{name}"), "svg": ("channel {name}", "{name}"), "report": (None, "{name}")}
COLUMNS = {**CHANNELS, "csv": "{name}", "tsv": "{name}", "json": "{name}", "plot": ("column {name}", "{name}"),
           "svg": ("column {name}", "{name}")}
KEYS = {**ROWS, "json": "key={name}", "prom": "{name}"}
# SVG thins the labels of many.
SHOWN = {
    one: {}, channels: CHANNELS, pairs: {**CHANNELS, "json": "{name}"}, many: {**KEYS, "json": "channel{i}", "svg": None},
    # Pictures and documents of rows have no offsets of records.
    rows: {"csv": "{name}", "tsv": "{name}"}, files: ROWS, keys: KEYS, texts: KEYS, columns: COLUMNS,
    tensors: {"csv": (None, "{name}"), "tsv": (None, "{name}"), "json": (None, "{name}")},
}


# The column in which csv and tsv of figures name the series.
HEADS = {channels: "channel", pairs: "channel", many: "channel", rows: "first", files: "input", keys: "key", texts: "key",
         columns: "column", tensors: "tensor"}


def compare(label, cells, wanted, names, short):
    for figure, value in wanted.items():
        name = names.get(figure, f"stats_{figure}" if names is JSON else figure)
        if name is None or (short and figure in ("nan", "minus_inf", "plus_inf") and value == 0):
            continue
        text = str(cells.get(name, ""))
        near = 1e-5 if short else 1e-12
        same = text != "" and abs(float(text) - value) <= near * abs(value) + (1e-6 if figure == "entropy" else 0)
        check(same, f"{label}: {name} is {text or 'missing'}, not {value}")


def check_kind(make, kind):
    names = KINDS[make]
    options, series = make(kind)
    made = options
    options = [*([] if make is tensors else ["-t", kind]), "-r", "0:100", "-b", "4", "--stats", *options]
    wanted = {name: figures(kind, samples) for name, samples in series.items()}
    for fmt, (read, figure_names, short) in FORMATS.items():
        if names[fmt] is None:
            continue
        found = read(options, names[fmt])
        label = f"{make.__name__} of {kind} in {fmt}"
        check(sorted(found) == sorted(wanted), f"{label}: {sorted(found)} instead of {sorted(wanted)}")
        for name in set(found) & set(wanted):
            compare(f"{label}, {name}", found[name], wanted[name], figure_names, short)
    check_names(make, kind, made, list(series))


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    for maker in KINDS:
        for type_ in LETTERS:
            check_kind(maker, type_)
sys.exit(report())
