# SPDX-License-Identifier: MIT
# needs: zstd
# Tensors of safetensors files: --tensor, --each=tensor, headers that lie.
# shellcheck shell=sh disable=SC2002,SC2086
unset LC_CTYPE LANG NO_COLOR

# file NAME MEMBERS DATA: a safetensors file; MEMBERS has the JSON without its braces, DATA printf's escapes.
file() {
	length=$(printf '{%s}' "$2" | wc -c)
	printf "\\$(printf %o $((length & 255)))\\$(printf %o $((length >> 8)))\0\0\0\0\0\0{%s}$3" "$2" >"$1"
}
# tensor NAME DTYPE SHAPE BEGIN,END
tensor() {
	printf '"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%s]}' "$@"
}
file m.safetensors "\"__metadata__\":{\"w\":\"}{\"},$(tensor w F32 2,2 4,20),$(tensor b BF16 3 20,26),$(
	tensor 'a,\"\u001b[31m\u00e9' U8 '' 26,27),$(tensor mask BOOL 4 0,4),$(tensor none I64 0,7 4,4),$(tensor q F4 2 27,28),$(
	tensor z C64 1 28,36)" \
	'\001\0\001\001\0\0\200\77\0\0\0\300\0\0\300\177\0\0\200\77\0\77\200\276\100\77\007\061\0\0\0\0\0\0\0\0'
file n.safetensors "$(tensor other F32 1 0,4),$(tensor b BF16 1 4,6)" '\0\0\0\0\200\77'
cp m.safetensors 'm,"2".safetensors'
zstd -q m.safetensors

# One tensor, by each route
c='gpuhist --nonzero'
run gpuhist m.safetensors
escape=$(printf 'a,"\033[31mé')
for name in w b "$escape" 'a,"?[31mé' mask none; do
	run $c --no-header --tensor="$name" m.safetensors
done
shell "$c --tensor=mask <m.safetensors"
{
	cat m.safetensors | $c --tensor=mask
	$c --tensor=mask m.safetensors.zst
	zstd -qc m.safetensors | $c --tensor=mask
	(head -c 100 && sleep 0.1 && cat) <m.safetensors | $c --tensor=mask
} | sort | uniq -c
run $c --tensor=w --log=auto -b 4 m.safetensors
shell "$c --tensor=w --stats=50 -r -4:4 -b 2 -f json m.safetensors | grep -o 'options\": \"[^\"]*'"
# Shards: files without the tensor are skipped, streams are read to their end
shell "$c --tensor=other -v m.safetensors n.safetensors m.safetensors 2>err; grep safetensors err; grep -o '.* from [0-9]* input' err"
shell "cat n.safetensors | $c --tensor=w - m.safetensors n.safetensors"
run $c --tensor=b -b 4 n.safetensors m.safetensors
shell "for k in 1 2 3; do $c --no-header --tensor=w -q --part=\$k/3 n.safetensors m.safetensors; done"
run gpuhist --tensor=w --each=2 -r -4:4 -b 4 n.safetensors m.safetensors
run gpuhist --tensor=w --each=file -r -4:4 -b 4 n.safetensors m.safetensors
shell 'gpuhist --tensor=w --each=file -r -4:4 -b 1 m.safetensors n.safetensors | cut -d, -f1-4'
# A picture's title names the tensor or the files
for options in --tensor=w --tensor=b '--tensor=w --title=mine' '--tensor=w --each=file -r -4:4 -b 2'; do
	gpuhist $options -q -f plot n.safetensors m.safetensors >drawn
	head -n 1 drawn
done
# A tensor larger than any buffer, between others
file large.safetensors "$(tensor a U8 2 0,2),$(tensor l U8 3000001 2,3000003),$(tensor b U8 2 3000003,3000005)" '\001\002'
head -c 3000001 /dev/zero >>large.safetensors
printf '\003\004' >>large.safetensors
run $c --tensor=l large.safetensors
shell "cat large.safetensors | $c --tensor=l"
shell 'gpuhist --each=tensor --stats=0,100 --no-header -q -f csv -b 4 large.safetensors'
refused $c --tensor=nothing m.safetensors n.safetensors
refused $c --tensor=mask2 m.safetensors
refused $c --tensor=masc n.safetensors m.safetensors
refused $c --tensor=q m.safetensors
# All tensors
run gpuhist --each=tensor --stats=50 'm,"2".safetensors' n.safetensors
shell 'gpuhist --each=tensor --stats=0,99.9 --no-header -q -f tsv -b 4 --log=auto - <m.safetensors | head -n 2'
shell "gpuhist --each=tensor --stats=50 -q -o rows.json m.safetensors && grep -o '\"row_of.*\"shape[^,]*' rows.json"
shell "gpuhist --each=tensor --stats=50 -v -o rows.tsv n.safetensors 2>&1 | sed 's/ s: .*//; s/[0-9.]*\$/SECONDS/'; wc -l <rows.tsv"
shell "gpuhist --each=tensor --stats -f json n.safetensors n.safetensors | sed -n '1p;3p' | $c --merge"
# ... with the same figures as each tensor alone
export escape
# shellcheck disable=SC2016 # the shell that is started expands it
shell 'gpuhist --each=tensor --stats -q -f json m.safetensors | grep -o "\"samples.*\"bytes\": [0-9]*" >each
for name in w b "$escape" mask none; do
	gpuhist --tensor="$name" --stats -q -f json m.safetensors 2>&1 | grep -o "\"samples.*\"bytes\": [0-9]*"
done | cmp - each'
# Options that contradict each other
for option in '-t f32' '-c 1' '-n 3' '-S 1' --record=4 --rows=2:8 --raw; do
	refused gpuhist --tensor=w $option m.safetensors
	refused gpuhist --each=tensor --stats $option m.safetensors
done | sed 's/--each=tensor/--tensor/' | uniq
for option in --tensor=w --zstd --ignore-tail '--tee -o x' -p '-f svg' '-f npy' '-f raw' --nonzero --device=gpu \
	'--every=1s -o x.json' --into=x.json --part=1/2 --merge --finish --mod; do
	refused gpuhist --each=tensor --stats $option m.safetensors
done
refused gpuhist --each=tensor m.safetensors
# A plot of tensors is their table
run gpuhist --each=tensor --stats -f plot m.safetensors
refused gpuhist --each=tensor --stats n.safetensors .
shell 'cat m.safetensors | gpuhist --each=tensor --stats; gpuhist --each=tensor --stats n.safetensors m.safetensors.zst; ls x*'
# Other files, and damaged ones
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1234567890\n' >lfs.safetensors
printf 'GGUF\003\0\0\0' >model.gguf
printf 'PK\003\004\024\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\016\0\0\0archive/data.pkl' >zip.pt
printf '\200\002\212\nl\374\234F\371 j\250P\031.' >pickle.pt
seq 100 >text
: >empty.safetensors
for input in lfs.safetensors model.gguf zip.pt pickle.pt text empty.safetensors /dev/null; do
	{
		refused gpuhist $input
		refused gpuhist --tensor=w $input
		refused gpuhist --each=tensor --stats n.safetensors $input
	} | uniq
done
head -c 20 m.safetensors >short
refused gpuhist --tensor=w short
head -c 455 m.safetensors >short
refused gpuhist --tensor=w short
shell 'cat short | gpuhist --tensor=w --ignore-tail --nonzero; gpuhist --tensor=mask --nonzero short'
refused gpuhist --each=tensor --stats=50 n.safetensors short
printf '\001\341\365\005\0\0\0\0{"' >long
refused gpuhist --tensor=w long
printf '\377\377\377\377\377\377\377\377{"' >longest
refused gpuhist --tensor=w longest
printf '\0\0\100\0\0\0\0\0{"' >memory
refused gpuhist --tensor=w -M 8M memory
truncate -s 5M memory
refused gpuhist --tensor=w -M 8M memory
refused gpuhist --tensor=w memory
printf '\002\0\0\0\0\0\0\0{}' >none
refused gpuhist none
refused gpuhist --tensor=w none
bad() {
	file bad "$1" '0123456789'
	{ refused gpuhist --tensor=w bad && refused gpuhist --each=tensor --stats n.safetensors bad; } | uniq
}
bad "$(tensor w U8 4 6,2)"
bad "$(tensor w F32 2 0,9)"
bad "$(tensor w U8 4 0,4),$(tensor w U8 4 4,8)"
bad "\"w\":$(printf %2000s '' | tr ' ' '[')"
bad "\"a
b\":{}"
bad "$(tensor w U8 4 0,4),$(tensor v U8 4 5,9)"
bad "$(tensor w U8 4 0,4),"
bad "$(tensor w U8 4, 0,4)"
bad "$(printf '"\377":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}')"
bad "\"__metadata__\":,$(tensor w U8 10 0,10)"
# A file that goes on after its last tensor, and one that ends before: by each route
file longer "$(tensor w U8 2 0,2),$(tensor v U8 3 2,5)" 012345
file shorter "$(tensor w U8 2 0,2),$(tensor v U8 3 2,5)" 0123
zstd -q longer shorter
for name in longer shorter; do
	for tensor in w v; do
		{
			$c --tensor=$tensor $name
			$c --tensor=$tensor $name.zst
			$c --tensor=$tensor <$name
			cat $name | $c --tensor=$tensor
			zstd -qc $name | $c --tensor=$tensor
			(head -c 200 && sleep 0.1 && cat) <$name | $c --tensor=$tensor
			$c --tensor=$tensor --part=1/1 $name
		} 2>&1 | grep -v '^bin' | sed "s/standard input/$name/; s/\.zst//" | sort | uniq -c
	done
	refused gpuhist --each=tensor --stats $name
done
# Names are compared as they are; messages show '?' for control characters and for bytes that are no UTF-8
file odd "$(tensor 'a\u001b' U8 1 0,1),$(tensor 'a?' U8 1 1,2),$(tensor 'a\n' U8 1 2,3),$(tensor '\\u0000' U8 1 3,4),$(
	tensor '\\udc00' U8 1 4,5),$(tensor '\udcff' U8 1 5,6)" abcdef
run gpuhist odd
shell "gpuhist --each=tensor --stats=50 odd | tr '\\377\\033' '!^'"
# shellcheck disable=SC2016 # the shell that is started expands it
shell 'for name in "a$(printf "\033")" "a?" "a
" "\\u0000" "\\udc00" "$(printf "\377")" "a!"; do gpuhist --tensor="$name" --nonzero --no-header odd; done'
