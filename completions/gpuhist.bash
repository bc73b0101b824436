# SPDX-License-Identifier: MIT
# bash completion for gpuhist(1). It needs nothing but bash itself.
# shellcheck shell=bash disable=SC2207 # no word has blanks
_gpuhist() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} given='' values=''

	# --type=u8 is three words to bash.
	if [[ $cur == = ]]; then
		cur='' given=1
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]} given=1
	fi
	COMPREPLY=()
	case $prev in
	-t | --type)
		values='u8 i8 u16 i16 u24 i24 u32 i32 u64 i64 f16 bf16 f32 f64 u16be i16be u24be i24be u32be i32be
			u64be i64be f16be bf16be f32be f64be f8e4m3 f8e5m2 u1bit u2bit u4bit i2bit i4bit
			u1bitbe u2bitbe u4bitbe i2bitbe i4bitbe u10bit u12bit u14bit i10bit i12bit i14bit
			u10bitbe u12bitbe u14bitbe i10bitbe i12bitbe i14bitbe cu8 cs8 ci8 cu16 cs16 ci16 cf32 cf64'
		;;
	-f | --format) values='csv tsv raw npy json plot svg prom' ;;
	-C | --counter) values='u64 u32 sat8 sat16 sat32' ;;
	--device) values='auto cpu gpu' ;;
	--linearity) values='sine ramp' ;;
	-r | --range) values=full ;;
	--log) values=auto ;;
	-c | --channels) values=last ;;
	--each) values='file tensor' ;;
	--color) values='auto always never' ;;
	--plot) [[ $given ]] && values=log ;;
	-b | --bins | -S | --skip | -n | --count | --record | --offset | --rows | --every | --missing | --title | -T | --threads | -M | --memory)
		compopt +o default +o bashdefault 2>/dev/null
		return
		;;
	--edges) # a list, or @ and the name of a file
		[[ $cur == @* ]] && COMPREPLY=($(compgen -P @ -f -- "${cur#@}"))
		return
		;;
	-o | --output | --into | --compare) return ;;
	esac
	if [[ $values ]]; then
		COMPREPLY=($(compgen -W "$values" -- "$cur"))
	elif [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W '-t --type -b --bins -r --range --log --edges --abs --missing --mask --mod --auto --clamp --closed
			-S --skip -n --count -c --channels --text --record --offset --by --rows --part --tensor --each --skip-bad --ignore-tail --raw --zstd
			-C --counter -f --format -o --output --every --into --compare --alarm --merge --tee --finish -p --plot --title --color --stats
			--flow --nonzero --no-header --device --no-check -T --threads -M --memory -q --quiet -v --verbose
			--linearity --progress --no-progress -h --help -V --version' -- "$cur"))
	elif [[ " ${COMP_WORDS[*]} " == *' --merge '* && ! $given ]]; then
		# Files that --merge reads, and directories; names may have blanks.
		local IFS=$'\n'
		compopt +o default +o bashdefault -o filenames 2>/dev/null
		COMPREPLY=($(compgen -f -X '!*.json' -- "$cur") $(compgen -d -- "$cur"))
	fi
}
complete -o bashdefault -o default -F _gpuhist gpuhist
