# SPDX-License-Identifier: MIT
# The instruction set of the loops can be forced; the counts stay the same.
# shellcheck shell=sh
printf '\1bcabcabcabc' >a
shell 'GPUHIST_ISA=base gpuhist -b 4 -r full a'
shell 'GPUHIST_ISA=base gpuhist -v -b 4 -r full a 2>&1 | grep -o "base loops"'
# A known instruction set is used, or refused in one line.
for isa in avx2 avx512 vbmi2; do
	shell "GPUHIST_ISA=$isa gpuhist -v /dev/null 2>&1 | grep -c -e '$isa loops' -e '=$isa is not an instruction set'"
done
shell 'GPUHIST_ISA=mmx gpuhist a'
shell 'GPUHIST_ISA= gpuhist -b 1 -r full a'
