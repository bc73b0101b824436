#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the examples of docs/python.md in an empty directory, and compare their output with the page.

A block that begins with ```pycon MODULE... is left out, by name, if a MODULE is missing.

usage: python_doc.py GPUHIST
"""
import doctest
import importlib
import os
import pathlib
import re
import sys
import tempfile

GPUHIST = os.path.realpath(sys.argv[1])
TREE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TREE / "python"))
sys.dont_write_bytecode = True
import gpuhist  # noqa: E402 pylint: disable=wrong-import-position

gpuhist.program = lambda: GPUHIST
PAGE = TREE / "docs/python.md"
text = PAGE.read_text(encoding="utf-8")
runner = doctest.DocTestRunner()
names = {}
with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    for block in re.finditer(r"^```pycon(.*)\n((?s:.*?))^```$", text, re.M):
        try:
            for module in block[1].split():
                importlib.import_module(module)
        except ImportError as error:
            print(f"left out: a block of {PAGE.name} ({error})")
            continue
        line = text.count("\n", 0, block.start(2))
        test = doctest.DocTestParser().get_doctest(block[2], names, PAGE.name, str(PAGE), line)
        runner.run(test, clear_globs=False)
        names = test.globs
    os.chdir(TREE)
print(f"{runner.tries - runner.failures} passed, {runner.failures or int(not runner.tries)} failed")
sys.exit(runner.failures > 0 or not runner.tries)
