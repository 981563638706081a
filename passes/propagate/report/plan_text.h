/* The human-readable report: Markdown with aligned tables, generated from the document of
 * plan_json.c. */
#ifndef TP_PASSES_PLAN_REPORT_TEXT_H
#define TP_PASSES_PLAN_REPORT_TEXT_H

#include "support/support.h"

#include <jansson.h>

/* ---- plan_text.c ---- */

/* release with tp__free; NULL when memory runs out */
char *tp__report_print(const json_t *document);

const char *tp__text_of(const json_t *object, const char *key); /* "" if there is none */
int64_t tp__integer_of(const json_t *object, const char *key);
double tp__seconds_of(const json_t *object, const char *key);
/* Prints what an object says of a value: "gradient of w1 (%7)", "%h". */
void tp__print_value(tp__string *text, const json_t *object);
/* Prints the place of an object: "linalg.generic (mulf, addf) at model.mlir:12 (input of w2, %7)",
 * "argument 2 (w1, %arg2)". */
void tp__print_place(tp__string *text, const json_t *object);

/* ---- collective_groups.c ---- */

/* Prints all collectives of a function, with equal ones grouped, the most expensive first. */
void tp__print_collectives(tp__string *text, const json_t *function);

/* ---- plan_diff.c ---- */

/* Prints the member "against" of a function; nothing if that is null. */
void tp__print_difference(tp__string *text, const json_t *function);

/* ---- plan_json.c ---- */

/* Appends to a tp__string: a json_dump_callback_t. */
int tp__report_append(const char *bytes, size_t n, void *text);

/* ---- text_tables.c: tables ---- */

typedef struct tp_sheet {
  const char *align; /* one letter per column: l or r */
  size_t n, capacity;
  char **cells; /* row by row, starting with the titles */
  bool failed;  /* memory ran out */
} tp_sheet;

void tp__sheet_cell(tp_sheet *sheet, const char *format, ...) TP__PRINTF(2, 3);
/* Prints nothing if there are only titles. Empties the sheet. */
void tp__sheet_print(tp_sheet *sheet, tp__string *text);

#endif
