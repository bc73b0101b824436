# SPDX-License-Identifier: MIT
"""Spark: each part is a task that returns its histogram as one line of JSON; gpuhist adds the lines up.
usage: spark-submit spark_count.py PARTS OUTPUT OPTION... FILE...
  spark-submit --master yarn spark_count.py 64 all.json -t f32 -r -1:1 -b 1000 /data/big.f32

Workers need gpuhist, and must see the FILEs. Spark tries a failed task again (spark.task.maxFailures); then the message is
raised here, and OUTPUT stays as it was. RDD.pipe would not do: it pipes text, and ignores exit statuses.
"""
import subprocess
import sys

from pyspark.sql import SparkSession


def counter(arguments):
    def count(part):
        done = subprocess.run(["gpuhist", f"--part={part}", "-T1", "-fjson", *arguments], capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(f"part {part}: status {done.returncode}: {done.stderr.decode()}")
        return done.stdout

    return count


parts, output, arguments = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
context = SparkSession.builder.appName("gpuhist").getOrCreate().sparkContext
slices = context.parallelize([f"{k}/{parts}" for k in range(1, parts + 1)], parts)
lines = slices.map(counter(arguments)).collect()
sys.exit(subprocess.run(["gpuhist", "--merge", "-o", output], input=b"".join(lines)).returncode)
