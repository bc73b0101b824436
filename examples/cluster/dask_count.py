# SPDX-License-Identifier: MIT
"""Dask: each part is a task that returns its histogram as one line of JSON; gpuhist adds the lines up.
usage: python3 dask_count.py PARTS OUTPUT OPTION... FILE...
  python3 dask_count.py 64 all.json -t f32 -r -1:1 -b 1000 /data/big.f32

It runs on this computer; with dask.distributed.Client("scheduler:8786") before compute(), it runs on a cluster whose workers
have gpuhist and see the FILEs. A part that fails raises its message here, and OUTPUT stays as it was.
"""
import subprocess
import sys

import dask.bag


def count(part):
    done = subprocess.run(["gpuhist", f"--part={part}", "-T1", "-fjson", *arguments], capture_output=True)
    if done.returncode != 0:  # never read the output of a failed run
        raise RuntimeError(f"part {part}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout


parts, output, arguments = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
if __name__ == "__main__":
    bag = dask.bag.from_sequence([f"{k}/{parts}" for k in range(1, parts + 1)], npartitions=parts)
    lines = bag.map(count).compute(scheduler="threads")  # threads are enough: a task only waits for gpuhist
    sys.exit(subprocess.run(["gpuhist", "--merge", "-o", output], input=b"".join(lines)).returncode)
