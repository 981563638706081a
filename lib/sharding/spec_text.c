/* Sharding specs: text and verification. */
#include "tp/spec.h"

#include "sharding/sharding.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

typedef struct sink {
  char *text;
  size_t size;
  size_t length;
} sink;

#define PUT(out, ...) tp__text_printf((out)->text, (out)->size, &(out)->length, __VA_ARGS__)

/* True if axis `b` continues axis `a` in the same parent, so that both print as one name. */
static bool continues(const tp_mesh *mesh, int a, int b) {
  return b == a + 1 && mesh->axes[a].parent == mesh->axes[b].parent;
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* True if MLIR prints the dictionary key without quotes: [A-Za-z_][A-Za-z0-9_$.]*. */
static bool is_bare_key(const char *key) {
  if (!is_letter(*key))
    return false;
  for (; *key; key++) {
    if (!is_letter(*key) && !(*key >= '0' && *key <= '9') && *key != '$' && *key != '.')
      return false;
  }
  return true;
}

static void put_dims(const tp_mesh *mesh, tp_spec spec, int rank, sink *out) {
  PUT(out, "[");
  for (int d = 0; d < rank; d++) {
    int axes[TP_MAX_AXES];
    int n = tp_spec_dim_axes(mesh, spec, d, axes);
    PUT(out, d ? ", [" : "[");
    for (int i = 0, run; i < n; i += run) {
      char name[2 * TP_MAX_AXIS_NAME];
      for (run = 1; i + run < n && continues(mesh, axes[i + run - 1], axes[i + run]); run++)
        continue;
      tp_mesh_axis_text(mesh, axes[i], run, name, sizeof name);
      PUT(out, i ? ", \"%s\"" : "\"%s\"", name);
    }
    PUT(out, "]");
  }
  PUT(out, "]");
}

static void put_partials(const tp_mesh *mesh, tp_spec spec, sink *out) {
  const char *separator = "";
  for (int a = 0, run; a < mesh->n_axes; a += run) {
    unsigned byte = tp__spec_byte(spec, a);
    run = 1;
    if (!(byte & TP__PARTIAL_BIT))
      continue;
    while (a + run < mesh->n_axes && continues(mesh, a + run - 1, a + run) &&
           tp__spec_byte(spec, a + run) == byte)
      run++;
    char name[2 * TP_MAX_AXIS_NAME];
    tp_mesh_axis_text(mesh, a, run, name, sizeof name);
    const char *quote = is_bare_key(name) ? "" : "\"";
    PUT(out, "%s%s%s%s = \"%s\"", separator, quote, name, quote,
        tp_combiner_name(tp_spec_place(spec, a).combiner));
    separator = ", ";
  }
}

int tp_spec_text(const tp_mesh *mesh, tp_spec spec, int rank, char *text, size_t size) {
  sink out = {text, size, 0};
  if (!tp_spec_has_partial(spec)) {
    put_dims(mesh, spec, rank, &out);
    return (int)out.length;
  }
  PUT(&out, "{dims = ");
  put_dims(mesh, spec, rank, &out);
  PUT(&out, ", partial = {");
  put_partials(mesh, spec, &out);
  PUT(&out, "}}");
  return (int)out.length;
}

#define WHY(...) ((void)(why && snprintf(why, why_size, __VA_ARGS__)))

/* True if every order 0..n-1 of the dimension occurs exactly once. */
static bool orders_close(const tp_mesh *mesh, tp_spec spec, int dim) {
  unsigned seen = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    unsigned byte = tp__spec_byte(spec, a);
    if (tp__byte_dim(byte) != dim)
      continue;
    if (seen >> (byte >> 4) & 1)
      return false;
    seen |= 1u << (byte >> 4);
  }
  return (seen & (seen + 1)) == 0;
}

tp_status tp_spec_verify(const tp_mesh *mesh, tp_spec spec, int rank, char *why, size_t why_size) {
  if (rank < 0 || rank > TP_MAX_RANK) {
    WHY("a sharded tensor has at most %d dimensions; this one has %d", TP_MAX_RANK, rank);
    return TP_INVALID_ARGUMENT;
  }
  for (int a = 0; a < TP_MAX_AXES; a++) {
    unsigned byte = tp__spec_byte(spec, a);
    if (byte == 0)
      continue;
    if (a >= mesh->n_axes) {
      WHY("axis number %d is used, but mesh \"%s\" has %d axes", a, mesh->name, mesh->n_axes);
      return TP_INVALID_ARGUMENT;
    }
    bool is_partial = byte & TP__PARTIAL_BIT;
    int dim = tp__byte_dim(byte);
    if (is_partial ? (byte & 0x7f) < TP_N_COMBINERS
                   : dim >= 0 && dim < rank && orders_close(mesh, spec, dim))
      continue;
    char name[2 * TP_MAX_AXIS_NAME];
    tp_mesh_axis_text(mesh, a, 1, name, sizeof name);
    if (is_partial)
      WHY("axis \"%s\": unknown combiner %u", name, byte & 0x7f);
    else if (dim < 0 || dim >= rank)
      WHY("axis \"%s\" splits dimension %d, but the tensor has %d dimensions", name, dim, rank);
    else
      WHY("the axes of dimension %d have orders with gaps or repeats (seen at axis \"%s\")", dim,
          name);
    return TP_INVALID_ARGUMENT;
  }
  return TP_OK;
}
