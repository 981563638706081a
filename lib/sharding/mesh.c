/* Meshes: creation, parsing, and refinement into sub-axes. */
#include "tp/mesh.h"

#include "sharding/sharding.h"
#include "support/support.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Device numbers and shard counts fit into 32 bits, so that products with 32-bit sizes never
 * overflow. */
static const int64_t max_devices = INT32_MAX;

/* Formats a message for the caller, if requested. */
#define WHY(...) ((void)(why && snprintf(why, why_size, __VA_ARGS__)))

static bool name_fits(const char *name) { return name && *name && strlen(name) < TP_MAX_AXIS_NAME; }

static bool axis_name_valid(const char *name) {
  return name_fits(name) && !strpbrk(name, ":()\" ,?=");
}

static tp_status check_axis(const char *name, int64_t size, int64_t devices_before, char *why,
                            size_t why_size) {
  if (!axis_name_valid(name)) {
    WHY("axis name \"%s\" is empty, longer than %d bytes, or holds one of :()\" ,?=",
        name ? name : "", TP_MAX_AXIS_NAME - 1);
    return TP_INVALID_ARGUMENT;
  }
  if (size < 1 || size > max_devices / devices_before) {
    WHY("axis \"%s\" has size %lld; it must be at least 1, and the mesh at most %lld devices", name,
        (long long)size, (long long)max_devices);
    return TP_INVALID_ARGUMENT;
  }
  return TP_OK;
}

tp_status tp__mesh_create(const char *name, int n, const char *const *names, const int64_t *sizes,
                          char *why, size_t why_size, tp_mesh *mesh) {
  if (!name_fits(name)) {
    WHY("mesh name \"%s\" is empty or longer than %d bytes", name ? name : "",
        TP_MAX_AXIS_NAME - 1);
    return TP_INVALID_ARGUMENT;
  }
  if (n < 1 || n > TP_MAX_AXES) {
    WHY("mesh \"%s\" has %d axes; it must have 1 to %d", name, n, TP_MAX_AXES);
    return TP_INVALID_ARGUMENT;
  }
  tp_mesh made = {.n_axes = n, .n_parents = n};
  snprintf(made.name, sizeof made.name, "%s", name);
  int64_t devices = 1;
  for (int i = 0; i < n; i++) {
    TP_TRY(check_axis(names[i], sizes[i], devices, why, why_size));
    for (int j = 0; j < i; j++) {
      if (strcmp(names[i], names[j]) == 0) {
        WHY("axis \"%s\" occurs twice in mesh \"%s\"", names[i], name);
        return TP_INVALID_ARGUMENT;
      }
    }
    made.axes[i] = (tp_axis){.size = sizes[i], .pre = 1, .parent_size = sizes[i], .parent = i};
    snprintf(made.axes[i].name, TP_MAX_AXIS_NAME, "%s", names[i]);
    devices *= sizes[i];
  }
  *mesh = made;
  return TP_OK;
}

tp_status tp_mesh_create(const char *name, int n, const char *const *names, const int64_t *sizes,
                         tp_mesh *mesh) {
  return tp__mesh_create(name, n, names, sizes, NULL, 0, mesh);
}

/* ---- parsing ---- */

/* The text of a mesh, and how far it is read. */
typedef struct mesh_text {
  const char *text, *at;
  char *why;
  size_t why_size;
} mesh_text;

/* Writes what "tp4", "tp:4" and "dp2,tp4" were probably meant to be, "tp=4". False for other
 * texts. */
static bool with_equals(const char *t, size_t size, char *meant) {
  const char *text = t;
  size_t used = 0;
  do {
    size_t name = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"),
           from = name + (text[name] == '=' || text[name] == ':'),
           digits = strspn(text + from, "0123456789"), end = from + digits;
    if (name == 0 || digits == 0 || text[from] == '0' || (text[end] != 0 && text[end] != ','))
      return false;
    tp__text_printf(meant, size, &used, "%.*s=%.*s%.1s", (int)name, text, (int)digits, text + from,
                    text + end);
    text += end + (text[end] == ',');
  } while (*text);
  return used < size && strcmp(t, meant) != 0;
}

/* Writes a text with blanks as it was probably meant: a comma stands for those between two axes.
 * False for other texts. */
static bool without_blanks(const char *text, size_t size, char *meant) {
  const char *beside = strchr(text, '=') ? ",=" : ",x";
  tp_mesh mesh;
  size_t n = 0;
  for (const char *at = text; *at && n + 2 < size; at++) {
    bool is_blank = isspace((unsigned char)*at);
    bool separates = is_blank && n > 0 && !isspace((unsigned char)at[1]) && at[1] &&
                     !strchr(beside, meant[n - 1]) && !strchr(beside, at[1]);
    if (!is_blank || separates)
      meant[n++] = is_blank ? ',' : *at;
  }
  meant[n] = 0;
  return strlen(text) < size && strpbrk(text, " \t\n") &&
         tp_mesh_parse("mesh", meant, NULL, 0, &mesh) == TP_OK;
}

static tp_status expected(const mesh_text *t, const char *wanted) {
  enum { SHOWN = 60, REST = 20 };
  char meant[SHOWN];
  int first = (int)strcspn(t->text, " \t\n");
  if (t->why && without_blanks(t->text, sizeof meant, meant))
    snprintf(t->why, t->why_size, "mesh '%s': %s%.*s%s; write %s", t->text,
             first ? "there is a blank after '" : "it begins with a blank", first, t->text,
             first ? "'" : "", meant);
  else if (t->why && with_equals(t->text, sizeof meant, meant))
    snprintf(t->why, t->why_size, "mesh '%s': '=' is missing between name and size; write %s",
             t->text, meant);
  else if (t->why)
    snprintf(t->why, t->why_size,
             "mesh '%.*s': expected %s at %s%.*s%s; write dp=2,tp=4, or 2x4, or one size, without "
             "spaces (at most %d axes)",
             SHOWN, t->text, wanted, *t->at ? "'" : "the end", REST, t->at, *t->at ? "'" : "",
             TP_MAX_AXES);
  return TP_INVALID_ARGUMENT;
}

static tp_status parse_name(mesh_text *t, char name[TP_MAX_AXIS_NAME]) {
  size_t length = strcspn(t->at, "=,");
  if (length < TP_MAX_AXIS_NAME) {
    memcpy(name, t->at, length);
    name[length] = 0;
  }
  if (t->at[length] != '=' || length == 0 || memchr(t->at, ' ', length))
    return expected(t, "an axis name and '='");
  if (length >= TP_MAX_AXIS_NAME || !axis_name_valid(name)) {
    if (t->why)
      snprintf(
          t->why, t->why_size,
          "mesh '%.60s': the name of an axis has at most %d bytes, and none of :()\"?; this one "
          "is '%.*s'",
          t->text, TP_MAX_AXIS_NAME - 1, length < 60 ? (int)length : 60, t->at);
    return TP_INVALID_ARGUMENT;
  }
  t->at += length + 1;
  return TP_OK;
}

/* Saturates above max_devices, so that larger sizes are refused with the size of the mesh. */
static tp_status parse_size(mesh_text *t, int64_t *size) {
  const char *p = t->at;
  *size = 0;
  for (; *p >= '0' && *p <= '9'; p++)
    *size = *size > max_devices ? *size : *size * 10 + (*p - '0');
  if (*size < 1)
    return expected(t, "a size, which is at least 1,");
  t->at = p;
  return TP_OK;
}

/* Goes to the next axis. False at the end of the text. */
static tp_status parse_separator(mesh_text *t, const char *separators, bool *more) {
  *more = *t->at && strchr(separators, *t->at);
  if (*t->at && !*more)
    return expected(t, "',' or the end");
  t->at += *more;
  return TP_OK;
}

tp_status tp_mesh_parse(const char *name, const char *text, char *why, size_t why_size,
                        tp_mesh *mesh) {
  static const char *const names_by_place[][TP_MAX_AXES] = {
      {"tp"}, {"dp", "tp"}, {"x", "y", "z", "u", "v", "w", "s", "t"}};
  char texts[TP_MAX_AXES][TP_MAX_AXIS_NAME];
  const char *names[TP_MAX_AXES];
  int64_t sizes[TP_MAX_AXES], devices = 1;
  mesh_text t = {text, text, why, why_size};
  bool named = strchr(text, '=') != NULL, more = true;
  int n = 0;
  for (; more; n++) {
    if (n == TP_MAX_AXES)
      return expected(&t, "the end");
    names[n] = texts[n];
    if (named)
      TP_TRY(parse_name(&t, texts[n]));
    TP_TRY(parse_size(&t, &sizes[n]));
    TP_TRY(parse_separator(&t, named ? "," : ",x", &more));
  }
  for (int i = 0; i < n; i++) {
    if (sizes[i] > max_devices / devices) {
      WHY("mesh '%s' has more than %lld devices", text, (long long)max_devices);
      return TP_INVALID_ARGUMENT;
    }
    devices *= sizes[i];
  }
  char reason[128] = "";
  tp_status status = tp__mesh_create(name, n, named ? names : names_by_place[n <= 2 ? n - 1 : 2],
                                     sizes, reason, sizeof reason, mesh);
  if (status != TP_OK)
    WHY("mesh '%s': %s", text, reason);
  return status;
}

int64_t tp_mesh_size(const tp_mesh *mesh) {
  int64_t size = 1;
  for (int i = 0; i < mesh->n_axes; i++)
    size *= mesh->axes[i].size;
  return size;
}

/* Makes `cut` (a product of leading sub-axis sizes of parent `name`) a boundary between two
 * axes. */
static tp_status cut_axis(tp_mesh *mesh, const char *name, int64_t cut) {
  for (int i = 0; i < mesh->n_axes; i++) {
    tp_axis *axis = &mesh->axes[i];
    if (strcmp(axis->name, name) != 0 || cut <= axis->pre || cut >= axis->pre * axis->size)
      continue;
    if (cut % axis->pre != 0 || axis->pre * axis->size % cut != 0 || mesh->n_axes == TP_MAX_AXES) {
      return TP_INVALID_ARGUMENT;
    }
    memmove(axis + 1, axis, (size_t)(mesh->n_axes - i) * sizeof *axis);
    mesh->n_axes++;
    axis[1].size = axis->pre * axis->size / cut;
    axis[1].pre = cut;
    axis->size = cut / axis->pre;
    return TP_OK;
  }
  return TP_OK; /* already a boundary */
}

static const tp_axis *find_parent(const tp_mesh *mesh, const char *name) {
  for (int i = 0; i < mesh->n_axes; i++) {
    if (strcmp(mesh->axes[i].name, name) == 0)
      return &mesh->axes[i];
  }
  return NULL;
}

tp_status tp_mesh_refine(tp_mesh *mesh, const char *name, int64_t pre, int64_t size) {
  const tp_axis *axis = find_parent(mesh, name);
  if (!axis)
    return TP_NOT_FOUND;
  int64_t whole = axis->parent_size;
  if (pre < 1 || size < 1 || pre > whole || size > whole / pre || whole % (pre * size) != 0)
    return TP_INVALID_ARGUMENT;
  tp_mesh refined = *mesh;
  TP_TRY(cut_axis(&refined, name, pre));
  TP_TRY(cut_axis(&refined, name, pre * size));
  *mesh = refined;
  return TP_OK;
}

bool tp_mesh_is_refined(const tp_mesh *mesh) { return mesh->n_axes != mesh->n_parents; }

tp_mesh tp_mesh_parent(const tp_mesh *mesh) {
  tp_mesh parent = {.n_axes = mesh->n_parents, .n_parents = mesh->n_parents};
  memcpy(parent.name, mesh->name, sizeof parent.name);
  for (int i = 0; i < mesh->n_axes; i++) {
    const tp_axis *axis = &mesh->axes[i];
    tp_axis *whole = &parent.axes[axis->parent];
    *whole = *axis;
    whole->pre = 1;
    whole->size = axis->parent_size;
  }
  return parent;
}

int tp_mesh_find(const tp_mesh *mesh, const char *name, int64_t pre, int64_t size, int *first) {
  for (int i = 0; i < mesh->n_axes; i++) {
    const tp_axis *axis = &mesh->axes[i];
    if (strcmp(axis->name, name) != 0)
      continue;
    int64_t start = pre == 0 ? 1 : pre;
    int64_t wanted = pre == 0 ? axis->parent_size : size;
    if (axis->pre != start)
      continue;
    int64_t covered = 1;
    for (int j = i; j < mesh->n_axes && mesh->axes[j].parent == axis->parent; j++) {
      covered *= mesh->axes[j].size;
      if (covered > wanted)
        return 0;
      if (covered < wanted)
        continue;
      *first = i;
      return j - i + 1;
    }
    return 0;
  }
  return 0;
}

int64_t tp_mesh_stride(const tp_mesh *mesh, int axis) {
  int64_t stride = 1;
  for (int i = axis + 1; i < mesh->n_axes; i++)
    stride *= mesh->axes[i].size;
  return stride;
}

int64_t tp_mesh_coordinate(const tp_mesh *mesh, int64_t device, int axis) {
  return device / tp_mesh_stride(mesh, axis) % mesh->axes[axis].size;
}

int tp_mesh_axis_text(const tp_mesh *mesh, int first, int n, char *text, size_t size) {
  const tp_axis *axis = &mesh->axes[first];
  int64_t covered = 1;
  for (int i = 0; i < n; i++)
    covered *= mesh->axes[first + i].size;
  size_t length = 0;
  if (covered == axis->parent_size)
    tp__text_printf(text, size, &length, "%s", axis->name);
  else
    tp__text_printf(text, size, &length, "%s:(%lld)%lld", axis->name, (long long)axis->pre,
                    (long long)covered);
  return (int)length;
}
