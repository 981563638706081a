/* Writes the page of a plan: its template with the document as JSON in a script element, from which
 * the script of the page draws everything. */
#include "passes/propagate/report/plan_page.h"

#include "support/support.h"

#include <string.h>

/* Names of the program may hold "</script>" or "<!--", which would end the element or change how it
 * is read. "<" stands only in strings of JSON, where the escape means the same. */
static int append_escaped(const char *bytes, size_t n, void *text) {
  size_t from = 0;
  for (size_t i = 0; i < n; i++) {
    if (bytes[i] != '<')
      continue;
    (void)tp__string_append_bytes(text, bytes + from, i - from); /* a failure is sticky */
    (void)tp__string_append(text, "\\u003c");
    from = i + 1;
  }
  return tp__string_append_bytes(text, bytes + from, n - from) == TP_OK ? 0 : -1;
}

/* JSON_ENSURE_ASCII escapes what is not ASCII: also U+2028, which ends a line of JavaScript. */
char *tp__report_page(const json_t *document) {
  tp__string text = {0};
  (void)tp__string_append(&text, tp__page_before);
  int failed = json_dump_callback(document, append_escaped, &text,
                                  JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15));
  if (failed || tp__string_append(&text, tp__page_after) != TP_OK) {
    tp__string_destroy(&text);
    return NULL;
  }
  return tp__string_take(&text);
}
