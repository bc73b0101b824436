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
    """The same by CuPy, for the file taken four times, in blocks of 64 MiB through two page-locked buffers and streams."""
    import cupy as cp
    import cupyx
    import numpy as np
    step, turn, counts = 1 << 24, 0, []
    lanes = [(cp.cuda.Stream(non_blocking=True), cupyx.empty_pinned(step, "f4"), cp.empty(step, "f4")) for _ in range(2)]
    for _ in range(4):
        with open(name, "rb") as file:
            while True:
                stream, host, device = lanes[turn % 2]
                stream.synchronize()
                n = file.readinto(memoryview(host).cast("B")) // 4
                if n == 0:
                    break
                with stream:
                    device[:n].set(host[:n])
                    counts.append(cp.histogram(device[:n], 1000, (-4, 4))[0])
                turn += 1
    cp.cuda.Device().synchronize()
    return np.sum([cp.asnumpy(c) for c in counts], axis=0)


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
