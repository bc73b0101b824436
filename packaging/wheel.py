# SPDX-License-Identifier: MIT
"""Makes a wheel of a tarball of packaging/binary.sh, for pip and its like: the Python module, the program in the folder of
scripts, its manual and completions below the environment's share. The same bytes from the same tarball and tree.
usage: python3 packaging/wheel.py .../gpuhist-VERSION-linux-MACHINE.tar.gz FOLDER
"""
import base64
import hashlib
import pathlib
import re
import sys
import tarfile
import time
import zipfile

METADATA = """\
Metadata-Version: 2.4
Name: gpuhist
Version: {version}
Summary: Counts binary samples into a histogram, exactly, at memory speed
License-Expression: MIT AND BSD-3-Clause
License-File: LICENSE
License-File: LICENSE.zstd
Keywords: histogram,statistics,binary,zstd,CUDA
Classifier: Environment :: Console
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering
Requires-Python: >=3.9
Provides-Extra: numpy
Requires-Dist: numpy; extra == "numpy"
Description-Content-Type: text/markdown

A Unix filter for 64-bit Linux: it counts binary integers and floats, from pipes and files, into a histogram as CSV, JSON,
`.npy` or a picture, on all cores, and on an NVIDIA GPU if that saves time.

    gpuhist -t u8 -f plot /bin/sh      # the bytes of a file, as a picture
    gpuhist --help                     # all options

The module runs it for Python; `histogram` and arrays need NumPy (`gpuhist[numpy]`):

    counts, edges = gpuhist.histogram("iq.cf32", bins=1000, range=(-1, 1))   # as numpy.histogram; arrays, too
    document = gpuhist.run("adc.u16", bins=4096, stats=True)                 # a UHI histogram, for hist
"""
WHEEL = """\
Wheel-Version: 1.0
Generator: gpuhist ({version})
Root-Is-Purelib: false
Tag: {tag}
"""
SHARED = ("man/man1/gpuhist.1", "bash-completion/completions/gpuhist", "zsh/site-functions/_gpuhist",
          "fish/vendor_completions.d/gpuhist.fish")

tarball = pathlib.Path(sys.argv[1])
full, _, machine = tarball.name.removesuffix(".tar.gz").rsplit("-", 2)
name, _, version = full.replace("-dev", ".dev0").partition("-")
with tarfile.open(tarball) as tar:
    def read(path):
        return tar.extractfile(f"{tarball.name.removesuffix('.tar.gz')}/{path}").read()

    program = read("bin/gpuhist")
    data = {f"share/{file}": read(f"share/{file}") for file in SHARED}
    licences = {file: read(f"share/doc/gpuhist/{file}") for file in ("LICENSE", "LICENSE.zstd")}
    made = time.gmtime(tar.getmembers()[0].mtime)[:6]
major, minor = re.search(rb"needs: glibc (\d+)\.(\d+) or later", program).groups()
tag = f"py3-none-manylinux_{int(major)}_{int(minor)}_{machine}"

info = f"{name}-{version}.dist-info"
module = pathlib.Path(__file__).parents[1] / "python"
files = {str(file.relative_to(module)): file.read_bytes() for file in sorted(module.glob("gpuhist/*")) if file.is_file()}
files[f"{name}-{version}.data/scripts/gpuhist"] = program
files |= {f"{name}-{version}.data/data/{file}": text for file, text in data.items()}
files |= {f"{info}/licenses/{file}": text for file, text in licences.items()}
files[f"{info}/METADATA"] = METADATA.format(version=version).encode()
files[f"{info}/WHEEL"] = WHEEL.format(version=version, tag=tag).encode()
record = ""
for path, content in files.items():
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    record += f"{path},sha256={digest},{len(content)}\n"
files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()

wheel = pathlib.Path(sys.argv[2]) / f"{name}-{version}-{tag}.whl"
with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for path, content in files.items():
        entry = zipfile.ZipInfo(path, made)
        entry.create_system = 3  # Unix, whose modes follow
        entry.external_attr = (0o100755 if content is program else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(entry, content)
print(wheel)
