#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What programs of Python do for README's table.

usage: rivals.py numpy|boost|cupy|duckdb|polars FILE [THREADS]
"""
import sys


def numpy(name, _):
    """1000 equal bins of f32 by NumPy."""
    import numpy as np
    return np.histogram(np.memmap(name, "f4", "r"), 1000, (-4, 4))[0]


def boost(name, threads):
    """The same by boost-histogram."""
    import boost_histogram as bh
    import numpy as np
    h = bh.Histogram(bh.axis.Regular(1000, -4, 4), storage=bh.storage.Int64())
    return h.fill(np.memmap(name, "f4", "r"), threads=threads).view()


def cupy(name, _):
    """The same by CuPy, for the file taken four times, 256 MiB at a time."""
    import cupy as cp
    import numpy as np
    data, step = np.memmap(name, "f4", "r"), 1 << 26
    counts = cp.zeros(1000, "i8")
    for _ in range(4):
        for i in range(0, data.size, step):
            counts += cp.histogram(cp.asarray(data[i:i + step]), 1000, (-4, 4))[0]
    return counts.get()


def duckdb(name, threads):
    """1000 bins of numbers in text by DuckDB."""
    import duckdb as db
    db.sql(f"SET threads = {threads}")
    return db.sql(f"""SELECT floor(v * 1000)::INT AS bin, count(*)
        FROM read_csv('{name}', header = false, columns = {{'v': 'DOUBLE'}}) GROUP BY bin ORDER BY bin""").fetchall()


def polars(name, threads):
    """The same by Polars."""
    import os
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    import polars as pl
    bins = (pl.col("v") * 1000).floor().cast(pl.Int32).alias("bin")
    text = pl.scan_csv(name, has_header=False, schema={"v": pl.Float64})
    return text.group_by(bins).len().sort("bin").collect().rows()


print(*globals()[sys.argv[1]](sys.argv[2], int((sys.argv + [1])[3])))
