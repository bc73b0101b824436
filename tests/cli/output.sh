# SPDX-License-Identifier: MIT
# -o: new files, replaced files, links, devices; a failure leaves no file.
# shellcheck shell=sh disable=SC2086
printf 'abcd' >a
c='gpuhist -t u8 -b 1 -r full'
umask 027
run $c -o new a
cat new
stat -c %a new
printf 'old' >old
ln -s old link
ln -s nothing dangling
ln old hard
run $c -o link a
test -h link && cat old
cat hard
echo
# A file that is replaced keeps its mode, whatever the umask; its other links keep the old contents
chmod 604 old
run $c -o old a
stat -c %a old
chmod 4711 old
run $c -o old a
stat -c %a old
run $c -o dangling a
test -h dangling && cat nothing
# A chain of links, and one without an end; names of the greatest length, and longer ones
ln -s link second
run $c -o second -f tsv a
test -h second && test -h link && cat old
ln -s loop loop
refused $c -o loop a
long=$(printf '%255s' '' | tr ' ' x) huge=$(printf '%5000s' '' | tr ' ' /)
export c long huge
# shellcheck disable=SC2016
shell '$c -o $long a; cat $long; rm $long'
# shellcheck disable=SC2016
shell '$c -o $huge a 2>&1 | cut -c 1-30'
# The temporary file, which the manual names
mkfifo slow
shell "$c -o late slow & exec 3>slow; ls -A | grep late; exec 3>&-; wait; ls -A | grep late"
run $c -o new -o other a
cat other
run $c -o - a
run $c -o /dev/null a
refused $c -o /dev/full a
shell "$c a > /dev/full"
shell 'gpuhist -V > /dev/full'
shell 'gpuhist -h > /dev/full'
shell "gpuhist -t u32 -b 100000 -r full a > /dev/full"
mkfifo fifo
shell "$c -o fifo a & cat fifo; wait"
test -p fifo && echo still a fifo
mkdir folder
refused $c -o folder a
refused $c -o folder/ a
refused $c -o none/new a
refused $c -o new/ a
refused $c -o a/new a
refused $c -o '' a
refused $c -o . a
# Root may write where permissions forbid it, but not here
refused $c -o /proc/new a
refused $c -o "$(printf '%300s' '' | sed 's/ /x/g')" a
# Input and output are the same file
refused $c -o a a
refused $c -o ./a a
ln -s a same
refused $c -o same a
refused $c -o a same
shell "$c -o a < a"
shell "$c a >> a"
shell "$c < a >> a"
cat a
echo
# A failure leaves the old file, and no other
refused $c -o old -t u64 a
cat old
refused gpuhist -t u24 -o made a
refused $c -o made a none
refused $c -o made -S 5 a
# Text already in a redirected output stays, /dev/stdout or not
shell "{ echo before; $c a; echo after; } > all; cat all"
shell "{ echo before; $c -o /dev/stdout a; echo after; } > all; cat all"
shell "echo log > log; $c -o /dev/stdout a >> log; cat log"
shell "$c -o /dev/stdout a | cat"
shell "$c -o /dev/fd/3 a 3> third; cat third"
# A file size limit leaves no partial file either
sh -c 'ulimit -f 1; gpuhist -t u8 -r full -b 100000 -o toobig a; :' >nowhere 2>&1
rm -f nowhere core*
ls -A
# Two overflows of -C u32 lose nothing
$c -f json a | sed 's/\[0,4,0\]/[0,5000000000,0]/; s/"\(samples\|bytes\)": 4,/"\1": 5000000000,/g' >5e9.json
for first in 5 6; do
	sed "s/\([^0-9]\)5000000000/\1${first}000000000/g" 5e9.json >in.json
	refused gpuhist --merge -o h.bin in.json
done
grep -o '"values".*' h.bin.rescue.json h.bin.2.rescue.json
# ... nor does one whose rescue file gets its name while another writes its own
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
	gpuhist --merge -C u32 -o many.bin in.json 2>>rescues &
done
wait
echo many.bin*.rescue.json | wc -w
grep -c 'saved in many' rescues
