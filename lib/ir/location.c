/* Converts MLIR locations into text. */
#include "ir/location.h"

#include "ir/ir.h"

#include <string.h>

const char *tp__location_text(tp__arena *arena, MlirLocation location) {
  tp__string string = {0};
  mlirLocationPrint(location, tp__append_part, &string);
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

/* ---- short form ---- */

enum { MAX_DEPTH = 32 }; /* locations can be nested arbitrarily deep */

static MlirStringRef last_part(MlirStringRef path) {
  size_t from = path.length;
  while (from > 0 && path.data[from - 1] != '/')
    from--;
  bool ends_in_slash = from == path.length;
  return ends_in_slash ? path : (MlirStringRef){path.data + from, path.length - from};
}

static const char *short_text(tp__arena *arena, MlirLocation location, int depth);

static const char *file_text(tp__arena *arena, MlirLocation location) {
  MlirStringRef file =
      last_part(mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location)));
  return tp__arena_printf(arena, "%.*s:%d", (int)file.length, file.data,
                          mlirLocationFileLineColRangeGetStartLine(location));
}

static const char *name_text(tp__arena *arena, MlirLocation location, int depth) {
  MlirStringRef name = last_part(mlirIdentifierStr(mlirLocationNameGetName(location)));
  const char *at = short_text(arena, mlirLocationNameGetChildLoc(location), depth);
  return at && *at ? tp__arena_printf(arena, "%.*s (%s)", (int)name.length, name.data, at)
                   : tp__arena_strndup(arena, name.data, name.length);
}

static const char *fused_text(tp__arena *arena, MlirLocation location, int depth) {
  unsigned n = mlirLocationFusedGetNumLocations(location);
  MlirLocation *parts = tp__arena_array(arena, n, sizeof *parts);
  const char *text = "";
  if (parts)
    mlirLocationFusedGetLocations(location, parts);
  for (unsigned i = 0; parts && i < n && text && !*text; i++)
    text = short_text(arena, parts[i], depth);
  return text;
}

static const char *short_text(tp__arena *arena, MlirLocation location, int depth) {
  if (depth == 0)
    return "";
  if (mlirLocationIsAFileLineColRange(location))
    return file_text(arena, location);
  if (mlirLocationIsAName(location))
    return name_text(arena, location, depth - 1);
  if (mlirLocationIsACallSite(location))
    return short_text(arena, mlirLocationCallSiteGetCallee(location), depth - 1);
  return mlirLocationIsAFused(location) ? fused_text(arena, location, depth - 1) : "";
}

const char *tp__location_short(tp__arena *arena, MlirLocation location) {
  const char *text = short_text(arena, location, MAX_DEPTH);
  return text ? text : "";
}
