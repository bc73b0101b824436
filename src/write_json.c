/*
 * write_json: the UHI histogram schema, version 1, as Python's uhi, boost-histogram and hist
 * read it: one axis with underflow and overflow, integer storage, those two included. NaN has
 * no place in a regular axis; it stands in the metadata with what else is worth knowing.
 */
#include "write.h"

static void member(struct output *out, const char *name, uint64_t value)
{
	char text[NUMBER_TEXT];

	number_format_count(text, value);
	output_text(out, ", \"");
	output_text(out, name);
	output_text(out, "\": ");
	output_text(out, text);
}

static void edge(struct output *out, const struct edges *edges, uint32_t i)
{
	char text[NUMBER_TEXT];

	edges_format(edges, i, text);
	output_text(out, text);
}

static void axis(struct output *out, const struct job *job, const struct hist *hist)
{
	char text[NUMBER_TEXT];

	output_text(out, "\"axes\": [{\"type\": \"regular\", \"lower\": ");
	edge(out, &job->edges, 0);
	output_text(out, ", \"upper\": ");
	edge(out, &job->edges, hist->bins);
	number_format_count(text, hist->bins);
	output_text(out, ", \"bins\": ");
	output_text(out, text);
	output_text(out, ", \"underflow\": true, \"overflow\": true, \"circular\": false}],\n");
}

void write_json(struct output *out, const struct job *job, const struct hist *hist)
{
	char text[NUMBER_TEXT];

	output_text(out, "{\"uhi_schema\": 1,\n\"writer_info\": {\"gpuhist\": {\"version\": \""
			 GPUHIST_VERSION "\"}},\n\"metadata\": {\"type\": \"");
	output_text(out, job->type.name);
	output_text(out, "\", \"binning\": \"range\", \"closed\": ");
	output_text(out, job->edges.closed ? "true" : "false");
	output_text(out, ", \"clamp\": ");
	output_text(out, job->clamp ? "true" : "false");
	member(out, "samples", hist->samples);
	member(out, "under", hist->under);
	member(out, "over", hist->over);
	member(out, "nan", hist->nan);
	output_text(out, "},\n");
	axis(out, job, hist);
	output_text(out, "\"storage\": {\"type\": \"int\", \"values\": [\n");
	number_format_count(text, hist->under);
	output_text(out, text);
	for (uint32_t i = 0; i < hist->bins && !output_failed(out); i++) {
		output_text(out, i % 16 == 0 ? ",\n" : ", ");
		number_format_count(text, hist->count[i]);
		output_text(out, text);
	}
	output_text(out, ",\n");
	number_format_count(text, hist->over);
	output_text(out, text);
	output_text(out, "\n]}}\n");
}
