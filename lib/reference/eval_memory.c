/* Memory management and error reporting of an evaluation. Tensors are garbage-collected: a
 * mark-and-sweep pass frees those that no slot of an active function holds. */
#include "reference/evaluator.h"
#include "support/support.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct memory {
  struct memory *next;
};

/* Minimum growth in bytes of tensors between two collections. */
enum { COLLECT_BYTES = 64 << 20 };

void *tp__eval_allocate(evaluation *r, size_t size) {
  struct memory *m =
      size <= PTRDIFF_MAX / 2 ? tp__calloc(1, sizeof *m + size + sizeof(double)) : NULL;
  if (!m)
    longjmp(r->no_memory, 1);
  m->next = r->memory;
  r->memory = m;
  return m + 1;
}

void *tp__eval_scratch(evaluation *r, size_t size) {
  if (size <= r->scratch_size)
    return r->scratch;
  tp__free(r->scratch);
  r->scratch = tp__malloc(size);
  r->scratch_size = r->scratch ? size : 0;
  if (!r->scratch)
    longjmp(r->no_memory, 1);
  return r->scratch;
}

tensor *tp__eval_tensor(evaluation *r, const kind *k, int rank, const int64_t *shape) {
  int64_t n = 1;
  bool fits = true;
  for (int d = 0; d < rank; d++)
    fits &= !__builtin_mul_overflow(n, shape[d], &n);
  fits &= n <= INT64_MAX / 256;
  size_t bytes = sizeof(tensor) + (size_t)n * (size_t)k->parts * sizeof(number);
  tensor *t = fits ? tp__calloc(1, bytes) : NULL;
  if (!t)
    longjmp(r->no_memory, 1);
  *t = (tensor){.next = r->tensors, .kind = k, .rank = rank, .n = n};
  for (int d = 0; d < rank; d++) /* of rank 0 there may be no shape */
    t->shape[d] = shape[d];
  r->tensors = t;
  r->tensor_bytes += bytes;
  return t;
}

void tp__eval_collect(evaluation *r) {
  if (r->n_in_flight > 0 || r->tensor_bytes < r->collect_at)
    return;
  for (const active *f = r->frames; f; f = f->outer)
    for (int i = 0; i < f->n; i++)
      if (f->cells[i].tensor)
        f->cells[i].tensor->reached = true;
  r->tensor_bytes = 0;
  for (tensor **at = &r->tensors; *at;) {
    tensor *t = *at;
    if (t->reached) {
      t->reached = false;
      r->tensor_bytes += sizeof *t + (size_t)t->n * (size_t)t->kind->parts * sizeof(number);
      at = &t->next;
    } else {
      *at = t->next;
      tp__free(t);
    }
  }
  r->collect_at = 2 * r->tensor_bytes + COLLECT_BYTES;
}

void tp__eval_clear(evaluation *r) {
  tp__free(r->scratch);
  r->scratch = NULL;
  while (r->memory) {
    struct memory *next = r->memory->next;
    tp__free(r->memory);
    r->memory = next;
  }
  while (r->tensors) {
    tensor *next = r->tensors->next;
    tp__free(r->tensors);
    r->tensors = next;
  }
}

bool tp__eval_fail(evaluation *r, MlirOperation op, const char *format, ...) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  int n = snprintf(r->why, r->why_size, "%.*s: ", (int)name.length, name.data);
  size_t used = (size_t)n < r->why_size ? (size_t)n : r->why_size - 1;
  va_list args;
  va_start(args, format);
  vsnprintf(r->why + used, r->why_size - used, format, args);
  va_end(args);
  r->status = TP_INVALID_ARGUMENT;
  return false;
}

bool tp__eval_unsupported(evaluation *r, MlirOperation op, const char *what) {
  (void)tp__eval_fail(r, op, "%s", what);
  r->status = TP_UNSUPPORTED;
  return false;
}

bool tp__eval_count(evaluation *r, const node *n, double steps) {
  enum { PROGRESS_STEPS = 4000000 };
  r->steps += steps;
  if (r->options.max_steps > 0 && r->steps > r->options.max_steps)
    return tp__eval_unsupported(r, n->op, "takes too many steps");
  if (!r->options.progress || r->steps < r->next_progress)
    return true;
  r->next_progress = r->steps + PROGRESS_STEPS;
  return r->options.progress(r->options.user, r->steps) == 0 ||
         tp__eval_unsupported(r, n->op, "was stopped");
}
