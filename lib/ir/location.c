#include "ir/location.h"

#include <string.h>

static void sink(MlirStringRef part, void *text) { tp__string_append_bytes(text, part.data, part.length); }

const char *tp__location_text(tp__arena *arena, MlirLocation location) {
  tp__string string = {0};
  mlirLocationPrint(location, sink, &string);
  const char *text = tp__string_text(&string);
  size_t n = strlen(text), skip = n > 5 && strncmp(text, "loc(", 4) == 0 ? 4 : 0;
  char *kept = tp__arena_strndup(arena, text + skip, n - skip - (skip ? 1 : 0));
  tp__string_destroy(&string);
  char *quote = kept && kept[0] == '"' ? strchr(kept + 1, '"') : NULL;
  if (quote && quote[1] == ':') {
    memmove(quote, quote + 1, strlen(quote));
    kept++;
  }
  return kept ? kept : "";
}
