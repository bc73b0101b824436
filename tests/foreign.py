#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Count files that other programs and libraries wrote, and compare with the counts of these writers.

Some writers count themselves (ImageMagick, netpbm, Pillow); the others read their files back, and this script counts the
values. gpuhist is given no type, channels or offset: all of it must come from the header. If WRITERs are named, they must be
installed; otherwise missing ones are left out.

usage: foreign.py GPUHIST [WRITER...]
"""
import importlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy

GPUHIST = os.path.realpath(sys.argv[1])
rng = numpy.random.default_rng(1)
results = []


class Missing(Exception):
    """A program or module that is not installed."""


def program(*names):
    """Return the first of these programs that is installed."""
    for name in names:
        if shutil.which(name):
            return name
    raise Missing(f"no {names[0]}")


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(str(error)) from None


def output(*command, stdin=None):
    return subprocess.run(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


def check(name, good, said=""):
    results.append(bool(good))
    if not good:
        print(f"FAILED {name}: {said}")


def counted(name, channels, *arguments, stdin=None):
    """Compare gpuhist's counts of a file with the writer's values for each channel."""
    channels = [numpy.asarray(values).reshape(-1) for values in channels]
    if channels[0].dtype.kind == "f":
        bins = ["-r", "-1.25:1.25", "-b", "100"]
    else:
        bins = ["-r", "full", "-b", str(2 ** min(16, 8 * channels[0].itemsize))]
    done = subprocess.run([GPUHIST, "-q", "-f", "json", *bins, *map(str, arguments)], stdin=stdin or subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        return check(name, False, done.stderr.decode())
    document = json.loads(done.stdout)
    found = [document] if "axes" in document else list(document.values())
    if len(found) != len(channels):
        return check(name, False, f"{len(found)} channels, not {len(channels)}")
    for values, histogram in zip(channels, found):
        axis = histogram["axes"][0]
        edges = axis.get("edges") or [axis["lower"] + (axis["upper"] - axis["lower"]) * i / axis["bins"]
                                      for i in range(axis["bins"] + 1)]
        if values.dtype.kind == "f":
            cells = numpy.searchsorted(edges, values[values == values].astype(float), side="right")
        else:
            low, high = int(edges[0]), int(edges[-1])
            cells = ((values.astype(object) - low) * (len(edges) - 1) // (high - low) + 1).astype(int).clip(0, len(edges))
        theirs = numpy.bincount(cells, minlength=len(edges) + 1)[not axis["underflow"]:]
        ours = numpy.array(histogram["storage"]["values"])
        theirs = theirs[:len(ours)]
        facts = histogram["writer_info"]["gpuhist"]
        check(name, numpy.array_equal(ours, theirs) and facts["samples"] == len(values),
              f"{facts['samples']} samples, not {len(values)}; counts differ in {(ours != theirs).sum()} bins")
    return None


def histogram_of(name, tables, file):
    """Compare with a table {value: count} for each channel."""
    counted(name, [numpy.repeat(list(table), list(table.values())) for table in tables], file)


def typed(data, dtype):
    return numpy.frombuffer(data, dtype)


def s24(data):
    """Return little-endian 24-bit integers as 32-bit ones."""
    words = numpy.zeros((len(data) // 3, 4), "u1")
    words[:, 1:] = typed(data, "u1").reshape(-1, 3)
    return words.view("<i4").reshape(-1) >> 8


SOUND = {"u8": ("u1", "8", "unsigned-integer"), "s16le": ("<i2", "16", "signed-integer"), "s24le": (None, "24", "signed-integer"),
         "s32le": ("<i4", "32", "signed-integer"), "f32le": ("<f4", "32", "floating-point"), "f64le": ("<f8", "64", "floating-point")}


def decoded(data, name, channels):
    values = s24(data) if name == "s24le" else typed(data, SOUND[name][0])
    return list(values.reshape(-1, channels).T)


def sox():
    tool = program("sox")
    for name, (_, bits, encoding) in SOUND.items():
        for channels in (1, 2):
            file = f"sox_{name}_{channels}.wav"
            make = [tool, "-D", "-R", "-n", "-r", "8000", "-c", str(channels), "-b", bits, "-e", encoding]
            output(*make, file, "synth", "0.7", "noise", "vol", "0.8")
            values = decoded(output(tool, "-D", file, "-t", "raw", "-"), name, channels)
            counted(file, values, file)
            # Into a pipe, sox cannot know the length when it writes the header.
            with subprocess.Popen([*make, "-t", "wav", "-", "synth", "0.7", "noise", "vol", "0.8"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL) as child:
                counted(f"{file} in a pipe", values, stdin=child.stdout)


def ffmpeg():
    tool = [program("ffmpeg"), "-v", "error", "-nostdin", "-y"]
    noise = ["-f", "lavfi", "-i", "anoisesrc=d=0.7:r=8000:seed=1:a=0.8"]
    for name in SOUND:
        for channels, extra in ((1, []), (2, []), (6, []), (2, ["-rf64", "always"])):
            file = f"ffmpeg_{name}_{channels}{'_rf64' * bool(extra)}.wav"
            output(*tool, *noise, "-ac", str(channels), "-c:a", f"pcm_{name}", *extra, file)
            values = decoded(output(*tool, "-i", file, "-f", name, "-c:a", f"pcm_{name}", "-"), name, channels)
            counted(file, values, file)
            with subprocess.Popen([*tool, "-i", file, "-c:a", "copy", "-f", "wav", "-"], stdout=subprocess.PIPE) as child:
                counted(f"{file} in a pipe", values, stdin=child.stdout)
    for name, kind, dtype, channels in (("gray", "pgm", "u1", 1), ("gray16be", "pgm", ">u2", 1), ("rgb24", "ppm", "u1", 3),
                                        ("rgb48be", "ppm", ">u2", 3)):
        file = f"ffmpeg_{name}.{kind}"
        output(*tool, "-f", "lavfi", "-i", "testsrc2=s=66x50", "-frames:v", "1", "-pix_fmt", name, file)
        values = typed(output(*tool, "-i", file, "-f", "rawvideo", "-pix_fmt", name, "-"), dtype)
        counted(file, values.reshape(-1, channels).T, file)


def imagemagick():
    tool = program("magick", "convert-im6.q16", "convert")
    for depth in (8, 16):
        for kind, channels, extra in (("pgm", 1, ["-colorspace", "Gray"]), ("ppm", 3, ["-type", "TrueColor"])):
            file = f"imagemagick_{depth}.{kind}"
            output(tool, "-seed", "1", "-size", "40x31", "plasma:fractal", "-depth", str(depth), *extra, file)
            tables = [{} for _ in range(channels)]
            for line in output(tool, file, "-depth", str(depth), "-format", "%c", "histogram:info:-").decode().splitlines():
                found = re.match(r"\s*(\d+): \(([^)]*)\)", line)
                if found:
                    for table, value in zip(tables, found[2].split(",")):
                        table[int(value)] = table.get(int(value), 0) + int(found[1])
            dtype = numpy.uint8 if depth == 8 else numpy.uint16
            histogram_of(file, [{dtype(value): count for value, count in table.items()} for table in tables], file)


def netpbm():
    for highest in (255, 1023, 65535):
        dtype = numpy.uint8 if highest < 256 else numpy.uint16
        file = f"netpbm_{highest}.pgm"
        pathlib.Path(file).write_bytes(output(program("pgmnoise"), f"-maxval={highest}", "-randomseed=1", "61", "43"))
        lines = output(program("pgmhist"), "-machine", file).decode().splitlines()
        pairs = [list(map(int, line.split()[:2])) for line in lines]
        histogram_of(file, [{dtype(value): count for value, count in pairs if count}], file)
        colour = file.replace("pgm", "ppm")
        with open(file, "rb") as grey:
            pathlib.Path(colour).write_bytes(output(program("pgmtoppm"), "rgb:00/40/ff-rgb:ff/80/10", stdin=grey))
        tables = [{}, {}, {}]
        for line in output(program("ppmhist"), "-noheader", colour).decode().splitlines():
            *values, _, count = map(int, line.split())
            for table, value in zip(tables, values):
                table[dtype(value)] = table.get(dtype(value), 0) + count
        histogram_of(colour, tables, colour)


def pillow():
    images = module("PIL.Image")
    for mode, kind in (("L", "pgm"), ("RGB", "ppm")):
        file = f"pillow_{mode}.{kind}"
        image = images.fromarray(rng.integers(0, 256, (33, 57, len(mode)), "u1").squeeze())
        image.save(file)
        counts = numpy.reshape(images.open(file).histogram(), (len(mode), 256))
        histogram_of(file, [dict(zip(numpy.arange(256, dtype="u1"), row.tolist())) for row in counts], file)
    images.fromarray(rng.integers(0, 65536, (33, 57), "u2")).save("pillow_16.pgm")
    counted("pillow_16.pgm", [numpy.asarray(images.open("pillow_16.pgm")).astype("u2")], "pillow_16.pgm")


def noise(dtype, *shape):
    kind = numpy.dtype(dtype)
    if kind.kind == "f":
        return (0.4 * rng.normal(size=shape)).astype(dtype)
    if kind.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    facts = numpy.iinfo(kind)
    return rng.integers(facts.min, facts.max, shape, kind.newbyteorder("="), endpoint=True).astype(dtype)


def scipy():
    wavfile = module("scipy.io.wavfile")
    for dtype in ("u1", "<i2", "<i4", "<f4", "<f8"):
        for channels in (1, 5):
            file = f"scipy_{dtype[-2:]}_{channels}.wav"
            wavfile.write(file, 8000, noise(dtype, 5000, channels))
            counted(file, wavfile.read(file)[1].reshape(-1, channels).T, file)


def soundfile():
    sound = module("soundfile")
    for name, read, change in (("PCM_U8", "float64", lambda x: (128 * x + 128).astype("u1")), ("PCM_16", "int16", None),
                               ("PCM_24", "int32", lambda x: x >> 8), ("PCM_32", "int32", None), ("FLOAT", "float32", None),
                               ("DOUBLE", "float64", None)):
        for form in ("WAV", "WAVEX", "RF64"):
            file = f"soundfile_{name}_{form}.wav"
            sound.write(file, noise("f8", 5000, 3).clip(-1, 1), 8000, name, format=form)
            values = sound.read(file, dtype=read, always_2d=True)[0]
            counted(file, (change(values) if change else values).T, file)


def safetensors():
    library = module("safetensors.numpy")
    library.save_file({dtype: noise(dtype, 41, 7) for dtype in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "?")},
                      "all.safetensors")
    for name, values in library.load_file("all.safetensors").items():
        counted(f"safetensors {name}", [values.astype("u1") if name == "?" else values], f"--tensor={name}", "all.safetensors")


def sigmf():
    library = module("sigmf")
    # Its reader returns float32, so types of more than 24 bits would not come back as they were.
    for name, dtype, channels in (("cf32_le", "<f4", 2), ("rf32_be", ">f4", 1), ("ci16_le", "<i2", 2), ("ci8", "i1", 2),
                                  ("cu8", "u1", 2), ("ru16_be", ">u2", 1)):
        base = f"sigmf_{name}"
        noise(dtype, 4000, channels).tofile(f"{base}.sigmf-data")
        recording = library.SigMFFile(data_file=f"{base}.sigmf-data", global_info={"core:datatype": name, "core:sample_rate": 1e6})
        recording.tofile(f"{base}.sigmf-meta")
        values = library.sigmffile.fromfile(f"{base}.sigmf-meta", autoscale=False).read_samples().view("f4")
        counted(base, values.reshape(-1, channels).astype(numpy.dtype(dtype).newbyteorder("=")).T, f"{base}.sigmf-data")


def numpy_itself():
    for dtype in ("u1", "i1", "?", "<u2", ">u2", "<i2", ">i2", "<u4", ">i4", "<u8", ">i8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"):
        values = noise(dtype, 50, 30)
        native = values.astype("u1") if dtype == "?" else values.astype(values.dtype.newbyteorder("="))
        for version in ((1, 0), (2, 0), (3, 0)):
            file = f"numpy_{dtype[-2:]}_{dtype[0] == '>'}_{version[0]}.npy"
            with open(file, "wb") as out:
                numpy.lib.format.write_array(out, numpy.asfortranarray(values) if version[0] == 2 else values, version)
            counted(f"{file} by numpy {numpy.__version__}", [native], file)
    for dtype in ("<c8", ">c8", "<c16"):
        values = (noise("f8", 900) + 1j * noise("f8", 900)).astype(dtype)
        numpy.save("complex.npy", values)
        native = values.astype(values.dtype.newbyteorder("="))
        counted(f"{dtype} by numpy {numpy.__version__}", [native.real, native.imag], "complex.npy")


WRITERS = {"sox": sox, "ffmpeg": ffmpeg, "imagemagick": imagemagick, "netpbm": netpbm, "pillow": pillow, "scipy": scipy,
           "soundfile": soundfile, "safetensors": safetensors, "sigmf": sigmf, "numpy": numpy_itself}
with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    for writer in sys.argv[2:] or WRITERS:
        try:
            WRITERS[writer]()
        except Missing as error:
            if sys.argv[2:]:
                check(writer, False, error)
            else:
                print(f"left out: {writer} ({error})")
    os.chdir("/")
print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
sys.exit(not all(results) or not results)
