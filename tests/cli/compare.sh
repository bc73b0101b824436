# SPDX-License-Identifier: MIT
# --compare: samples out of range and NaN count. keyed.sh compares keys, into.sh has pictures and what is refused, and
# tests/compare_check.py computes random cases.
# shellcheck shell=sh
printf '0.5\n0.5\n1.5\n9\n' | gpuhist -q --text -r 0:2 -b 2 -f json >ref.json
# Of three samples a third lies below 0, of the other four none: KS is 1/3. The divergence has five categories of four
# samples each: 1/8 + (log2(2/3) + 2 log2(4/3)) / 8 + 0 + 1/8 + 1/8.
shell "printf -- '-5\\n0.5\\n1.5\\nnan\\n' | gpuhist -q --text -r 0:2 -b 2 --compare=ref.json -o h.csv"
# The same, the other way round
printf -- '-5\n0.5\n1.5\nnan\n' | gpuhist -q --text -r 0:2 -b 2 -f json >other.json
run gpuhist -q --merge ref.json --compare=other.json -f json -o h.json
shell 'grep -o "\"compare_[^,]*" h.json'
# A heat map has no bars over which the reference could be drawn
head -c 40 /dev/zero >zeros.u8
gpuhist -q -c 20 -r 0:4 -b 2 -o twenty.json zeros.u8
shell 'gpuhist -q -c 20 -r 0:4 -b 2 --compare=twenty.json -f svg zeros.u8 2>/dev/null | well_formed | grep -o "20 channels.*drawn"'
