/* Takes the description of a device from a topology file, as text: whoever reads the new file
 * checks it. */
#include "calibrate.h"

#include <errno.h>
#include <stdlib.h>

enum { MOST_BYTES = 1 << 20 };

static char *read_text(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = file ? calloc(MOST_BYTES + 1, 1) : NULL;
  if (!text)
    complain("cannot read '%s': %s", path, strerror(errno));
  else
    (void)!fread(text, 1, MOST_BYTES, file);
  if (file)
    fclose(file);
  return text;
}

/* Returns what follows a string, which begins at `at`. */
static const char *skip_string(const char *at) {
  for (at++; *at && *at != '"'; at++)
    at += *at == '\\' && at[1];
  return *at ? at + 1 : at;
}

/* Returns what follows an object, which begins at `at`. */
static const char *skip_object(const char *at) {
  int depth = 0;
  do {
    depth += (*at == '{') - (*at == '}');
    at = *at == '"' ? skip_string(at) : at + 1;
  } while (*at && depth > 0);
  return at;
}

/* Returns a copy of the first object that is the value of a key; NULL: there is none. */
static char *copy_object(const char *text, const char *key) {
  size_t n = strlen(key);
  const char *end;
  for (const char *at = text; *at; at = end) {
    end = *at == '"' ? skip_string(at) : at + 1;
    if (*at != '"' || (size_t)(end - at) != n + 2 || strncmp(at + 1, key, n) != 0)
      continue;
    const char *value = end + strspn(end, " \t\r\n:");
    if (*value == '{')
      return strndup(value, (size_t)(skip_object(value) - value));
  }
  return NULL;
}

bool read_device(const char *path, host_model *model) {
  char *text = read_text(path);
  if (!text)
    return false;
  model->device = copy_object(text, "device");
  model->kernels = copy_object(text, "kernels");
  free(text);
  if (!model->device)
    complain("'%s' is no topology file: it has no \"device\"", path);
  return model->device != NULL;
}
