/* Sharding specs: places of axes, and sizes. */
#include "tp/spec.h"

#include "sharding/sharding.h"

#include <string.h>

static const char *const combiner_names[TP_N_COMBINERS] = {
    [TP_SUM] = "sum",        [TP_PRODUCT] = "product",
    [TP_MAX] = "max",        [TP_MIN] = "min",
    [TP_MAXNUM] = "maxnumf", [TP_MINNUM] = "minnumf",
    [TP_MAXU] = "maxui",     [TP_MINU] = "minui",
    [TP_AND] = "and",        [TP_OR] = "or",
    [TP_XOR] = "xor",        [TP_AVERAGE] = "average",
    [TP_ROWS] = "rows",      [TP_ROW_PARTS] = "row_parts",
};

const char *tp_combiner_name(tp_combiner c) {
  return (unsigned)c < TP_N_COMBINERS ? combiner_names[c] : "unknown";
}

bool tp_combiner_parse(const char *name, tp_combiner *c) {
  for (int i = 0; i < TP_N_COMBINERS; i++) {
    if (strcmp(name, combiner_names[i]) != 0)
      continue;
    *c = (tp_combiner)i;
    return true;
  }
  return false;
}

tp_place tp_spec_place(tp_spec spec, int axis) {
  unsigned byte = tp__spec_byte(spec, axis);
  if (byte & TP__PARTIAL_BIT)
    return (tp_place){.kind = TP_PARTIAL, .combiner = (tp_combiner)(byte & 0x7f)};
  if (byte == 0)
    return (tp_place){.kind = TP_REPLICATED};
  return (tp_place){.kind = TP_DIM, .dim = (int)(byte & 15) - 1, .order = (int)(byte >> 4)};
}

tp_status tp_spec_append(tp_spec *spec, int axis, int dim) {
  if (axis < 0 || axis >= TP_MAX_AXES || dim < 0 || dim >= TP_MAX_RANK)
    return TP_INVALID_ARGUMENT;
  if (tp__spec_byte(*spec, axis) != 0)
    return TP_INVALID_ARGUMENT;
  unsigned order = 0;
  for (int i = 0; i < TP_MAX_AXES; i++)
    order += tp__byte_dim(tp__spec_byte(*spec, i)) == dim;
  tp__spec_set_byte(spec, axis, order << 4 | (unsigned)(dim + 1));
  return TP_OK;
}

tp_status tp_spec_set_partial(tp_spec *spec, int axis, tp_combiner combiner) {
  if (axis < 0 || axis >= TP_MAX_AXES || (unsigned)combiner >= TP_N_COMBINERS)
    return TP_INVALID_ARGUMENT;
  if (tp__spec_byte(*spec, axis) != 0)
    return TP_INVALID_ARGUMENT;
  tp__spec_set_byte(spec, axis, TP__PARTIAL_BIT | (unsigned)combiner);
  return TP_OK;
}

void tp_spec_clear(tp_spec *spec, int axis) {
  if (axis < 0 || axis >= TP_MAX_AXES)
    return;
  unsigned byte = tp__spec_byte(*spec, axis);
  int dim = tp__byte_dim(byte);
  tp__spec_set_byte(spec, axis, 0);
  if (dim < 0)
    return;
  for (int i = 0; i < TP_MAX_AXES; i++) {
    unsigned other = tp__spec_byte(*spec, i);
    if (tp__byte_dim(other) == dim && other > byte)
      tp__spec_set_byte(spec, i, other - 16);
  }
}

int tp_spec_dim_axes(const tp_mesh *mesh, tp_spec spec, int dim, int *axes) {
  int n = 0;
  for (int i = 0; i < mesh->n_axes; i++) {
    unsigned byte = tp__spec_byte(spec, i);
    if (tp__byte_dim(byte) != dim)
      continue;
    axes[byte >> 4] = i; /* orders have no gaps, so all n entries are filled */
    n++;
  }
  return n;
}

bool tp_spec_has_partial(tp_spec spec) { return (spec.bits & TP__PARTIAL_BITS) != 0; }

bool tp__spec_mixes_combiners(tp_spec spec) {
  unsigned first = 0; /* byte of a partial axis */
  for (int a = 0; a < TP_MAX_AXES; a++) {
    unsigned byte = tp__spec_byte(spec, a);
    if (!(byte & TP__PARTIAL_BIT))
      continue;
    if (byte == (TP__PARTIAL_BIT | TP_ROW_PARTS))
      byte = TP__PARTIAL_BIT | TP_ROWS;
    if (first != 0 && byte != first)
      return true;
    first = byte;
  }
  return false;
}

int64_t tp_spec_dim_shards(const tp_mesh *mesh, tp_spec spec, int dim) {
  int64_t shards = 1;
  for (int i = 0; i < mesh->n_axes; i++) {
    if (tp__byte_dim(tp__spec_byte(spec, i)) == dim)
      shards *= mesh->axes[i].size;
  }
  return shards;
}

unsigned tp_spec_uneven_axes(const tp_mesh *mesh, tp_spec spec, int rank, const int64_t *shape) {
  unsigned axes = 0;
  for (int i = 0; i < mesh->n_axes; i++) {
    int dim = tp__byte_dim(tp__spec_byte(spec, i));
    if (dim >= 0 && dim < rank && shape[dim] % tp_spec_dim_shards(mesh, spec, dim) != 0)
      axes |= 1u << i;
  }
  return axes;
}

bool tp_spec_is_canonical(const tp_mesh *mesh, tp_spec spec) {
  /* the order that the next axis of the dimension must have */
  unsigned next[TP_MAX_RANK + 2] = {0};
  for (int i = 0; i < mesh->n_axes; i++) {
    unsigned byte = tp__spec_byte(spec, i);
    int dim = tp__byte_dim(byte);
    if (dim >= 0 && byte >> 4 != next[dim]++)
      return false;
  }
  return true;
}

int64_t tp__buffer_size(const tp_mesh *mesh, int n, const int *axes, int64_t size) {
  for (int i = 0; i < n; i++) {
    int64_t parts = mesh->axes[axes[i]].size;
    size = size / parts + (size % parts != 0);
  }
  return size;
}

void tp_spec_local_shape(const tp_mesh *mesh, tp_spec spec, int rank, const int64_t *shape,
                         int64_t *local) {
  for (int d = 0; d < rank; d++) {
    int axes[TP_MAX_AXES];
    int n = tp_spec_dim_axes(mesh, spec, d, axes);
    local[d] = tp__buffer_size(mesh, n, axes, shape[d]);
  }
}

int64_t tp_spec_local_elements(const tp_mesh *mesh, tp_spec spec, int rank, const int64_t *shape) {
  int64_t local[TP_MAX_RANK];
  int64_t elements = 1;
  tp_spec_local_shape(mesh, spec, rank, shape, local);
  for (int d = 0; d < rank; d++)
    elements = tp__multiply(elements, local[d]);
  return elements;
}

bool tp_spec_divides(const tp_mesh *mesh, tp_spec spec, int rank, const int64_t *shape) {
  for (int d = 0; d < rank; d++) {
    if (shape[d] % tp_spec_dim_shards(mesh, spec, d) != 0)
      return false;
  }
  return true;
}

void tp_spec_shard(const tp_mesh *mesh, tp_spec spec, int dim, int64_t size, int64_t device,
                   int64_t *offset, int64_t *valid) {
  int axes[TP_MAX_AXES];
  int n = tp_spec_dim_axes(mesh, spec, dim, axes);
  int64_t at = 0, left = size, buffer = size;
  for (int i = 0; i < n; i++) {
    buffer = tp__buffer_size(mesh, 1, &axes[i], buffer);
    int64_t skip = tp_mesh_coordinate(mesh, device, axes[i]) * buffer;
    if (skip > left)
      skip = left;
    at += skip;
    left -= skip;
    if (left > buffer)
      left = buffer;
  }
  *offset = at;
  *valid = left;
}
