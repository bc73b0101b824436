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


def cupy(name, threads):
    """The same by CuPy, for the file taken four times: threads read blocks of 64 MiB into two page-locked buffers in turn."""
    import os
    from concurrent.futures import ThreadPoolExecutor

    import cupy as cp
    import cupyx
    block, size, counts = 1 << 26, os.path.getsize(name), []
    part, fd = block // threads, os.open(name, os.O_RDONLY)
    lanes = [(cp.cuda.Stream(non_blocking=True), cupyx.empty_pinned(block // 4, "f4"), cp.empty(block // 4, "f4"))
             for _ in range(2)]
    with ThreadPoolExecutor(threads) as pool:
        for turn, start in enumerate(4 * list(range(0, size, block))):
            stream, host, device = lanes[turn % 2]
            stream.synchronize()
            n = min(block, size - start)
            parts = [memoryview(host).cast("B")[i:min(i + part, n)] for i in range(0, n, part)]
            read = pool.map(os.preadv, len(parts) * [fd], [[p] for p in parts], range(start, start + n, part))
            assert sum(read) == n
            with stream:
                device[:n // 4].set(host[:n // 4], stream=stream)
                counts.append(cp.histogram(device[:n // 4], 1000, (-4, 4))[0])
    for stream, _, _ in lanes:
        stream.synchronize()
    return sum(counts).get()


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
