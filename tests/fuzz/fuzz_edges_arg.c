/* SPDX-License-Identifier: MIT */
/*
 * edges_arg: the argument of --edges: rising finite numbers, or a message that begins with the
 * argument. Printed numbers are read back unchanged, and a text without comments, commas and
 * letters is the list that strtod() reads.
 */
#include "cli/edges_arg.h"

#include "fuzz.h"

/* Read the numbers of a plain text, by strtod; false: it is not plain, or not all numbers. */
static bool plainly(const char *text, double *list, size_t room, size_t *count)
{
	*count = 0;
	if (text[strspn(text, "0123456789.- \t\n")] != '\0')
		return false;
	for (;;) {
		char *end;
		text += strspn(text, " \t\n");
		if (*text == '\0')
			return true;
		const size_t length = strcspn(text, " \t\n");
		const double x = strtod(text, &end);
		if (end != text + length || *count == room)
			return false;
		list[(*count)++] = x;
		text = end;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fail fail = {.status = STATUS_OK};
	double *edges, *again, list[2048];
	size_t n, more, plain;

	if (edges_arg_parse(&edges, &n, "WHAT", (const char *)data, size, &fail) != 0) {
		REQUIRE(!edges && n == 0 && fail.status == STATUS_USAGE &&
				strncmp(fail.text, "WHAT: ", 6) == 0,
			"refused by %s", fail.text);
		return 0;
	}
	REQUIRE(n >= 2 && n <= EDGES_MAX, "%zu edges", n);
	for (size_t i = 0; i < n; i++)
		REQUIRE(isfinite(edges[i]) && (i == 0 || edges[i - 1] < edges[i]), "edge %zu is %g",
			i, edges[i]);
	char *const text = malloc(32 * n + 1), *const copy = strndup((const char *)data, size);
	REQUIRE(text && copy, "no memory");
	size_t used = 0;
	for (size_t i = 0; i < n; i++)
		used += (size_t)sprintf(text + used, "%.17g%s", edges[i], i % 3 == 0 ? ", " : "\n");
	if (n % 3 == 1)
		used -= 2; /* a comma stands between two numbers */
	REQUIRE(edges_arg_parse(&again, &more, "AGAIN", text, used, &fail) == 0 && more == n &&
			memcmp(edges, again, n * sizeof(*edges)) == 0,
		"not the same again: %s", fail.text);
	free(again);
	if (strlen(copy) == size && plainly(copy, list, sizeof(list) / sizeof(list[0]), &plain)) {
		REQUIRE(plain == n, "%zu numbers, not %zu", n, plain);
		for (size_t i = 0; i < n; i++) /* by value, because -0 is 0 */
			REQUIRE(edges[i] == list[i], "number %zu is %.17g, not %.17g", i, edges[i],
				list[i]);
	}
	free(copy);
	free(text);
	free(edges);
	return 0;
}
