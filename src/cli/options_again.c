/* SPDX-License-Identifier: MIT */
/*
 * options_again: getopt splits the words a second time, so the line repeats exactly what it took.
 */
#include "cli/options_again.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options_given.h"

struct line {
	char *text;
	size_t room, used;
	bool bad; /* too long, or it has a character that cannot be shown */
};

static void add(struct line *line, const char *text, size_t length)
{
	if (line->used + length >= line->room) {
		line->bad = true;
		return;
	}
	memcpy(line->text + line->used, text, length);
	line->used += length;
	line->text[line->used] = '\0';
}

/* Adds a word, in quotes where the shell or a reader needs them. */
static void add_word(struct line *line, const char *word)
{
	static const char PLAIN[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";
	const bool plain = *word != '\0' && word[strspn(word, PLAIN)] == '\0';

	if (plain) {
		add(line, word, strlen(word));
		return;
	}
	add(line, "'", 1);
	for (; *word; word++) {
		line->bad |= (unsigned char)*word < ' ' || *word == 0x7f;
		add(line, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
	}
	add(line, "'", 1);
}

static void add_option(struct line *line, int option, const char *name, const char *value)
{
	char word[64];

	add(line, " ", 1);
	if (option == 'p' || option >= 256) { /* a value of --plot is joined to it */
		snprintf(word, sizeof(word), "--%s%s", name, value ? "=" : "");
		add(line, word, strlen(word));
	} else {
		snprintf(word, sizeof(word), "-%c%s", option, value ? " " : "");
		add(line, word, strlen(word));
	}
	if (value)
		add_word(line, value);
}

/* --auto may need more than one bin: if one was asked for, use the default. */
static bool is_replaced(const char *name, const struct job *job, bool type)
{
	static const char *const BINNING[] = {"range", "log", "edges", "mod", "auto", "closed"};

	for (size_t i = 0; i < sizeof(BINNING) / sizeof(BINNING[0]); i++)
		if (strcmp(name, BINNING[i]) == 0)
			return true;
	return (type && strcmp(name, "type") == 0) ||
	       (job->axis.edges.bins == 1 && strcmp(name, "bins") == 0);
}

static void add_options(struct line *line, const struct job *job, bool type)
{
	char **argv = calloc(job->word_count + 2, sizeof(*argv));
	static char name[] = "gpuhist";

	if (!argv) {
		line->bad = true;
		return;
	}
	argv[0] = name;
	memcpy(argv + 1, job->words, job->word_count * sizeof(*argv));
	optind = 0; /* scan from the start */
	for (int option; (option = getopt_long((int)job->word_count + 1, argv, options_letters,
					       options_long, NULL)) != -1;) {
		const struct option *const o = option_by_value(option);
		if (!o)
			line->bad = true;
		else if (!is_replaced(o->name, job, type))
			add_option(line, option, o->name, optarg);
	}
	free(argv);
}

int options_again(char *text, size_t room, const struct job *job, const char *words,
		  const char *type)
{
	struct line line = {.text = text,
			    .room = room,
			    .bad = job->into || job->tee || job->merge || job->part_variable};
	bool dashes = false;

	add(&line, "gpuhist", 7);
	if (type) {
		add(&line, " -t ", 4);
		add(&line, type, strlen(type));
	}
	add(&line, " ", 1);
	add(&line, words, strlen(words));
	add_options(&line, job, type != NULL);
	for (size_t i = 0; i < job->source.path_count; i++)
		dashes |= job->source.paths[i][0] == '-' && job->source.paths[i][1] != '\0';
	if (dashes)
		add(&line, " --", 3);
	/*
	 * Standard input is named only beside other inputs: alone it is the end of a pipe, or
	 * redirected.
	 */
	for (size_t i = 0; i < job->source.path_count; i++) {
		if (job->source.path_count == 1 && strcmp(job->source.paths[0], "-") == 0)
			break;
		add(&line, " ", 1);
		add_word(&line, job->source.paths[i]);
	}
	if (line.bad)
		text[0] = '\0';
	return line.bad ? -1 : 0;
}
