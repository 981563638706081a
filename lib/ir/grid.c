/* Reads and writes the mesh of a module: shard.grid symbols with tp.axes, their refinement, and the
 * axes of collectives. */
#include "ir/annotation.h"
#include "sharding/sharding.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tp__axis_token(MlirStringRef token, char *name, int64_t *pre, int64_t *size) {
  char text[2 * TP_MAX_AXIS_NAME];
  if (!tp__ref_copy(token, text, sizeof text))
    return false;
  char *colon = strchr(text, ':');
  *pre = *size = 0; /* a whole axis */
  if (colon) {
    char p[10], s[10];
    int used = 0;
    /* digits alone, and at most nine, so that the product of both cannot overflow */
    if (sscanf(colon, ":(%9[0-9])%9[0-9]%n", p, s, &used) != 2 || colon[used] != 0)
      return false;
    *pre = strtoll(p, NULL, 10);
    *size = strtoll(s, NULL, 10);
    if (*pre < 1 || *size < 2)
      return false;
    *colon = 0;
  }
  size_t n = strlen(text);
  if (n == 0 || n >= TP_MAX_AXIS_NAME)
    return false;
  memcpy(name, text, n + 1);
  return true;
}

/* ---- grids ---- */

static bool is_grid(MlirOperation op) { return tp__op_is(op, "shard.grid"); }

static MlirOperation next_grid(MlirOperation op) {
  while (!mlirOperationIsNull(op) && !is_grid(op))
    op = mlirOperationGetNextInBlock(op);
  return op;
}

enum { WHY_SIZE = 160 };

/* Names for n axes, as an attribute has them. */
static const char *example_of_names(int n, char text[WHY_SIZE]) {
  static const char *const names[] = {"x", "y", "z", "u", "v", "w", "s", "t"}, *const few[] = {
                                                                                   "dp", "tp"};
  size_t length = 0;
  tp__text_printf(text, WHY_SIZE, &length, "[");
  for (int i = 0; i < n && i < TP_LEN(names); i++)
    tp__text_printf(text, WHY_SIZE, &length, "%s\"%s\"", i ? ", " : "",
                    n > TP_LEN(few) ? names[i] : few[i + TP_LEN(few) - n]);
  tp__text_printf(text, WHY_SIZE, &length, "]");
  return text;
}

tp_status tp__mesh_of_axes(MlirOperation op, const char *name, int n, const char *const *names,
                           const int64_t *sizes, tp_mesh *mesh) {
  char why[WHY_SIZE];
  return tp__mesh_create(name, n, names, sizes, why, sizeof why, mesh) == TP_OK
             ? TP_OK
             : tp__error(op, TP_INVALID_ARGUMENT, "%s", why);
}

static tp_status read_grid(MlirOperation grid, tp_mesh *mesh) {
  int64_t sizes[TP_MAX_AXES];
  char names[TP_MAX_AXES][TP_MAX_AXIS_NAME];
  const char *pointers[TP_MAX_AXES];
  char symbol[TP_MAX_AXIS_NAME], why[WHY_SIZE];
  int n = tp__int_list(tp__inherent(grid, "shape"), TP_MAX_AXES, sizes);
  if (n < 1)
    return tp__error(grid, TP_UNSUPPORTED, "a grid needs 1 to %d axes", TP_MAX_AXES);
  if (!tp__ref_copy(mlirStringAttrGetValue(tp__inherent(grid, "sym_name")), symbol, sizeof symbol))
    return tp__error(grid, TP_UNSUPPORTED, "the symbol name is longer than %d bytes",
                     TP_MAX_AXIS_NAME - 1);
  MlirAttribute axes = tp__get(grid, "tp.axes");
  bool named = !mlirAttributeIsNull(axes);
  if (named && (!mlirAttributeIsAArray(axes) || mlirArrayAttrGetNumElements(axes) != n))
    return tp__error(grid, TP_INVALID_ARGUMENT,
                     "tp.axes has to be a list of %d name%s, one for each size of the shape, such "
                     "as %s",
                     n, n == 1 ? "" : "s", example_of_names(n, why));
  for (int i = 0; i < n; i++) {
    pointers[i] = names[i];
    snprintf(names[i], sizeof names[i], "d%d", i);
    if (!named)
      continue;
    MlirAttribute name = mlirArrayAttrGetElement(axes, i);
    if (!mlirAttributeIsAString(name) ||
        !tp__ref_copy(mlirStringAttrGetValue(name), names[i], sizeof names[i]))
      return tp__error(grid, TP_INVALID_ARGUMENT,
                       "tp.axes: entry %d is not a name of at most %d bytes", i,
                       TP_MAX_AXIS_NAME - 1);
  }
  for (int i = 0; i < n; i++)
    if (sizes[i] < 0)
      return tp__error(grid, TP_INVALID_ARGUMENT,
                       "the shape has a '?' for axis \"%s\"; write its size, as in shape = 2x4",
                       pointers[i]);
  return tp__mesh_of_axes(grid, symbol, n, pointers, sizes, mesh);
}

bool tp__is_main_grid(MlirOperation op, MlirStringRef *symbol) {
  if (!is_grid(op) || !mlirAttributeIsNull(tp__get(op, "tp.of")))
    return false;
  *symbol = mlirStringAttrGetValue(tp__inherent(op, "sym_name"));
  return true;
}

/* ---- binding of sizes from the command line ---- */

/* Gives the axes of an unrefined mesh new sizes. tp_mesh_parse has checked their product. */
static void resize(tp_mesh *mesh, const int64_t *sizes) {
  for (int i = 0; i < mesh->n_axes; i++)
    mesh->axes[i].size = mesh->axes[i].parent_size = sizes[i];
}

/* The axes of the program's grid, as messages about a binding list them: `"dp" (2), "tp" (4)`. */
static const char *axes_text(const tp_mesh *mesh, size_t size, char *text) {
  size_t n = 0;
  text[0] = 0;
  for (int i = 0; i < mesh->n_axes; i++)
    tp__text_printf(text, size, &n, "%s\"%s\" (%lld)", i ? ", " : "", mesh->axes[i].name,
                    (long long)mesh->axes[i].size);
  return text;
}

/* The sizes of the program's grid, as a binding without names writes them: "2x4". */
static const char *sizes_text(const tp_mesh *mesh, size_t size, char *text) {
  size_t n = 0;
  text[0] = 0;
  for (int i = 0; i < mesh->n_axes; i++)
    tp__text_printf(text, size, &n, "%s%lld", i ? "x" : "", (long long)mesh->axes[i].size);
  return text;
}

enum { AXES_TEXT = TP_MAX_AXES * (TP_MAX_AXIS_NAME + 20) };

static tp_status refuse_name(MlirOperation module, const char *binding, const tp_axis *unknown,
                             const tp_mesh *mesh) {
  const char *names[TP_MAX_AXES];
  char axes[AXES_TEXT];
  for (int i = 0; i < mesh->n_axes; i++)
    names[i] = mesh->axes[i].name;
  const char *closest = tp__closest_word(unknown->name, strlen(unknown->name), mesh->n_axes, names);
  return tp__error(
      module, TP_NOT_FOUND,
      "mesh '%s': the program's grid @%s has no axis \"%s\"; its axes are %s; write for "
      "example %s=%lld",
      binding, mesh->name, unknown->name, axes_text(mesh, sizeof axes, axes),
      closest ? closest : names[mesh->n_axes - 1], (long long)unknown->size);
}

/* Binds sizes by the names of axes; axes that are not named get size 1. */
static tp_status bind_named(MlirOperation module, const char *binding, const tp_mesh *bound,
                            tp_mesh *mesh) {
  int64_t sizes[TP_MAX_AXES];
  for (int i = 0; i < mesh->n_axes; i++)
    sizes[i] = 1;
  for (int b = 0; b < bound->n_axes; b++) {
    int first;
    if (!tp_mesh_find(mesh, bound->axes[b].name, 0, 0, &first))
      return refuse_name(module, binding, &bound->axes[b], mesh);
    sizes[first] = bound->axes[b].size;
  }
  resize(mesh, sizes);
  return TP_OK;
}

/* Binds sizes by place. One size alone is that of the last axis. */
static tp_status bind_bare(MlirOperation module, const char *binding, const tp_mesh *bound,
                           tp_mesh *mesh) {
  int64_t sizes[TP_MAX_AXES];
  char axes[AXES_TEXT], own[AXES_TEXT];
  if (bound->n_axes != 1 && bound->n_axes != mesh->n_axes)
    return tp__error(module, TP_INVALID_ARGUMENT,
                     "mesh '%s' has %d sizes, but the program's grid @%s has %d ax%ss, %s; write "
                     "%d size%s, such as %s, or name axes, as in %s=%lld",
                     binding, bound->n_axes, mesh->name, mesh->n_axes,
                     mesh->n_axes == 1 ? "i" : "e", axes_text(mesh, sizeof axes, axes),
                     mesh->n_axes, mesh->n_axes == 1 ? "" : "s", sizes_text(mesh, sizeof own, own),
                     mesh->axes[0].name, (long long)bound->axes[0].size);
  for (int i = 0; i < mesh->n_axes; i++) {
    int from = i - (mesh->n_axes - bound->n_axes);
    sizes[i] = from < 0 ? 1 : bound->axes[from].size;
  }
  resize(mesh, sizes);
  return TP_OK;
}

/* ---- symbols of grids ---- */

static void sub_grid_name(const tp_mesh *mesh, char *text, size_t size) {
  snprintf(text, size, "%s.sub", mesh->name);
}

/* The op of the module with this symbol that is no grid; null if there is none. */
static MlirOperation taken_by(MlirOperation module, const char *name) {
  MlirOperation op = mlirBlockGetFirstOperation(tp__region_block(module, 0));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute own = tp__inherent(op, "sym_name");
    if (!is_grid(op) && !mlirAttributeIsNull(own) && mlirAttributeIsAString(own) &&
        tp__ref_is(mlirStringAttrGetValue(own), name))
      break;
  }
  return op;
}

static MlirOperation sub_taken_by(MlirOperation module, const tp_mesh *mesh) {
  char sub[2 * TP_MAX_AXIS_NAME];
  sub_grid_name(mesh, sub, sizeof sub);
  return taken_by(module, sub);
}

/* Names a new mesh so that functions keep their names. */
static void choose_name(MlirOperation module, tp_mesh *mesh) {
  for (int i = 0; !mlirOperationIsNull(taken_by(module, mesh->name)) ||
                  !mlirOperationIsNull(sub_taken_by(module, mesh));
       i++)
    snprintf(mesh->name, sizeof mesh->name, "mesh_%d", i);
}

/* ---- bindings ---- */

/* Binds `binding` to the module's mesh, or creates the mesh from it if the module has none. */
static tp_status bind(MlirOperation module, const char *binding, bool from_nothing, tp_mesh *mesh) {
  char why[256] = "", axes[AXES_TEXT];
  tp_mesh bound;
  bool is_valid = tp_mesh_parse("mesh", binding, why, sizeof why, &bound) == TP_OK;
  if (!is_valid && !from_nothing)
    return tp__error(module, TP_INVALID_ARGUMENT, "%s; the program's grid @%s has axes %s", why,
                     mesh->name, axes_text(mesh, sizeof axes, axes));
  if (!is_valid)
    return tp__error(module, TP_INVALID_ARGUMENT, "%s", why);
  if (!from_nothing)
    return (strchr(binding, '=') ? bind_named : bind_bare)(module, binding, &bound, mesh);
  *mesh = bound;
  choose_name(module, mesh);
  return TP_OK;
}

/* ---- refinement by the sub-axes in annotations ---- */

/* Names parts of an axis: its smallest factor, and the rest. */
static const char *parts_text(const char *axis, int64_t axis_size, size_t size, char *text) {
  int64_t factor = 2;
  while (factor * factor <= axis_size && axis_size % factor != 0)
    factor++;
  if (factor * factor > axis_size)
    snprintf(text, size, "this size has no parts: write \"%s\"", axis);
  else
    snprintf(text, size, "parts are, for example, %s:(1)%lld and %s:(%lld)%lld", axis,
             (long long)factor, axis, (long long)factor, (long long)(axis_size / factor));
  return text;
}

static tp_status refine_token(MlirOperation at, MlirStringRef token, tp_mesh *mesh) {
  char name[TP_MAX_AXIS_NAME];
  int64_t pre, size;
  if (!tp__axis_token(token, name, &pre, &size) || pre == 0)
    /* whole axes are skipped; malformed names are reported when the annotation is read */
    return TP_OK;
  int first;
  if (!tp_mesh_find(mesh, name, 0, 0, &first))
    return TP_OK;
  tp_axis parent = mesh->axes[first];
  if (tp_mesh_refine(mesh, name, pre, size) == TP_OK)
    return TP_OK;
  if (parent.parent_size % (pre * size) != 0) {
    char parts[128];
    return tp__error(at, TP_INVALID_ARGUMENT,
                     "sub-axis \"%.*s\" does not divide axis \"%s\" of size %lld: in (pre)size, "
                     "the product pre * size must divide it; %s",
                     (int)token.length, token.data, name, (long long)parent.parent_size,
                     parts_text(name, parent.parent_size, sizeof parts, parts));
  }
  return tp__error(at, TP_INVALID_ARGUMENT,
                   "sub-axis \"%.*s\" is not aligned with the other sub-axes of \"%s\", or the "
                   "mesh would need more than %d axes",
                   (int)token.length, token.data, name, TP_MAX_AXES);
}

static tp_status refine_attr(MlirOperation at, MlirAttribute attr, tp_mesh *mesh) {
  tp_status status = TP_OK;
  if (mlirAttributeIsNull(attr))
    return TP_OK;
  if (mlirAttributeIsAString(attr))
    return refine_token(at, mlirStringAttrGetValue(attr), mesh);
  if (mlirAttributeIsAArray(attr))
    for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(attr) && status == TP_OK; i++)
      status = refine_attr(at, mlirArrayAttrGetElement(attr, i), mesh);
  if (mlirAttributeIsADictionary(attr))
    for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(attr) && status == TP_OK; i++) {
      MlirNamedAttribute entry = mlirDictionaryAttrGetElement(attr, i);
      status = refine_token(at, mlirIdentifierStr(entry.name), mesh);
      if (status == TP_OK)
        status = refine_attr(at, entry.attribute, mesh);
    }
  return status;
}

/* Skips attributes that were visited recently. MLIR uniques attributes, and a plan puts few
 * distinct ones on many ops. */
typedef struct refining {
  tp_mesh *mesh;
  MlirAttribute last;     /* all attributes of the previous op */
  MlirAttribute done[64]; /* direct-mapped by address */
} refining;

static tp_status refine_once(refining *r, MlirOperation at, MlirAttribute attr) {
  MlirAttribute *done = &r->done[((uintptr_t)attr.ptr >> 4) % TP_LEN(r->done)];
  if (mlirAttributeIsNull(attr) || mlirAttributeEqual(attr, *done))
    return TP_OK;
  *done = attr;
  return refine_attr(at, attr, r->mesh);
}

static tp_status refine_by_op(MlirOperation op, void *data) {
  refining *r = data;
  tp_mesh *mesh = r->mesh;
  MlirAttribute all = tp__attributes(op);
  /* the op has no attributes, or the same as the previous op */
  if (mlirAttributeEqual(all, r->last) && !tp__op_is(op, "func.func"))
    return TP_OK;
  r->last = all;
  static const char *const names[] = {"tp.sharding", "tp.region_args", "tp.factors"};
  for (int i = 0; i < TP_LEN(names); i++)
    TP_TRY(refine_once(r, op, tp__get(op, names[i])));
  if (is_grid(op) && !mlirAttributeIsNull(tp__get(op, "tp.of")))
    return refine_attr(op, tp__get(op, "tp.axes"), mesh);
  if (!tp__op_is(op, "func.func"))
    return TP_OK;
  MlirType type = tp__func_type(op);
  for (int i = 0; i < mlirFunctionTypeGetNumInputs(type); i++)
    TP_TRY(refine_attr(op, tp__arg_attr(op, i, "tp.sharding"), mesh));
  for (int i = 0; i < mlirFunctionTypeGetNumResults(type); i++)
    TP_TRY(refine_attr(op, tp__result_attr(op, i, "tp.sharding"), mesh));
  return TP_OK;
}

tp_status tp__module_mesh(MlirOperation module, const char *binding, tp_mesh *mesh) {
  memset(mesh, 0, sizeof *mesh);
  MlirOperation grid;
  TP_TRY(tp__choose_mesh(module, tp__is_main_grid, &grid));
  bool from_nothing = mlirOperationIsNull(grid);
  if (!from_nothing)
    TP_TRY(read_grid(grid, mesh));
  if (binding && *binding)
    TP_TRY(bind(module, binding, from_nothing, mesh));
  refining r = {.mesh = mesh};
  if (mesh->n_axes > 0)
    TP_TRY(tp__walk_some(module, TP_WALK_OUTSIDE | TP_WALK_ANNOTATED, refine_by_op, &r));
  MlirOperation other = from_nothing ? (MlirOperation){NULL} : sub_taken_by(module, mesh);
  if (!mlirOperationIsNull(other))
    return tp__error(other, TP_INVALID_ARGUMENT,
                     "has the name @%s.sub, which the grid of the sub-axes of @%s needs; rename it",
                     mesh->name, mesh->name);
  return TP_OK;
}

tp_status tp__load_topology(MlirOperation module, const char *name, const tp_mesh *mesh,
                            tp_topology *topology) {
  char why[1024] = "";
  tp_status status = tp_topology_load(name, mesh, why, sizeof why, topology);
  return status == TP_OK ? TP_OK : tp__error(module, status, "%s", why);
}

tp_status tp__load_prices(MlirOperation module, const char *name, tp_objective objective,
                          double byte_flops, const tp_mesh *mesh, tp_topology *topology) {
  TP_TRY(tp__load_topology(module, name, mesh, topology));
  if (objective == TP_OBJECTIVE_BYTES)
    tp_topology_count_bytes(topology, byte_flops);
  return TP_OK;
}

tp_status tp__memory_limit(MlirOperation op, int64_t option, const tp_topology *topology,
                           int64_t *bytes) {
  *bytes = option == TP_LIMIT_OF_TOPOLOGY ? topology->memory_bytes : option;
  if (option == TP_LIMIT_OF_TOPOLOGY && *bytes == 0)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "memory-limit=topology: topology '%s' does not say how much memory a device "
                     "has; add memory_bytes to it, or give a number of bytes",
                     topology->name);
  return TP_OK;
}

/* ---- writing of grids ---- */

static void write_grid(MlirOperation module, const char *symbol, const tp_mesh *mesh,
                       const char *of) {
  MlirContext context = mlirOperationGetContext(module);
  int64_t sizes[TP_MAX_AXES];
  MlirAttribute names[TP_MAX_AXES];
  for (int i = 0; i < mesh->n_axes; i++) {
    char text[2 * TP_MAX_AXIS_NAME];
    tp_mesh_axis_text(mesh, i, 1, text, sizeof text);
    sizes[i] = mesh->axes[i].size;
    names[i] = tp__attr_string(context, text);
  }
  MlirNamedAttribute attrs[4] = {
      tp__named(context, "sym_name", tp__attr_string(context, symbol)),
      tp__named(context, "shape", tp__attr_i64s(context, mesh->n_axes, sizes)),
      tp__named(context, "tp.axes", mlirArrayAttrGet(context, mesh->n_axes, names)),
  };
  if (of)
    attrs[3] = tp__named(context, "tp.of", mlirFlatSymbolRefAttrGet(context, tp__ref(of)));
  MlirOperation op = tp__create(&(tp_build){.name = "shard.grid",
                                            .location = mlirOperationGetLocation(module),
                                            .n_attributes = of ? 4 : 3,
                                            .attributes = attrs});
  mlirBlockInsertOwnedOperation(tp__region_block(module, 0), of ? 1 : 0, op);
}

void tp__write_grids(MlirOperation module, const tp_mesh *mesh) {
  MlirOperation grid = next_grid(mlirBlockGetFirstOperation(tp__region_block(module, 0)));
  while (!mlirOperationIsNull(grid)) {
    MlirOperation next = next_grid(mlirOperationGetNextInBlock(grid));
    mlirOperationDestroy(grid);
    grid = next;
  }
  tp_mesh parent = tp_mesh_parent(mesh);
  char sub[2 * TP_MAX_AXIS_NAME];
  write_grid(module, mesh->name, &parent, NULL);
  sub_grid_name(mesh, sub, sizeof sub);
  if (tp_mesh_is_refined(mesh))
    write_grid(module, sub, mesh, mesh->name);
}

/* ---- axes of collectives ---- */

/* Returns the number of parent axes if `axes` is a list of whole parent axes in order, otherwise 0.
 * `parents` receives them. */
static int whole_axes(const tp_mesh *mesh, int n, const int *axes, int16_t *parents) {
  int count = 0;
  for (int i = 0; i < n;) {
    const tp_axis *axis = mesh->axes + axes[i];
    if (axis->pre != 1)
      return 0;
    int64_t product = 1;
    int k = i;
    while (k < n && product < axis->parent_size && axes[k] == axes[i] + (k - i) &&
           mesh->axes[axes[k]].parent == axis->parent)
      product *= mesh->axes[axes[k++]].size;
    if (product != axis->parent_size)
      return 0;
    parents[count++] = (int16_t)axis->parent;
    i = k > i ? k : i + 1; /* an axis of size 1 */
  }
  return count;
}

void tp__grid_axes(MlirContext context, const tp_mesh *mesh, int n, const int *axes,
                   MlirAttribute *grid, MlirAttribute *grid_axes) {
  int16_t list[TP_MAX_AXES];
  char name[2 * TP_MAX_AXIS_NAME];
  int count = whole_axes(mesh, n, axes, list);
  if (count > 0 || n == 0) {
    snprintf(name, sizeof name, "%s", mesh->name);
  } else {
    sub_grid_name(mesh, name, sizeof name);
    for (count = 0; count < n; count++)
      list[count] = (int16_t)axes[count];
  }
  *grid = mlirFlatSymbolRefAttrGet(context, tp__ref(name));
  *grid_axes = mlirDenseI16ArrayGet(context, count, list);
}
