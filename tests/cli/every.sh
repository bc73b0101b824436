# SPDX-License-Identifier: MIT
# --every: the output while counting continues, at its end, and after a failure. No time is asserted: each step waits until
# the file has become what it should.
# shellcheck shell=sh
mkfifo pipe
i=0
while [ $i -lt 3000 ]; do
	printf '%04d, samples of which some are repeated again' $((i * 7919 % 10000))
	i=$((i + 1))
done >all
head -c 49152 all >prefix

# counts FILE: print a document without the members that describe the run, which differ.
counts() {
	sed 's/"partial": true, //g; s/"options": "[^"]*"/"options": ""/g' "$1"
}

# becomes FILE DOCUMENT: wait until a file has the counts of another one.
becomes() {
	tries=0
	until [ -f "$1" ] && [ "$(counts "$1")" = "$(counts "$2")" ]; do
		tries=$((tries + 1))
		[ $tries -lt 1000 ] || return 1
		sleep 0.01
	done
}

# begin_with DOCUMENT OPTION...: start a run, and wait until it has counted the first part of the pipe, which is descriptor 3
# of this shell, and waits for more.
begin_with() {
	document=$1
	shift
	printf '\n$ gpuhist %s --every=0.1 -o h.json pipe\n' "$*"
	rm -f h.json
	gpuhist "$@" --every=0.1 -o h.json pipe 2>err &
	pid=$!
	exec 3>pipe
	cat prefix >&3
	becomes h.json "$document" && echo 'while it waits: the counts so far'
	grep -c '"partial": true' h.json
}
begin() {
	gpuhist "$@" -q -o part.json prefix
	begin_with part.json "$@"
}

end() {
	exec 3>&-
	wait "$pid"
	echo "status $?, temporary files: $(find . -name '.h.*' | wc -l)"
	sed 's/^/! /' err
}

# so_far OPTION...: do that, then send the rest.
so_far() {
	begin "$@"
	tail -c +49153 all >&3
	end
	gpuhist "$@" -q -o whole.json all
	[ "$(counts h.json)" = "$(counts whole.json)" ] && echo 'at the end: all of them'
	grep -c '"partial": true' h.json
}
so_far -t u8
so_far -t u16 -c 2 -b 70 -r full -T 2 --device=cpu
so_far -t u24 -b 1000 -r full --device=cpu
so_far -t u32 -b 100000 -r full -M 400K
so_far -t u32 -c 3 --auto -b 9
so_far -t i16 --auto -b 9
so_far -q -t f32 --log=1e-30:1e30 -b 90
so_far -t u8 --record=12 --offset=3
so_far -t u2bit -c 8
# Statistics are computed only at the end.
gpuhist -q -t u32 -b 90 -r full -o plain.json prefix
begin_with plain.json -t u32 -b 90 -r full --stats
end >ended
grep -v stats: ended
grep -c '"stats_mean": ' h.json

# If the run fails, the last counts so far stay.
begin -t u32 -b 9 -r full
printf 'abc' >&3
end
becomes h.json part.json && grep -c '"partial": true' h.json
# After a signal they stay too, and the program dies of it.
begin -t u8
kill "$pid"
{ wait "$pid"; } 2>/dev/null
echo "status $?, temporary files: $(find . -name '.h.*' | wc -l)"
exec 3>&-
becomes h.json part.json && grep -c '"partial": true' h.json
# While no samples come, nothing is written.
begin -t u8
touch -d @1 h.json
sleep 0.4
find h.json ! -newermt @1
# If an update cannot be written, that is reported once, and only that update is lost.
until rm -f h.json && mkdir h.json 2>/dev/null; do :; done
tail -c +49153 all >&3
until grep -q every err; do sleep 0.01; done
rmdir h.json
gpuhist -t u8 -q -o whole.json all
becomes h.json whole.json && echo 'written again'
end
grep -c '"partial": true' h.json

# Outputs that cannot be replaced, or cannot tell that they are partial
refused gpuhist --every=1s -t u8 all
refused gpuhist --every=1s -t u8 -o - -f json all
refused gpuhist --every=1s -t u8 -o /dev/stdout -f json all
refused gpuhist --every=1s -t u8 -o /dev/null -f json all
refused gpuhist --every=1s -t u8 -o pipe -f json all
refused gpuhist --every=1s -t u8 -o h.csv all
# The format of many channels may follow from the name of -o.
run gpuhist --every=1s -t i32 -b 4 -c 65 -q -o many.json /dev/null
refused gpuhist --every=1s -t u8 -o h.json -f npy all
refused gpuhist --every=1s --merge -o h.json part.json
for time in 0 0.01 -1 1x nan '' 367d; do
	refused gpuhist --every="$time" -t u8 -o h.json all
done
run gpuhist --every=1h -t u8 -b 1 -r full -f svg -o h all
