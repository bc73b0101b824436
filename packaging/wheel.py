# SPDX-License-Identifier: MIT
"""Make a wheel of an installed tree: the Python module, the program in the directory of scripts, and its manual and
completions below the environment's share. The same tree gives the same bytes.

As the backend of pyproject.toml, first let make build and install the program with the compiler and libzstd of this
system: `pip install .`. packaging/binary.sh builds the program of a wheel for other computers.

usage: python3 packaging/wheel.py PREFIX MACHINE DIRECTORY
"""
import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time
import zipfile

METADATA = """\
Metadata-Version: 2.4
Name: gpuhist
Version: {version}
Summary: Counts binary samples into a histogram, exactly, at memory speed
License-Expression: {license}
{files}Keywords: histogram,statistics,binary,zstd,CUDA
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
SHARED = ("man/man1/gpuhist.1", "man/man5/gpuhist-inputs.5", "man/man5/gpuhist-json.5", "man/man5/gpuhist-output.5",
          "bash-completion/completions/gpuhist", "zsh/site-functions/_gpuhist", "fish/vendor_completions.d/gpuhist.fish")

TREE = pathlib.Path(__file__).parents[1]


class UnsupportedOperation(Exception):
    """Raised by a hook that this backend does not provide."""


def write(prefix, machine, directory):
    """Write the wheel of what `make install` put into prefix, and return its name."""
    makefile = TREE / "Makefile"
    version = re.search(r"^VERSION = (\S+)$", makefile.read_text(), re.M)[1].replace("-dev", ".dev0")
    made = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH") or makefile.stat().st_mtime))[:6]
    program = (prefix / "bin/gpuhist").read_bytes()
    needs = re.search(rb"needs: glibc (\d+)\.(\d+) or later", program)
    system = f"manylinux_{int(needs[1])}_{int(needs[2])}" if needs else "linux"
    tag = f"py3-none-{system}_{machine}"
    # A wheel that contains libzstd contains its licence, too.
    licences = sorted((prefix / "share/doc/gpuhist").glob("LICENSE*"))

    info = f"gpuhist-{version}.dist-info"
    data = f"gpuhist-{version}.data"
    module = TREE / "python"
    files = {str(file.relative_to(module)): file.read_bytes() for file in sorted(module.glob("gpuhist/*")) if file.is_file()}
    files[f"{data}/scripts/gpuhist"] = program
    files |= {f"{data}/data/share/{file}": (prefix / "share" / file).read_bytes() for file in SHARED}
    files |= {f"{info}/licenses/{file.name}": file.read_bytes() for file in licences}
    files[f"{info}/METADATA"] = METADATA.format(
        version=version, license="MIT" if len(licences) == 1 else "MIT AND BSD-3-Clause",
        files="".join(f"License-File: {file.name}\n" for file in licences)).encode()
    files[f"{info}/WHEEL"] = WHEEL.format(version=version, tag=tag).encode()
    record = ""
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()

    wheel = pathlib.Path(directory) / f"gpuhist-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, made)
            entry.create_system = 3  # Unix, whose modes follow
            entry.external_attr = (0o100755 if content is program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return wheel.name


# The hooks of pip and of other frontends. CC, CFLAGS, NVCC and so on come from the environment, where make finds them.
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Build the program for this computer, and return the name of its wheel."""
    del config_settings, metadata_directory
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run(["make", f"-j{len(os.sched_getaffinity(0))}", "BUILD=build/wheel", "PROGRAM=build/wheel/gpuhist",
                        "DESTDIR=", f"PREFIX={prefix}", "install"], cwd=TREE, check=True)
        return write(pathlib.Path(prefix), platform.machine(), wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    """Refuse: `make dist` packs the sources of a release."""
    raise UnsupportedOperation("make dist packs the sources of gpuhist")


if __name__ == "__main__":
    print(pathlib.Path(sys.argv[3]) / write(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
