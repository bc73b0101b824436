# SPDX-License-Identifier: MIT
# The options in a document: those that affect the counts, as they were given, in one order. Documents that cannot be added.
# shellcheck shell=sh
bytes '\001\002\003\004\005\006\007\010\011\012\013\014' >twelve
options() {
	run gpuhist "$@" -q -o out.json twelve
	grep -o '"most": [^,]*\|"options": "[^"]*"' out.json
}
options -t '<u2' -b 1K -T 2
options --bins=0x400 --device=cpu -tu16 -C u64
options -S 2 -n 1e3 -t i8 --mod -b 7
options -S 2 -n 1k -t i8 --mod -b7 --ignore-tail --raw
options --edges '0 1,2 3' -t f32 --closed
options --record=6 -c 2 --offset=2 -t u8 -r full --clamp
options --rows=2:4 --auto -t u16
options

# Documents changed in one place: the message gives the reason, and the place if it is no longer JSON
changed() { # FILE SED...
	file=$1
	shift
	gpuhist -q --merge -f json "$file" >same.json
	for how; do
		sed "$how" "$file" >changed.json
		cmp -s "$file" changed.json && echo 'nothing was changed'
		printf '%.50s: ' "$how"
		if gpuhist -q --merge -f json changed.json >sum.json 2>why; then
			if cmp -s sum.json same.json; then echo 'the same'; else grep -o '"storage.*' sum.json; fi
		else
			sed 's/^gpuhist: changed.json//' why
		fi
	done
}
bytes '\0\0\0\0\0\0\360\077\1\2\3\4' >real
gpuhist -q -t u16 -b 800 -r 0:1600 -c 2 -f json twelve >two.json
gpuhist -q -t u8 -b 5 --auto -f json twelve >auto.json
gpuhist -q -t u8 -b 14 -f json twelve >one.json
gpuhist -q -t u8 -b 14 -f json --nonzero twelve >sparse.json
gpuhist -q -t f64 --edges=0,0.1,7 -n 1 -f json real >edges.json
gpuhist -q -t f64 --log=0.1:7 -b 2 -n 1 -f json real >log.json
# A byte order mark before each document
mark=$(printf '\357\273\277')
shell "{ printf '$mark' && cat one.json && printf ' $mark' && cat one.json; } | gpuhist -q --merge --nonzero --no-header"
refused gpuhist --merge /dev/stdin <<EOF
$mark$mark{}
EOF
# Places do not depend on the length of the version.
sed -i 's/"version": "[^"]*"/"version": "0.3.0"/g' one.json two.json auto.json sparse.json edges.json log.json
changed one.json 's/"samples": 12, //' 's/"samples": 12/"samples": -1/' 's/"samples": 12/"samples": "twelve"/' \
	's/"samples": 12/&, &/' 's/"samples": 12/"samples": 12.0/' 's/"nan": 0/"nan": 1/' 's/"under": 0/"under": 1/' \
	's/"u8"/"u9"/' 's/"u8"/"u8\\u0000"/' 's/"u8"/"i8"/' 's/"range", /"ranges", /' 's/"range", /"log", /' \
	's/"range", /"mod", /' 's/"range", /"auto", "most": 3, /' 's/"0:14"/"014"/' 's/"0:14"/"0:15"/' 's/"0:14"/"14:0"/' \
	's/"lower": 0/"lower": 1/' 's/"lower": 0/"lower": -0.0e9/' 's/"lower": 0, //' 's/"bins": 14/"bins": 13/' \
	's/"bins": 14/"bins": 268435456/' 's/"bins": 14/"bins": 268435457/' 's/"bins": 14/"edges": [0]/' \
	's/"closed": false/"closed": 0/' 's/"clamp": false, //' 's/"channels": 1/"channels": 2/' \
	's/"channels": 1/"channels": 65537/' 's/"part": 1/"part": 2/' 's/"axes": \[\(.*\)\], "st/"axes": [\1, \1], "st/' \
	's/"values": \[/&18446744073709551616,/' 's/"values": \[0/"values": [1e17/' 's/"values": \[0/"values": [-1/' \
	's/0,0,1,1/0,0,18446744073709551615,3/' 's/,0\]/,]/' 's/,0\]/,01]/' 's/,0\]/,0.]/' \
	's/,0\]/,true]/' 's/"values": .*\]/"values": []/' 's/"values": .*\]/"values": null/' 's/}}$/}/' 's/}}$/}]/' \
	's/"version"/"note": "\\ud83d\\ude00\\\/", &/' 's/"version"/"note": "\\ud83d", &/' 's/"version"/"note": "\\x", &/' \
	's/"version"/note: 1, &/' 's/"version"/"note" 1, &/' "s/\"version\"/\"note\": \"$(printf '\t')\", &/" \
	"s/\"version\"/\"note\": $(printf '%60s' '' | tr ' ' '[')$(printf '%60s' '' | tr ' ' ']'), &/" \
	"s/\"version\"/\"note\": $(printf '%99s' '' | tr ' ' '['), &/" \
	"s/\"version\"/\"note\": 1$(printf '%400s' '' | tr ' ' 0), &/"
changed sparse.json 's/"bins": 14, "underflow/"bins": 28, "underflow/' 's/\[\[2,/[[0,/' 's/\[\[2,/[[3,/' 's/,13\]\]/,99]]/' 's/\[\[2,/[[/' 's/\[\[/[[1],[/' \
	's/\[\[.*\]\]/[]/'
changed edges.json 's/\[0,0.1,/[ -0e0 , 1E-1 ,/' 's/\[0,0.1,/[0,/' 's/\[0,0.1,/[0,1e999,/' 's/\[0,0.1,/[0,7,/' 's/\[0,/[0.5,/'
changed log.json 's/\(,0.8366[0-9]*\)/\11/' 's/\(,0.8366\)[0-9]*/\1/'
changed auto.json 's/"clamp": false/"clamp": true/' 's/"most": 5/"most": 1/'
changed two.json 's/channel1/channel_b/' 's/"channel": 1/"channel": 0/' 's/"channel": 1/"channel": 2/' \
	's/"channel1"/"other"/' 's/\("channel1".*\)"inputs": 1/\1"inputs": 2/' 's/\("channel1".*\)"u16"/\1"i16"/'
# No document takes more memory than its length and its bins justify
sed 's/.*"writer_info": {//' one.json >body
for long in '"%400000s"' '"%1100000s"'; do
	# shellcheck disable=SC2059 # the text is a format
	printf '{"writer_info": {"note": %s, ' "$(printf "$long" '')" | cat - body >changed.json
	run gpuhist -q --merge --no-header --nonzero changed.json
done
# Options of 90,000 bytes in each of 12 channels are accepted, because only one channel's are remembered at a time
gpuhist -q -t u8 -c 12 -b 14 -f json twelve | sed "s/\"options\": \"/&$(printf '%90000s' '' | tr ' ' x)/g" >long.json
run gpuhist -q --merge -f csv --nonzero --no-header long.json
