#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Python module compared with numpy.histogram, and its documents in hist.

usage: module_check.py GPUHIST [SEED]
"""
import array
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time

import numpy

GPUHIST = os.path.realpath(sys.argv[1])
MODULE = pathlib.Path(__file__).parents[1] / "python"
rng = numpy.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
results = []
sys.path.insert(0, str(MODULE))
sys.dont_write_bytecode = True
import gpuhist  # noqa: E402 pylint: disable=wrong-import-position

# The program under test instead of an installed one.
gpuhist.program = lambda: GPUHIST


def check(name, good):
    results.append(bool(good))
    if not good:
        print(f"FAILED {name}")


def raises(name, kind, said, *arguments, call=gpuhist.histogram, **options):
    try:
        call(*arguments, **options)
        check(f"{name}: nothing raised", False)
    except kind as error:
        check(f"{name}: {error}", said in str(error))
        return error
    return None


def same(name, data, *arguments, exact=True, **options):
    """Compare counts and edges with numpy's; for integers ours are exact, so the last bit of an edge may differ."""
    counts, edges = gpuhist.histogram(data, *arguments, **options)
    wide = numpy.asarray(data).astype("f8")
    theirs, at = numpy.histogram(wide, *arguments, **options)
    check(f"{name}: counts", counts.dtype == theirs.dtype and numpy.array_equal(counts, theirs))
    check(f"{name}: edges", numpy.array_equal(edges, at) if exact else numpy.allclose(edges, at, rtol=1e-15, atol=1e-12))


for dtype in ("f2", "f4", "f8", ">f4", ">f8", "u1", "i1", "<u2", ">u2", "i2", "i4", ">i4", "u4", "i8", "?"):
    samples = (rng.normal(size=20_001) * 50).astype(dtype)
    floats = samples.dtype.kind == "f"
    same(dtype, samples, exact=floats)
    same(f"{dtype} -7:9", samples, 16, (-7, 9), exact=floats)
    same(f"{dtype} edges", samples, [-20, -3, 0, 1, 44])
x = rng.normal(size=10_001)
same("numpy's own numbers", x, numpy.int64(37), (numpy.float32(-1.5), numpy.float64(2)))
same("numpy's own edges", x, numpy.linspace(-2, 2, 5001))
same("equal samples", numpy.full(9, 7.25))
same("nothing", numpy.array([], "f4"))
same("not contiguous", x.reshape(73, 137)[::3, ::2])
same("two dimensions, in Fortran's order", numpy.asfortranarray(x.reshape(73, 137)))
same("array.array", array.array("d", x.tolist()))
same("a memoryview", memoryview(array.array("h", range(-9, 99))), exact=False)
same("backwards", x[::-3])
same("one number many times", numpy.broadcast_to(numpy.float32(2.5), (40, 50)))
same("a field of records", numpy.rec.fromarrays([x, x > 0], names="x,y")["x"])
same("every other item of a memoryview", memoryview(array.array("d", x.tolist()))[::2])
same("ctypes", (ctypes.c_int16 * 4)(1, -2, 3, 4), exact=False)
same("ctypes, big endian", (ctypes.c_uint32.__ctype_be__ * 3)(1, 2, 1 << 20), exact=False)
same("a list", [0.5, 1, 2.25])
same("a tuple", (1, 2, 4), exact=False)
same("a number", 7.5)
same("a range of one value", numpy.array([0.5, 0.7, 1, 1.3]), 4, (1, 1))
same("neither weights nor density", x, weights=None, density=False)
same("the last edge", [0.0, 1.0, 1.0, 2.0] * numpy.ones(4), 2, (0, 1))
same("much more than a pipe holds", rng.integers(0, 1 << 20, 3_000_000, "u4"), 64, (0, 1 << 20))
counts, _ = gpuhist.histogram((x + 2j * x).astype("c8"), 8, (-3, 3))
check("channels are rows", numpy.array_equal(counts, [numpy.histogram(x.astype("f4").astype("f8") * k, 8, (-3, 3))[0]
                                                      for k in (1, 2)]))
counts, _ = gpuhist.histogram(b"hello", 3, (97, 112), type="u8")
check("bytes", counts.tolist() == [1, 1, 3])
check("count= leaves bytes behind", gpuhist.run(bytes(50_000_000), count=3, type="u8")["storage"]["values"][1:3] == [3, 0])
with tempfile.TemporaryDirectory() as folder:
    files = [pathlib.Path(folder) / f"{name}.f32" for name in "ab"]
    for file in files:
        x.astype("f4").tofile(file)
    one, edges = gpuhist.histogram(files[0], 20)
    two, _ = gpuhist.histogram(files, 20)
    check("FILEs", numpy.array_equal(2 * one, two)
          and numpy.array_equal(one, numpy.histogram(x.astype("f4").astype("f8"), 20)[0]))
    check("a FILE as text", numpy.array_equal(gpuhist.histogram(str(files[0]), 20)[1], edges))
    document = gpuhist.run(files[0], log=(0.5, 8), bins=4, stats=[50, 99.9], flow=False)
    check("run", document["axes"][0]["edges"] == [0.5, 1, 2, 4, 8] and "stats_mean" in document["writer_info"]["gpuhist"])
    try:
        import hist
        import uhi.io.json
        read = hist.Hist(json.loads(json.dumps(document), object_hook=uhi.io.json.object_hook))
        check("hist", numpy.array_equal(read.values(), document["storage"]["values"][1:-1]))
        for each in (*gpuhist.run(files[0], each=5000, range=(-1, 1)), *gpuhist.run(
                bytes([1, 7, 2, 9, 2, 9]), type="u8", record=2, by="u8@1", bins=4).values()):
            check("hist of a row or key", numpy.array_equal(hist.Hist(each).values(), each["storage"]["values"][1:-1]))
    except ImportError:
        print("left out: hist is not installed")
    raises("a FILE that is missing", gpuhist.Error, "No such file", pathlib.Path(folder) / "c.f32", 3, (0, 1))
check("status", raises("no bins", gpuhist.Error, "--bins 0", x, 0).status == 2)
raises("a rule", TypeError, "number of bins", x, "fd")
raises("a rule that is ours", TypeError, "auto=True", x, "auto")
raises("weights", TypeError, "weights", x, weights=x)
raises("a sparse document", TypeError, "does not take nonzero", x, nonzero=True)
raises("standard input twice", ValueError, "give a range", "-", 4, type="u8")
check("a full document", len(gpuhist.histogram(x, nonzero=False)[0]) == 10)
raises("an array of records", TypeError, "data['x']", numpy.zeros(3, [("x", "u2"), ("y", "f4")]))
raises("too many FILEs", ValueError, "gpuhist.merge", ["x" * 200] * 20_000, 4, (0, 1))
edges = numpy.linspace(-3, 3, 30_001)
check("many edges", gpuhist.run(x, edges=edges)["storage"]["values"][1:-1] == numpy.histogram(x, edges)[0].tolist())
check("edges as text", gpuhist.run(x, edges="-3,0,3")["axes"][0]["edges"] == [-3, 0, 3])
for values, sizes in ((x, {}), ((x + 1j * x).astype("c8"), {"bins": 7, "range": (-1, 1)})):
    ours, at = gpuhist.histogram(values, density=True, **sizes)
    check("density", numpy.allclose((ours * numpy.diff(at)).sum(axis=-1), 1))
same("density of an array", x, 9, (-1, 2), density=True)
check("version", gpuhist.__version__ in subprocess.run([GPUHIST, "-V"], capture_output=True, text=True, check=True).stdout)
try:
    gpuhist.versions  # noqa: B018 pylint: disable=pointless-statement,no-member
    check("an attribute that is missing", False)
except AttributeError:
    check("an attribute that is missing", True)
parts = [gpuhist.run(part, range=(-1, 1), bins=4, stats=True) for part in (x[:99], x[99:])]
total = gpuhist.merge(parts)
check("compare", gpuhist.compare(parts[0], parts[0])["ks"] == 0)
pair = [gpuhist.run(bytes(values), type="u8", channels=2, bins=4) for values in ([0, 1, 0, 1], [0, 3, 1, 3])]
check("compare channels", [found["ks"] for found in gpuhist.compare(*pair)] == [0.5, 1])
keyed = [gpuhist.run(bytes(values), type="u8", record=2, by="u8@1", bins=4) for values in ([0, 7, 1, 7, 1, 9], [3, 7, 3, 7, 1, 9])]
check("compare keys", {key: found["ks"] for key, found in gpuhist.compare(*keyed).items()} == {7: 1, 9: 0})
check("merge keys", {key: found["storage"]["values"] for key, found in gpuhist.merge(keyed).items()} == {
    7: [0, 1, 1, 0, 2, 0], 9: [0, 0, 2, 0, 0, 0]})
none = gpuhist.run(b"", type="u8", record=2, by="u8@1", bins=4)
check("no keys", none == {} and gpuhist.merge([none, keyed[0]])[9] == keyed[0][9])
raises("nothing but no keys", ValueError, "no histogram", [none], call=gpuhist.merge)
raises("a reference without keys", gpuhist.Error, "not a histogram", keyed[0], none, call=gpuhist.compare)
rows = gpuhist.run(bytes([0, 1, 1, 3, 3]), type="u8", each=2, bins=4)
check("rows", [row["storage"]["values"][1:5] for row in rows] == [[1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 1]])
check("rows of channels", [list(row) for row in gpuhist.run(bytes(6), type="u8", channels=2, each=2, bins=4)] == 2 * [["channel0", "channel1"]])
check("no rows", gpuhist.run(b"", type="u8", each=2, bins=4) == [])
check("rows add", gpuhist.merge(rows)["storage"]["values"] == gpuhist.run(bytes([0, 1, 1, 3, 3]), type="u8", bins=4)["storage"]["values"])
raises("by", TypeError, "does not take by", b"ab", type="u8", record=2, by="u8@1")
raises("each", TypeError, "does not take each", x, each=2)
check("merge", total["storage"]["values"] == gpuhist.run(x, range=(-1, 1), bins=4)["storage"]["values"])
with tempfile.TemporaryDirectory() as folder:
    names = [pathlib.Path(folder) / f"{i}.json" for i in (0, 1)]
    names[0].write_text(json.dumps(parts[0]), encoding="utf-8-sig")
    names[1].write_text(json.dumps(parts[1]))
    check("merge of FILEs, in fewer bins", gpuhist.merge(names, bins=2)["storage"]["values"][1] == sum(
        total["storage"]["values"][1:3]))
    done = subprocess.run([GPUHIST, "-q", "--merge", *names], capture_output=True, check=False)
    check("a byte order mark", done.returncode == 0)
    check("merge of a FILE and a document", gpuhist.merge([names[0], parts[1]], stats=True) == gpuhist.merge(parts, stats=True))
    check("compare FILEs", gpuhist.compare(*names) == gpuhist.compare(*parts))
    table = pathlib.Path(folder) / "table.csv"
    for rest in ("a,1\nb,2\na,3\n", "key=a,1\nb,2\n", "key=a,1\nkey=b,2\n"):
        table.write_text("host,ms\n" + rest)
        keyed = gpuhist.run(table, text="ms", by="host", range=(0, 4), bins=4)
        own = {line.partition(",")[0] for line in rest.split()}
        check("keys of text", set(keyed) == ({f"key={key}" for key in own} if own == {"key=a", "key=b"} else own))
        both = gpuhist.merge([keyed, keyed])
        check("keys of text add", both.keys() == keyed.keys() and all(
            both[key]["storage"]["values"] == [2 * n for n in keyed[key]["storage"]["values"]] for key in keyed))
    for wrong in (b"hello\n", bytes(range(256)), b"{}", b"[1]", b'{"a": {"b": 1}}'):
        names[1].write_bytes(wrong)
        for pair in ((names[1], parts[0]), (parts[0], names[1]), (json.loads(wrong) if wrong == b"{}" else names[1], names[0])):
            raises(f"compare {wrong[:9]!r}", ValueError if pair[0] == {} else gpuhist.Error, "histogram", *pair, call=gpuhist.compare)
    raises("compare a FILE that is missing", gpuhist.Error, "No such file", names[1].with_suffix(".x"), parts[0], call=gpuhist.compare)
for wrong in ({"a": 1}, {"a": {"b": 1}}, {"metadata": {"key": "x"}}):
    raises("merge another dict", gpuhist.Error, "not a histogram", wrong, call=gpuhist.merge)
try:
    import ml_dtypes
    for dtype in (ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16):
        same(dtype.__name__, x.astype(dtype), 8, (-3, 3))
    raises("another float8", gpuhist.Error, "--type", x.astype(ml_dtypes.float8_e4m3fnuz), 8, (-3, 3))
except ImportError:
    print("left out: ml_dtypes is not installed")
raises("NaN", ValueError, "NaN", numpy.array([1, numpy.nan]))
raises("a mask", TypeError, "compressed()", numpy.ma.masked_array([1.0, 2.0, 3.0], [0, 1, 0]))
raises("objects", TypeError, "NoneType", None)
raises("records", TypeError, "data['f0']", numpy.zeros(3, "u2,f4"))
raises("a wide float", gpuhist.Error, "--type", numpy.zeros(3, "g"))
raises("a buffer of structures", ValueError, "no type for items", (type("Pair", (ctypes.Structure,), {
    "_fields_": [("x", ctypes.c_int16), ("y", ctypes.c_int16)]}) * 2)())
raises("bins that are no whole number", TypeError, "integer", x, 2.5)
for edges in ([1], [1, 1, 2], [3, 1, 2], [0, numpy.nan], [[1, 2], [3, 4]]):
    raises(f"edges {edges}", ValueError, "edges that increase", x, edges)
raises("three ends", ValueError, "unpack", x, 3, (0, 1, 2))
raises("ends the wrong way round", gpuhist.Error, "LO must be below HI", x, 3, (2, 1))
raises("half a sample", gpuhist.Error, "3 of 4 bytes", b"abc", 3, (0, 1))
raises("a stream twice", ValueError, "give a range", "/dev/null", 3)
raises("a directory", gpuhist.Error, "directory", "/dev", 3, (0, 1))
for name in ("output", "format", "tee", "help", "version"):
    for given in (name, name[:-1]):  # the command accepts the beginning of a name, too
        raises(given, TypeError, f"does not take {name}", x, 3, (0, 1), **{given: "json"})
        raises(f"merge, {given}", TypeError, f"does not take {name}", parts, call=gpuhist.merge, **{given: "json"})
raises("the beginning of nonzero", TypeError, "does not take nonzero", x, nonz=True)
raises("a type that is unknown", gpuhist.Error, "--type", numpy.array(["a"]), 3, (0, 1))
raises("an option that is unknown", gpuhist.Error, "--binz", x, binz=3)
check("bins that wrap", gpuhist.histogram(numpy.arange(10, dtype="u1"), 4, mod=True)[0].tolist() == [3, 3, 2, 2])
check("bins of equal ratio", gpuhist.histogram(x, 3, log=(1, 8))[1].tolist() == [1, 2, 4, 8])
options = {"range": numpy.array([0.0, 1]), "bins": numpy.int64(2), "clamp": numpy.True_, "flow": numpy.False_}
check("options of numpy's types", gpuhist.run(x, **options)["storage"]["values"] == [
    0, int((x < 0.5).sum()), int((x >= 0.5).sum()), 0])
counts = gpuhist.run(numpy.array([1, -2, 0.5], "f2").view(numpy.dtype((numpy.void, 2))), type="f16", bins=1, range=(0, 2))
check("a type that is given", counts["storage"]["values"][1] == 2)

# Effects on the process: standard input is read if - asks for it, Ctrl-C ends both, and the program may be missing.
DRIVER = f"""
import sys; sys.dont_write_bytecode = True; sys.path.insert(0, {str(MODULE)!r})
import gpuhist; gpuhist.program = lambda: {GPUHIST!r}
"""


def script(text, environment=None):
    return subprocess.Popen([sys.executable, "-c", DRIVER + text], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=environment, start_new_session=True)


child = script('print(gpuhist.run("-", type="u8", bins=256)["writer_info"]["gpuhist"]["samples"])')
check("standard input", child.communicate(b"hello")[0] == b"5\n")
child = script('try: print("run", flush=True); gpuhist.run("-", type="u8", bins=256)\nexcept KeyboardInterrupt: print("stopped")')
child.stdout.readline()
time.sleep(0.2)
child.send_signal(signal.SIGINT)  # sent to Python alone: its program must not stay
check("Ctrl-C", child.stdout.read() == b"stopped\n" and child.wait() == 0)
child.stderr.close()
try:
    os.write(child.stdin.fileno(), b"x")
    check("the program stays", False)
except BrokenPipeError:
    check("the program ends", True)
child = script("import importlib; importlib.reload(gpuhist)\ntry: gpuhist.run(b'', type='u8')\n"
               "except FileNotFoundError as error: print(error)", os.environ | {"PATH": "/nowhere"})
if not os.path.exists(os.path.join(sysconfig.get_path("scripts"), "gpuhist")):
    check("no program", child.communicate()[0] == b"the gpuhist program is neither installed with this module nor in PATH\n")
with tempfile.TemporaryDirectory() as folder:
    os.symlink(GPUHIST, pathlib.Path(folder) / "gpuhist")
    environment = os.environ | {"PYTHONPATH": str(MODULE), "PATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-m", "gpuhist", "-t", "u8", "-r0:1"], input=b"\0", capture_output=True,
                          env=environment, check=False)
check("python -m gpuhist", done.returncode == 0 and done.stdout.startswith(b"bin,lower,upper,count\n0,0,"))
print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
sys.exit(not all(results))
