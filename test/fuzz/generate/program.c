/* Prints random programs and manages their values. */
#include "program.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const axis_names[MAX_MESH_AXES] = {"x", "y", "z"};
const char *const element_names[N_ELEMENTS] = {"f32", "f64", "f16", "bf16",
                                               "i32", "i64", "i8",  "i1"};

const char *type_text(const type *t) {
  static char ring[16][96];
  static unsigned next;
  char *at = ring[next++ % 16];
  size_t n = (size_t)snprintf(at, 96, "tensor<");
  for (int d = 0; d < t->rank; d++)
    n += (size_t)snprintf(at + n, 96 - n, "%lldx", (long long)t->shape[d]);
  snprintf(at + n, 96 - n, "%s>", element_names[t->element]);
  return at;
}

int64_t type_elements(const type *t) {
  int64_t n = 1;
  for (int d = 0; d < t->rank; d++)
    n *= t->shape[d];
  return n;
}

bool type_equal(const type *a, const type *b) {
  return a->element == b->element && a->rank == b->rank &&
         memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

int program_root(const program *p, int v) {
  while (p->values[v].alias != v)
    v = p->values[v].alias;
  return v;
}

static bool is_argument(const program *p, int v) {
  return p->values[v].alias == v && (p->values[v].op < 0 || p->ops[p->values[v].op].dropped);
}

static bool is_used(const program *p, int v) {
  for (int i = 0; i < p->n_results; i++)
    if (program_root(p, p->results[i]) == v)
      return true;
  for (int o = 0; o < p->n_ops; o++)
    for (int i = 0; i < p->ops[o].n_uses && !p->ops[o].dropped; i++)
      if (program_root(p, p->ops[o].uses[i]) == v)
        return true;
  return false;
}

int program_arguments(const program *p, int *arguments) {
  int n = 0;
  for (int v = 0; v < p->n_values; v++)
    if (is_argument(p, v) && is_used(p, v))
      arguments[n++] = v;
  return n;
}

/* Appends the text of an op, with every %vN replaced by the value it stands for. */
static void print_body(const program *p, const char *body, text *out) {
  while (*body) {
    const char *at = strstr(body, "%v");
    if (!at || !isdigit((unsigned char)at[2])) {
      size_t n = at ? (size_t)(at - body) + 2 : strlen(body);
      text_bytes(out, body, n);
      body += n;
      continue;
    }
    char *end;
    long v = strtol(at + 2, &end, 10);
    text_bytes(out, body, (size_t)(at - body));
    text_add(out, "%%v%d", program_root(p, (int)v));
    body = end;
  }
}

void program_print_grid(const program *p, text *out) {
  text_add(out, "shard.grid @mesh(shape = ");
  for (int a = 0; a < p->mesh.n_axes; a++)
    text_add(out, "%s%d", a ? "x" : "", p->mesh.sizes[a]);
  text_add(out, ") {tp.axes = [");
  for (int a = 0; a < p->mesh.n_axes; a++)
    text_add(out, "%s\"%s\"", a ? ", " : "", axis_names[a]);
  text_add(out, "]}\n");
}

void program_print(const program *p, text *out) {
  int arguments[MAX_VALUES], n = program_arguments(p, arguments);
  program_print_grid(p, out);
  for (int o = 0; o < p->n_ops; o++)
    if (!p->ops[o].dropped && p->ops[o].functions.length)
      text_bytes(out, p->ops[o].functions.chars, p->ops[o].functions.length);
  text_add(out, "func.func @main(");
  for (int i = 0; i < n; i++) {
    const value *v = p->values + arguments[i];
    text_add(out, "%s%%v%d: %s", i ? ",\n                " : "", arguments[i], type_text(&v->type));
    if (v->sharding[0])
      text_add(out, " {tp.sharding = %s}", v->sharding);
  }
  text_add(out, ") -> (");
  for (int i = 0; i < p->n_results; i++) {
    text_add(out, "%s%s", i ? ", " : "", type_text(&p->values[p->results[i]].type));
    if (p->result_shardings[i][0])
      text_add(out, " {tp.sharding = %s}", p->result_shardings[i]);
  }
  text_add(out, ") {\n");
  for (int o = 0; o < p->n_ops; o++)
    if (!p->ops[o].dropped)
      print_body(p, p->ops[o].body.chars, out);
  text_add(out, "  return ");
  for (int i = 0; i < p->n_results; i++)
    text_add(out, "%s%%v%d", i ? ", " : "", program_root(p, p->results[i]));
  for (int i = 0; i < p->n_results; i++)
    text_add(out, "%s%s", i ? ", " : " : ", type_text(&p->values[p->results[i]].type));
  text_add(out, "\n}\n");
}

void program_clear(program *p) {
  for (int o = 0; o < p->n_ops; o++) {
    text_clear(&p->ops[o].body);
    text_clear(&p->ops[o].functions);
  }
  p->n_ops = 0;
}

void program_copy(program *to, const program *from) {
  *to = *from;
  for (int o = 0; o < from->n_ops; o++) {
    to->ops[o].body = to->ops[o].functions = (text){0};
    if (from->ops[o].body.length)
      text_bytes(&to->ops[o].body, from->ops[o].body.chars, from->ops[o].body.length);
    if (from->ops[o].functions.length)
      text_bytes(&to->ops[o].functions, from->ops[o].functions.chars,
                 from->ops[o].functions.length);
  }
}
