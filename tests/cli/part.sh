# SPDX-License-Identifier: MIT
# --part: which part of how many, as it is given or as a launcher says it; %K and %N in -o; what does not go with it.
# shellcheck shell=sh
: >e
printf '\1bcd' >a
# The variables of a launcher that started the tests.
unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE SLURM_PROCID SLURM_STEP_NUM_TASKS SLURM_NTASKS \
	SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_MIN SLURM_ARRAY_TASK_MAX SLURM_ARRAY_TASK_STEP SLURM_ARRAY_TASK_COUNT
c='gpuhist -b 1 -r full'
which="grep -o 'part\": [0-9]*, .parts\": [0-9]*'"

# What a document says of itself
for part in 1/1 1/2 2/2 03/10 2147483648/2147483648; do
	shell "$c -f json --part=$part e | $which"
done
shell "$c -f json --part=auto --part=2/3 e | $which"
# The options are those of the whole
shell "$c -f json --part=2/3 e | grep -c -e --part"
for part in 0/4 5/4 4 a/b 1/0 1/2147483649 99999999999999999999/3 '' 1/ /1 ' 1/2' 1/2/3 0x1/2 4:8 AUTO; do
	run gpuhist --part "$part" e
done
run gpuhist --part
run gpuhist --part=1/0 --part=1/2 e

# What a launcher says
run $c --part=auto e
shell "SLURM_PROCID=0 SLURM_NTASKS=4 $c --part=auto e"
shell "OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 $c --part=auto -f json e | $which"
shell "PMI_RANK=0 PMI_SIZE=3 $c --part=auto -f json e | $which"
shell "SLURM_PROCID=7 SLURM_STEP_NUM_TASKS=8 $c --part=auto -f json e | $which"
array='SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=9 SLURM_ARRAY_TASK_STEP=3 SLURM_ARRAY_TASK_COUNT=3'
shell "SLURM_PROCID=0 $array $c --part=auto -f json e | $which"
shell "SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 $array $c --part=auto e"
shell "OMPI_COMM_WORLD_RANK=x OMPI_COMM_WORLD_SIZE=4 $c --part=auto e"
shell "OMPI_COMM_WORLD_RANK=1 $c --part=auto e"
# Launched for one part only, each of many copies would count everything: that is said
shell "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 $c --part=auto a"
shell "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 $c --part=auto -q a"
# The numbers that are given are those that count
shell "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 $c --part=auto --part=2/3 -f json e | $which"
# Messages say which part
shell "PMI_RANK=0 PMI_SIZE=3 $c --part=auto none"
run $c --part=2/3 none
head -c 400 /dev/zero >long
for part in PMI_RANK=0 PMI_RANK=9; do
	shell "$part PMI_SIZE=10 $c --part=auto -v -n 9 long 2>&1 >/dev/null | grep record"
done
shell "PMI_RANK=0 PMI_SIZE=1 $c --part=auto -v long 2>&1 >/dev/null | grep record"
rm long

# The name of the output
shell "PMI_RANK=6 PMI_SIZE=12 $c --part=auto e -o part.%K.of.%N.json && ls && rm part.*"
mkdir 1 2
shell "$c --part=1/2 e -o %K/100%%.%K%K.csv && ls 1 && rm 1/*"
run $c e -o 5%.%K.csv
shell 'ls; rm 5*'
run $c --part=1/2 e -o 5%.csv
run $c --part=1/2 e -o part.%k.csv
run $c --part=1/2 e -o part.%03K.csv
run $c --part=1/2 e -o part.%
run $c --part=1/2 e -o part.%K.gz
run $c --part=1/2 e -o %K.csv -o one.csv
ls
shell "PMI_RANK=0 PMI_SIZE=3 $c --part=auto e -o one.csv"
shell "PMI_RANK=0 PMI_SIZE=3 $c --part=auto e -o new.%N%%K.csv"
shell "PMI_RANK=0 PMI_SIZE=1 $c --part=auto e -q -o one.csv && rm one.csv"
shell "PMI_RANK=0 PMI_SIZE=3 $c --part=auto --no-header e -o /dev/null"
shell "PMI_RANK=0 PMI_SIZE=3 $c --part=auto --no-header e -o -"
shell "PMI_RANK=0 PMI_SIZE=3 $c --part=auto --no-header e -o /dev/stdout"
mkfifo fifo
shell "timeout 20 cat fifo & PMI_RANK=0 PMI_SIZE=3 $c --part=auto --no-header e -o fifo; wait"

# What does not go with it
run gpuhist --merge --part=1/2 e
shell "$c --part=1/2 -f json e | gpuhist --part=1/2 --merge"
run $c --part=1/2 --into=sum.json e
run $c --part=1/2 --tee e -o %K.csv
ls
