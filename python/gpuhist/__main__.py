# SPDX-License-Identifier: MIT
"""python -m gpuhist: the program itself."""
import os
import sys

from gpuhist import program

os.execv(program(), ["gpuhist"] + sys.argv[1:])
