# SPDX-License-Identifier: MIT
# --alarm: each kind of limit, at it and past it; channels, keys, sums, empty runs; compare_check draws more.
# shellcheck shell=sh
bytes '\1\2\3\4\5\6\7\10\11\144' >ten
for limits in p50:5 p50:4 p50:4.9 p100:99.5 'p0:<1' 'p0:<2' 'p10:<1.5' out:10% out:9.9999% out:10.0001% nan:0% empty 0.1 \
	p50:4,p99.5:99,out:5%,empty; do
	shell "gpuhist -t u8 -r 0:50 -b 5 -q -o out.csv '--alarm=$limits' ten; echo = \$?"
done
for limits in '' ' ' ',' '1,' p50 p50: p101:3 p1.00001:3 p50:x p50:-1x p50:3y out:5 out:101% 'out:<3%' nan:-1% 1.5 -1 'empty,empty,' p:3; do
	refused gpuhist -t u8 "--alarm=$limits" ten
done
refused gpuhist -t u8 --alarm=0.1 ten
refused gpuhist -t u8 --alarm=p99:2x ten
refused gpuhist -t u8 --alarm=empty --each=2 ten
refused gpuhist -t u8 --mod -b 4 --alarm=p50:1 ten
# shellcheck disable=SC2016
shell 'gpuhist -t u8 "--alarm=$(seq -s , 0 0.05 0.8)" --compare=x.json ten'
# Floats, NaN; what is written
shell 'printf "%s\n" 1 nan 2 3 | gpuhist --text -t f16 -q -r 0:3 -b 3 --alarm=nan:24.9%,out:24.9%,p50:1.9999 -o floats.csv; echo = $?; cat floats.csv'
# Channels and keys: the worst
shell 'gpuhist -t u8 -c 2 -r 0:200 -b 2 -q --alarm=p50:4 -o out.csv ten; echo = $?'
printf 'host,ms\na,1\nb,200\na,2\nb,300\nc,5\n' >hosts.csv
shell 'gpuhist --text=ms -t u16 --by=host --stats --alarm=p99:100 -q -o out.csv hosts.csv; echo = $?'
shell 'gpuhist --text=ms -t u16 --by=host -r 0:250 -b 5 --alarm=out:40% -q -f json -o hosts.json hosts.csv; echo = $?'
# A reference: KS, and quantiles without bins
gpuhist -t u8 -r 0:50 -b 5 --stats -q -f json ten >ref.json
bytes '\1\2\3\4\5\6\24\24\24\310' >slow
shell 'gpuhist -q --compare=ref.json --alarm=p100:2x,p50:2x,0.2 -o out.csv --into=sum.json slow; echo = $?; gpuhist --merge -q sum.json | tail -n 1'
shell 'gpuhist -q --compare=ref.json "--alarm=p100:<2.1x,p0:<1x" -o out.csv slow; echo = $?'
gpuhist -t u8 -r full -b 1 --stats -q -f json ten >figures.json
shell 'gpuhist -t u8 -q --compare=figures.json --alarm=p100:1.9x -b 9 -r 0:9 --nonzero slow; echo = $?'
refused gpuhist -t u8 --compare=figures.json --alarm=p100:2x,0.1 slow
refused gpuhist -t u8 --compare=figures.json --alarm=out:1% slow
refused gpuhist -t i8 --compare=figures.json --alarm=p100:2x slow
refused gpuhist -t u8 -c 2 --compare=figures.json --alarm=p100:2x slow
gpuhist -t u8 -r 0:256 -b 2 -f json ten >bare.json
refused gpuhist --compare=bare.json --alarm=p50:2x slow
gpuhist --text=ms -t u16 --by=host --stats -q -f json hosts.csv >keys.json
printf 'host,ms\na,9\nd,1\n' >more.csv
shell 'gpuhist --text=ms -t u16 --by=host --stats --compare=keys.json --alarm=p50:3x -o out.csv more.csv; echo = $?'
# Sums: quantiles of documents with figures, or of bins of one value each
shell 'gpuhist --merge ref.json ref.json -q --alarm=p100:99,out:10% -o out.csv; echo = $?'
shell 'gpuhist --merge bare.json -q --alarm=p50:1 -o out.csv; echo = $?'
# Empty runs
shell 'gpuhist -t u8 -b 4 -q --alarm=p50:1,out:0%,nan:0% /dev/null -o out.csv; echo = $?'
shell 'gpuhist -t u8 -b 4 -q --alarm=empty /dev/null -o out.csv; echo = $?'
shell 'gpuhist --compare=ref.json -q --alarm=0.1,empty /dev/null -o out.csv; echo = $?'
shell 'gpuhist --compare=ref.json -q --alarm=0.1 /dev/null -o out.csv; echo = $?'
shell 'echo host,ms | gpuhist --text=ms -t u16 --by=host --stats -q --alarm=empty -o out.csv; echo = $?'
# More than 64 channels have no quantiles
shell 'head -c 700 /dev/zero | gpuhist -t u8 -c 70 -b 2 -q --alarm=p50:1 -o out.csv; echo = $?'
# Limits of random samples, decided once more by awk from the sorted samples: the number of limits that were passed
cat >judge.awk <<'AWK'
function share(n, limit) { sub(/.*:/, "", limit); sub(/%/, "", limit); return n * 100 > limit * all }
{ all++ }
/nan/ { nan++; next }
{ value[++n] = $1 + 0; out += $1 < 0 || $1 >= 500 }
END {
	for (i = split(limits, limit, ","); i > 0; i--) {
		split(limit[i], part, ":")
		below = sub(/</, "", part[2])
		rank = int((n * substr(part[1], 2) + 99) / 100)
		x = value[rank < 1 ? 1 : rank]
		if (limit[i] == "empty") passed += all == 0
		else if (part[1] == "out") passed += share(out, limit[i])
		else if (part[1] == "nan") passed += share(nan, limit[i])
		else if (n > 0) passed += below ? x < part[2] + 0 : x > part[2] + 0
	}
	print passed + 0
}
AWK
seq 80 | awk '
	function drawn(n) { seed = seed * 16807 % 2147483647; return int(seed / 127) % n }
	{
		seed = $1 * 7919
		for (i = drawn(5) * drawn(60); i > 0; i--)
			printf "%s\n", drawn(12) ? drawn(700) - 50 : "nan" >("sample" $1)
		printf "" >("sample" $1)
		split("p0 p1 p50 p90 p99 p100", q, " ")
		for (i = 1 + drawn(4); i > 0; i--) {
			kind = drawn(5)
			line = kind == 0 ? "empty" : kind < 3 ? (kind == 1 ? "out:" : "nan:") drawn(40) "%" : \
				q[1 + drawn(6)] ":" (drawn(2) ? "<" : "") drawn(700)
			printf "%s%s", line, (i > 1 ? "," : "\n")
		}
	}' >cases
number=0 agreed=0 raised=0
while read -r limits; do
	number=$((number + 1))
	wanted=$(sort -n sample$number | awk -v limits="$limits" -f judge.awk)
	gpuhist --text -r 0:500 -b 10 -q "--alarm=$limits" -o out.csv sample$number 2>messages
	if [ $? -eq $((wanted > 0 ? 6 : 0)) ] && [ "$(wc -l <messages)" -eq "$wanted" ]; then
		agreed=$((agreed + 1))
	else
		echo "$limits: $wanted"
		cat messages
	fi
	raised=$((raised + (wanted > 0)))
done <cases
echo "$agreed of $number agree, $raised raised an alarm"
