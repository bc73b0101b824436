/* SPDX-License-Identifier: MIT */
/* list: hands each channel to the row writers. */
#include "each/list.h"

#include <stdlib.h>
#include <string.h>

#include "each/row.h"

static struct row_spec spec_of(const struct hist *hist, const struct style *style,
			       const struct format *format, const char *options)
{
	return (struct row_spec){
		.size = ROW_IS_CHANNEL,
		.axis = &hist->axis,
		.channels = 1,
		.asked = style->figures && hist->stats ? &hist->asked : NULL,
		.format = format,
		.style = style,
		.options = options,
	};
}

static void add_to_sheet(struct output *out, struct sheet *sheet, const struct hist *hist)
{
	double numbers[SHEET_NUMBERS];

	(void)sheet_row(sheet, numbers, hist);
	if (sheet_add(sheet, numbers) != 0)
		output_fail(out);
}

static void write_rows(struct output *out, const struct hist *hist, struct row_spec *spec)
{
	struct sheet sheet = {.value = NULL};
	struct strip strip;

	if (row_begin_strip(&strip, spec))
		spec->strip = &strip;
	if (spec->format->write == write_svg) {
		row_begin_sheet(&sheet, spec);
		spec->sheet = &sheet;
	}
	row_begin(out, spec);
	for (uint32_t c = 0; c < hist->channels && !output_failed(out); c++) {
		const struct hist one = hist_view(hist, c);
		if (spec->sheet)
			add_to_sheet(out, &sheet, &one);
		else
			row_write(out, spec,
				  &(struct row_place){.first = c, .records = one.samples}, &one);
	}
	row_end(out, spec, hist->channels);
	free(sheet.value);
}

static void write_list(struct output *out, const struct hist *hist, const struct style *style,
		       const struct provenance *from, const struct format *format)
{
	struct row_spec spec = spec_of(hist, style, format, from->options);
	const struct hist first = hist_view(hist, 0);

	/* A picture without bins is the same for all channels. */
	if (axis_bins(&hist->axis) == 0 && format->kind == FORMAT_PICTURE && !spec.asked)
		format->write(out, &first, style, from);
	else
		write_rows(out, hist, &spec);
}

#define LIST(name)                                                                        \
	static void list_##name(struct output *out, const struct hist *hist,              \
				const struct style *style, const struct provenance *from) \
	{                                                                                 \
		write_list(out, hist, style, from, format_find(#name));                   \
	}
LIST(csv)
LIST(tsv)
LIST(plot)
LIST(svg)
#undef LIST

/* The formats in which channels are rows; all others hold any number of channels. */
static const struct format LISTS[] = {
	{"csv", {NULL}, list_csv, FORMAT_ROWS, COUNTER_U64},
	{"tsv", {NULL}, list_tsv, FORMAT_ROWS, COUNTER_U64},
	{"plot", {NULL}, list_plot, FORMAT_PICTURE, COUNTER_U64},
	{"svg", {NULL}, list_svg, FORMAT_PICTURE, COUNTER_U64},
};

static const struct format *find(const struct format *format)
{
	for (size_t i = 0; i < sizeof(LISTS) / sizeof(LISTS[0]); i++)
		if (strcmp(LISTS[i].name, format->name) == 0)
			return &LISTS[i];
	return NULL;
}

const struct format *list_format(const struct format *format, const struct hist *hist)
{
	const struct format *const list = hist_is_list(hist) ? find(format) : NULL;

	return list ? list : format;
}

bool list_has_figures(const struct format *format)
{
	return find(format);
}

void list_table(struct output *out, const struct hist *hist, const struct style *style)
{
	struct style aligned = *style;

	aligned.table = aligned.figures = true;
	struct row_spec spec = spec_of(hist, &aligned, format_find("csv"), NULL);
	write_rows(out, hist, &spec);
}
