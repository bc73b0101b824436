#!/bin/sh
# SPDX-License-Identifier: MIT
# A Slurm of one node of four processors, of this user's own, with all its files in FOLDER: nothing of the system is changed.
# usage: tests/cluster/slurm.sh start FOLDER      prints the name of its configuration, for SLURM_CONF
#        tests/cluster/slurm.sh stop FOLDER
# FOLDER's own folders must not be writable by others, or munged refuses to begin.
set -eu
folder=$(realpath "$2")
PATH=$PATH:/usr/sbin:/sbin

await() { # WHAT COMMAND...: until it succeeds, or for a minute
	what=$1 tries=0
	shift
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		if [ "$tries" -gt 600 ]; then
			echo "slurm.sh: $what does not answer" >&2
			tail -n 20 "$folder"/*.log >&2
			exit 1
		fi
		sleep 0.1
	done
}

ended() { # NAME: its process has removed its file, or is gone
	[ ! -e "$folder/$1.pid" ] || ! kill -0 "$(cat "$folder/$1.pid")"
}

case $1 in
stop)
	for name in slurmd slurmctld munged; do
		[ ! -e "$folder/$name.pid" ] || kill "$(cat "$folder/$name.pid")" 2>/dev/null || true
		await "the end of $name" ended "$name"
	done
	exit 0
	;;
esac

host=$(hostname -s) user=$(id -un)
port=$((20000 + $$ % 20000))
mkdir -p "$folder/state" "$folder/spool"
(umask 077 && head -c 1024 /dev/urandom >"$folder/munge.key")
cat >"$folder/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
SlurmctldPort=$port
SlurmdPort=$((port + 1))
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
ReturnToService=2
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
END
export SLURM_CONF="$folder/slurm.conf"
munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
	--log-file="$folder/munged.log" --seed-file="$folder/munge.seed" >/dev/null 2>&1
munged_answers() {
	munge -n -S "$folder/munge.socket" | unmunge -S "$folder/munge.socket"
}
await munged munged_answers
slurmctld -c
slurmd -c
idle() {
	sinfo -h -o %T | grep -q idle
}
await slurmd idle
echo "$SLURM_CONF"
