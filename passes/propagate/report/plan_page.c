/* Writes the page of a plan: its template with the document as JSON in a script element, from which
 * the script of the page draws everything. */
#include "passes/propagate/report/plan_page.h"

#include "support/support.h"

#include <string.h>

/* Names of the program may hold "</script>" or "<!--", which would end the element or change how it
 * is read. Behind these characters only strings can stand, where an escape means the same. U+2028
 * and U+2029 would end a line for tools that read the element as JavaScript. */
static int append_escaped(const char *bytes, size_t n, void *text) {
  size_t from = 0;
  for (size_t i = 0; i < n; i++) {
    const char *escape = bytes[i] == '<'   ? "\\u003c"
                         : bytes[i] == '>' ? "\\u003e"
                         : bytes[i] == '&' ? "\\u0026"
                                           : NULL;
    if (!escape)
      continue;
    (void)tp__string_append_bytes(text, bytes + from, i - from); /* a failure is sticky */
    (void)tp__string_append(text, escape);
    from = i + 1;
  }
  return tp__string_append_bytes(text, bytes + from, n - from) == TP_OK ? 0 : -1;
}

/* JSON_ENSURE_ASCII escapes all other characters, U+2028 among them. */
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
