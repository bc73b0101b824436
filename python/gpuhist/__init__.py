# SPDX-License-Identifier: MIT
"""Count the samples of files, bytes and arrays into exact histograms, with the gpuhist program.

>>> counts, edges = gpuhist.histogram("iq.cf32", bins=1000, range=(-1, 1))
>>> document = gpuhist.run("adc.u16", bins=4096, stats=True)
"""
from __future__ import annotations

import contextlib
import errno
import json
import operator
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig
import tempfile
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy

__all__ = ["Error", "__version__", "compare", "histogram", "merge", "program", "run"]

# struct's letters for the items of a memoryview.
_KINDS = dict.fromkeys("?cBHILQN", "u") | dict.fromkeys("bhilqn", "i") | dict.fromkeys("efd", "f")
# Options with which the command writes something other than documents to standard output.
_NO_DOCUMENT = {"format", "help", "output", "tee", "version"}
# Options with which the result is not one number for each bin.
_NO_COUNTS = {"by", "each", "merge", "nonzero"}


def __getattr__(name: str) -> str:
    """Return the version of the program as __version__."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    said = subprocess.run([program(), "--version"], capture_output=True, check=True, text=True).stdout
    return said.split()[1]


class Error(RuntimeError):
    """The message of a run that failed, and its exit status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def program() -> str:
    """Return the path of the program installed with this module, or of the one in PATH."""
    beside = (sysconfig.get_path("scripts"), sysconfig.get_path("scripts", "posix_user"),
              str(pathlib.Path(__file__).parents[1] / "bin"))
    found = shutil.which("gpuhist", path=os.pathsep.join(beside)) or shutil.which("gpuhist")
    if not found:
        raise FileNotFoundError("the gpuhist program is neither installed with this module nor in PATH")
    return found


def _option(name: str, value: Any) -> list[str]:
    name = "--" + name.replace("_", "-")
    if hasattr(value, "tolist"):
        value = value.tolist()
    if value is None or value is False:
        return []
    if isinstance(value, (tuple, list)):
        value = (":" if name in ("--range", "--log", "--rows") else ",").join(map(str, value))
    return [name if value is True else f"{name}={value}"]


def _refused(options: dict[str, Any], refused: set[str]) -> list[str]:
    """Return the refused options that are given; the command accepts the beginning of a name, too."""
    return sorted(name for name in refused if any(name.startswith(given) for given in options))


def _files(data: Any) -> list[str] | None:
    """Return the names if data is a name or a list of names, or None if it is samples."""
    files = data if isinstance(data, (list, tuple)) else [data]
    return [os.fspath(file) for file in files] if all(isinstance(file, (str, os.PathLike)) for file in files) else None


def _samples(data: Any) -> tuple[memoryview, dict[str, Any]]:
    """Return the bytes of data and the options that describe them; copy only what is not contiguous."""
    if isinstance(data, (bytes, bytearray)):
        return memoryview(data), {}
    with contextlib.suppress(TypeError):  # numbers in a list, for example, have no buffer
        if not hasattr(data, "dtype"):
            view = memoryview(data)
            item = re.fullmatch(r"([@=<>!]?)(.)", view.format)
            if not item or item[2] not in _KINDS:
                raise ValueError(f"gpuhist has no type for items of the format {view.format!r}")
            kind = f"{_KINDS[item[2]]}{8 * view.itemsize}{'be' * (item[1] in tuple('>!') and view.itemsize > 1)}"
            return memoryview(view if view.c_contiguous else view.tobytes()).cast("B"), {"raw": True, "type": kind}
    import numpy as np  # pylint: disable=import-outside-toplevel

    if isinstance(data, np.ma.MaskedArray):
        raise TypeError("a masked array: pass data.compressed(), the values that are not masked")
    items = np.ascontiguousarray(data).reshape(-1)
    if items.dtype.hasobject:
        raise TypeError(f"gpuhist counts numbers, and {type(data).__name__} has other items")
    if items.dtype.names:
        raise TypeError(f"an array of records: pass one of its fields, such as data[{items.dtype.names[0]!r}]")
    kind = items.dtype.kind
    # ml_dtypes' types are of kind V, or f for a byte, and have names
    named = kind == "V" or (kind == "f" and items.itemsize == 1)
    name = "u8" if kind == "b" else items.dtype.name if named else items.dtype.str
    return memoryview(items.view("u1")), {"raw": True, "type": name}


def _feed(pipe: Any, data: memoryview) -> None:
    # gpuhist closes the pipe early if it has counted enough, or failed; its message says why.
    with contextlib.suppress(BrokenPipeError), pipe:
        while data:
            data = data[os.write(pipe.fileno(), data[: 1 << 20]):]


def run(data: Any, **options: Any) -> Any:
    """Count a file, a list of files, bytes, an array or numbers; return gpuhist's JSON, a UHI histogram, as a dict.

    Options are the command's long options, with _ for -: type="i16be", range=(0, 4096), stats=True. With each= the result
    is a list of such dicts, one for each row; with by= it is a dict of them, one for each key.
    """
    edges = options.get("edges")
    if edges is None or isinstance(edges, str):
        return _run(data, options)
    with tempfile.NamedTemporaryFile("w") as file:  # a command line might be too short for them
        file.writelines(f"{edge!r}\n" for edge in (edges.tolist() if hasattr(edges, "tolist") else edges))
        file.flush()
        return _run(data, options | {"edges": f"@{file.name}"})


def _start(command: list[str], **streams: Any) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0, **streams)
    except OSError as error:
        if error.errno != errno.E2BIG:
            raise
        raise ValueError("too many FILEs for one command line: take some of them at a time, and add the histograms "
                         "with gpuhist.merge") from None


def _run(data: Any, options: dict[str, Any]) -> Any:
    files = _files(data)
    if files is None:
        samples, described = _samples(data)
        return _command(["-"], samples, described | options)
    return _command(files, None, options)


def _command(files: list[str], samples: memoryview | None, options: dict[str, Any]) -> Any:
    """Run the program for the files, with the samples as standard input; return its documents."""
    for name in _refused(options, _NO_DOCUMENT):
        raise TypeError(f"gpuhist returns histograms, so it does not take {name}")
    command = [program()]
    for name, value in (options | {"quiet": True, "format": "json"}).items():
        command += _option(name, value)
    command += ["--", *files]
    stdin = subprocess.PIPE if samples is not None else None if "-" in files else subprocess.DEVNULL
    with tempfile.TemporaryFile() as messages, _start(command, stdin=stdin, stderr=messages) as child:
        try:
            if samples is not None:
                threading.Thread(target=_feed, args=(child.stdin, samples), daemon=True).start()
                child.stdin = None
            document = child.stdout.read()
        except BaseException:
            child.kill()
            raise
        status = child.wait()
        messages.seek(0)
        said = messages.read().decode(errors="replace").strip().replace("gpuhist: ", "")
    if status:
        raise Error(said or f"gpuhist was killed by signal {-status}", status)
    documents = [_by_key(json.loads(line)) for line in document.splitlines()]
    return documents if options.get("each") else documents[0]


def _is_keyed(document: dict[Any, Any]) -> bool:
    """Return whether a document has a histogram for each key of --by."""
    first = next(iter(document.values()), None)
    return isinstance(first, dict) and "key" in first.get("metadata", {})


def _by_key(document: dict[str, Any]) -> dict[Any, Any]:
    """Name the histograms of --by by their keys, whole numbers or text, instead of key=KEY."""
    if not _is_keyed(document):
        return document
    names = [name.partition("=")[2] for name in document if name != "key"]  # key: an empty one, because there is no key
    if names and all(name.startswith("key=") for name in names):  # else a JSON file could have the same names
        return document
    numbers = next(iter(document.values()))["metadata"]["keys"] == "numbers"
    return dict(zip(map(int, names) if numbers else names, document.values()))


def _text(part: dict[Any, Any]) -> bytes:
    """Return a document as JSON; undo _by_key."""
    if _is_keyed(part) and not all(str(name).startswith("key=") for name in part):
        part = {f"key={name}": histogram for name, histogram in part.items()}
    return json.dumps(part).encode()


def _channels(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [document] if "axes" in document else list(document.values())


def _extent(data: Any, options: dict[str, Any]) -> tuple[float, float]:
    """Return the minimum and maximum of all samples."""
    names = _files(data) or []
    if any(name == "-" or (os.path.exists(name) and not os.path.isfile(name)) for name in names):
        raise ValueError("a stream cannot be read twice: give a range")
    facts = [channel["writer_info"]["gpuhist"]
             for channel in _channels(run(data, **options | {"bins": 1, "range": (0, 1), "stats": 50}))]
    if any(fact["nan"] or fact.get("stats_minus_inf") or fact.get("stats_plus_inf") for fact in facts):
        raise ValueError("the data has NaN or infinity: give a range")
    if not facts[0]["samples"]:
        return 0, 1
    return min(fact["stats_minimum"] for fact in facts), max(fact["stats_maximum"] for fact in facts)


def _range(data: Any, wanted: Any, options: dict[str, Any]) -> Any:
    """Return a value for --range whose ends differ."""
    if isinstance(wanted, str):
        return wanted
    low, high = _extent(data, options) if wanted is None else wanted
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def histogram(data: Any, bins: Any = 10, range: tuple[float, float] | None = None,  # pylint: disable=redefined-builtin
              **options: Any) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Count a file, a list of files, bytes, an array or numbers; return (counts, edges) as numpy.histogram does.

    Without a range, the data is read twice, the first time for its minimum and maximum. Edges are binary64 for every
    type. Several channels give a row of counts each. density=True divides the counts by their sum and by the widths of
    the bins. weights, and a rule's name as bins, raise TypeError.
    """
    import numpy as np  # pylint: disable=import-outside-toplevel

    if options.pop("weights", None) is not None:
        raise TypeError("gpuhist counts each sample once, so it does not take weights")
    if isinstance(bins, str):
        raise TypeError(f"gpuhist has no rule {bins!r} for the number of bins: give a number with auto=True, which chooses "
                        "the range and a width that is a power of two")
    for name in _refused({name: value for name, value in options.items() if value}, _NO_COUNTS):
        raise TypeError(f"histogram returns a count for each bin, so it does not take {name}; run does")
    density = options.pop("density", None)
    other = options.keys() & {"auto", "log", "mod"}
    options.setdefault("closed", not other)  # the last bin, as numpy's
    if np.ndim(bins) == 0:
        options["bins"] = operator.index(bins)
        if range is not None or not other:
            options["range"] = _range(data, range if range is None else np.asarray(range).tolist(), options)
        document = run(data, **options)
    else:
        edges = np.asarray(bins)
        if edges.ndim != 1 or len(edges) < 2 or not (edges[1:] > edges[:-1]).all():
            raise ValueError("bins must be a whole number, or two or more edges that increase")
        document = run(data, **options | {"edges": edges})
    axis = _channels(document)[0]["axes"][0]
    edges = np.asarray(axis["edges"], float) if "edges" in axis else np.linspace(axis["lower"], axis["upper"], axis["bins"] + 1)
    flow = slice(1 if axis["underflow"] else 0, -1)
    counts = np.array([channel["storage"]["values"][flow] for channel in _channels(document)])
    if density:
        counts = counts / np.diff(edges) / counts.sum(axis=1, keepdims=True)
    return counts if len(counts) > 1 else counts[0], edges


def merge(histograms: Any, **options: Any) -> dict[Any, Any]:
    """Add histograms, each a document of run or the name of a JSON file; return the sum as a document.

    Options are those of --merge: bins=100 joins neighbouring bins, stats=True adds figures.
    """
    parts = [histograms] if isinstance(histograms, (dict, str, os.PathLike)) else list(histograms)
    files = [os.fspath(part) for part in parts if not isinstance(part, dict)]
    texts = [_text(part) for part in parts if isinstance(part, dict) and part]  # no keys: nothing to add
    if not files and not texts:
        raise ValueError("there is no histogram to add")
    options["merge"] = True
    return _command([*files, "-"], memoryview(b"\n".join(texts)), options) if texts else _command(files, None, options)


def compare(histogram: Any, reference: Any) -> Any:  # pylint: disable=redefined-outer-name
    """Return how far a histogram is from a reference; each is a document of run or the name of a JSON file.

    The dict has ks, ks_at, wasserstein and jensen_shannon, as far as they are known. Several channels give a list, the
    keys of by= a dict of such dicts.
    """
    with tempfile.NamedTemporaryFile("wb", suffix=".json") as file:
        if isinstance(reference, dict):
            file.write(_text(reference))
            file.flush()
        document = merge(histogram, compare=file.name if isinstance(reference, dict) else os.fspath(reference))
    found = [{name.removeprefix("compare_"): value for name, value in channel["writer_info"]["gpuhist"].items()
              if name.startswith("compare_")} for channel in _channels(document)]
    if _is_keyed(document):
        return dict(zip(document, found))
    return found if len(found) > 1 else found[0]
