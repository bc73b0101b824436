# SPDX-License-Identifier: MIT
# needs: zstd
# The manual's table of combinations: every cell is tried, and so is every option that the table does not name.
# shellcheck shell=sh
manual=$1/../../man/gpuhist.1
seq 1 1000 | head -c 3120 >codes
zstd -q codes
printf 'k,v\na,1\nb,2\na,3\n' >table.csv
printf '\70\0\0\0\0\0\0\0%-56s\0\0\200\77\0\0\0\100' '{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}' >w.safetensors
gpuhist -q -t u8 --stats -o whole.json codes
gpuhist -q -t u8 --record=8 --offset=4 --by=u8@0 -r 0:256 --stats -o keys.json codes

# row LABEL: how to try a row of the table, or an option that it does not name.
row() {
	words=$1 type='-t u8' bins='-b 256' out='-o out.csv' file=codes by='--record=8 --offset=4 --by=u8@0'
	case $1 in
	# rows
	--auto | --log=auto | '-b 0') bins= ;;
	--abs) type='-t i8' ;;
	--missing) words=--missing=3 ;;
	'u10bit to u14bit') words='-t u12bit' type= ;;
	'-c 2 to 64') words='-c 2' ;;
	'-c 65 and more') words='-c 65' ;;
	--rows) words=--rows=8:16 ;;
	--tensor) words=--tensor=w type='' bins='-r 0:4' file=w.safetensors ;;
	--each) words=--each=64 ;;
	--each=tensor) words='--each=tensor --stats' type='' bins='' file=w.safetensors ;;
	--by) words=$by ;;
	--part) words=--part=1/2 ;;
	'-f raw' | '-f prom') out='-o out' ;;
	--compare | --into) words=$1=before.json ;;
	--alarm) words=--alarm=empty ;;
	--linearity) words=--linearity=ramp ;;
	--every) words=--every=1s out='-o out.json' ;;
	# other options that need a value, or other words
	--bins) words='-b 64' bins='-r 0:256' ;;
	--range) words='-r 0:256' ;;
	--log) words=--log=1:256 ;;
	--edges) words=--edges=0,1,256 bins= ;;
	--mask) words=--mask=0xf ;;
	--type) words='-t i8' type= ;;
	--skip) words='-S 8' ;;
	--count) words='-n 8' ;;
	--record | --offset) words='--record=8 --offset=4' by='--by=u8@0' ;;
	--text) words=--text=v file=table.csv by=--by=k ;;
	--skip-bad) words='--text=v --skip-bad' file=table.csv by=--by=k ;;
	--zstd | --no-check) file=codes.zst ;;
	--counter) words='-C sat8' ;;
	--format) words='-f tsv' ;;
	--output) words='-o out.tsv' out= ;;
	--title) words=--title=t out='-o out.svg' ;;
	--color) words=--color=never ;;
	--threads) words='-T 1' ;;
	--memory) words='-M 64M' ;;
	esac
}
# compare LABEL COLUMN CELL: try it, and print what the manual gets wrong.
compare() {
	row "$1"
	type=${wide:-$type}
	with='' before=whole.json
	case $2 in
	GPU) with=--device=gpu ;;
	--each) with=--each=64 ;;
	--by) with=$by before=keys.json ;;
	--merge) with=--merge file=whole.json type='' bins='' ;;
	esac
	cp $before before.json
	# shellcheck disable=SC2086,SC2094 # words; some name a file as ours
	case "$1 $2" in
	'--finish --merge') gpuhist $with $out $words $file ;;
	*' pipe' | '--finish '*) head -c 10000 $file | gpuhist $with $type $bins $out $words ;;
	*) gpuhist $with $type $bins $out $words $file ;;
	esac >out 2>err
	# Without a GPU, only the message tells whether it would take the job.
	case "$? $(grep -c 'leave --device out' err)" in
	'0 0' | '4 0') got=yes ;;
	'2 0' | '4 1') got=no ;;
	*) got='it fails' ;;
	esac
	tried=$((tried + 1))
	[ "$got" = "${3%% *}" ] || printf '%s with %s: "%s" in the manual, but %s: %s\n' "$1" "$2" "$3" "$got" "$(head -n 1 err)"
}
tried=0 wide=
sed -n '/^\.Sh COMB/,/^\.Sh ENV/s/^\.It \(.* Ta .*\)/\1/p' "$manual" | sed '1d; s/Fl -/--/; s/Fl /-/; s/Cm //g; s/ No / /; s/ Ta /|/g' |
	awk -F '|' -v OFS='|' '{ n = split($1, label, / , /); for (i = 1; i <= n; i++) { $1 = label[i]; print } }' >rows
while IFS='|' read -r label gpu each by_key merge pipe; do
	[ "$gpu" = '\-' ] || compare "$label" GPU "$gpu"
	[ "$gpu" != 'yes 3' ] || { wide='-t f32' && compare "$label" GPU 'no 3' && wide=; }
	[ "$each" = '\-' ] || compare "$label" --each "$each"
	[ "$by_key" = '\-' ] || compare "$label" --by "$by_key"
	compare "$label" --merge "$merge"
	compare "$label" pipe "$pipe"
done <rows
echo "$(wc -l <rows) rows, $tried combinations tried"

# Options that the table names, that are columns, or that are no part of a job
sed 's/|.*//; s/=.*//' rows | sort -u >named
printf '%s\n' --channels --merge --device --help --version >>named
gpuhist --help | sed -n 's/^ .*\(--[a-z][a-z-]*\).*/\1/p' | grep -vxFf named >others
tried=0
while read -r option; do
	case $option in
	--bins | --counter | --format | --output | --flow | --nonzero | --no-header | --plot | --title | --color | --quiet | --verbose | --no-progress | \
		--threads | --memory | --progress) merge=yes ;;
	*) merge='no 2' ;;
	esac
	for column in GPU --each --by pipe; do compare "$option" "$column" yes; done
	compare "$option" --merge "$merge"
done <others
echo "$(wc -l <others) options, $tried combinations tried"
