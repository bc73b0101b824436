# SPDX-License-Identifier: MIT
# needs: zstd
# SigMF: X.sigmf-meta describes the samples in X.sigmf-data.
# shellcheck shell=sh
bytes '\001\000\376\377\003\000\374\377\001\000\002\000\003\000\004\000' >a.sigmf-data
meta() {
	printf '%s\n' "$1" >a.sigmf-meta
}
quick() {
	run gpuhist -q -r -8:8 -b 4 --no-header "$@"
}
meta '{"global": {"core:datatype": "ci16_le", "core:version": "1.2.0"}, "captures": [], "annotations": []}'
quick a.sigmf-data
quick a.sigmf-meta
quick -c 1 ./a.sigmf-meta
shell 'gpuhist -v -f raw -o /dev/null -r -8:8 -b 4 a.sigmf-data 2>&1 | grep SigMF'
# The same samples with -t
run gpuhist -q -t i16 -c 2 -r -8:8 -b 4 --no-header --raw a.sigmf-data
quick -t cs16 a.sigmf-data
refused gpuhist -t u16 a.sigmf-data
refused gpuhist -t i16be a.sigmf-meta
refused gpuhist -c 4 a.sigmf-data
run gpuhist -t u8 -q -b 2 --raw --no-header a.sigmf-data
shell 'gpuhist -t u8 -q -b 1 --raw a.sigmf-meta | tail -1'
shell 'zstd -qc a.sigmf-data >b.sigmf-data.zst; cp a.sigmf-meta b.sigmf-meta'
quick b.sigmf-data.zst
quick a.sigmf-data b.sigmf-data.zst
cp a.sigmf-data c.i16
refused gpuhist a.sigmf-data c.i16
# Channels, header bytes, byte order; members in any order, unknown ones anywhere
meta '{"annotations": [{"core:datatype": "ru8", "core:header_bytes": 7, "global": [{"x": null}]}], "": {"": {"global": {"core:datatype": "rf32"}}},
"captures": [{"core:sample_start": 0, "core:header_bytes": 4}, {"core:sample_start": 2, "core:header_bytes": 0}],
"global": {"core:num_channels": 2, "core:sample_rate": 1e6, "core:trailing_bytes": 0, "core:datatype": "ri16_be", "core:extensions": []}}'
run gpuhist -q --edges=-1024,0,256,1024 --flow a.sigmf-data
run gpuhist -q -t i16be -c 2 -S 4 --edges=-1024,0,256,1024 --flow --raw a.sigmf-data
run gpuhist -q -S 4 --edges=-1024,0,256,1024 --flow a.sigmf-data
run gpuhist -q --each=1 -r -1024:1024 -b 1 a.sigmf-data
meta '{"global": {"core:datatype": "ci8", "core:num_channels": 3}}'
run gpuhist -q -b 1 -r 0:1 --no-header --ignore-tail a.sigmf-data
meta '{"global": {"core:datatype": "ru8"}, "captures": [{"core:header_bytes": 17}]}'
refused gpuhist a.sigmf-data
# The data is samples, even if it begins like a header
meta '{"global": {"core:datatype": "ru8"}}'
printf 'RIFF....WAVE' >a.sigmf-data
run gpuhist -q -b 1 --no-header a.sigmf-data
# Metadata that cannot be understood is refused, not guessed
for text in '' '<html>' '[]' '{}' '{"global": {}}' '{"global": {"core:datatype": "ru8"}' '{"global": {"core:datatype": "ru8"}} x' \
	'{"global": {"core:datatype": "ru9"}}' '{"global": {"core:datatype": "u8"}}' '{"global": {"core:datatype": 8}}' \
	'{"global": {"core:datatype": ["ru8"]}}' '{"global": {"core:datatype": "ru8", "core:num_channels": 0}}' \
	'{"global": {"core:datatype": "ru8", "core:num_channels": "2"}}' '{"global": {"core:datatype": "ru8", "core:num_channels": 1.5}}' \
	'{"global": {"core:datatype": "ru8", "core:num_channels": 99999999999}}' \
	'{"global": {"core:datatype": "ru8", "core:trailing_bytes": 2}}' \
	'{"global": {"core:datatype": "ru8"}, "captures": [{}, {"core:header_bytes": 2}]}' '{"global" 1}' '{1: 2}'; do
	meta "$text"
	refused gpuhist a.sigmf-data
done
refused gpuhist -t u8 a.sigmf-data
run gpuhist -t u8 -q -b 1 --no-header --raw a.sigmf-data
# The data has another name, or does not exist
meta '{"global": {"core:datatype": "ru8", "core:dataset": "a.bin"}}'
refused gpuhist a.sigmf-data
rm a.sigmf-data
refused gpuhist a.sigmf-meta
meta '{"global": {"core:datatype": "ru8"}}'
refused gpuhist a.sigmf-meta
mkdir d d/b.sigmf-meta
printf 12 >d/b.sigmf-data
refused gpuhist d
refused gpuhist d/b.sigmf-data
