/* Meshes: creation, parsing, and refinement into sub-axes. */
#include "tp/mesh.h"

#include "support/support.h"

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

static tp_status create(const char *name, int n, const char *const *names, const int64_t *sizes,
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
  return create(name, n, names, sizes, NULL, 0, mesh);
}

/* Reads decimal digits. False if there are none, or if the value exceeds the largest mesh. */
static bool parse_size(const char **text, int64_t *size) {
  const char *p = *text;
  int64_t value = 0;
  for (; *p >= '0' && *p <= '9'; p++) {
    value = value * 10 + (*p - '0');
    if (value > max_devices)
      return false;
  }
  if (p == *text)
    return false;
  *text = p;
  *size = value;
  return true;
}

tp_status tp_mesh_parse(const char *name, const char *text, char *why, size_t why_size,
                        tp_mesh *mesh) {
  char texts[TP_MAX_AXES][TP_MAX_AXIS_NAME];
  const char *names[TP_MAX_AXES];
  int64_t sizes[TP_MAX_AXES];
  int n = 0;
  for (const char *p = text;; p++) {
    size_t length = strcspn(p, "=,");
    if (n == TP_MAX_AXES) {
      WHY("mesh \"%s\" has more than %d axes", text, TP_MAX_AXES);
      return TP_INVALID_ARGUMENT;
    }
    if (length >= TP_MAX_AXIS_NAME || p[length] != '=') {
      WHY("mesh \"%s\": expected name=size at \"%s\", as in dp=2,tp=4", text, p);
      return TP_INVALID_ARGUMENT;
    }
    memcpy(texts[n], p, length);
    texts[n][length] = '\0';
    names[n] = texts[n];
    p += length + 1;
    if (!parse_size(&p, &sizes[n]) || (*p && *p != ',')) {
      WHY("mesh \"%s\": axis \"%s\" needs a size, a decimal number from 1 to %lld, at \"%s\"", text,
          texts[n], (long long)max_devices, p);
      return TP_INVALID_ARGUMENT;
    }
    n++;
    if (!*p)
      break;
  }
  return create(name, n, names, sizes, why, why_size, mesh);
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
