# SPDX-License-Identifier: MIT
# Wrong command lines; the help fits a screen; help and version are printed to standard output.
# shellcheck shell=sh
# The facts of the build differ from build to build.
shell "gpuhist -V | sed '1s/-dev.*//; 2,\$s/: .*/: .../'"
shell 'gpuhist -h | sed -n 1p'
shell 'gpuhist --help | sed -n 1p'
printf '\1bcd' >a
refused gpuhist --bogus a
refused gpuhist -b
refused gpuhist --raw=1 a
refused gpuhist --c a
refused gpuhist --bogus=1 a
# The nearest option is suggested, or none if all are far
for option in --rnage --Bins --min=0 --input -log=1:2 -tflaot32 -fcvs --=; do
	refused gpuhist "$option" a
done
refused gpuhist --bin
# The last of -q and -v counts
refused gpuhist -q -v -r 1:2 -b 1 --no-header -t u8 --bogus a
shell 'gpuhist -q -v -t u8 -b 1 a 2>&1 | grep -c -e ': CPU: ' -e warning'
shell 'gpuhist --verbose --quiet -t u8 -b 1 a 2>&1 | grep -c -e ': CPU: ' -e warning'
# All cores
run gpuhist -T 0 -b 1 -r full a
refused gpuhist -T 4097 a
refused gpuhist -M 0 a
refused gpuhist -M lots a
refused gpuhist --offset=1,000 --record=4K a
refused gpuhist -t f32 --log=1,10 a
# Sizes and counts
run gpuhist -t u8 -S 0x3 -b 0x80 --nonzero --no-header a
refused gpuhist -t u8 -n 1.5 a
run gpuhist -t u8 -n 0X1 -b 1kB -M 1mB --nonzero --no-header a
shell 'gpuhist -t u8 -S 1k -n 1M -r full -b 1 --no-header /dev/zero'
shell 'gpuhist -b 64K /dev/null | tail -n 1'
refused gpuhist -S 1kb a
refused gpuhist -n 0x a
refused gpuhist -b 1G a
refused gpuhist --device=tpu a
shell 'CUDA_VISIBLE_DEVICES= gpuhist --device=gpu a 2>/dev/null'
if gpuhist -V | grep -q 'no kernels'; then
	gpuhist --device=gpu a 2>&1 | grep -v 'used: this program was built without GPU kernels; build it where nvcc is installed$'
fi
refused gpuhist --device=gpu:0,2 a
# Options may follow files; -- ends them; the last of several counts
run gpuhist a -b 1 -r full
run gpuhist -b 7 -b 1 -r 0:1 -r full a
run gpuhist -b1 -rfull -tu8 a -qq
refused gpuhist -b 1 -r full -- a -b
run gpuhist --no-progress a
refused gpuhist '' -Z
# Bad usage is reported before anything is opened
refused gpuhist -b 1.5 none
refused gpuhist -o none/h -b 1.5
# The program takes a slower way that fits the bound on memory before it refuses the job.
run gpuhist -M 1M -b 1000000 --nonzero /dev/null
refused gpuhist -M 1K /dev/null
# Sizes with decimals: a whole number of bytes, or a message with the nearest such size; words that belong elsewhere
head -c 10000 /dev/zero >zeros
for size in 2.5K 2.5KB 0.001MB 2500e-3k; do
	shell "gpuhist -q -t u8 -b 1 --each=$size --no-header zeros | sed 's/.*,//' | uniq -c"
done
for size in 2.4M 2.4MiB 2.4k 1.5 2. .5K 0x1.8K 1.00000000000000000000K; do refused gpuhist --each=$size zeros; done
refused gpuhist -M 2.4M zeros
refused gpuhist --edges=0,10,100,inf zeros
refused gpuhist --edges=-Infinity,0,1 zeros
refused gpuhist --log zeros
refused gpuhist -r zeros
