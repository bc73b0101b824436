# SPDX-License-Identifier: MIT
# For Spack, not tested with it: put this file into packages/gpuhist of your own repository, and the tarball of
# `make dist` into the directory where you run spack.
import os

from spack.package import *


class Gpuhist(MakefilePackage):
    """Counts binary samples into a histogram, exactly, at memory speed."""

    manual_download = True
    url = f"file://{os.getcwd()}/gpuhist-0.5.0.tar.gz"

    license("MIT")

    version("0.5.0")

    variant("cuda", default=False, description="Kernels for NVIDIA GPUs")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("zstd@1.4:")
    depends_on("cuda@12:", type="build", when="+cuda")

    conflicts("platform=darwin")
    conflicts("platform=windows")

    def make_variables(self):
        nvcc = self.spec["cuda"].prefix.bin.nvcc if self.spec.satisfies("+cuda") else ""
        return [f"NVCC={nvcc}", f"PREFIX={self.prefix}", "FORM=Spack package"]

    def build(self, spec, prefix):
        make(*self.make_variables())

    def install(self, spec, prefix):
        make("install", *self.make_variables())
