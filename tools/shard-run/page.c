/* Puts the times of the run into the page of the plan, which has an element for them. */
#include "run.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The element of plan-report.md, "The page". */
static const char run_element[] = "<script type=\"application/json\" id=\"run\">";
static const char nothing[] = "null";

static bool is_page(const char *path) {
  size_t n = strlen(path);
  return n > 5 && strcmp(path + n - 5, ".html") == 0;
}

/* Release with free; NULL if it cannot be read. */
static char *read_all(const char *path) {
  FILE *file = fopen(path, "rb");
  long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  char *text = size >= 0 && fseek(file, 0, SEEK_SET) == 0 ? malloc((size_t)size + 1) : NULL;
  if (text && fread(text, 1, (size_t)size, file) != (size_t)size) {
    free(text);
    text = NULL;
  }
  if (text)
    text[size] = '\0';
  if (file)
    fclose(file);
  return text;
}

/* Kinds, axes and numbers: no text of the program, which would have to be escaped. */
static char *times_text(const outcome *out) {
  static const char *const fields[] = {"kind", "axes", "count", "bytes_per_device",
                                       "measured_seconds"};
  json_t *report = report_json(out), *list = json_array(), *c;
  size_t i;
  json_array_foreach(json_object_get(report, "collectives"), i, c) {
    json_t *entry = json_object();
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
      json_object_set(entry, fields[k], json_object_get(c, fields[k]));
    json_array_append_new(list, entry);
  }
  json_t *json =
      json_pack("{s:O, s:O, s:o}", "measured_seconds", json_object_get(report, "measured_seconds"),
                "processors", json_object_get(report, "processors"), "collectives", list);
  char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
  json_decref(json);
  json_decref(report);
  return text;
}

static bool write_with(const char *path, const char *page, const char *at, const char *times) {
  cli_file file;
  size_t before = (size_t)(at - page);
  bool ok = cli_file_open(&file, path);
  return ok && cli_file_close(&file, fwrite(page, 1, before, file.stream) == before &&
                                         fputs(times, file.stream) != EOF &&
                                         fputs(at + strlen(nothing), file.stream) != EOF);
}

bool page_add_run(const outcome *out, const char *path) {
  if (!is_page(path))
    return true;
  char *page = read_all(path), *times = times_text(out);
  char *at = page ? strstr(page, run_element) : NULL;
  bool is_bare = at && strncmp(at + strlen(run_element), nothing, strlen(nothing)) == 0, ok = false;
  if (!page || !times) {
    complain("the times of the run cannot be written to '%s': %s", path, strerror(errno));
  } else if (!is_bare) {
    complain("the times of the run are not in '%s': it is no longer the page that this run "
             "wrote; runs at the same time need a page each",
             path);
  } else {
    ok = write_with(path, page, at + strlen(run_element), times);
    if (!ok)
      complain_of_write(path);
  }
  free(times);
  free(page);
  return ok;
}
