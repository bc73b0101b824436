#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files written by the safetensors package: each tensor has the same counts, figures and name as in NumPy.

usage: tensors_check.py GPUHIST [SEED]
"""
import csv
import io
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy
import safetensors
import safetensors.numpy

GPUHIST = os.path.realpath(sys.argv[1])
rng = numpy.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
TYPES = {"float16": "f16", "float32": "f32", "float64": "f64", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
         "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "u8"}
results = []


def check(name, good):
    results.append(bool(good))
    if not good:
        print(f"FAILED {name}")


def run(options, **more):
    done = subprocess.run([GPUHIST] + options, capture_output=True, check=False, **more)
    if done.returncode:
        raise RuntimeError(f"{options}: exit status {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode()


def rows_of(paths):
    """Return the rows of --each=tensor, by the name of the tensor, as Python's reader of CSV reads them."""
    rows = list(csv.DictReader(io.StringIO(run(["--each=tensor", "--stats=50", "-q"] + paths), newline="")))
    return {row["tensor"]: row for row in rows}


def check_tensor(path, name, x, row):
    """Check a tensor's row, and its counts when it is counted alone, in as many bins as it has values."""
    label = f"{name!r}, {x.dtype}"
    check(f"{label}: type and shape", (row["type"], row["shape"]) ==
          (TYPES[x.dtype.name], "x".join(map(str, x.shape)) or "1"))
    numbers = x.astype("u1") if x.dtype.name == "bool" else x
    wide = numbers.astype("f8")
    check(f"{label}: samples", int(row["samples"]) == x.size and int(row["zeros"]) == (wide == 0).sum())
    if x.size > 0:
        check(f"{label}: extremes", [float(row["min"]), float(row["max"])] == [wide.min(), wide.max()])
        check(f"{label}: mean and std", math.isclose(float(row["mean"]), wide.mean(), rel_tol=1e-9, abs_tol=1e-9) and
              math.isclose(float(row["std"]), wide.std(), rel_tol=1e-9, abs_tol=1e-9))
    edges = numpy.linspace(-50, 150, 201)
    counts = run(["--tensor=" + name, "-r", "-50:150", "-b", "200", "-q", "--no-header", path])
    counts = [int(line.split(",")[3]) for line in counts.splitlines()]
    # NumPy's last bin takes the last edge, too.
    check(f"{label}: counts", counts == list(numpy.histogram(wide[wide < 150], edges)[0]))


def check_types():
    tensors = {}
    for dtype in TYPES:
        for shape in ((), (7,), (30, 41), (2, 0, 5), (3, 4, 5, 6)):
            x = rng.normal(10, 30, shape) if dtype.startswith("float") else rng.integers(0, 127, shape)
            tensors[f"{dtype}.{'.'.join(map(str, shape))}"] = numpy.asarray(x).astype(dtype)
    safetensors.numpy.save_file(tensors, "types.safetensors", {"format": "np", "\"}{": "\\\"\n\u00e9"})
    rows = rows_of(["types.safetensors"])
    check("all tensors, once", sorted(rows) == sorted(tensors))
    for name, x in tensors.items():
        check_tensor("types.safetensors", name, x, rows[name])


def check_names():
    names = ["a,b", 'a"b', "a b", " a", "a\n", "a\r\n", "a\t", "a\x1b[2J", "a?[2J", "a\x7f", "a\u009b", "a\u202e", "a\u00e9\U0001f600",
             "a\\u001b", "a\\", "__metadata", "=1", "-o", "n" * 5000]
    tensors = {name: numpy.full(i + 1, i, "u1") for i, name in enumerate(names)}
    safetensors.numpy.save_file(tensors, "names.safetensors")
    rows = rows_of(["names.safetensors"])
    check(f"names in CSV: {sorted(set(names) ^ set(rows))}", sorted(rows) == sorted(names))
    documents = [json.loads(line) for line in run(["--each=tensor", "--stats", "-q", "-f", "json", "names.safetensors"]).splitlines()]
    check("names in JSON", sorted(d["writer_info"]["gpuhist"]["tensor"] for d in documents) == sorted(names))
    for i, name in enumerate(names):
        check_tensor("names.safetensors", name, tensors[name], rows[name])
        out = run(["--tensor=" + name, "--no-header", "--nonzero", "-q", "names.safetensors"])
        check(f"--tensor={name!r}", out == f"{i},{i},{i + 1},{i + 1}\n")


def described(dtype, x):
    """Return the argument for serialize, of safetensors 0.8 and before."""
    if hasattr(safetensors, "TensorSpec"):
        return safetensors.TensorSpec(dtype=dtype, shape=x.shape, data_ptr=x.ctypes.data, data_len=x.nbytes)
    return {"dtype": dtype, "shape": x.shape, "data": x.tobytes()}


def check_raw():
    """Types that NumPy does not have, and a name with a NUL, which no option can spell."""
    halves = rng.normal(0, 3, 1000).astype("f4")
    bits = (halves.view("u4") >> 16).astype("u2")
    codes = rng.integers(0, 256, 500).astype("u1")
    with open("raw.safetensors", "wb") as f:
        f.write(safetensors.serialize({
            "bf16": described("bfloat16", bits),
            "e4m3": described("float8_e4m3fn", codes),
            "a\0b": described("uint8", codes),
        }))
    rows = rows_of(["raw.safetensors"])
    x = (bits.astype("u4") << 16).view("f4").astype("f8")
    check("bf16", (rows["bf16"]["type"], float(rows["bf16"]["min"]), float(rows["bf16"]["max"])) == ("bf16", x.min(), x.max()))
    check("f8e4m3", (rows["e4m3"]["type"], int(rows["e4m3"]["nan"])) == ("f8e4m3", ((codes & 127) == 127).sum()))
    check("a NUL", float(rows["a\\u0000b"]["mean"]) == codes.mean())
    out = run(["--tensor=a\\u0000b", "--no-header", "-q", "raw.safetensors"])
    check("--tensor with a NUL", [int(line.split(",")[3]) for line in out.splitlines()] == list(numpy.bincount(codes, minlength=256)))


def check_shards():
    parts = [{"first": rng.normal(0, 1, 1000).astype("f4")}, {"second": rng.normal(0, 1, 2000).astype("f4")}]
    for i, part in enumerate(parts):
        safetensors.numpy.save_file(part, f"{i}.safetensors")
    rows = rows_of(["0.safetensors", "1.safetensors"])
    check("shards", [(r["input"], r["tensor"], r["samples"]) for r in rows.values()] ==
          [("0.safetensors", "first", "1000"), ("1.safetensors", "second", "2000")])
    out = run(["--tensor=second", "-r", "-100:100", "-b1", "--no-header", "0.safetensors", "1.safetensors"])
    check("a tensor of the second shard", out == "0,-100,100,2000\n")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for one in (check_types, check_names, check_raw, check_shards):
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
