/* A string builder, and texts of sizes and times. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ensures capacity for n more bytes and the terminating zero. */
static bool reserve(tp__string *string, size_t n) {
  if (string->failed)
    return false;
  void *text = string->text;
  if (n >= SIZE_MAX - string->length ||
      tp__grow(&text, &string->capacity, string->length + n + 1, 1) != TP_OK) {
    string->failed = true;
    return false;
  }
  string->text = text;
  return true;
}

tp_status tp__string_append_bytes(tp__string *string, const char *bytes, size_t n) {
  if (!reserve(string, n))
    return TP_NO_MEMORY;
  memcpy(string->text + string->length, bytes, n);
  string->length += n;
  string->text[string->length] = '\0';
  return TP_OK;
}

tp_status tp__string_append(tp__string *string, const char *text) {
  return tp__string_append_bytes(string, text, strlen(text));
}

tp_status tp__string_append_without_numbers(tp__string *string, const char *text, char mark) {
  static const char digits[] = "0123456789";
  tp_status status = TP_OK;
  while (*text && status == TP_OK) {
    size_t plain = strcspn(text, digits), number = strspn(text + plain, digits);
    status = tp__string_append_bytes(string, text, plain);
    if (status == TP_OK && number > 0)
      status = tp__string_append_bytes(string, &mark, 1);
    text += plain + number;
  }
  return status;
}

tp_status tp__string_vprintf(tp__string *string, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (length < 0) {
    string->failed = true;
    return TP_INVALID_ARGUMENT;
  }
  if (!reserve(string, (size_t)length))
    return TP_NO_MEMORY;
  vsnprintf(string->text + string->length, (size_t)length + 1, format, args);
  string->length += (size_t)length;
  return TP_OK;
}

tp_status tp__string_printf(tp__string *string, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tp_status status = tp__string_vprintf(string, format, args);
  va_end(args);
  return status;
}

const char *tp__string_text(const tp__string *string) { return string->text ? string->text : ""; }

char *tp__string_take(tp__string *string) {
  if (!string->text && !string->failed)
    tp__string_append(string, "");
  char *text = string->failed ? NULL : string->text;
  if (text)
    string->text = NULL;
  tp__string_destroy(string);
  return text;
}

void tp__string_clear(tp__string *string) {
  string->length = 0;
  string->failed = false;
  if (string->text)
    string->text[0] = '\0';
}

void tp__string_destroy(tp__string *string) {
  tp__free(string->text);
  *string = (tp__string){0};
}

void tp__text_printf(char *text, size_t size, size_t *length, const char *format, ...) {
  va_list args;
  va_start(args, format);
  bool fits = *length < size;
  int n = vsnprintf(fits ? text + *length : NULL, fits ? size - *length : 0, format, args);
  va_end(args);
  if (n > 0)
    *length += (size_t)n;
}

bool tp__parse_bytes(const char *text, int64_t *bytes) {
  static const struct {
    const char *name;
    double bytes;
  } units[] = {{"", 1},      {"B", 1},        {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
               {"TB", 1e12}, {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  char *unit;
  double number = strtod(text, &unit);
  if (unit == text || !(number >= 0) || text[0] == '-')
    return false;
  for (size_t i = 0; i < TP__COUNT(units); i++)
    if (strcmp(unit, units[i].name) == 0 && number * units[i].bytes < 0x1p62) {
      *bytes = (int64_t)(number * units[i].bytes);
      return true;
    }
  return false;
}

tp__short_text tp__bytes_text(int64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  tp__short_text text;
  double value = (double)bytes;
  size_t unit = 0;
  for (; (value >= 1024 || value <= -1024) && unit + 1 < TP__COUNT(units); unit++)
    value /= 1024;
  snprintf(text.chars, sizeof text.chars, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

tp__short_text tp__seconds_text(double seconds) {
  static const char *const units[] = {"us", "ms", "s"};
  tp__short_text text;
  double value = 1e6 * seconds;
  size_t unit = 0;
  for (; (value >= 999.95 || value <= -999.95) && unit + 1 < TP__COUNT(units); unit++)
    value /= 1e3;
  snprintf(text.chars, sizeof text.chars,
           value >= 99.9995 || value <= -99.9995 ? "%.1f %s" : "%.3f %s", value, units[unit]);
  return text;
}
