/* The renderers of penstock-worker. */
#include <string.h>

#include "jobs/renderer.h"

extern const struct renderer_ops render_docx, render_xlsx, render_pptx, render_pdf, render_chart, render_csv,
    render_ics, render_zip;

const struct renderer_ops *const renderer_list[] = {&render_docx, &render_xlsx,  &render_pptx,
                                                    &render_pdf,  &render_chart, &render_csv,
                                                    &render_ics,  &render_zip,   NULL};

const struct renderer_ops *renderer_find(const char *format)
{
    for (size_t i = 0; renderer_list[i]; i++)
        for (size_t k = 0; renderer_list[i]->formats[k]; k++)
            if (!strcmp(renderer_list[i]->formats[k], format))
                return renderer_list[i];
    return NULL;
}
