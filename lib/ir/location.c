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

/* The part of a text after its last separator; a separator at the very end does not count. */
static MlirStringRef behind_last(const char *separator, MlirStringRef text) {
  size_t n = strlen(separator), from = text.length;
  while (from >= n && memcmp(text.data + from - n, separator, n) != 0)
    from--;
  bool is_found = from >= n && from < text.length;
  return is_found ? (MlirStringRef){text.data + from, text.length - from} : text;
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

/* ---- without folders ---- */

static MlirLocation without_folders(MlirLocation location, int depth);

static MlirLocation file_without_folders(MlirLocation location) {
  MlirStringRef file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
  if (file.length == 0 || file.data[0] != '/')
    return location;
  return mlirLocationFileLineColRangeGet(
      mlirLocationGetContext(location), behind_last("/", file),
      (unsigned)mlirLocationFileLineColRangeGetStartLine(location),
      (unsigned)mlirLocationFileLineColRangeGetStartColumn(location),
      (unsigned)mlirLocationFileLineColRangeGetEndLine(location),
      (unsigned)mlirLocationFileLineColRangeGetEndColumn(location));
}

static MlirLocation fused_without_folders(MlirLocation location, int depth) {
  tp__arena arena = {0};
  unsigned n = mlirLocationFusedGetNumLocations(location);
  MlirLocation *parts = tp__arena_array(&arena, n, sizeof *parts);
  MlirContext context = mlirLocationGetContext(location);
  MlirLocation kept = mlirLocationUnknownGet(context);
  if (parts) {
    mlirLocationFusedGetLocations(location, parts);
    for (unsigned i = 0; i < n; i++)
      parts[i] = without_folders(parts[i], depth);
    kept = mlirLocationFusedGet(context, n, parts, mlirLocationFusedGetMetadata(location));
  }
  tp__arena_destroy(&arena);
  return kept;
}

static MlirLocation without_folders(MlirLocation location, int depth) {
  MlirContext context = mlirLocationGetContext(location);
  if (depth == 0)
    return mlirLocationUnknownGet(context);
  if (mlirLocationIsAFileLineColRange(location))
    return file_without_folders(location);
  if (mlirLocationIsAName(location))
    return mlirLocationNameGet(context, mlirIdentifierStr(mlirLocationNameGetName(location)),
                               without_folders(mlirLocationNameGetChildLoc(location), depth - 1));
  if (mlirLocationIsACallSite(location))
    return mlirLocationCallSiteGet(
        without_folders(mlirLocationCallSiteGetCallee(location), depth - 1),
        without_folders(mlirLocationCallSiteGetCaller(location), depth - 1));
  return mlirLocationIsAFused(location) ? fused_without_folders(location, depth - 1) : location;
}

const char *tp__location_shared(tp__arena *arena, MlirLocation location) {
  return tp__location_text(arena, without_folders(location, MAX_DEPTH));
}

/* ---- short form ---- */

/* A name is no path of a file: that of a weight is "params/layers/0/wq". Only what a framework puts
 * around it goes: "jit(step)/transpose(jvp(mlp))/dot_general" is dot_general. */
static MlirStringRef own_name(MlirStringRef name) { return behind_last(")/", name); }

static const char *short_text(tp__arena *arena, MlirLocation location, int depth);

static const char *file_text(tp__arena *arena, MlirLocation location) {
  MlirStringRef file =
      behind_last("/", mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location)));
  return tp__arena_printf(arena, "%.*s:%d", (int)file.length, file.data,
                          mlirLocationFileLineColRangeGetStartLine(location));
}

static const char *name_text(tp__arena *arena, MlirLocation location, int depth) {
  MlirStringRef name = own_name(mlirIdentifierStr(mlirLocationNameGetName(location)));
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
