#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program on a terminal: the note that it waits for input; its pictures: width, height, colours, drawn in place.

usage: terminal_check.py GPUHIST
"""

import fcntl
import json
import math
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from check import all_shown, check, report

gpuhist = os.path.abspath(sys.argv[1])
os.environ.update(LC_ALL="C", TERM="dumb")
os.environ.pop("COLUMNS", None)


def run(arguments, typed, on_terminal=True):
    """Return status, standard output and standard error of a run whose standard input is a terminal with this text typed."""
    master, slave = pty.openpty()
    os.write(master, typed)
    process = subprocess.Popen(
        [gpuhist, *arguments],
        stdin=slave if on_terminal else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    os.close(slave)
    os.close(master)
    return process.returncode, out.decode(), err.decode()


END = b"abc\n\x04"
BYTES = ["-t", "u8", "-b", "1", "-r", "full", "--no-header", "--no-progress"]
WAITS = "gpuhist: waiting for samples from the terminal; press Ctrl-D to end\n"

status, out, err = run([], b"")
check((status, out) == (2, "") and err.startswith("gpuhist: there is nothing to count; "), f"no words: {status} {out!r} {err!r}")

status, out, err = run(BYTES, END)
check((status, out, err) == (0, "0,0,256,4\n", WAITS), f"options: {status} {out!r} {err!r}")
status, out, err = run([*BYTES, "-"], END)
check((status, out, err) == (0, "0,0,256,4\n", WAITS), f"-: {status} {out!r} {err!r}")
status, out, err = run(["-t", "u8", "-"], END)
check(status == 0 and err == WAITS, f"- alone: {status} {out!r} {err!r}")
status, out, err = run([*BYTES, "-q"], END)
check((status, out, err) == (0, "0,0,256,4\n", ""), f"-q: {status} {out!r} {err!r}")
status, out, err = run([*BYTES, gpuhist], b"")
check(status == 0 and "waiting" not in err, f"a file: {status} {err!r}")
status, out, err = run([], b"", on_terminal=False)
check((status, err) == (0, "gpuhist: warning: standard input is empty\n"), f"no terminal: {status} {err!r}")
status, out, err = run(["-h"], b"")
check((status, err) == (0, ""), f"-h: {status} {err!r}")
status, out, err = run(["-b", "x"], b"")
check(status == 2 and "waiting" not in err, f"refused: {status} {err!r}")


def seen(arguments, samples, columns=80, lines=24, output=False):
    """Return the text that a terminal shows as standard error, and as standard output if it gets that too."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    with tempfile.TemporaryFile() as file:
        file.write(samples)
        file.seek(0)
        process = subprocess.Popen([gpuhist, "--no-progress", *arguments], stdin=file, stdout=slave if output else subprocess.DEVNULL, stderr=slave)
    data = all_shown(master, slave, process)
    check(process.wait() == 0, f"{arguments}: {data!r}")
    return data.decode()


READ_AS = "gpuhist: samples were read as u32, little endian (use -t for another type)\r\n"
with tempfile.TemporaryDirectory() as folder:
    named = os.path.join(folder, "a.u32")
    with open(named, "wb") as file:
        file.write(bytes(8))
    for arguments, samples, want in (
        ([], bytes(8), READ_AS),
        (["-t", "u32"], bytes(8), ""),
        (["-q"], bytes(8), ""),
        (["-n", "0"], bytes(8), ""),
        ([named], b"", ""),
        ([], b"P5 2 1 255\nab", ""),
    ):
        got = seen(arguments, samples)
        check(got == want, f"{arguments} on a terminal: {got!r}")

# --stats: as many channels side by side as there is room for, each once.
for columns in (1, 40, 55, 56, 80, 200):
    lines = seen(["-t", "u8", "-c", "7", "--stats=50", "-q"], b"\0\1\2\3\4\5\6", columns).splitlines()
    shown = [line.split()[3:] for line in lines if line.startswith("gpuhist: stats: channel ")]
    check(sum(shown, []) == list("0123456") and (columns == 1 or max(map(len, lines)) < columns), f"{columns} columns: {lines}")
    check(len(shown[0]) == {1: 1, 40: 1, 55: 2, 56: 2, 80: 5, 200: 7}[columns], f"{columns} columns: {lines}")

# Pictures are as wide as their terminal, from 40 columns to 200.
for columns in (1, 40, 77, 200, 300, 0):
    for arguments in (["-qp"], ["-f", "plot"]):
        lines = seen([*arguments, "-t", "u8", "-b", "9", "-r", "0:9"], bytes(9), columns, output="-f" in arguments).splitlines()
        wide = max(len(line) for line in lines if "|" in line)
        check(wide == (min(max(columns, 40), 200) or 80 if columns else 80), f"{columns} columns: {lines}")

# Without -f and -o a terminal gets the plot, unless an option needs the table.
HEADER = "bin,lower,upper,count"
for arguments, plot in (([], True), (["--stats"], True), (["--title=x"], True), (["-f", "csv"], False), (["-o", "-"], False), (["-p"], False),
                        (["-C", "u64"], False), (["--flow"], False), (["--nonzero"], False), (["--no-header"], False), (["--each=2"], True), (["--each=2", "--stats", "-f", "plot"], True),
                        (["--each=2", "--stats", "-f", "csv"], False), (["--each=2", "-f", "csv"], False), (["--each=2", "--no-header"], False)):
    text = seen(["-t", "u8", "-b", "4", "-q", *arguments], b"\0\1\1\2\3", output=True)
    table = HEADER in text or "0,0,1," in text or "input,first" in text or "-,0,0,2," in text
    check(table != plot and ("|" in text) == (plot or "-p" in arguments), f"{arguments} on a terminal: {text!r}")

# --each --stats is a table as wide as the terminal, and aligned, whatever its contents.
for columns in (40, 60, 80, 100, 120, 200):
    for arguments in (["--each=100", "--stats"], ["--each=99", "-c", "4", "--stats=50,99"], ["--each=file", "--stats", "-r", "0:256"]):
        lines = seen(["-t", "u8", *arguments], bytes(range(256)) * 40, columns, output=True).splitlines()
        per_row = 2 if "50,99" in arguments[-1] and columns < 80 else 1
        for k in range(per_row):
            same = lines[k::per_row]
            check(len({len(line) for line in same}) == 1 and len(same[0]) <= columns, f"{arguments} on {columns} columns: {same[:3]}")
            ends = [m.end() for m in re.finditer(r"\S+", same[0])][k == 0 :]
            check(all(all(line[end - 1] != " " and line[end : end + 1] in ("", " ") for end in ends) for line in same), f"{arguments} on {columns}: {same[:3]}")
        check(" max" in lines[0], f"{columns}: {lines[0]}")

# In any table that is too narrow, quantiles that were asked for stand on further lines, and names that differ differ.
with tempfile.TemporaryDirectory() as folder:
    tensors = [f"model.layers.{i}.{part}_proj.weight" for i in (0, 17) for part in ("self_attn.q", "self_attn.k", "mlp.gate_and_up_and_down", "mlp.gate_not_up_and_down")]
    header = json.dumps({name: {"dtype": "F32", "shape": [4096, 1], "data_offsets": [16384 * i, 16384 * (i + 1)]} for i, name in enumerate(tensors)}).encode()
    model = os.path.join(folder, "model.safetensors")
    with open(model, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + struct.pack("<4096f", *(math.sin(i * i) / 300 for i in range(4096))) * len(tensors))
    files = [os.path.join(folder, *name.split("/")) for name in ("run1/a.u8", "run2/a.u8", "run2/" + "b" * 90 + "1" + "b" * 90 + ".u8", "run2/" + "b" * 90 + "2" + "b" * 90 + ".u8")]
    for name in files:
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as file:
            file.write(bytes(range(256)))
    urls = [f"/api/v1/{kind}/{'list/' * i}items/of/a/long/path/{i}/detail.html" for kind in ("customers", "orders") for i in range(4)]
    dates = ["-1", "-1.5", "2026-01-05", "2026-01-06"]
    offsets = [f"0x{i:X}" for i in range(0, 400, 100)]
    ASKED = ["50", "99", "1", "99.9", "99.9999", "0.0001", *(str(i) for i in range(60, 74))]
    KINDS = (
        (["--each=tensor", model], b"", [name.removeprefix("model.layers.").removesuffix("_proj.weight") for name in tensors]),
        (["-t", "u8", "--each=file", *files], b"", [name[len(folder) + 1 : -3] for name in files]),
        (["--text=ms", "--by=url"], "\n".join(["url,ms", *(f"{name},{i}.5" for name in urls for i in range(9))]).encode(), [name.removeprefix("/api/v1/").removesuffix("/detail.html") for name in urls]),
        (["--text=ms", "--by=day"], "\n".join(["day,ms", *(f"{name},{i}.5" for name in dates for i in range(9))]).encode(), dates),
        (["-t", "u8", "--each=100"], bytes(range(1, 201)) * 2, offsets),
    )
    apart = 0
    for columns in range(40, 201):
        arguments, samples, names = KINDS[columns % 5]
        asked = ASKED[: columns * 4 % 21]
        lines = seen([*arguments, "--stats" + ("=" + ",".join(asked) if asked else ""), "-q"], samples, columns, output=True).splitlines()
        text = f"{arguments[0]} on {columns} columns, {asked}: " + "\n".join(lines)
        check(max(map(len, lines)) <= columns, f"too wide: {text}")
        header = lines[: next((i for i, line in enumerate(lines) if i > 0 and any(line.lstrip().startswith(name[:3]) for name in names)), None)]
        words = " ".join(header).split()
        check(all(words.count(f"{q}%") == 1 for q in asked), f"asked: {text}")
        # With names on lines of their own, the header has such a line, too.
        if len(header[0].split()) == 1:
            apart += 1
            whole = "".join(lines)
            check(all(name in whole for name in names), f"apart: {text}")
            continue
        check(len(lines) == len(header) * (len(names) + 1), f"lines: {text}")
        first = [line.split()[0] for line in lines[len(header) :: len(header)]]
        check(len(set(first)) == len(names), f"names: {text}")
        check(all(got == name or "..." in got and name.startswith(got.split("...")[0]) and name.endswith(got.split("...")[1]) for got, name in zip(first, names)), f"names: {text}")
        for k in range(len(header)):
            check(len({len(line) for line in lines[k :: len(header)]}) == 1, f"aligned: {text}")
        # A column that is zero in all rows takes no room from other columns.
        check(arguments[0] != "--text=ms" or len(header) == 1 or not {"zeros", "nan", "inf"} & set(words), f"zeros: {text}")
    check(0 < apart < 80, f"{apart} tables with names apart")
with tempfile.TemporaryDirectory() as folder:
    model, size = os.path.join(folder, "model.safetensors"), 0
    names = [f"model.layers.{i // 6}.{part}.weight" for i in range(300) for part in [("self_attn.q_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj", "input_layernorm", "norm")[i % 6]]]
    header = json.dumps({name: {"dtype": "F32", "shape": [4096, 1], "data_offsets": [16384 * i, 16384 * (i + 1)]} for i, name in enumerate(names)}).encode()
    values = struct.pack("<4096f", *(math.sin(i * i) / 300 for i in range(4094)), math.nan, -math.inf)
    with open(model, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + values * 300)
    lines = seen(["--each=tensor", "--stats", "-q", model], b"", 100, output=True).splitlines()
    check(len(lines) == 301 and {len(line) for line in lines} == {100} and lines[0].split() == ["tensor", "shape", "min", "max", "mean", "std", "zeros", "nan", "inf"], f"tensors: {lines[:3]}")
    for name, line in zip(names, lines[1:]):
        cells = line.split()
        check(len(cells) == 9 and cells[1] == "4096x1" and cells[7:] == ["<0.1%"] * 2 and 0.0023 < float(cells[5]) < 0.0024
              and cells[0] == name.removeprefix("model.layers.").removesuffix(".weight"), f"tensor {name}: {line!r}")
# Infinities of floats, and chi2 of 8 bits, have columns.
for type_, samples, figures in (("f32", struct.pack("<4f", 1, 2, math.inf, -math.inf), {"inf": "50.0%"}), ("u8", bytes(range(255)) + b"\0", {"chi2": "2"}), ("i16", bytes(8), {})):
    header, cells = (line.split() for line in seen(["-t", type_, "-b", "0", "-q"], samples, 160, output=True).splitlines())
    found = dict(zip(header, cells))
    check({name: found[name] for name in ("inf", "chi2") if name in found} == figures, f"{type_}: {found}")

# The name of a file or tensor cannot control a terminal; elsewhere it is written unchanged.
with tempfile.TemporaryDirectory() as folder:
    evil = os.path.join(folder, "a\033[2J\u009b\".safetensors")
    header = b'{"\\u001b[2J\\u202e,\\n":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
    with open(evil, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + b"a")
    for arguments in (["--each=tensor", "--stats"], ["-t", "u8", "--raw", "--each=file", "-r", "0:2"]):
        text = seen([*arguments, "-q", "--no-header", evil], b"", output=True)
        name = os.path.join(folder, 'a?[2J?"".safetensors')
        check(text.startswith(f'"{name}",' + ('"?[2J?,?",u8,1,' if "--stats" in arguments else "0,")) and text.count("\n") == 1, repr(text))
        piped = subprocess.run([gpuhist, *arguments, "-q", "--no-header", evil], stdout=subprocess.PIPE, check=True).stdout.decode()
        name = evil.replace('"', '""')
        check(piped.startswith(f'"{name}",' + ('"\033[2J\u202e,\n",u8,1,' if "--stats" in arguments else "0,")), repr(piped))

# Rows of files, channels and keys are joined until they fit; all samples are there, and the last line says how many are one.
for columns, lines in ((80, 24), (200, 50), (60, 12)):
    for arguments, what in ((["--each=10"], "row"), (["--each=20", "-c", "5"], "row"), (["-c", "100"], "channel"), (["-c", "100", "--stats"], "channel"),
                            (["--record=4", "--by=u8@2"], "key")):
        text = seen(["-t", "u8", "-q", "-f", "plot", "-b", "16", "-r", "0:256", *arguments], bytes(range(250)) * 40, columns, lines, output=True).splitlines()
        check(re.fullmatch(rf"each line is \d+ {what}s", text[-1]) and len(text) < lines, f"{arguments} on {columns}x{lines}: {text}")
text = seen(["-t", "u8", "-q", "-f", "plot", "-b", "16", "-r", "0:256", "--each=10"], bytes(range(250)) * 40, output=True).splitlines()
check(sum(int(line.split()[-1]) for line in text[3:-1]) == 10000, f"joined: {text}")

# One line if something stands out: clipping, or a channel that sets the range; never in a pipe.
HILL = [100 + (i * i) % 97 + i % 59 for i in range(3000)]
for arguments, samples, want in (
    (["-t", "u8"], bytes([min(x, 200) for x in HILL]), r"gpuhist: [0-9.]+% at 200, the largest value: clipped\?"),
    (["-t", "u8"], bytes([max(x, 120) for x in HILL]), r"gpuhist: [0-9.]+% at 120, the smallest value: clipped\?"),
    (["-t", "u8"], bytes([min(max(x, 120), 200) for x in HILL]), r"gpuhist: [0-9.]+% at 120, the smallest value, and [0-9.]+% at 200, the largest value: clipped\?"),
    (["-t", "cu8"], bytes([x for i in HILL for x in (100, min(i, 200))]), r"gpuhist: [0-9.]+% of channel Q at 200, the largest value: clipped\?"),
    (["-t", "u8"], bytes(HILL), None), (["-t", "u8"], bytes(range(256)) * 10, None), (["-t", "u8"], bytes([0, 1, 1] * 1000), None),
    (["-t", "u16", "-c", "5"], struct.pack("<1500H", *((x * 250 if i % 5 == 3 else x) for i, x in enumerate(HILL[:1500]))), "gpuhist: 1 of 5 channels fills the range: see channel 3"),
    (["-t", "u16", "-c", "5"], struct.pack("<1500H", *((x * 250 if i % 5 >= 3 else x) for i, x in enumerate(HILL[:1500]))), None),
    (["-t", "u16", "-c", "100", "-r", "0:65536"], struct.pack("<1500H", *HILL[:1500]), None)):
    bins = ["--auto"] if "u16" in arguments and "-r" not in arguments else []
    lines = seen([*arguments, *bins, "-f", "plot"], samples, output=True).splitlines()
    notes = [line for line in lines if line.startswith("gpuhist: ")]
    check(len(notes) == (want is not None) and all(re.fullmatch(want, note) for note in notes), f"stands out: {arguments}: {notes}")
    piped = subprocess.run([gpuhist, *arguments, *bins, "-f", "plot"], input=samples, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    check(piped.stderr == b"", f"in a pipe: {piped.stderr!r}")

# All channels fit the height, and use it.
os.environ["LC_ALL"] = "C.UTF-8"
for columns, lines in ((40, 10), (80, 24), (80, 50), (200, 50)):
    for channels in (1, 2, 5, 8):
        text = seen(["-t", "u8", "-c", str(channels), "-q", "-f", "plot"], bytes(range(256)) * 40, columns, lines, output=True).splitlines()
        check(len(text) < lines and max(map(len, text)) <= columns, f"{channels} channels on {columns}x{lines}: {text}")
        check(len(text) > lines / 3 or lines > 40, f"{channels} channels on {columns}x{lines}: only {len(text)} lines")
os.environ["LC_ALL"] = "C"

# Colour: on a terminal that supports it, unless it is refused; in a file or pipe only on request.
for extra, arguments, colour in (({"TERM": "xterm"}, [], True), ({"TERM": "dumb"}, [], False), ({"TERM": "xterm", "NO_COLOR": "1"}, [], False),
                                 ({"TERM": "xterm", "NO_COLOR": ""}, [], True), ({"TERM": "xterm"}, ["--color=never"], False),
                                 ({"TERM": "dumb", "NO_COLOR": "1"}, ["--color=always"], True)):
    kept = dict(os.environ)
    os.environ.update(extra)
    for form in (["-f", "plot"], ["-f", "plot", "--each=3"]):
        text = seen(["-t", "u8", "-q", *form, *arguments], b"\0\1\1\2\3", output=True)
        check(("\033[" in text) == colour, f"{extra} {form} {arguments}: {text!r}")
        piped = subprocess.run([gpuhist, "-t", "u8", "-q", *form, *arguments], input=b"\0\1\1\2\3", stdout=subprocess.PIPE, check=True).stdout
        check((b"\033" in piped) == ("--color=always" in arguments), f"{extra} {form} {arguments} in a pipe: {piped!r}")
    os.environ.clear()
    os.environ.update(kept)


class Screen:
    """Show a text on a terminal of that size, which understands only cursor up, home, and the two ways to erase."""

    def __init__(self, columns, lines):
        self.columns, self.lines, self.rows, self.row, self.at = columns, lines, [""], 0, 0

    def feed(self, text):
        while text:
            if text[0] == "\033":
                m = re.match(r"\033\[(\d*)([A-Zm])", text)
                check(m and m[2] in "AHJK", f"an escape: {text[:20]!r}")
                if m[2] == "A":
                    self.row -= int(m[1])
                    check(self.row >= 0, "above the top")
                elif m[2] == "H":
                    self.row = self.at = 0
                elif m[2] == "K":
                    self.rows[self.row] = self.rows[self.row][: self.at]
                else:
                    self.rows[self.row] = self.rows[self.row][: self.at]
                    del self.rows[self.row + 1 :]
                text = text[m.end() :]
                continue
            c, text = text[0], text[1:]
            if c == "\r":
                self.at = 0
            elif c == "\n":
                self.row, self.at = self.row + 1, 0
                if self.row == len(self.rows):
                    self.rows.append("")
            else:
                line = self.rows[self.row]
                self.rows[self.row] = line[: self.at].ljust(self.at) + c + line[self.at + 1 :]
                self.at += 1
                row = self.rows[self.row]
                # A terminal wraps messages.
                check(self.at <= self.columns or row.startswith("gpuhist: "), f"too wide: {row!r}")
        check(len(self.rows) <= self.lines, f"{len(self.rows)} lines of {self.lines}: {self.rows}")


BEGIN = "import os,sys,fcntl,termios; os.setsid(); fcntl.ioctl(1, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"


def live(arguments, steps, columns=80, lines=24, end=True, then=rb"(?m)^%d samples?[^\n]*\n", begin=BEGIN):
    """Feed a run whose output is a terminal: bytes, then a wait for the output `then`; new sizes; seconds to wait."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    process = subprocess.Popen([sys.executable, "-c", begin, gpuhist, "-t", "u8", *arguments], stdin=subprocess.PIPE, stdout=slave, stderr=slave)
    got = [b""]

    def read(until):
        """Read until the text comes."""
        limit = time.monotonic() + 60
        while time.monotonic() < limit and not re.search(until, got[-1]):
            if select.select([master], [], [], 0.05)[0]:
                got[-1] += os.read(master, 65536)
        check(re.search(until, got[-1]), f"{arguments}: {until} did not come: {got[-1][-500:]!r}")

    samples = 0
    for step in steps:
        if isinstance(step, tuple):
            got.append(b"")
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", step[1], step[0], 0, 0))
            read(rb"samples?[^\n]*\n")
        elif isinstance(step, float):
            time.sleep(step)
        else:
            samples += len(step)
            process.stdin.write(step)
            process.stdin.flush()
            # What the program has read it counts, whatever signal comes.
            while struct.unpack("i", fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)))[0] and process.poll() is None:
                time.sleep(0.01)
            read(then % samples if b"%d" in then else then)
    if isinstance(end, bytes):
        os.write(master, end)
    elif end:
        process.stdin.close()
    else:
        process.send_signal(signal.SIGINT)
    got[-1] += all_shown(master, slave, process)
    process.wait(60)
    return process.returncode, [part.decode() for part in got]


# --every redraws in place as long as the size stays; the last picture stays, alone.
os.environ["TERM"] = "xterm"
DATA = bytes(range(256)) * 10
status, (text,) = live(["--every=0.1", "--color=never"], [DATA, DATA, b"\0" * 5000, b"\1"])
screen = Screen(80, 24)
screen.feed(text)
check(status == 0 and text.count("\033[") > 20 and re.search(r"\033\[\d+A", text), f"in place: {text!r}")
check([row for row in screen.rows if "partial" in row] == [] and sum("10121 samples" in row for row in screen.rows) == 1
      and screen.rows[-1] == "" and screen.row == len(screen.rows) - 1, f"the last picture: {screen.rows}")
status, parts = live(["--every=0.1", "--color=never"], [DATA, DATA, (60, 30), DATA])
screen = Screen(60, 30)
screen.feed(parts[1][parts[1].index("\033[H") :])
check(status == 0 and len(parts) == 2 and sum("7680 samples" in row for row in screen.rows) == 1, f"resized: {screen.rows}")
# After an interrupt, the cursor is below the last picture.
status, (text,) = live(["--every=0.1", "--color=never"], [DATA], end=False)
screen = Screen(80, 24)
screen.feed(text)
check(status == -signal.SIGINT and any("2560 samples" in row for row in screen.rows), f"interrupted: {screen.rows}")
# The terminal echoes ^C; the last picture is drawn from the first column anyway.
status, (text,) = live(["--every=0.1", "--color=never", "--finish"], [DATA], end=b"\3")
screen = Screen(80, 24)
screen.feed(text)
check(status == 0 and "^C" in text and sum("2560 samples" in row for row in screen.rows) == 1 and "^C" not in "".join(screen.rows[:-2])
      and sum(row.startswith("u8, 256 bins") for row in screen.rows) == 1, f"after ^C: {screen.rows}")
# Where nothing is drawn in place, ^C begins a new line, also among rows.
for rows in ([], ["--each=2560"]):
    status, (text,) = live([*rows, "-f", "plot", "--color=never", "--finish", "--no-progress"], [DATA], end=b"\3", then=rb"" if not rows else rb"2560\r\n")
    check(status == 0 and "^C\r\n" in text and "2560" in text, f"^C {rows}: {text!r}")
# In the background nothing is drawn; back in the foreground the picture comes, even without new samples.
BACK = """import os, signal, sys, time, fcntl, termios
os.setsid(); fcntl.ioctl(1, termios.TIOCSCTTY, 0); signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setpgid(0, 0); os.execv(sys.argv[1], sys.argv[1:])
time.sleep(0.6); os.write(1, b"foreground"); os.tcsetpgrp(1, child); os.waitpid(child, 0)"""
status, (text,) = live(["--every=0.1", "--color=never"], [DATA], begin=BACK)
check(status == 0 and text.startswith("foreground") and text.count("partial") == 1, f"background: {text!r}")
# TERM=dumb: one picture below the other, without anything that a teletype would not understand. A pipe: no picture.
os.environ["TERM"] = "dumb"
status, (text,) = live(["--every=0.1"], [DATA, DATA])
check(status == 0 and "\033" not in text and text.count("samples") >= 3, f"dumb: {text!r}")
refused = subprocess.run([gpuhist, "-t", "u8", "--every=1s", "-f", "plot"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
check((refused.returncode, refused.stdout) == (2, b"") and b"on a terminal" in refused.stderr, f"a pipe: {refused}")
# No line of progress among rows; with --progress it is on lines of its own.
os.environ["TERM"] = "xterm"
for progress in ([], ["--progress"]):
    status, (text,) = live(["--each=2560", "-f", "plot", "--color=never", *progress], [DATA, 1.4, DATA], then=rb"2560\r\n")
    lines = text.split("\r\n")
    check(len(lines) == 6 + len(progress) and all("gpuhist: " not in line[1:] for line in lines) and text.count("gpuhist") == len(progress),
          f"rows {progress}: {text!r}")

sys.exit(report())
