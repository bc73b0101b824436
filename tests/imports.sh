#!/bin/sh
# SPDX-License-Identifier: MIT
# Does the torture reach everything that the program calls? torture_preload.so must be able to make each function fail that
# the program imports, unless a list below says why the function needs no test.
# usage: tests/imports.sh GPUHIST TORTURE_PRELOAD
set -u
gpuhist=$1 preload=$2
passed=0 failed=0

# Functions that cannot fail, or fail because of their arguments, not because of the system.
computes='mallopt fegetround fesetround __ctype_tolower_loc sprintf __x86_get_cpuid_feature_leaf sqrt strncasecmp ZSTD_versionString ZSTD_DCtx_reset ZSTD_DCtx_setParameter ZSTD_findFrameCompressedSize ZSTD_freeDCtx ZSTD_sizeof_DCtx ZSTD_getErrorCode ZSTD_getErrorName ZSTD_isError __assert_fail __ctype_b_loc __cxa_finalize __errno_location __libc_start_main __sched_cpucount
	__stack_chk_fail _exit getauxval getppid sigdelset sigfillset strerror posix_spawnattr_destroy posix_spawnattr_init posix_spawnattr_setflags posix_spawnattr_setsigdefault
	posix_spawnattr_setsigmask posix_spawn_file_actions_destroy posix_spawn_file_actions_init exp2 fma fmax fmin log log1p log2 log10 sin sqrtl free frexp getenv geteuid getopt_long getpid ldexp memchr memcmp memcpy memmem memrchr
	memmove memset nextafter nextafterf qsort raise sigaddset sigemptyset snprintf strchr strcmp strcpy strcasecmp strcspn
	strerror_r strlen strncmp strnlen strpbrk strrchr strspn strstr strtod strtold ldexpl strtol strtoll strtoul strtoull
	vsnprintf'
# Functions that could fail only because of a bug in the program.
cannot='getrlimit pthread_once pthread_cond_timedwait pthread_condattr_destroy pthread_condattr_init pthread_condattr_setclock shutdown waitpid clock_gettime kill nanosleep posix_fadvise pthread_attr_destroy pthread_attr_init pthread_attr_setstacksize pthread_cond_broadcast pthread_cond_destroy pthread_cond_init pthread_cond_signal pthread_cond_wait
	pthread_detach pthread_equal pthread_join pthread_kill pthread_mutex_destroy pthread_mutex_lock pthread_mutex_unlock
	pthread_self pthread_sigmask readv signal fmod getpgrp sigismember sigpending sigtimedwait strcat strncat syscall'
# Functions that other tests cover, or whose failure does no harm: for the GPU process, gpu_faults.sh makes them fail (the
# list of files to open is only memory); stdio, after an fopen that is reached; libzstd, whose memory is reached and whose input
# source_jobs damages; a query of a socket; the rescue file's directory, which test_publish covers; mount points, which
# test_output_keep covers; a terminal's size, which progress_pty covers; the terminal's foreground process, without which no
# line of progress is drawn; the names in a directory, without which a message is shorter.
elsewhere='posix_spawn_file_actions_adddup2 posix_spawn_file_actions_addopen chdir fwrite prctl recvmsg send tcgetpgrp recv strdup getsockopt getcwd lstat statx ZSTD_createDCtx ZSTD_decompressDCtx ZSTD_decompressStream dlopen dlsym munmap setenv fclose fgets fscanf ioctl scandir alphasort'

tortured=$(nm -D --defined-only "$preload" | sed 's/.* //; s/@.*//')
known=$(echo "$computes $cannot $elsewhere $tortured" | tr -s '\n\t' ' ')
# The names as in the source: without version, fortification, or the prefix for the C standard's scanf.
imports=$(nm -D --undefined-only "$gpuhist" |
	sed -n 's/^ *U //; s/@.*//; s/^__\(.*\)_chk$/\1/; s/^__isoc[0-9]*_//; s/^stack$/__stack_chk_fail/; /^ /d; p')
for name in $imports; do
	case " $known " in
	*" $name "*) passed=$((passed + 1)) ;;
	*)
		failed=$((failed + 1))
		printf 'FAILED %s: the torture does not know it\n' "$name"
		;;
	esac
done
[ "$passed" -gt 0 ] || failed=1
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
