/* Parses the options of passes by the types of their rows. */
#include "ir/options.h"

#include "ir/diagnostics.h"
#include "support/support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

/* Finds the choice that is closest to a text. Sets its length; NULL: none is close. */
static const char *closest_choice(const char *choices, const char *text, size_t *length) {
  enum { MAX_CHOICES = 16 };
  char copy[256], *rest = copy;
  const char *names[MAX_CHOICES];
  int n = 0;
  snprintf(copy, sizeof copy, "%s", choices);
  for (char *name; n < MAX_CHOICES && (name = strsep(&rest, "|"));)
    names[n++] = name;
  const char *closest = tp__closest_word(text, strlen(text), n, names);
  *length = closest ? strlen(closest) : 0;
  return closest ? choices + (closest - copy) : NULL;
}

/* "a, b or c" for "a|b|c". */
static void not_known(const tp_option_row *row, const char *text, tp__string *why) {
  size_t length;
  const char *closest = closest_choice(row->values, text, &length);
  tp__string_printf(why, "%s '%s' is not known; use ", row->name, text);
  for (const char *at = row->values; *at;) {
    size_t n = strcspn(at, "|");
    bool is_last = at[n] == 0;
    tp__string_printf(why, "%s%.*s", at == row->values ? "" : is_last ? " or " : ", ", (int)n, at);
    at += n + !is_last;
  }
  if (closest)
    tp__string_printf(why, " (did you mean '%.*s'?)", (int)length, closest);
}

static void not_in_range(const tp_option_row *row, const char *text, tp__string *why) {
  tp__string_printf(why, "%s '%s' is not a %snumber %s %.15g %s %.15g", row->name, text,
                    row->type == TP_OPTION_INT ? "whole " : "", row->is_above ? "above" : "from",
                    row->low,
                    row->is_above   ? "and up to"
                    : row->is_below ? "to below"
                                    : "to",
                    row->high);
}

static void not_a_size(const tp_option_row *row, const char *text, tp__string *why) {
  tp__string_printf(
      why,
      "invalid %s '%s': expected bytes with a unit (B, KB, MB, GB, TB, KiB, MiB, GiB, "
      "TiB), as in 80GB, or %s",
      row->name, text, row->word);
}

/* ---- values ---- */

/* Returns the index of a name in "a|b|c"; -1 if it is not there. */
static int find_choice(const char *names, const char *name) {
  size_t length = strlen(name);
  for (int i = 0; *names; i++) {
    size_t n = strcspn(names, "|");
    if (n == length && strncmp(names, name, n) == 0)
      return i;
    names += n + (names[n] != 0);
  }
  return -1;
}

static bool has_value(const tp_option_row *row, const char *text) {
  return text[0] || row->default_value[0];
}

static bool in_range(const tp_option_row *row, double number) {
  return (row->is_above ? number > row->low : number >= row->low) &&
         (row->is_below ? number < row->high : number <= row->high);
}

static bool parse_text(const tp_option_row *row, const char *text, void *field) {
  (void)row;
  memcpy(field, &text, sizeof text);
  return true;
}

static bool parse_bool(const tp_option_row *row, const char *text, void *field) {
  int choice = find_choice(row->values, text);
  bool value = choice == 0;
  memcpy(field, &value, sizeof value);
  return choice >= 0;
}

static bool parse_choice(const tp_option_row *row, const char *text, void *field) {
  int value = find_choice(row->values, text);
  memcpy(field, &value, sizeof value);
  return value >= 0;
}

static bool parse_int(const tp_option_row *row, const char *text, void *field) {
  char *end;
  errno = 0;
  int64_t value = strtoll(text, &end, 10);
  bool is_allowed = end != text && *end == 0 && errno == 0 && in_range(row, (double)value);
  memcpy(field, &value, sizeof value);
  return is_allowed;
}

static bool parse_number(const tp_option_row *row, const char *text, void *field) {
  char *end;
  double value = has_value(row, text) ? strtod(text, &end) : TP_NO_VALUE;
  memcpy(field, &value, sizeof value);
  return !has_value(row, text) || (end != text && *end == 0 && in_range(row, value));
}

static bool parse_bytes(const tp_option_row *row, const char *text, void *field) {
  int64_t value = TP_NO_VALUE;
  bool is_word = strcmp(text, row->word) == 0;
  bool is_allowed = is_word || !has_value(row, text) || tp__parse_bytes(text, &value);
  value = is_word ? row->word_value : value;
  memcpy(field, &value, sizeof value);
  return is_allowed;
}

/* Parses the text of an option and stores the value in `field`. On failure, appends the reason to
 * `why`. */
static tp_status parse(const tp_option_row *row, const char *text, void *field, tp__string *why) {
  static const struct {
    bool (*parse)(const tp_option_row *row, const char *text, void *field);
    void (*refuse)(const tp_option_row *row, const char *text, tp__string *why);
  } types[] = {
      [TP_OPTION_TEXT] = {parse_text, NULL}, /* nothing is refused */
      [TP_OPTION_BOOL] = {parse_bool, not_known},
      [TP_OPTION_CHOICE] = {parse_choice, not_known},
      [TP_OPTION_INT] = {parse_int, not_in_range},
      [TP_OPTION_NUMBER] = {parse_number, not_in_range},
      [TP_OPTION_BYTES] = {parse_bytes, not_a_size},
  };
  if (types[row->type].parse(row, text, field))
    return TP_OK;
  types[row->type].refuse(row, text, why);
  return TP_INVALID_ARGUMENT;
}

tp_status tp__parse_options(MlirOperation module, const tp_option_row *rows, int n,
                            const char *const *texts, void *options) {
  tp_status status = TP_OK;
  for (int i = 0; i < n && status == TP_OK; i++) {
    tp__string why = {0};
    status = parse(&rows[i], texts[i], (char *)options + rows[i].offset, &why);
    if (status != TP_OK)
      tp__error(module, status, "%s", tp__string_text(&why));
    tp__string_destroy(&why);
  }
  return status;
}

tp_status tp__check_option(const tp_option_row *row, const char *text, size_t why_size, char *why) {
  union {
    const char *text;
    int64_t whole;
    double number;
  } field;
  tp__string message = {0};
  tp_status status = parse(row, text, &field, &message);
  snprintf(why, why_size, "%s", tp__string_text(&message));
  tp__string_destroy(&message);
  return status;
}
