/* The report as one HTML page that needs nothing else: a template, and the document of plan_json.c
 * in the middle. */
#ifndef TP_PASSES_PLAN_REPORT_PAGE_H
#define TP_PASSES_PLAN_REPORT_PAGE_H

#include <jansson.h>

/* Release with tp__free; NULL when memory runs out. */
char *tp__report_page(const json_t *document);

/* The template before and after the document, made from the files of page/ by
 * cmake/embed_page.cmake. */
extern const char tp__page_before[], tp__page_after[];

#endif
