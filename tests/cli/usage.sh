# What is no command line; the help fits a screen, and both go to standard output.
# shellcheck shell=sh
run gpuhist -V
run gpuhist --version
shell 'gpuhist -h | head -n 2'
# shellcheck disable=SC2016
shell 'test $(gpuhist -h | wc -l) -le 24 && test $(gpuhist -h | wc -L) -le 80'
shell 'gpuhist --help | sed -n 1p'
printf 'abcd' >a
run gpuhist --bogus a
run gpuhist -x a
run gpuhist -b
run gpuhist --bins
run gpuhist --raw=1 a
run gpuhist --quiet=1 a
run gpuhist --c a
run gpuhist -q -v a
run gpuhist -T 0 a
run gpuhist -T 4097 a
run gpuhist -T x a
run gpuhist -M 0 a
run gpuhist -M lots a
run gpuhist -M 1K a
run gpuhist --device=tpu a
shell 'CUDA_VISIBLE_DEVICES= gpuhist --device=gpu a 2>/dev/null'
run gpuhist --device=gpu:0,,2 a
run gpuhist --device=cpu -b 1 -r full a
run gpuhist -T 3 -b 1 -r full a
# Options may follow files; -- ends them; the last of several counts
run gpuhist a -b 1 -r full
run gpuhist -b 7 -b 1 -r 0:1 -r full a
run gpuhist -b1 -rfull -tu8 a -qq
run gpuhist -b 1 -r full -- a -b
# What later versions will do is refused until then
for option in --record=8 --offset=1 --channels=2 -c2 --rows=1:2 --log=1:2 --edges=1,2 --mod --auto \
	--progress --no-progress; do
	run gpuhist "$option" a
done
run gpuhist -f plot a
run gpuhist -f svg a
# Bad usage is told of before anything is opened
run gpuhist -b 0 none
run gpuhist -o none/h -b 0
# The bound on memory is met by a slower way before it is refused.
run gpuhist -M 1M -b 1000000 --nonzero /dev/null
run gpuhist -M 1K /dev/null
