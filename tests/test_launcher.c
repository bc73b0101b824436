/* SPDX-License-Identifier: MIT */
/*
 * launcher: environments as launchers make them, one in another too, and as no launcher makes them:
 * the part, or the variables that the message names.
 */
#include "cli/launcher.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

/* NAME=VALUE, one a line. */
#define OMPI(rank, size) "OMPI_COMM_WORLD_RANK=" rank "\nOMPI_COMM_WORLD_SIZE=" size "\n"
#define PMI(rank, size) "PMI_RANK=" rank "\nPMI_SIZE=" size "\n"
#define STEP(rank, size) "SLURM_PROCID=" rank "\nSLURM_STEP_NUM_TASKS=" size "\n"
#define BATCH "SLURM_PROCID=0\nSLURM_NTASKS=4\nSLURM_JOB_ID=77\n"
#define ARRAY(id, min, max, step, count)                                                      \
	"SLURM_ARRAY_TASK_ID=" id "\nSLURM_ARRAY_TASK_MIN=" min "\nSLURM_ARRAY_TASK_MAX=" max \
	"\n"                                                                                  \
	"SLURM_ARRAY_TASK_STEP=" step "\nSLURM_ARRAY_TASK_COUNT=" count "\n"

/* Makes a text like the above the environment. */
static void set(const char *environment)
{
	char line[256];

	clearenv();
	for (const char *p = environment; *p; p += strcspn(p, "\n") + 1) {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(p, "\n"), p);
		char *const value = strchr(line, '=');
		*value = '\0';
		setenv(line, value + 1, 1);
	}
}

static void parts(void)
{
	static const struct {
		const char *what, *environment;
		uint32_t part, parts;
		const char *variable;
	} CASES[] = {
		{"mpirun", OMPI("0", "4"), 1, 4, "OMPI_COMM_WORLD_SIZE"},
		{"its last rank", OMPI("3", "4"), 4, 4, "OMPI_COMM_WORLD_SIZE"},
		{"mpiexec", PMI("2", "3"), 3, 3, "PMI_SIZE"},
		{"srun", STEP("5", "8") "SLURM_NTASKS=8\n", 6, 8, "SLURM_STEP_NUM_TASKS"},
		{"one task of srun", STEP("0", "1"), 1, 1, "SLURM_STEP_NUM_TASKS"},
		{"one rank", OMPI("0", "1"), 1, 1, "OMPI_COMM_WORLD_SIZE"},
		{"an array", BATCH ARRAY("0", "0", "7", "1", "8"), 1, 8, "SLURM_ARRAY_TASK_COUNT"},
		{"an array in strides", BATCH ARRAY("6", "3", "9", "3", "3"), 2, 3,
		 "SLURM_ARRAY_TASK_COUNT"},
		{"its last task", BATCH ARRAY("9", "3", "9", "3", "3"), 3, 3,
		 "SLURM_ARRAY_TASK_COUNT"},
		{"strides that pass the end", ARRAY("7", "1", "7", "3", "3"), 3, 3,
		 "SLURM_ARRAY_TASK_COUNT"},
		{"an array without MAX",
		 "SLURM_ARRAY_TASK_ID=4\nSLURM_ARRAY_TASK_MIN=1\nSLURM_ARRAY_TASK_STEP=1\nSLURM_"
		 "ARRAY_TASK_COUNT=9\n",
		 4, 9, "SLURM_ARRAY_TASK_COUNT"},
		{"an array of one", BATCH ARRAY("5", "5", "5", "1", "1"), 1, 1,
		 "SLURM_ARRAY_TASK_COUNT"},
		{"the most", OMPI("2147483647", "2147483648"), 2147483648, 2147483648,
		 "OMPI_COMM_WORLD_SIZE"},
		{"zeros before it", PMI("0007", "00008"), 8, 8, "PMI_SIZE"},
		/* One in another. */
		{"mpirun in a batch script", BATCH OMPI("2", "4"), 3, 4, "OMPI_COMM_WORLD_SIZE"},
		{"mpirun, its rank on another node", STEP("0", "3") OMPI("2", "4"), 3, 4,
		 "OMPI_COMM_WORLD_SIZE"},
		{"mpiexec, its rank on another node", STEP("1", "2") PMI("1", "8"), 2, 8,
		 "PMI_SIZE"},
		{"srun --mpi=pmi2", STEP("1", "8") PMI("1", "8"), 2, 8, "PMI_SIZE"},
		{"a node's step says nothing, be it wrong",
		 "SLURM_PROCID=x\nSLURM_STEP_NUM_TASKS=y\n" PMI("1", "8"), 2, 8, "PMI_SIZE"},
		{"a launcher that sets both", OMPI("2", "4") PMI("2", "4"), 3, 4,
		 "OMPI_COMM_WORLD_SIZE"},
		{"srun -n 1 in an array", ARRAY("2", "0", "7", "1", "8") STEP("0", "1"), 3, 8,
		 "SLURM_ARRAY_TASK_COUNT"},
		{"mpirun -n 1 in an array", BATCH ARRAY("2", "0", "7", "1", "8") OMPI("0", "1"), 3,
		 8, "SLURM_ARRAY_TASK_COUNT"},
		{"srun -n 4 in an array of one", ARRAY("2", "2", "2", "1", "1") STEP("3", "4"), 4,
		 4, "SLURM_STEP_NUM_TASKS"},
		{"mpirun -n 4 in an array of one", ARRAY("2", "2", "2", "1", "1") OMPI("1", "4"), 2,
		 4, "OMPI_COMM_WORLD_SIZE"},
		{"mpirun -n 4 in mpiexec -n 1", PMI("0", "1") OMPI("1", "4"), 2, 4,
		 "OMPI_COMM_WORLD_SIZE"},
		{"mpirun -n 1 in mpiexec -n 4", PMI("1", "4") OMPI("0", "1"), 2, 4, "PMI_SIZE"},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		uint32_t part = 0, parts = 0;
		const char *variable = "none";
		struct fail fail = {.status = STATUS_OK};
		set(CASES[i].environment);
		const int rc = launcher_part(&part, &parts, &variable, &fail);
		CHECK(rc == 0 && part == CASES[i].part && parts == CASES[i].parts &&
			      strcmp(variable, CASES[i].variable) == 0,
		      "%s: %lu of %lu by %s: %s", CASES[i].what, (unsigned long)part,
		      (unsigned long)parts, variable, fail.text);
	}
}

/* Each message is a usage error and has all the words. */
static void refused(void)
{
	static const struct {
		const char *environment, *words[5];
	} CASES[] = {
		{"",
		 {"none of OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_STEP_NUM_TASKS",
		  "SLURM_ARRAY_TASK_ID", "--part=K/N"}},
		{"HOME=/\nSLURM_NTASKS=4\n", {"none of OMPI_COMM_WORLD_RANK"}},
		{BATCH, {"none of OMPI_COMM_WORLD_RANK"}},
		/* Half of it. */
		{"OMPI_COMM_WORLD_RANK=1\n",
		 {"OMPI_COMM_WORLD_RANK is 1", "OMPI_COMM_WORLD_SIZE is not set"}},
		{"OMPI_COMM_WORLD_SIZE=4\n",
		 {"OMPI_COMM_WORLD_SIZE is 4", "OMPI_COMM_WORLD_RANK is not set"}},
		{"PMI_RANK=1\n" STEP("1", "4"), {"PMI_RANK is 1", "PMI_SIZE is not set"}},
		{"SLURM_STEP_NUM_TASKS=4\n",
		 {"SLURM_STEP_NUM_TASKS is 4", "SLURM_PROCID is not set"}},
		{"SLURM_ARRAY_TASK_ID=4\n",
		 {"SLURM_ARRAY_TASK_ID is 4", "SLURM_ARRAY_TASK_COUNT is not set"}},
		{"SLURM_ARRAY_TASK_ID=4\nSLURM_ARRAY_TASK_COUNT=9\nSLURM_ARRAY_TASK_MIN=1\n",
		 {"SLURM_ARRAY_TASK_ID is 4", "SLURM_ARRAY_TASK_STEP is not set"}},
		/* No numbers, or too large. */
		{OMPI("", "4"), {"OMPI_COMM_WORLD_RANK is ''", "from 0 to 2147483648"}},
		{OMPI("1", "4x"), {"OMPI_COMM_WORLD_SIZE is '4x'", "from 1 to 2147483648"}},
		{OMPI("-1", "4"), {"OMPI_COMM_WORLD_RANK is '-1'"}},
		{OMPI(" 1", "4"), {"OMPI_COMM_WORLD_RANK is ' 1'"}},
		{OMPI("0x1", "4"), {"OMPI_COMM_WORLD_RANK is '0x1'"}},
		{OMPI("0", "0"), {"OMPI_COMM_WORLD_SIZE is '0'"}},
		{OMPI("1", "2147483649"), {"OMPI_COMM_WORLD_SIZE is '2147483649'"}},
		{OMPI("1", "4294967298"), {"OMPI_COMM_WORLD_SIZE is '4294967298'"}},
		{PMI("1", "18446744073709551618"), {"PMI_SIZE is '18446744073709551618'"}},
		{STEP("1", "2(x3)"), {"SLURM_STEP_NUM_TASKS is '2(x3)'"}},
		{ARRAY("1", "1", "8", "0", "8"), {"SLURM_ARRAY_TASK_STEP is '0'"}},
		{ARRAY("1", "1", "z", "1", "8"), {"SLURM_ARRAY_TASK_MAX is 'z'"}},
		/* A rank that there is not. */
		{OMPI("4", "4"), {"OMPI_COMM_WORLD_RANK is 4", "OMPI_COMM_WORLD_SIZE is 4"}},
		{STEP("1", "1"), {"SLURM_PROCID is 1", "SLURM_STEP_NUM_TASKS is 1"}},
		/*
		 * Arrays of which only some tasks were started: the parts' numbers would be others.
		 */
		{ARRAY("1", "1", "7", "1", "3"),
		 {"SLURM_ARRAY_TASK_ID is 1", "SLURM_ARRAY_TASK_COUNT 3", "evenly spaced"}},
		{ARRAY("7", "1", "7", "1", "3"), {"SLURM_ARRAY_TASK_ID is 7", "evenly spaced"}},
		{ARRAY("8", "1", "8", "1", "3"), {"SLURM_ARRAY_TASK_ID is 8", "evenly spaced"}},
		{ARRAY("4", "3", "9", "3", "3"), {"SLURM_ARRAY_TASK_ID is 4", "evenly spaced"}},
		{ARRAY("0", "1", "8", "1", "8"), {"SLURM_ARRAY_TASK_ID is 0", "evenly spaced"}},
		{ARRAY("9", "1", "8", "1", "8"), {"SLURM_ARRAY_TASK_ID is 9", "evenly spaced"}},
		{ARRAY("1", "1", "0", "1", "1"), {"SLURM_ARRAY_TASK_ID is 1", "evenly spaced"}},
		/* Contradictions. */
		{OMPI("1", "4") PMI("2", "4"),
		 {"OMPI_COMM_WORLD_RANK is 1", "OMPI_COMM_WORLD_SIZE 4", "PMI_RANK is 2",
		  "PMI_SIZE 4"}},
		{OMPI("1", "4") PMI("1", "8"), {"OMPI_COMM_WORLD_SIZE 4", "PMI_SIZE 8"}},
		{OMPI("0", "1") STEP("2", "4"),
		 {"OMPI_COMM_WORLD_RANK is 0", "OMPI_COMM_WORLD_SIZE 1", "SLURM_PROCID is 2",
		  "SLURM_STEP_NUM_TASKS 4"}},
		{PMI("0", "1") STEP("2", "4"), {"PMI_SIZE 1", "SLURM_STEP_NUM_TASKS 4"}},
		{STEP("2", "4") ARRAY("3", "0", "7", "1", "8"),
		 {"SLURM_PROCID is 2", "SLURM_STEP_NUM_TASKS 4", "SLURM_ARRAY_TASK_ID is 3",
		  "SLURM_ARRAY_TASK_COUNT 8"}},
		/*
		 * That the numbers are the same in this task says nothing: in others they are not.
		 */
		{STEP("2", "4") ARRAY("2", "0", "3", "1", "4"),
		 {"SLURM_PROCID is 2", "SLURM_ARRAY_TASK_ID is 2"}},
		{OMPI("2", "4") ARRAY("3", "0", "7", "1", "8"),
		 {"OMPI_COMM_WORLD_RANK is 2", "SLURM_ARRAY_TASK_ID is 3"}},
		{PMI("2", "4") ARRAY("3", "0", "7", "1", "8"),
		 {"PMI_RANK is 2", "SLURM_ARRAY_TASK_ID is 3"}},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		uint32_t part, parts;
		const char *variable;
		struct fail fail = {.status = STATUS_OK};
		set(CASES[i].environment);
		CHECK(launcher_part(&part, &parts, &variable, &fail) == -1 &&
			      fail.status == STATUS_USAGE,
		      "%s is a part", CASES[i].environment);
		CHECK(strncmp(fail.text, "--part=auto: ", 13) == 0, "%s", fail.text);
		for (size_t k = 0; k < 5 && CASES[i].words[k]; k++)
			CHECK(strstr(fail.text, CASES[i].words[k]), "%s: no %s", fail.text,
			      CASES[i].words[k]);
	}
}

int main(void)
{
	parts();
	refused();
	return check_report();
}
