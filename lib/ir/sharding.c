/* Reads, verifies and writes tp.sharding. */
#include "ir/annotation.h"
#include "support/support.h"

#include "ir/collectives.h"

#include <stdio.h>
#include <string.h>

typedef struct reader {
  MlirOperation at;
  const char *what;
  const tp_mesh *mesh;
  int rank;
  MlirType element;
  tp_annotation *out;
} reader;

void tp__mesh_text(const tp_mesh *mesh, char *text, size_t size) {
  tp_mesh parent = tp_mesh_parent(mesh);
  int n = snprintf(text, size, "@%s(", mesh->name);
  for (int i = 0; i < parent.n_axes && n < (int)size; i++)
    n += snprintf(text + n, size - (size_t)n, "%s%s=%lld", i ? ", " : "", parent.axes[i].name,
                  (long long)parent.axes[i].size);
  if (n < (int)size)
    snprintf(text + n, size - (size_t)n, ")");
}

int tp__axis_named(const tp_mesh *mesh, MlirAttribute name) {
  for (int a = 0; a < mesh->n_axes; a++) {
    char text[2 * TP_MAX_AXIS_NAME];
    const char *const wanted = text;
    tp_mesh_axis_text(mesh, a, 1, text, sizeof text);
    if (tp__attr_which(name, 1, &wanted) == 0)
      return a;
  }
  return -1;
}

/* The axis whose name is most like this one; NULL: none is, or it is the axis of a part that the
 * mesh lacks. */
static const char *closest_axis(const tp_mesh *mesh, const char *name) {
  const char *names[TP_MAX_AXES];
  for (int i = 0; i < mesh->n_axes; i++)
    names[i] = mesh->axes[i].name;
  const char *closest = tp__closest_word(name, strlen(name), mesh->n_axes, names);
  return closest && strcmp(closest, name) != 0 ? closest : NULL;
}

/* True if the axes are called d0, d1, ..., as those of a grid without tp.axes. */
static bool has_default_names(const tp_mesh *mesh) {
  bool all = mesh->n_axes > 0;
  for (int i = 0; i < mesh->n_axes; i++) {
    char name[16];
    snprintf(name, sizeof name, "d%d", i);
    all &= strcmp(mesh->axes[i].name, name) == 0;
  }
  return all;
}

/* True if the module that `at` is in has a mesh of its own. */
static bool has_grid(MlirOperation at) {
  MlirStringRef symbol;
  for (MlirOperation up = at; !mlirOperationIsNull(up); up = mlirOperationGetParentOperation(up))
    at = up;
  MlirOperation op = mlirBlockGetFirstOperation(tp__region_block(at, 0));
  while (!mlirOperationIsNull(op) && !tp__is_main_grid(op, &symbol))
    op = mlirOperationGetNextInBlock(op);
  return !mlirOperationIsNull(op);
}

/* Finds the axes of the refined mesh that `token` names. */
static tp_status find_axes(reader *r, MlirStringRef token, int *first, int *n) {
  char name[TP_MAX_AXIS_NAME], text[256];
  int64_t pre, size;
  if (!tp__axis_token(token, name, &pre, &size))
    return tp__error(r->at, TP_INVALID_ARGUMENT,
                     "%s: tp.sharding: \"%.*s\" is not an axis; write an axis, \"tp\", or a part "
                     "of one: of tp=4, \"tp:(1)2\" is the outer part of size 2, and \"tp:(2)2\" "
                     "the inner one",
                     r->what, (int)token.length, token.data);
  *n = tp_mesh_find(r->mesh, name, pre, size, first);
  if (*n > 0)
    return TP_OK;
  tp__mesh_text(r->mesh, text, sizeof text);
  if (has_default_names(r->mesh))
    return tp__error(r->at, TP_NOT_FOUND,
                     "%s: tp.sharding names axis \"%.*s\", but the grid of mesh %s names no axes; "
                     "add {tp.axes = [...]} to it, with a name for each of its sizes, such as "
                     "{tp.axes = [\"dp\", \"tp\"]}",
                     r->what, (int)token.length, token.data, text);
  const char *closest = closest_axis(r->mesh, name);
  if (!closest && !has_grid(r->at))
    return tp__error(r->at, TP_NOT_FOUND,
                     "%s: tp.sharding names axis \"%s\", which mesh %s does not have; the program "
                     "has no mesh of its own, so give one with the axes that it names, such as "
                     "mesh=%s=4",
                     r->what, name, text, name);
  return tp__error(r->at, TP_NOT_FOUND,
                   "%s: tp.sharding names axis \"%.*s\", which mesh %s does not have%s%s%s",
                   r->what, (int)token.length, token.data, text, closest ? "; did you mean \"" : "",
                   closest ? closest : "", closest ? "\"?" : "");
}

static tp_status place_axis(reader *r, MlirStringRef token, int dim) {
  int first, n;
  TP_TRY(find_axes(r, token, &first, &n));
  for (int i = 0; i < n; i++)
    if (tp_spec_append(&r->out->spec, first + i, dim) != TP_OK)
      return tp__error(r->at, TP_INVALID_ARGUMENT,
                       "%s: tp.sharding uses axis \"%.*s\" twice; an axis may split one dimension",
                       r->what, (int)token.length, token.data);
  return TP_OK;
}

static tp_status read_dim(reader *r, MlirAttribute list, int dim) {
  if (!mlirAttributeIsAArray(list))
    return tp__error(
        r->at, TP_INVALID_ARGUMENT,
        "%s: tp.sharding: dimension %d is not a list of axes, such as [\"%s\"]; write [] "
        "where it is not split",
        r->what, dim, r->mesh->axes[0].name);
  intptr_t n = mlirArrayAttrGetNumElements(list);
  for (intptr_t i = 0; i < n; i++) {
    MlirAttribute entry = mlirArrayAttrGetElement(list, i);
    if (!mlirAttributeIsAString(entry))
      return tp__error(r->at, TP_INVALID_ARGUMENT,
                       "%s: tp.sharding: dimension %d has an entry that is not a string", r->what,
                       dim);
    MlirStringRef token = mlirStringAttrGetValue(entry);
    if (tp__ref_is(token, "?")) {
      if (i != n - 1)
        return tp__error(r->at, TP_INVALID_ARGUMENT,
                         "%s: tp.sharding: \"?\" has to be the last entry of dimension %d", r->what,
                         dim);
      r->out->open |= 1u << dim;
      continue;
    }
    TP_TRY(place_axis(r, token, dim));
  }
  return TP_OK;
}

static tp_status read_dims(reader *r, MlirAttribute dims) {
  if (mlirAttributeIsNull(dims) || !mlirAttributeIsAArray(dims))
    return tp__error(r->at, TP_INVALID_ARGUMENT,
                     "%s: tp.sharding has to be a list with one list of axes per dimension, as in "
                     "[[\"%s\"], []]",
                     r->what, r->mesh->axes[0].name);
  intptr_t n = mlirArrayAttrGetNumElements(dims);
  if (n != r->rank)
    return tp__error(
        r->at, TP_INVALID_ARGUMENT,
        "%s: tp.sharding has %d dimension%s, but the tensor has rank %d; write a list for "
        "each dimension, [] where it is not split",
        r->what, (int)n, n == 1 ? "" : "s", r->rank);
  for (int d = 0; d < r->rank; d++)
    TP_TRY(read_dim(r, mlirArrayAttrGetElement(dims, d), d));
  return TP_OK;
}

/* Returns an axis that is partial with another combiner; -1: none. */
static int other_combiner(const reader *r, tp_combiner combiner) {
  for (int a = 0; a < r->mesh->n_axes; a++) {
    tp_place place = tp_spec_place(r->out->spec, a);
    if (place.kind == TP_PARTIAL && place.combiner != combiner &&
        !(tp_place_is_rows(place) && tp_combiner_is_rows(combiner)))
      return a;
  }
  return -1;
}

/* True if a partial value of this type can be created: its combiner has an identity. An average has
 * no identity, but only users write averages; rows are not combined. */
static bool has_identity(MlirType element, tp_combiner combiner) {
  return combiner == TP_AVERAGE || tp_combiner_is_rows(combiner) ||
         !mlirAttributeIsNull(tp__identity_attr(element, combiner));
}

static tp_status read_partial(reader *r, MlirNamedAttribute entry) {
  MlirStringRef token = mlirIdentifierStr(entry.name);
  int first, n;
  TP_TRY(find_axes(r, token, &first, &n));
  tp_combiner combiner;
  char name[32] = "";
  if (!mlirAttributeIsAString(entry.attribute) ||
      !tp__ref_copy(mlirStringAttrGetValue(entry.attribute), name, sizeof name) ||
      !tp_combiner_parse(name, &combiner))
    return tp__error(
        r->at, TP_INVALID_ARGUMENT,
        "%s: tp.sharding: partial over \"%.*s\" needs a combiner such as \"sum\" or \"max\"%s%s%s",
        r->what, (int)token.length, token.data, *name ? ", not \"" : "", name, *name ? "\"" : "");
  char element[64];
  if (!has_identity(r->element, combiner)) {
    tp__type_text(r->element, sizeof element, element);
    return tp__error(r->at, TP_UNSUPPORTED,
                     "%s: tp.sharding: partial over \"%.*s\" by \"%s\", which cannot combine "
                     "elements of type %s; use \"sum\", or reduce the value first",
                     r->what, (int)token.length, token.data, name, element);
  }
  int other = other_combiner(r, combiner);
  if (other >= 0)
    return tp__error(r->at, TP_INVALID_ARGUMENT,
                     "%s: tp.sharding: partial over \"%.*s\" by \"%s\", but over \"%s\" by \"%s\"; "
                     "the result would depend on the order of the reductions, so use one combiner",
                     r->what, (int)token.length, token.data, tp_combiner_name(combiner),
                     r->mesh->axes[other].name,
                     tp_combiner_name(tp_spec_place(r->out->spec, other).combiner));
  for (int i = 0; i < n; i++)
    if (tp_spec_set_partial(&r->out->spec, first + i, combiner) != TP_OK)
      return tp__error(r->at, TP_INVALID_ARGUMENT,
                       "%s: tp.sharding: axis \"%.*s\" is partial and also splits a dimension; an "
                       "axis may do only one of these",
                       r->what, (int)token.length, token.data);
  return TP_OK;
}

static tp_status read_full(reader *r, MlirAttribute attr) {
  static const char *const keys[] = {"dims", "mesh", "partial"};
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(attr); i++) {
    MlirStringRef key = mlirIdentifierStr(mlirDictionaryAttrGetElement(attr, i).name);
    bool known = false;
    for (int k = 0; k < TP_LEN(keys); k++)
      known |= tp__ref_is(key, keys[k]);
    if (!known)
      return tp__error(r->at, TP_INVALID_ARGUMENT,
                       "%s: tp.sharding: unknown key '%.*s'; known are mesh, dims, partial",
                       r->what, (int)key.length, key.data);
  }
  MlirAttribute mesh = mlirDictionaryAttrGetElementByName(attr, tp__ref("mesh"));
  if (!mlirAttributeIsNull(mesh)) {
    if (!mlirAttributeIsAFlatSymbolRef(mesh))
      return tp__error(r->at, TP_INVALID_ARGUMENT,
                       "%s: tp.sharding: mesh has to be a symbol, as in mesh = @mesh", r->what);
    MlirStringRef name = mlirFlatSymbolRefAttrGetValue(mesh);
    if (!tp__ref_is(name, r->mesh->name))
      return tp__error(r->at, TP_NOT_FOUND,
                       "%s: tp.sharding names mesh @%.*s, but the module's mesh is @%s", r->what,
                       (int)name.length, name.data, r->mesh->name);
  }
  tp_status status = read_dims(r, mlirDictionaryAttrGetElementByName(attr, tp__ref("dims")));
  MlirAttribute partial = mlirDictionaryAttrGetElementByName(attr, tp__ref("partial"));
  if (status != TP_OK || mlirAttributeIsNull(partial))
    return status;
  if (!mlirAttributeIsADictionary(partial))
    return tp__error(r->at, TP_INVALID_ARGUMENT,
                     "%s: tp.sharding: partial has to be a dictionary, as in {tp = \"sum\"}",
                     r->what);
  for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(partial) && status == TP_OK; i++)
    status = read_partial(r, mlirDictionaryAttrGetElement(partial, i));
  return status;
}

tp_status tp__read_sharding(MlirOperation at, const char *what, MlirAttribute attr,
                            const tp_mesh *mesh, MlirType type, tp_annotation *annotation) {
  tp_annotation read = {0};
  bool is_tensor = mlirTypeIsARankedTensor(type);
  int rank = is_tensor ? (int)mlirShapedTypeGetRank(type) : 0;
  reader r = {at, what, mesh, rank, is_tensor ? tp__element_type(type) : type, &read};
  if (mesh->n_axes == 0)
    return tp__error(
        at, TP_NOT_FOUND,
        "%s has tp.sharding, but the module has no mesh; add shard.grid @mesh(shape = ...) "
        "{tp.axes = [...]} or give mesh=...",
        what);
  if (rank > TP_MAX_RANK)
    return tp__error(at, TP_UNSUPPORTED,
                     "%s: tp.sharding on a tensor of rank %d; at most %d dimensions are supported",
                     what, rank, TP_MAX_RANK);
  TP_TRY(mlirAttributeIsADictionary(attr) ? read_full(&r, attr) : read_dims(&r, attr));
  *annotation = read;
  return TP_OK;
}

/* ---- writing ---- */

int tp__ordered_axes(const tp_mesh *mesh, int n, const int *axes) {
  int run = 1;
  while (run < n && axes[run] == axes[0] + run &&
         mesh->axes[axes[run]].parent == mesh->axes[axes[0]].parent)
    run++;
  return run;
}

static MlirAttribute axis_list(MlirContext context, const tp_mesh *mesh, int n, const int *axes,
                               bool open) {
  MlirAttribute entries[TP_MAX_AXES + 1];
  int count = 0;
  for (int i = 0; i < n;) {
    int run = tp__ordered_axes(mesh, n - i, axes + i);
    char text[2 * TP_MAX_AXIS_NAME];
    tp_mesh_axis_text(mesh, axes[i], run, text, sizeof text);
    entries[count++] = tp__attr_string(context, text);
    i += run;
  }
  if (open)
    entries[count++] = tp__attr_string(context, "?");
  return mlirArrayAttrGet(context, count, entries);
}

static MlirAttribute partial_dictionary(MlirContext context, const tp_mesh *mesh, tp_spec spec) {
  MlirNamedAttribute entries[TP_MAX_AXES];
  int count = 0;
  for (int a = 0; a < mesh->n_axes;) {
    tp_place place = tp_spec_place(spec, a);
    int run = 1;
    if (place.kind == TP_PARTIAL) {
      while (a + run < mesh->n_axes && mesh->axes[a + run].parent == mesh->axes[a].parent) {
        tp_place next = tp_spec_place(spec, a + run);
        if (next.kind != TP_PARTIAL || next.combiner != place.combiner)
          break;
        run++;
      }
      char text[2 * TP_MAX_AXIS_NAME];
      tp_mesh_axis_text(mesh, a, run, text, sizeof text);
      entries[count++] =
          tp__named(context, text, tp__attr_string(context, tp_combiner_name(place.combiner)));
    }
    a += run;
  }
  return mlirDictionaryAttrGet(context, count, entries);
}

MlirAttribute tp__write_sharding(MlirContext context, const tp_mesh *mesh, int rank,
                                 tp_annotation annotation) {
  MlirAttribute dims[TP_MAX_RANK];
  for (int d = 0; d < rank; d++) {
    int axes[TP_MAX_AXES];
    int n = tp_spec_dim_axes(mesh, annotation.spec, d, axes);
    dims[d] = axis_list(context, mesh, n, axes, annotation.open >> d & 1);
  }
  MlirAttribute list = mlirArrayAttrGet(context, rank, dims);
  if (!tp_spec_has_partial(annotation.spec))
    return list;
  MlirNamedAttribute entries[] = {
      tp__named(context, "dims", list),
      tp__named(context, "partial", partial_dictionary(context, mesh, annotation.spec)),
  };
  return mlirDictionaryAttrGet(context, 2, entries);
}

/* ---- results of ops ---- */

/* Returns the entry of result i. An op with one result carries the sharding itself, possibly in a
 * list of length one; an op with several results carries a list with one entry per result. */
static MlirAttribute result_entry(MlirOperation op, MlirAttribute attr, int i, int rank) {
  int n = (int)mlirOperationGetNumResults(op);
  bool is_list = mlirAttributeIsAArray(attr) && mlirArrayAttrGetNumElements(attr) == n;
  if (n > 1)
    return is_list ? mlirArrayAttrGetElement(attr, i) : (MlirAttribute){NULL};
  if (!is_list)
    return attr;
  MlirAttribute first = mlirArrayAttrGetElement(attr, 0);
  bool wrapped = mlirAttributeIsADictionary(first) ||
                 (mlirAttributeIsAArray(first) &&
                  (rank == 0 || (mlirArrayAttrGetNumElements(first) > 0 &&
                                 !mlirAttributeIsAString(mlirArrayAttrGetElement(first, 0)))));
  return wrapped ? first : attr;
}

tp_status tp__op_sharding(MlirOperation op, int i, const tp_mesh *mesh, tp_annotation *annotation,
                          bool *present) {
  MlirAttribute attr = tp__get(op, "tp.sharding");
  *present = !mlirAttributeIsNull(attr);
  if (!*present)
    return TP_OK;
  int rank;
  int64_t shape[TP_MAX_RANK];
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, i));
  if (!tp__static_tensor(type, &rank, shape)) {
    *present = false;
    return mlirOperationGetNumResults(op) > 1
               ? TP_OK
               : tp__error(op, TP_INVALID_ARGUMENT,
                           "tp.sharding on a result that is not a tensor of static shape");
  }
  char text[32];
  /* most ops have one result; formatting its number would take as long as reading the rest */
  const char *what = "result 0";
  if (i > 0) {
    snprintf(text, sizeof text, "result %d", i);
    what = text;
  }
  MlirAttribute entry = result_entry(op, attr, i, rank);
  if (mlirAttributeIsNull(entry))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "tp.sharding has to be a list with one entry for each of the %d results",
                     (int)mlirOperationGetNumResults(op));
  return tp__read_sharding(op, what, entry, mesh, type, annotation);
}

bool tp__is_annotated(MlirOperation op) {
  return !mlirAttributeIsNull(tp__get(op, "tp.sharding")) ||
         !mlirAttributeIsNull(tp__get(op, "tp.factors"));
}

bool tp__has_decision(MlirOperation op) {
  return tp__is_annotated(op) || !mlirAttributeIsNull(tp__get(op, "tp.rule"));
}

bool tp__is_in_place(MlirOperation op) {
  return (tp__op_is(op, "tensor.pad") || tp__op_is(op, "tensor.extract_slice")) &&
         !mlirAttributeIsNull(tp__get(op, "tp.in_place"));
}

MlirOperation tp__read_in_place(MlirOperation op, int i) {
  MlirOperation maker = tp__defining_op(mlirOperationGetOperand(op, i));
  return !mlirOperationIsNull(maker) && tp__is_in_place(maker) ? maker : (MlirOperation){NULL};
}

tp_status tp__set_op_sharding(MlirOperation op, const tp_mesh *mesh, int n,
                              const tp_annotation *annotations) {
  MlirContext context = mlirOperationGetContext(op);
  enum { FEW = 8 };
  MlirAttribute few[FEW], *entries = n <= FEW ? few : tp__calloc((size_t)n, sizeof *entries);
  if (!entries)
    return tp__out_of_memory(op);
  for (int i = 0; i < n; i++) {
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, i));
    int rank = mlirTypeIsARankedTensor(type) ? (int)mlirShapedTypeGetRank(type) : 0;
    entries[i] = tp__write_sharding(context, mesh, rank, annotations[i]);
  }
  tp__set(op, "tp.sharding", n == 1 ? entries[0] : mlirArrayAttrGet(context, n, entries));
  if (entries != few)
    tp__free(entries);
  return TP_OK;
}

bool tp__is_local(MlirOperation module) {
  MlirAttribute phase = tp__get(module, "tp.phase");
  return !mlirAttributeIsNull(phase) && mlirAttributeIsAString(phase) &&
         tp__ref_is(mlirStringAttrGetValue(phase), "local");
}
