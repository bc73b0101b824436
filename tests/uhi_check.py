# SPDX-License-Identifier: MIT
"""JSON and npy, read by the programs they are for: Python's uhi, boost-histogram, hist and numpy.

usage: uhi_check.py GPUHIST UHI_DOCUMENTS MANUAL

Every document fits uhi's schema; boost-histogram and hist load it with the edges and the counts of the CSV of the same job,
to the bit; numpy does so with the npy. Documents of --linearity are loaded, too, but fit the schema only without dnl and inl.
Counts past 2^53 come from uhi_documents, which writes histograms that no run could count here. The manual's example runs as
printed.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

import boost_histogram
import hist
import numpy
import uhi.io
import uhi.io.json
import uhi.schema

from check import check, report

left_out = set()


def load(path):
    """Return the histograms of a document by name; the name of a single one is None."""
    text = open(path, "rb").read()
    check(text.endswith(b"\n") and text.count(b"\n") == 1, f"{path}: one line")
    document = json.loads(text.decode("utf-8"))
    uhi.schema.validate(document)
    return {None: document} if "uhi_schema" in document else document


def rows(path):
    """Return the lower and upper edges of a CSV and, for each channel, the counts."""
    table = list(csv.reader(open(path, newline="")))
    counts = [[int(row[column]) for row in table[1:]] for column in range(3, len(table[0]))]
    return [float(row[1]) for row in table[1:]], [float(row[2]) for row in table[1:]], counts


def same_bits(a, b):
    """-0 is 0, as in the CSV."""
    return (numpy.asarray(a, dtype="<f8") + 0.0).tobytes() == (numpy.asarray(b, dtype="<f8") + 0.0).tobytes()


def check_one(what, document, lower, upper, counts):
    """Compare one histogram, as the readers load it, with its columns of the CSV."""
    meta, counted, axis = document["metadata"], document["writer_info"]["gpuhist"], document["axes"][0]
    mod = meta["binning"] == "mod"
    values = document["storage"]["values"]
    first = 0 if mod else 1
    check(values[first:-1] == counts, f"{what}: counts")
    check(values[-1] == counted["over"] and (mod or values[0] == counted["under"]), f"{what}: under and over")
    check(not set(meta) & set(dir(hist.Hist)), f"{what}: a name in the metadata hides a method")
    check(axis["circular"] == mod, f"{what}: circular")
    finite = numpy.nan_to_num(upper)  # 2^1024 is written as the largest number
    edges = numpy.array([*lower, finite[-1]] if counts else [0.0])
    if mod:
        edges[-1] = len(counts)
    # As text they equal the CSV's; as JSON read without uhi's help, too.
    for hook in (uhi.io.json.object_hook, None):
        again = json.loads(json.dumps(document), object_hook=hook)
        for reader in (boost_histogram.Histogram, hist.Hist):
            h = reader(again)
            check(h.shape == (len(counts),), f"{what}: {reader.__module__}: shape {h.shape}")
            check(same_bits(h.axes[0].edges, edges), f"{what}: {reader.__module__}: edges")
            check(h.view().dtype == numpy.int64 and h.view().tolist() == counts, f"{what}: {reader.__module__}: counts")
            check(h.view(flow=True).tolist() == values, f"{what}: {reader.__module__}: under and over")
            if mod:
                # Its arithmetic rounds, so look up the middles of the bins.
                at = numpy.array([0, 1, len(counts) - 1, len(counts), 5 * len(counts) + 3, -1])
                check((h.axes[0].index(at + 0.5) == at % len(counts)).all(), f"{what}: residues")


def check_files(name, what):
    lower, upper, counts = rows(name + ".csv")
    histograms = load(name + ".json")
    check(len(histograms) == len(counts), f"{what}: channels")
    check(list(histograms) == ([None] if len(counts) == 1 else [f"channel{i}" for i in range(len(counts))]),
          f"{what}: names of channels")
    for channel, document in enumerate(histograms.values()):
        check_one(what, document, lower, upper, counts[channel])
        check(document["metadata"]["channel"] == channel, f"{what}: channel")
    array = numpy.load(name + ".npy")
    check(array.tolist() == (counts if len(counts) > 1 else counts[0]), f"{what}: npy")
    check(array.shape == ((len(counts), len(lower)) if len(counts) > 1 else (len(lower),)), f"{what}: npy's shape")
    check(array.flags.c_contiguous and (os.path.getsize(name + ".npy") - array.nbytes) % 64 == 0,
          f"{what}: npy's header")
    return histograms, counts


def check_documents(program):
    """Histograms that no run could count here."""
    subprocess.run([program, "."], check=True)
    names = sorted(name[:-5] for name in os.listdir(".") if name.endswith(".json"))
    check(len(names) > 30, "documents are missing")
    for name in names:
        for document in check_files(name, name)[0].values():
            meta, counted = document["metadata"], document["writer_info"]["gpuhist"]
            check(counted["bytes"] == 2**64 - 1 and counted["inputs"] == 3 and counted["tail"] == 2, f"{name}: 64 bits")
            check(meta["options"] == "'a b' \"c\" \\ \x01\n\ufffd\ufffd\ufffd \u00e9\ufffd\ufffd\ufffd",
                  f"{name}: options are {meta['options']!r}")
    kinds = {name: next(iter(load(name + ".json").values()))["axes"][0]["type"] for name in names}
    expected = {"values": "regular", "range": "variable", "auto": "regular", "log": "variable", "listed": "variable",
                "mod1": "regular", "none": "regular", "auto_past": "variable"}
    for name, kind in expected.items():
        check(kinds[name] == kind, f"{name}: {kinds[name]}")
    check({kinds[name] for name in kinds if name.startswith("mod")} == {"regular", "variable"}, "mod: both kinds of axis")


def run(program, *options):
    result = subprocess.run([program, "-q", *options], capture_output=True, text=True)
    if "unknown option" in result.stderr or "unrecognized option" in result.stderr:
        left_out.add(next(option for option in options if option.split("=")[0] in result.stderr))
        return False
    check(result.returncode == 0, f"{' '.join(options)}: {result.stderr}")
    return result.returncode == 0


def check_jobs(program):
    noise = numpy.random.default_rng(1).integers(0, 256, 240000, dtype=numpy.uint8)
    noise.tofile("noise")
    numpy.random.default_rng(2).normal(size=30000).astype("<f8").tofile("normal")
    jobs = [f"-t {kind} {bins}" for kind in ("u8", "i8", "u16be", "i16", "u24", "i32be", "u32", "u64", "i64be")
            for bins in ("-b 7", "-b 49", "-b 256", "-r full -b 1000", "-r -100:90 -b 19 --clamp", "-r 0.5:9.75 -b 37 --closed")]
    jobs += [f"-t {kind} {bins}" for kind in ("f16", "bf16be", "f32", "f64be", "f64")
             for bins in ("-r full -b 11", "-r -1:1 -b 10", "-r -1:1 -b 16", "-r 0:1 -b 1000 --closed", "-r 1e-3:1e9 -b 3")]
    jobs += ["-t u64 -r 9223372036854775808:18446744073709551616 -b 1024", "-t i64 -r -9007199254740993:3 -b 5"]
    jobs += [f"{kind} {bins}" for kind in ("-t f32", "-t f64", "-t u32", "-t i16")
             for bins in ("--log=1:1e5 -b 40", "--edges=-3,0,0.1,7,8,1e6", "--auto -b 100", "--log=auto -b 500")]
    jobs += ["-t u16 --mod -b 10", "-t i32 --mod -b 49", "-t i16 -c 2 -b 100", "-t u8 -c 3", "-t f32 -c 2 -r -1:1 -b 9"]
    jobs += ["-t u8 -c 3 --stats=2,50,99.9", "-t f64 --auto -b 100 --stats", "-t f32 -r -1:1 -b 9 --stats=0.0001"]
    for job in jobs:
        file = "normal" if "f64 " in job else "noise"
        if not all([run(program, *job.split(), "-o", "j." + kind, "-C", "u64", file) for kind in ("json", "csv", "npy")]):
            continue
        histograms, counts = check_files("j", job)
        for kind, width in (("u32", 4), ("sat8", 1), ("sat16", 2), ("sat32", 4)):
            run(program, *job.split(), "-o", "j.npy", "-C", kind, file)
            array = numpy.load("j.npy")
            most = 256**width - 1
            check(array.dtype == numpy.dtype(f"<u{width}"), f"{job}: -C {kind}: {array.dtype}")
            check(numpy.atleast_2d(array).tolist() == [[min(n, most) for n in column] for column in counts],
                  f"{job}: -C {kind}")
        for column, document in zip(counts, histograms.values()):
            meta, counted = document["metadata"], document["writer_info"]["gpuhist"]
            check(counted["samples"] == sum(column) + counted["under"] + counted["over"] + counted["nan"],
                  f"{job}: samples")
            check(counted["bytes"] == os.path.getsize(file) and
                  meta["options"].startswith(job.replace("-t ", "--type=").split()[0]),
                  f"{job}: bytes and options")
            check(not set(meta) & set(counted) - {"version"}, f"{job}: said twice")
            stats = {name: value for name, value in counted.items() if name.startswith("stats_")}
            for name in ("stats_digest", "stats_sum", "stats_square", "stats_values"):
                check(type(stats.pop(name, "")) is str, f"{job}: {name}")
            check(("--stats" in job) == bool(stats) and all(type(value) in (int, float) for value in stats.values()),
                  f"{job}: {stats}")


def check_sparse(program):
    """With --nonzero the storage is sparse: uhi makes the same histogram of it as of a dense one."""
    jobs = ["-t u8 -b 300", "-t u8 --mod -b 300", "-t u16 -c 2 -r 0:9 -b 9", "-t f64 -r -1:1 -b 49", "-t u32 -b 4 -n 0",
            "-t u32 -r full -b 100000", "-t f64 --auto -b 1000", "-t f64 --log=auto -b 1000"]
    for job in jobs:
        file = "normal" if "f64 " in job else "noise"
        run(program, *job.split(), "-o", "dense.json", file)
        run(program, *job.split(), "-o", "sparse.json", "--nonzero", file)
        dense, sparse = load("dense.json"), load("sparse.json")
        for name, document in sparse.items():
            check("index" in document["storage"] and 0 not in document["storage"]["values"], f"{job}: not sparse")
            full = uhi.io.from_sparse(document)
            values = full["storage"]["values"]
            check(values.dtype == numpy.int64 and values.tolist() == dense[name]["storage"]["values"], f"{job}: sparse")
            check(document["metadata"].pop("bins") == len(full["storage"]["values"]) - 1 - ("--mod" not in job),
                  f"{job}: sparse: its bins")
            del document["storage"], dense[name]["storage"]
            check(document == dense[name], f"{job}: sparse: its metadata")
            boost_histogram.Histogram(full)


def check_merge(program):
    """Our documents, rewritten by Python, can be added to ours; another writer's document is refused by name."""
    jobs = ["-t u16 -b 40", "-t f32 --auto -b 30 -c 2", "-t u64 --log=auto -b 90", "-t i64 --mod -b 7 --nonzero",
            "-t f64 -r 0:0.7 -b 9", "-t u8 -c 12 -b 9 -r full --stats", "-t u8 -c 12 --nonzero", "-t f64 --auto -b 3",
            "-t f32 --edges=-1e300,0,1e16,1e22 --closed", "-t f32 --log=1e-30:1e30 -b 7000", "-t u8 --auto -n 0",
            "-t i64 -r -39614081257132168796771975168:18446744073709551617 -b 7", "-t u8 -r 0:99.7 -b 3"]
    for job in jobs:
        run(program, *job.split(), "-o", "ours.json", "noise")
        figures = ["--stats"] if "--stats" in job else []
        run(program, "--merge", *figures, "ours.json", "ours.json", "-o", "twice.json")
        for hook in None, uhi.io.json.object_hook:
            document = json.load(open("ours.json"), object_hook=hook)
            for how in {"indent": 4}, {"separators": (",", ":")}, {"sort_keys": True, "indent": 2}:
                with open("python.json", "w") as file:
                    json.dump(document, file, default=uhi.io.json.default, **how)
                run(program, "--merge", *figures, "python.json", "ours.json", "-o", "sum.json")
                check(open("sum.json").read() == open("twice.json").read(), f"{job}: as Python writes it: {hook} {how}")
                run(program, *job.split(), "--into=python.json", "noise")
                check(job.endswith("--nonzero") or open("python.json").read() == open("twice.json").read(),
                      f"{job}: --into what Python wrote: {hook} {how}")
    for reader in boost_histogram.Histogram, hist.Hist:
        with open("other.json", "w") as file:
            json.dump(reader(boost_histogram.axis.Regular(3, 0, 1)), file, default=uhi.io.json.default)
        result = subprocess.run([program, "--merge", "other.json"], capture_output=True, text=True)
        check(result.returncode == 3 and "other.json is not a histogram that gpuhist wrote" in result.stderr,
              f"{reader}: {result.stderr}")


def check_keys(program):
    """A named histogram for each key, in the order of the CSV, whatever the names of keys are; as Python writes it, too."""
    with open("names.csv", "wb") as file:
        names = [b"", b"a", b'"a, b"', b'"say ""hi"""', b"back\\slash", b"uhi_schema", b"axes", b"metadata", b"channel0",
                 b"key", b"/", b"tab\tand\x01", "µ".encode(), b"ca\xe9", b"ca\xc3", b"x" * 1000]
        file.write(b"name,value\n" + b"".join(b"%s,%d\n" % (names[7 * i % len(names)], i % 70) for i in range(500)))
    for job in ["--record=12 --by=u8@3 -t u16 -r full -b 7 -n 3000 noise", "--record=8 --by=u8@5 -t f32 --edges=-1,0,1 -n 3000 noise",
                "--record=12 --by=u8@3 -t i16 --offset=4 -b 3 -r -9:90 --stats noise",
                "--text=value --by=name -r 0:64 -b 4 names.csv", "--text=2 --by=1 -t u8 --stats=50 -b 3 names.csv"]:
        bins = [option for option in job.split() if not option.startswith("--stats")]
        run(program, *job.split(), "-o", "ours.json")
        run(program, *bins, "-o", "ours.csv")
        histograms = load("ours.json")
        table = list(csv.reader(open("ours.csv", newline="", encoding="utf-8", errors="surrogateescape")))[1:]
        check(len(table) > 10 and list(histograms) == ["key=" + row[0] for row in table], f"{job}: names")
        for row, document in zip(table, histograms.values()):
            values, counts = document["storage"]["values"], [int(count) for count in row[2:]]
            check(values[1:-1] == counts and document["writer_info"]["gpuhist"]["samples"] == int(row[1]), f"{job}: counts")
            for reader in boost_histogram.Histogram, hist.Hist:
                check(reader(document).values().tolist() == counts, f"{job}: {reader.__module__}")
            check(not set(document["metadata"]) & set(dir(hist.Hist)), f"{job}: a name in the metadata hides a method")
        run(program, "--merge", "ours.json", "ours.json", "-o", "twice.json")
        for how in {"indent": 4}, {"separators": (",", ":")}, {"sort_keys": True}:
            with open("python.json", "w") as file:
                json.dump(json.load(open("ours.json")), file, **how)
            run(program, "--merge", "python.json", "ours.json", "-o", "sum.json")
            check(open("sum.json").read() == open("twice.json").read(), f"{job}: as Python writes it: {how}")
        refused(program, f"{job}: one of its histograms", next(iter(histograms.values())), "the name of its histogram")


def refused(program, what, document, why):
    with open("other.json", "w") as file:
        json.dump(document, file, default=uhi.io.json.default)
    result = subprocess.run([program, "--merge", "other.json", "-o", "lost.csv"], capture_output=True, text=True)
    check(result.returncode == 3 and "other.json" in result.stderr and why in result.stderr and
          not os.path.exists("lost.csv"), f"{what}: {result.returncode}: {result.stderr}")


def check_sums(program):
    """A document that others computed from ours is not ours any more: nobody reads it with the figures of one part."""
    counted = {"samples", "under", "over", "nan", "bytes", "skipped", "tail", "bad_lines", "inputs", "part", "parts",
               "partial", "inputs_state"}
    changed, other = "did another program add or scale it", "is not a histogram that gpuhist wrote"
    for job in ["-t u16 -b 40", "-t f64 -r 0:1 -b 9 --stats", "-t i16 -c 2 -r -9:9 -b 9", "-t i64 --mod -b 7",
                "-t u8 --nonzero -b 300 -r 0:300", "-t u8 -r 300:301 -b 1"]:
        file = "normal" if "f64 " in job else "noise"
        run(program, *job.split(), "-n", "5000", "-o", "a.json", file)
        run(program, *job.split(), "-S", "8000", "-n", "7000", "-o", "b.json", file)
        one, two = json.load(open("a.json")), json.load(open("b.json"))
        first = one if "uhi_schema" in one else one["channel0"]
        second = two if "uhi_schema" in two else two["channel0"]
        # uhi keeps the writer_info of the first document.
        done = subprocess.run([sys.executable, "-m", "uhi", "add", "-f", "sum.json", "a.json", "b.json"],
                              capture_output=True, text=True)
        check(done.returncode == 0, f"{job}: {done.stderr}")
        refused(program, f"{job}: uhi add", json.load(open("sum.json")), changed)
        # boost-histogram and hist write their own.
        for reader in boost_histogram.Histogram, hist.Hist:
            full = [reader(uhi.io.from_sparse(document)) for document in (first, second)]
            for what, total in ("sum", full[0] + full[1]), ("scaled", full[0] * 2), ("as it was", full[0]):
                total = json.loads(json.dumps(total, default=uhi.io.json.default))
                check(not set(total["metadata"]) & counted and
                      not [name for name in total["metadata"] if name.startswith("stats_")],
                      f"{job}: {what}: {sorted(total['metadata'])}")
                check("gpuhist" not in total["writer_info"], f"{job}: {what}: writer_info")
                refused(program, f"{job}: {reader.__module__}: {what}", total, other)
                if what == "as it was":
                    continue
                # Their counts with the first document's details.
                total = first | {"storage": total["storage"] | {"type": "int"}}
                if "-c" not in job:
                    refused(program, f"{job}: {what}, copied writer_info", total, changed)
        # The same without their arithmetic.
        scaled = json.loads(json.dumps(first))
        scaled["storage"]["values"] = [2 * count for count in scaled["storage"]["values"]]
        refused(program, f"{job}: scaled", one | scaled if one is first else one | {"channel0": scaled}, changed)
        lost = {name: first[name] for name in first if name != "writer_info"}
        refused(program, f"{job}: without writer_info", lost if one is first else one | {"channel0": lost}, other)
        rewritten = first | {"writer_info": {"uhi": {"version": "1"}}}
        refused(program, f"{job}: rewritten writer_info", rewritten if one is first else one | {"channel0": rewritten},
                other)


def check_linearity(program):
    job = ["-t", "u8", "-c", "2"]
    run(program, *job, "-o", "plain.csv", "noise")
    run(program, *job, "--linearity=ramp", "-o", "l.json", "noise")
    lower, upper, counts = rows("plain.csv")
    for channel, document in json.load(open("l.json")).items():
        check_one(f"--linearity: {channel}", document, lower, upper, counts[int(channel[-1])])
        for name in "dnl", "inl":
            check(len(document["writer_info"]["gpuhist"].pop(name)) == len(lower), f"--linearity: {channel}: {name}")
        uhi.schema.validate(document)


def check_manual(program, manual):
    """Run the example of the manual that begins with an import."""
    run(program, "-t", "u8", "-b", "200", "-o", "a.json", "noise")
    expected = numpy.bincount(numpy.fromfile("noise", dtype="u1"))[:200]
    text = open(manual, encoding="utf-8").read()
    examples = [block.split(".Ed")[0] for block in text.split(".Bd -literal -offset indent\n")[1:]]
    examples = [block.replace("\\e", "\\") for block in examples if block.startswith("import ")]
    check(len(examples) == 1, "the manual's example")
    for example in examples:
        names = {}
        exec(example, names)
        check((numpy.asarray(names["counts"]) == expected).all(), f"the manual's example: {example}")


def main():
    program, documents, manual = (os.path.realpath(path) for path in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_documents(documents)
        check_jobs(program)
        check_sparse(program)
        check_merge(program)
        check_keys(program)
        check_sums(program)
        check_linearity(program)
        check_manual(program, manual)
        os.chdir("/")
    for option in sorted(left_out):
        print("left out: there is no", option)
    return report()


sys.exit(main())
