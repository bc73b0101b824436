# SPDX-License-Identifier: MIT
# Several inputs, the standard one, parts of them, and inputs that cannot be counted.
# shellcheck shell=sh disable=SC2002,SC2086
printf 'abcdefghij' >a
printf 'ABCD' >b
: >empty
c='gpuhist -t u8 --nonzero --no-header --edges=0,97,256' # the letters of b, and those of a
run $c a b empty a
# The output if the command before the pipe failed
run $c empty
shell ": | $c"
run $c empty a empty b empty
run $c -n 3 a empty
run $c -n 0 empty
run $c -q empty
run $c --part=1/2 a b empty
run $c --part=2/2 a b empty
shell "cat b | $c a -"
shell "cat b | $c - a -"
run $c -S 2 a b
refused $c -n 99999999999999999999 a
refused $c -n -1 a
run $c -n 1K a
run $c -S 10 a
refused $c -S 11 a
refused $c -S 18446744073709551615 a
refused $c -S x a
refused $c -S 1.5001K a
shell "cat a | $c -S 9"
shell "cat a | $c -S 10"
cat a | refused $c -S 11
shell "{ $c -n 2; echo --; $c; } < b"
shell "cat b | { $c --raw -n 2; echo --; $c; }"
shell "{ $c -S 1 -n 1; echo --; cat; echo; } < b"
shell "{ $c -n 0; echo --; cat; echo; } < b"
shell "{ head -c 1 > /dev/null; $c -n 1 -; echo --; cat; echo; } < b"
shell "{ $c -n 3 - a; echo --; cat; echo; } < b"
# /dev/zero never ends, so -n must end the reading
run $c -n 1000000 /dev/zero
run gpuhist -t u24 --nonzero -n 300000 /dev/zero
refused gpuhist -t u32 -b 1 a
run gpuhist -t u32 -b 1 --ignore-tail -r full a
run gpuhist -t u24 -b 1 --ignore-tail -r full a b
cat a | refused gpuhist -t u32 -b 1
shell 'cat a | gpuhist -t u32 -b 1 --ignore-tail -r full'
run gpuhist -t u32 -b 1 -q --ignore-tail -r full a
run gpuhist -t u64 -b 1 -n 1 -r full a
refused gpuhist -t u8 -b 1 -r full a none b
refused gpuhist -t u8 .
refused gpuhist -t u8 <.
refused gpuhist -t u8 a/b
refused gpuhist -t u8 ''
nl=$(printf 'new\nline\033[1m')
refused gpuhist -t u8 "$nl"
printf 'a' >"$nl"
run $c "$nl"
# Control characters of eight bits, as UTF-8 and alone; letters read backwards; bytes that are not UTF-8; printed ones
# shellcheck disable=SC2016
shell 'gpuhist -t u8 "$(printf "c\\302\\2331m \\2331m r\\342\\200\\256 i\\342\\201\\246 l\\342\\200\\250 x\\377\\302")"'
# shellcheck disable=SC2016
shell 'gpuhist -t u8 "$(printf "\\303\\244 \\342\\202\\254 \\302\\240 \\342\\200\\257 \\360\\237\\230\\200")"'
printf 'a' >-b
run $c -- -b
run $c ./-b
# Root may read files without permission; an address that is not mapped cannot be read.
refused gpuhist -t u8 /proc/self/mem
refused $c /proc/self/loginuid/x
# A long name does not cut off the reason
long=$(printf '%240s' '' | sed 's/ /x/g')
mkdir -p "$long/$long/$long"
shell "gpuhist $long/$long/$long/none 2>&1 | grep -c 'No such file or directory'"
shell "gpuhist -t u8 a -o $long/$long/$long/none/h 2>&1 | grep -c 'No such file or directory'"
rm -rf "$long"
# Memory for only one decoder of these frames: the note of -v
shell 'head -c 3000000 /dev/zero >f; zstd -qf f; for i in 1 2 3 4 5 6 7 8; do cat f.zst f.zst; done >many.zst; gpuhist -v -T 2 -M 4M --device=cpu -t u8 -b 1 many.zst 2>&1 | grep -o "left memory.*"'
# Several frames are damaged: the message names the first, whichever thread finds its own first; frames past -n do not matter
# shellcheck disable=SC2016
shell 'head -c 100000 /dev/zero >f; zstd -qf f; n=$(stat -c %s f.zst); for i in 1 2 3 4 5 6 7 8 9; do cat f.zst; done >many.zst; for i in 2 4 8; do printf "\377" | dd of=many.zst bs=1 seek=$((i * n + n - 1)) conv=notrunc status=none; done'
# shellcheck disable=SC2016
shell 'third="offset $((2 * $(stat -c %s f.zst))):"; for i in 1 2 3 4 5 6 7 8 9; do gpuhist -T 4 -t u8 -b 1 many.zst f many.zst 2>&1; done | sort -u | sed "s/$third/the third:/"'
# shellcheck disable=SC2016
shell 'third="offset $((2 * $(stat -c %s f.zst))):"; for i in 1 2 3; do cat many.zst | gpuhist -T 4 -t u8 -b 1 2>&1; done | sort -u | sed "s/$third/the third:/"'
run gpuhist -t u8 --no-header -b 1 -n 200000 many.zst
# A directory, an index of shards, and samples of unknown type
mkdir samples
touch samples/a.f32 samples/b.WAV samples/c.txt samples/d.u16.zst samples/e.npy samples/README
refused gpuhist samples
refused gpuhist --merge samples
rm samples/[a-e]*
refused gpuhist samples/
shell 'gpuhist <samples'
echo '{"metadata": {"total_size": 16}, "weight_map": {"w": "m-00001-of-00002.safetensors"}}' >m.safetensors.index.json
for option in '' --tensor=w '--each=tensor --stats'; do refused gpuhist $option m.safetensors.index.json; done
printf '\001\002\003\004\005\006' >firmware.bin
refused gpuhist firmware.bin
refused gpuhist -t u32 firmware.bin
refused gpuhist --raw firmware.bin
run gpuhist -t byte -b 4 firmware.bin
