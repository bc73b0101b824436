#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--text: random tables, cut into pieces of any size and read by any number of threads, compared with a plain model; and
numbers in damaged frames, which must give the same for any number of threads, in files and in pipes.

usage: tables_check.py GPUHIST_BLOCKS [SEED [TABLES]]
GPUHIST_BLOCKS is the program built for tests: GPUHIST_TEXT_PIECE gives the bytes of a piece.
"""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

BORDER = "\t;, \r"
MISSING = ("", "-", "na", "null")


class Bad(Exception):
    """A bad line."""


class Unknown(Bad):
    """A first line that does not tell where the numbers are."""


def bare(field):
    field = field.strip(" \t\r")
    quoted = len(field) >= 2 and field[0] == field[-1] == '"'
    return field[1:-1] if quoted else field


def number(text):
    """Return an integer, "nan" if the text is missing or NaN, or None."""
    if text.lower() in MISSING or text.lower().lstrip("+-") == "nan" and len(text) < 5:
        return "nan"
    return int(text) if re.fullmatch(r"[+-]?[0-9]+", text) else None


def like_number(text):
    return re.match(r"[+-]?\.?[0-9]", text) or (number(text) is not None and text.lower() not in MISSING)


def separator_of(line):
    seen, at, begins = set(), 0, True
    while at < len(line):
        if begins and line[at] == '"':
            end, quotes = at + 1, 1
            while end < len(line) and (quotes % 2 or line[end] not in BORDER):
                quotes += line[end] == '"'
                end += 1
            if quotes % 2 == 0:
                at, begins = end, False
                continue
        seen.add(line[at])
        begins = line[at] in BORDER
        at += 1
    return next((c for c in "\t;," if c in seen), " ")


def fields_of(line, separator):
    fields, at = [], 0
    while True:
        blanks = " \t\r" if separator == " " else " "
        while at < len(line) and line[at] in blanks:
            at += 1
        if separator == " " and at == len(line):
            return fields
        begin, quoted, opened = at, line[at : at + 1] == '"', False
        while at < len(line):
            opened ^= quoted and line[at] == '"'
            if not opened and line[at] in (blanks if separator == " " else separator):
                break
            at += 1
        if opened:
            raise Bad
        fields.append(line[begin:at])
        if at == len(line):
            return fields
        at += 1


class Model:
    """The contents of a text's lines."""

    def __init__(self, columns):
        self.columns = columns # numbers or names; None: lines are numbers
        self.separator = None
        self.values = []

    def line(self, line, last):
        if "\r" in line[:-1] or (last and line.endswith("\r")):
            raise Bad
        if line.startswith("#") or (not line.strip(" \t\r") and not (self.separator == "\t" and "\t" in line)):
            return
        if self.columns is None:
            value = number(bare(line))
            if value is None:
                raise Bad
            self.values.append((0, value))
            return
        if self.separator is None:
            if self.head(line):
                return
        fields = fields_of(line, self.separator)
        values = [number(bare(fields[n - 1])) if n <= len(fields) else None for n in self.numbers]
        if None in values:
            raise Bad
        self.values += enumerate(values)

    def head(self, line):
        separator = separator_of(line)
        fields = fields_of(line, separator)
        names = [bare(f).replace('""', '"') if f.strip(" \t\r")[:1] == '"' else bare(f) for f in fields]
        self.separator, self.numbers = separator, list(self.columns)
        for i, column in enumerate(self.columns):
            if isinstance(column, str):
                if names.count(column) != 1:
                    raise Unknown
                self.numbers[i] = names.index(column) + 1
        words = any(number(bare(f)) is None for f in fields)
        own = [bare(fields[n - 1]) for n in self.columns if not isinstance(n, str) and n <= len(fields)]
        return any(isinstance(column, str) for column in self.columns) or any(
            not like_number(f) and (f.lower() not in MISSING or words) for f in own)


def draw_field(chance, separator):
    plain = [str(chance.randrange(-5, 6)), str(chance.randrange(100)), "NA", "-", "", "nan", "x", "7x", '3" x', "+4", " 5 "]
    quoted = ['"a%sb"' % chance.choice(",;\t "), '"1"', '"a ""x"""', '""']
    field = chance.choice(plain[:2] * 12 + plain[2:] + quoted)
    return "1" if separator == " " and not field.strip() else field


def draw_table(chance):
    separator = chance.choice("\t;, \n")
    columns = 1 if separator == "\n" else chance.randrange(1, 7)
    good = chance.random() < 0.7
    lines = []
    if chance.random() < 0.6:
        lines.append(separator.join(chance.choice(["v", "x", '"a, b"', "w x" if separator != " " else "w"]) for _ in range(columns)))
    for _ in range(chance.choice([1, 5, 60, 500])):
        if good:
            lines.append(separator.join(str(chance.randrange(-9, 100)) for _ in range(columns)))
        else:
            lines.append(separator.join(draw_field(chance, separator) for _ in range(columns)))
        if chance.random() < 0.02:
            lines.append(chance.choice(["", "#", "# 1,2", "  ", "x", "1\r2", '"', "1,2;3\t4", "y" * chance.randrange(9000)]))
    end = chance.choice(["\n", "\n", "\r\n"])
    text = end.join(lines) + chance.choice(["", end])
    names = ["v", "x", "a, b", 'a "x"']
    some = [1, 1 + chance.randrange(columns), columns, chance.choice(names)]
    one = [chance.choice(some)] if chance.random() < 0.5 else list(dict.fromkeys(chance.sample(some, chance.randint(2, 4))))
    return text, None if separator == "\n" else one


def argument(columns):
    """The argument of --text."""
    return ",".join('"%s"' % column.replace('"', '""') if set(str(column)) & set(',"') else str(column) for column in columns)


def expect(text, column, skip):
    """Return the counts of values in each column, and the number of the first bad line; with `skip`, also how many lines are bad."""
    model, first, bad = Model(column), 0, 0
    lines = text.split("\n")
    unended = lines[-1] != ""
    lines = lines if unended else lines[:-1]
    for at, line in enumerate(lines):
        try:
            model.line(line, unended and at == len(lines) - 1)
        except Bad as why:
            first, bad = first or at + 1, bad + 1
            if isinstance(why, Unknown): # whatever was left out before
                return None, at + 1, bad
            if not skip:
                return None, first, bad
    counts = {}
    for value in model.values:
        counts[value] = counts.get(value, 0) + 1
    return counts, first, bad


def pack(part, sized, level):
    """Return a frame, with or without its size in the header."""
    run = subprocess.run(["zstd", "-qc", level, "--stream-size=%d" % len(part)] if sized else ["zstd", "-qc", level], input=part,
        stdout=subprocess.PIPE, check=True)
    return run.stdout


def draw_damage(chance):
    """Return a text, some lines of which may be bad, in frames that may be damaged, and options."""
    lines = [b"%09d" % chance.randrange(100) for _ in range(chance.choice([500, 5000, 300000]))]
    for _ in range(chance.choice([0, 0, 1, 3])):
        lines[chance.randrange(len(lines))] = chance.choice([b"x", b"1,2", b"7" * chance.randrange(40000)])
    text = b"\n".join(lines) + chance.choice([b"", b"\n"])
    cuts = sorted(chance.randrange(len(text)) for _ in range(chance.choice([0, 1, 4, 30])))
    sized, level = chance.random() < 0.5, chance.choice(["-1", "-3", "--fast=9"])
    frames = bytearray(b"".join(pack(text[a:b], sized, level) for a, b in zip([0] + cuts, cuts + [len(text)])))
    what = chance.randrange(4)
    if what == 0:
        del frames[chance.randrange(len(frames)):]
    elif what < 3:
        frames[chance.randrange(len(frames))] ^= 1 << chance.randrange(8)
    options = ["-t", "u8"] * (chance.random() < 0.5) + ["--skip-bad"] * (chance.random() < 0.5)
    if chance.random() < 0.3:
        options += ["-n", str(chance.randrange(1, len(lines)))]
    return bytes(frames), options + ["--no-check"] * (chance.random() < 0.2)


def check_damage(chance, gpuhist, name):
    """Return a fault, or None."""
    frames, options = draw_damage(chance)
    block = chance.choice([100, 4096, 1 << 18]) if len(frames) < 1 << 16 else 1 << 18
    with open(name, "wb") as f:
        f.write(frames)
    first = None
    for threads in 1, 2, 8, 0:
        command = [gpuhist, "-q", "--text", "-r", "0:100", "-b", "100", "-T", str(threads or 4)] + options
        with open(name, "rb") as f:
            run = subprocess.run(command, stdin=f if threads else None, input=None if threads else frames, capture_output=True,
                env=dict(os.environ, GPUHIST_TEXT_PIECE=str(block)))
        one = (run.returncode, run.stdout, run.stderr)
        if first is not None and one != first:
            return "GPUHIST_TEXT_PIECE=%d %s: %s threads, %s; one, %s" % (block, " ".join(options), threads or "pipe, 4",
                (one[0], one[1][:50], one[2]), (first[0], first[1][:50], first[2]))
        first = one
    return None


def main():
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    done = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "t")
        for table in range(int(sys.argv[3]) if len(sys.argv) > 3 else 300):
            text, column = draw_table(chance)
            skip = chance.random() < 0.3
            with open(name, "wb") as f:
                f.write(text.encode())
            counts, first, bad = expect(text, column, skip)
            block = chance.choice([64, 65, 100, 1000, 4096, 1 << 20])
            command = [sys.argv[1], "-q", "--text" if column is None else "--text=" + argument(column), "-r", "-1000:1000:1", "--flow",
                "--nonzero", "--no-header", "-T", str(chance.randrange(1, 9))] + ["--skip-bad"] * skip
            piped = chance.random() < 0.4
            if shutil.which("zstd") and chance.random() < 0.3: # frames, cut anywhere
                cuts = sorted(chance.randrange(len(text) + 1) for _ in range(chance.choice([1, 2, 9])))
                with open(name, "wb") as f:
                    f.write(b"".join(pack(text.encode()[a:b], chance.random() < 0.5, "-3")
                        for a, b in zip([0] + cuts, cuts + [len(text)])))
                piped = False
            run = subprocess.run(command + ([] if piped else [name]), text=True, input=text if piped else "", capture_output=True,
                env=dict(os.environ, GPUHIST_TEXT_PIECE=str(block)))
            got = {}
            for row in run.stdout.splitlines():
                cells = row.split(",")
                for c, count in enumerate(cells[3:]):
                    if count != "0":
                        got[c, int(cells[1]) if cells[0].isdigit() else cells[0]] = int(count)
            line = re.search(r": line (\d+) ", run.stderr)
            if counts is None or (bad and not counts):
                good = run.returncode == 3 and line and int(line.group(1)) == first
            else:
                good = run.returncode == 0 and got == counts
            done, failed = done + bool(good), failed + (not good)
            if not good:
                kept = os.path.join(tempfile.gettempdir(), "table.%d" % table)
                with open(kept, "wb") as f:
                    f.write(text.encode())
                print("FAILED", "GPUHIST_TEXT_PIECE=%d" % block, " ".join(command), kept, "piped" * piped,
                    "expected", counts if counts is None else sorted(counts.items(), key=str)[:5], first, "got", run.returncode,
                    sorted(got.items(), key=str)[:5], run.stderr[:200])
        for case in range(40 if shutil.which("zstd") else 0):
            fault = check_damage(chance, sys.argv[1], name)
            done, failed = done + (fault is None), failed + (fault is not None)
            if fault:
                kept = os.path.join(tempfile.gettempdir(), "damage.%d" % case)
                shutil.copy(name, kept)
                print("FAILED", fault, kept)
    print("%d passed, %d failed" % (done, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
