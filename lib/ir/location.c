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

enum { MAX_DEPTH = 64 }; /* locations can be nested arbitrarily deep */

/* ---- the innermost file ---- */

static bool find_file(MlirLocation location, int depth, MlirLocation *found);

static bool find_in_fused(MlirLocation location, int depth, MlirLocation *found) {
  tp__arena arena = {0};
  unsigned n = mlirLocationFusedGetNumLocations(location);
  MlirLocation *parts = tp__arena_array(&arena, n, sizeof *parts);
  bool is_found = false;
  if (parts)
    mlirLocationFusedGetLocations(location, parts);
  for (unsigned i = 0; parts && i < n && !is_found; i++)
    is_found = find_file(parts[i], depth, found);
  tp__arena_destroy(&arena);
  return is_found;
}

static bool find_file(MlirLocation location, int depth, MlirLocation *found) {
  if (depth == 0)
    return false;
  if (mlirLocationIsAFileLineColRange(location)) {
    *found = location;
    return true;
  }
  if (mlirLocationIsAName(location))
    return find_file(mlirLocationNameGetChildLoc(location), depth - 1, found);
  if (mlirLocationIsACallSite(location))
    return find_file(mlirLocationCallSiteGetCallee(location), depth - 1, found) ||
           find_file(mlirLocationCallSiteGetCaller(location), depth - 1, found);
  return mlirLocationIsAFused(location) && find_in_fused(location, depth - 1, found);
}

bool tp__location_file(MlirLocation location, MlirLocation *file) {
  return find_file(location, MAX_DEPTH, file);
}

/* ---- short form ---- */

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

/* "select (model.py:12)": what the callee is called, and the place of the call. */
static const char *call_text(tp__arena *arena, MlirLocation location, int depth) {
  MlirLocation callee = mlirLocationCallSiteGetCallee(location), file;
  const char *own = short_text(arena, callee, depth);
  if (find_file(callee, depth, &file) || !find_file(location, depth, &file) || !own || !*own)
    return own;
  const char *at = file_text(arena, file);
  return at ? tp__arena_printf(arena, "%s (%s)", own, at) : NULL;
}

static const char *short_text(tp__arena *arena, MlirLocation location, int depth) {
  if (depth == 0)
    return "";
  if (mlirLocationIsAFileLineColRange(location))
    return file_text(arena, location);
  if (mlirLocationIsAName(location))
    return name_text(arena, location, depth - 1);
  if (mlirLocationIsACallSite(location))
    return call_text(arena, location, depth - 1);
  return mlirLocationIsAFused(location) ? fused_text(arena, location, depth - 1) : "";
}

const char *tp__location_short(tp__arena *arena, MlirLocation location) {
  const char *text = short_text(arena, location, MAX_DEPTH);
  return text ? text : "";
}
