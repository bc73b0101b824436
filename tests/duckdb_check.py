#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rows of --by are what DuckDB makes of the same table with GROUP BY.

usage: duckdb_check.py GPUHIST [SEED]
"""
import csv
import os
import random
import subprocess
import sys
import tempfile

import duckdb

from check import check, report

GPUHIST = os.path.realpath(sys.argv[1])
rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
KINDS = {  # a number of each type, as text
    "u16": lambda: str(min(int(rng.expovariate(0.001)), 65535)),
    "i64": lambda: str(rng.randrange(-1000, 1000)),
    "f64": lambda: repr(rng.lognormvariate(3, 2)),
}


def rows(*options):
    said = subprocess.run([GPUHIST, "-q", "-M8G", *options], capture_output=True, text=True, encoding="utf-8", check=True).stdout
    return list(csv.reader(said.splitlines()))


def near(a, b, scale):
    return abs(float(a) - b) <= 1e-12 * scale + 1e-11 * abs(b)


def check_table(kind, keys, lines):
    with open("table.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["key", "value"])
        table.writerows((rng.choice(keys), KINDS[kind]()) for _ in range(lines))
    source = f"""read_csv('table.csv', header = true, quote = '"', escape = '"', strict_mode = true, nullstr = '\\1',
        columns = {{'key': 'VARCHAR', 'value': '{"DOUBLE" if kind == "f64" else "BIGINT"}'}})"""
    theirs = duckdb.sql(f"""SELECT key, count(*), min(value), max(value), avg(value), stddev_pop(value), quantile_disc(value, 0.5),
        count(*) FILTER (value < 100), count(*) FILTER (value >= 100 AND value < 1000), count(*) FILTER (value >= 1000)
        FROM {source} GROUP BY key ORDER BY encode(key)""").fetchall()
    ours = rows("--text=value", "--by=key", "-t", kind, "--stats=50", "table.csv")
    bins = rows("--text=value", "--by=key", "-t", kind, "--edges=0,100,1000", "--flow", "table.csv")[1:]
    at = {name: place for place, name in enumerate(ours[0])}
    what = f"{kind}, {len(keys)} keys"
    check([row[0] for row in ours[1:]] == [row[0] for row in theirs], f"{what}: names")
    for row, counts, other in zip(ours[1:], bins, theirs):
        key, n, least, most, mean, deviation, median, low, middle, high = other
        scale = max(abs(least), abs(most))
        check(int(row[at["records"]]) == n, f"{what}: {key!r}: records")
        check(float(row[at["min"]]) == least and float(row[at["max"]]) == most, f"{what}: {key!r}: extremes")
        check(near(row[at["mean"]], mean, scale) and near(row[at["std"]], deviation, scale), f"{what}: {key!r}: mean, std")
        check(abs(float(row[at["50%"]]) - median) <= (0 if kind == "u16" else abs(median) / 128), f"{what}: {key!r}: median")
        first, second, under, over, _ = map(int, counts[2:])
        check((under + first, second, over) == (low, middle, high), f"{what}: {key!r}: bins")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    odd = ["", "a", "A", "a b", "a, b", 'say "hi"', "µ", "\U0001f600", "\\", "nan", "-1", "01", "1"]
    for number in KINDS:
        check_table(number, odd, 3000)
        check_table(number, [f"/path/{rng.getrandbits(40):x}" for _ in range(700)], 20_000)
    os.chdir("/")
sys.exit(report())
