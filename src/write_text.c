/* write_text: one line a bin, "bin,lower,upper,count", or the same with tabs. */
#include "write.h"

#include <string.h>

/* A row of four fields; every field is shorter than NUMBER_TEXT. */
static void row(struct output *out, char comma, const char *bin, const char *lower,
		const char *upper, uint64_t count)
{
	char line[4 * NUMBER_TEXT + 4];
	const char *fields[3] = {bin, lower, upper};
	size_t used = 0;

	for (int i = 0; i < 3; i++) {
		const size_t length = strlen(fields[i]);
		memcpy(line + used, fields[i], length);
		used += length;
		line[used++] = comma;
	}
	used += number_format_count(line + used, count);
	line[used++] = '\n';
	output_write(out, line, used);
}

void write_text(struct output *out, const struct job *job, const struct hist *hist)
{
	const struct edges *edges = &job->edges;
	const char comma = job->format == FORMAT_TSV ? '\t' : ',';
	char bin[NUMBER_TEXT], lower[NUMBER_TEXT], upper[NUMBER_TEXT];
	uint32_t edge = UINT32_MAX; /* whose text is in upper */

	if (job->header)
		output_text(out, comma == ',' ? "bin,lower,upper,count\n"
					      : "bin\tlower\tupper\tcount\n");
	if (job->flow) {
		edges_format(edges, 0, upper);
		row(out, comma, "under", "-inf", upper, write_clip(job, hist->under));
	}
	for (uint32_t i = 0; i < hist->bins && !output_failed(out); i++) {
		if (job->nonzero && hist->count[i] == 0)
			continue;
		if (edge == i)
			memcpy(lower, upper, sizeof(lower));
		else
			edges_format(edges, i, lower);
		edge = i + 1;
		edges_format(edges, edge, upper);
		number_format_count(bin, i);
		row(out, comma, bin, lower, upper, write_clip(job, hist->count[i]));
	}
	if (job->flow) {
		edges_format(edges, hist->bins, lower);
		row(out, comma, "over", lower, "inf", write_clip(job, hist->over));
		row(out, comma, "nan", "nan", "nan", write_clip(job, hist->nan));
	}
}
