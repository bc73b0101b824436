/* write_svg: a histogram as a picture, in one file. */
#include "output/write.h"

void write_svg(struct output *out, const struct hist *hist, const struct style *style, const struct provenance *from)
{
	(void)hist;
	(void)style;
	(void)from;
	output_text(out, "\n");
}
