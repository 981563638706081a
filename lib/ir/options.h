/* Options of passes: typed rows, and the struct that a pass gets its parsed options in.
 *
 *     typedef struct settings {
 *       bool overlap;
 *       int64_t window;
 *     } settings;
 *
 *     static const tp_option_row options[] = {
 *         {"overlap", "true", "help", TP_BOOL(settings, overlap)},
 *         {"window", "64", "help", TP_INT(settings, window, 0, 1024)},
 *     };
 */
#ifndef TP_IR_OPTIONS_H
#define TP_IR_OPTIONS_H

#include "tp/passes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tp_option_row {
  const char *name;
  const char *default_value; /* "": no value */
  const char *help;
  tp_option_type type;
  size_t offset;      /* of the field in the struct */
  const char *values; /* see tp_option_info */
  /* TP_OPTION_INT, TP_OPTION_NUMBER: the range, and whether its ends are excluded */
  double low, high;
  bool is_above, is_below;
  /* TP_OPTION_BYTES: a word that is allowed, too, and what the field is then */
  const char *word;
  int64_t word_value;
} tp_option_row;

/* The value of a TP_NUMBER_* or TP_BYTES_OR that is not given, where the default is "". A TP_INT
 * needs a default. */
enum { TP_NO_VALUE = -1 };

/* The types of options, as the last initializer of a row. A field that has another type does not
 * compile. The field of a choice is an enumeration in the order of the names. */
#define TP_TEXT(s, field, kind)                                                                    \
  .type = TP_OPTION_TEXT, .offset = TP__FIELD(s, field, const char *), .values = (kind)
#define TP_BOOL(s, field)                                                                          \
  .type = TP_OPTION_BOOL, .offset = TP__FIELD(s, field, bool), .values = "true|false"
#define TP_CHOICE(s, field, names)                                                                 \
  .type = TP_OPTION_CHOICE, .offset = TP__ENUM_FIELD(s, field), .values = (names)
#define TP_INT(s, field, from, to)                                                                 \
  .type = TP_OPTION_INT, .offset = TP__FIELD(s, field, int64_t), .values = #from ".." #to,         \
  .low = (from), .high = (to)
#define TP_NUMBER_ABOVE(s, field, from, to)                                                        \
  .type = TP_OPTION_NUMBER, .offset = TP__FIELD(s, field, double), .values = #from "<.." #to,      \
  .low = (from), .high = (to), .is_above = true
#define TP_NUMBER_BELOW(s, field, from, to)                                                        \
  .type = TP_OPTION_NUMBER, .offset = TP__FIELD(s, field, double), .values = #from "..<" #to,      \
  .low = (from), .high = (to), .is_below = true
#define TP_BYTES_OR(s, field, name, value)                                                         \
  .type = TP_OPTION_BYTES, .offset = TP__FIELD(s, field, int64_t), .values = "BYTES|" name,        \
  .word = (name), .word_value = (value)

#define TP__FIELD(s, field, c_type) offsetof(s, field) + _Generic(((s *)0)->field, c_type: 0)
#define TP__ENUM_FIELD(s, field)                                                                   \
  offsetof(s, field) + 0 * sizeof(char[sizeof(((s *)0)->field) == sizeof(int) ? 1 : -1])

/* Parses `texts`, the values of the rows, into the struct `options`. Values that are not allowed
 * are errors at `module`. Texts are borrowed. */
tp_status tp__parse_options(MlirOperation module, const tp_option_row *rows, int n,
                            const char *const *texts, void *options);

/* Checks the value of an option. On failure `why`, of why_size bytes, receives the message. */
tp_status tp__check_option(const tp_option_row *row, const char *text, size_t why_size, char *why);

#ifdef __cplusplus
}
#endif
#endif
