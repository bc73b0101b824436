# SPDX-License-Identifier: MIT
"""--linearity compared with PyPI's adctoolbox, whose DNL of a sine has another unit.

usage: adctoolbox_check.py GPUHIST SEED       needs PyPI's adctoolbox
"""
import csv
import io
import subprocess
import sys

import numpy as np
from adctoolbox.aout.compute_inl_from_ramp import compute_inl_from_ramp
from adctoolbox.aout.compute_inl_from_sine import compute_inl_from_sine

program, seed = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(seed)


def columns(codes, wave):
    command = [program, "-q", "-t", "u16", "-b", "1024", f"--linearity={wave}", "-f", "csv"]
    text = subprocess.run(command, input=codes.tobytes(), capture_output=True, check=True).stdout.decode()
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["dnl"]]
    return np.array([float(r["dnl"]) for r in rows]), np.array([float(r["inl"]) for r in rows])


for job in range(10):
    edges = np.cumsum(np.maximum(rng.normal(1, 0.4, 1023), 0))
    phase = rng.random(1 << 19)
    middle = edges[-1] / 2
    for wave in "sine", "ramp":
        x = middle + 1.02 * middle * np.sin(2 * np.pi * phase) if wave == "sine" else 1.01 * edges[-1] * phase
        codes = np.searchsorted(edges, x, side="right").astype("<u2")
        dnl, inl = columns(codes, wave)
        if wave == "ramp":
            other = compute_inl_from_ramp(codes, code_min=int(codes.min()), endpoint="none")
            assert np.abs(dnl - other["dnl"]).max() < 1e-6, job
            assert np.abs(inl - other["inl"][:-1]).max() < 1e-6, job
        else:
            # adctoolbox divides by the mean width of all codes, the ends included; its INL is at a code's upper end.
            own, other, _ = compute_inl_from_sine(codes, num_bits=10, clip_percent=0)
            unit = len(dnl) / (len(dnl) + 2)
            kept = other > -1  # adctoolbox clips lower values
            assert np.abs(dnl - other * unit)[kept].max() < 1e-6, job
            assert dnl[~kept].max(initial=-1) < -0.99, job
            if kept.all():
                assert np.abs(inl[1:] - own[:-1] * unit).max() < 1e-4, job
print("20 converters")
