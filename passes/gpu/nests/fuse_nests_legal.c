/* Decides which nests may form one kernel, based on their reads and writes. */
#include "passes/gpu/nests/fuse_nests.h"

#include "passes/gpu/outline.h"

enum {
  MAX_WORDS = 64,  /* 32-bit words that a thread may keep */
  WORK_WORDS = 16, /* words for its computations */
  MAX_BLOCK_WORDS = 40 * 1024,
  LARGE = 1 << 16,
  FEW_ROWS = 64,
  LONG_ROW = 1024
};

typedef struct access {
  int nest, operand;
  MlirValue memref;
  tp__group_access kind;
  int place[TP_MAX_RANK];
} access;

enum { MAX_ACCESSES = 160 };

typedef struct accesses {
  int n;
  access items[MAX_ACCESSES];
} accesses;

/* True if the nest writes the operand without reading it. */
static bool overwrites(const tp__map_nest *n, int operand) {
  if (operand < n->n_inputs || tp__body_reads(&n->body, operand))
    return false;
  for (int i = 0; i < n->n_inputs; i++)
    if (mlirValueEqual(n->operands[i].memref, n->operands[operand].memref))
      return false;
  return true;
}

static bool list_accesses(const tp__map_group *g, accesses *list) {
  list->n = 0;
  for (int i = 0; i < g->n_nests; i++)
    for (int k = 0; k < g->nests[i]->n_operands; k++) {
      if (g->nests[i]->operands[k].is_scalar)
        continue;
      if (list->n == MAX_ACCESSES)
        return false;
      access *a = list->items + list->n++;
      *a = (access){.nest = i, .operand = k, .memref = g->nests[i]->operands[k].memref};
      a->kind = tp__group_access_of(g, g->nests[i], k, a->place);
    }
  return true;
}

enum { MAX_PART = 3 * TP_MAX_RANK };

/* Reads static offsets, sizes and strides of a subview. False if any is dynamic. */
static bool read_part(MlirOperation op, int *rank, int64_t *part) {
  static const char *const names[] = {"static_offsets", "static_sizes", "static_strides"};
  if (mlirOperationIsNull(op) || !tp__op_is(op, "memref.subview") ||
      mlirOperationGetNumOperands(op) != 1)
    return false;
  for (int i = 0; i < TP_LEN(names); i++) {
    *rank =
        tp__int_list(tp__inherent(op, names[i]), TP_MAX_RANK, part + (ptrdiff_t)i * TP_MAX_RANK);
    if (*rank < 0)
      return false;
  }
  return true;
}

/* True if the values are disjoint subviews of one buffer. */
static bool are_disjoint(MlirValue x, MlirValue y) {
  MlirOperation p = tp__defining_op(x), q = tp__defining_op(y);
  int rank, unused;
  int64_t a[MAX_PART], b[MAX_PART];
  if (!read_part(p, &rank, a) || !read_part(q, &unused, b) ||
      !mlirValueEqual(mlirOperationGetOperand(p, 0), mlirOperationGetOperand(q, 0)))
    return false;
  const int64_t *sizes[] = {a + TP_MAX_RANK, b + TP_MAX_RANK},
                *strides[] = {a + 2 * TP_MAX_RANK, b + 2 * TP_MAX_RANK};
  for (int d = 0; d < rank; d++)
    if (a[d] + (sizes[0][d] - 1) * strides[0][d] < b[d] ||
        b[d] + (sizes[1][d] - 1) * strides[1][d] < a[d])
      return true;
  return false;
}

static bool may_overlap(const tp__nest_block *b, MlirValue x, MlirValue y) {
  int64_t class = tp__memory_class(b->classes, x);
  return mlirValueEqual(x, y) ||
         (class >= 0 && class == tp__memory_class(b->classes, y) && !are_disjoint(x, y));
}

static bool writes(const tp__map_group *g, const access *a) {
  return a->operand >= g->nests[a->nest]->n_inputs;
}

static bool same_place(const tp__map_group *g, const access *a, const access *b) {
  if (a->kind == TP_ACCESS_OTHER || a->kind != b->kind)
    return false;
  for (int d = 0; d < g->nests[a->nest]->operands[a->operand].rank; d++)
    if (a->place[d] != b->place[d])
      return false;
  return true;
}

/* True if a number per row is computed by this group. Only then do all threads of the row know it.
 * In memory, one thread writes it, and others might read it too early or too late. */
static bool is_known(const tp__map_group *g, const accesses *list, const access *w) {
  for (int i = 0; i < list->n; i++)
    if (mlirValueEqual(list->items[i].memref, w->memref)) /* the first access */
      return writes(g, list->items + i) &&
             overwrites(g->nests[list->items[i].nest], list->items[i].operand);
  return false;
}

static bool write_is_legal(const tp__nest_block *b, const tp__map_group *g, const accesses *list,
                           const access *w) {
  const tp__map_nest *n = g->nests[w->nest];
  bool of_row = tp__group_reduces(n) || !tp__group_is_whole(g, n);
  if (w->kind != (of_row ? TP_ACCESS_ROW : TP_ACCESS_ELEMENT) || (of_row && !is_known(g, list, w)))
    return false;
  for (int i = 0; i < list->n; i++) {
    const access *a = list->items + i;
    if (may_overlap(b, a->memref, w->memref) &&
        (!mlirValueEqual(a->memref, w->memref) || !same_place(g, a, w)))
      return false;
  }
  return true;
}

/* Returns the words per thread for values that one nest reads or computes and another nest uses. */
static int64_t kept_words(const tp__map_group *g, const accesses *list, int64_t elements) {
  int64_t words = 0;
  for (int i = 0; i < list->n; i++) {
    const access *a = list->items + i;
    bool first = true, again = false;
    for (int j = 0; j < list->n; j++) {
      bool same =
          a->nest != list->items[j].nest && mlirValueEqual(a->memref, list->items[j].memref);
      first &= !same || j > i;
      again |= same && j > i;
    }
    if (first && again && a->kind == TP_ACCESS_ELEMENT)
      words += elements *
               (tp__element_size(g->nests[a->nest]->operands[a->operand].element) > 4 ? 2 : 1);
  }
  return words;
}

static int count_reductions(const tp__map_group *g) {
  int n = 0;
  for (int i = 0; i < g->n_nests; i++)
    n += tp__group_reduces(g->nests[i]) ? tp__map_n_outputs(g->nests[i]) : 0;
  return n;
}

static bool can_combine(const tp__map_group *g) {
  tp_combiner combiners[TP_MAP_OPERANDS];
  for (int i = 0; i < g->n_nests; i++)
    if (tp__group_reduces(g->nests[i]) && !tp__map_combiners(g->nests[i], combiners))
      return false;
  return true;
}

/* Counts the buffer arguments of the kernel, including constants. */
static int count_arguments(const tp__map_group *g) {
  int n = 0;
  for (int i = 0; i < g->n_nests; i++)
    for (int k = 0; k < g->nests[i]->n_operands; k++) {
      bool seen = false;
      for (int j = 0; j <= i && !seen; j++)
        for (int m = 0; m < (j < i ? g->nests[j]->n_operands : k) && !seen; m++)
          seen = mlirValueEqual(g->nests[j]->operands[m].memref, g->nests[i]->operands[k].memref);
      n += !seen;
    }
  return n;
}

typedef struct capture {
  MlirOperation nest;
  int n;
} capture;

static tp_status count_captured(MlirOperation op, void *data) {
  capture *c = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    c->n += tp__is_captured(c->nest, mlirOperationGetOperand(op, i));
  return TP_OK;
}

static bool fits_registers(const tp__map_group *g) {
  capture c = {.n = count_arguments(g)};
  for (int i = 0; i < g->n_nests; i++) {
    c.nest = g->nests[i]->op;
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(c.nest, 0));
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
      (void)count_captured(op, &c);
      (void)tp__walk(op, count_captured, &c); /* the visitor does not fail */
    }
  }
  return c.n < TP_OUTLINE_INPUTS;
}

/* Checks both variants of the kernel: with and without vectors. */
static bool fits(tp__map_group *g, const accesses *list) {
  static const int most[] = {1, TP_MAP_LANES};
  for (int v = 0; v < TP_LEN(most); v++) {
    for (int i = 0; i < g->n_nests; i++)
      g->nests[i]->max_lanes = most[v];
    int lanes = tp__group_lanes(g);
    if (lanes == 0)
      return false;
    if (tp__group_is_looped(g)) /* only numbers per row are kept */
      continue;
    int64_t elements = tp__group_elements(g, lanes);
    int64_t words = kept_words(g, list, elements);
    if (words > MAX_WORDS || (words + WORK_WORDS) * tp__group_threads(g, lanes) > MAX_BLOCK_WORDS)
      return false;
  }
  return true;
}

bool tp__nests_are_narrow(const tp__map_group *g) {
  return g->has_rows && count_reductions(g) == 0 && g->n_rows < FEW_ROWS && g->width > LONG_ROW;
}

/* True if the group contains a large transpose, which is faster in a tiled kernel of its own. */
static bool has_transpose(const tp__map_group *g) {
  tp__map_tiles tiles;
  for (int i = 0; i < g->n_nests; i++)
    if (!tp__group_reduces(g->nests[i]) && tp__map_iterations(g->nests[i], false) >= LARGE &&
        tp__map_find_transpose(g->nests[i], &tiles))
      return true;
  return false;
}

bool tp__nests_are_legal(const tp__nest_block *b, tp__map_group *g) {
  accesses list;
  if (!tp__group_loops(g) || !list_accesses(g, &list) ||
      count_reductions(g) > TP_GROUP_REDUCTIONS || !can_combine(g) ||
      (g->n_nests > 1 && has_transpose(g)) || !fits_registers(g) || !fits(g, &list))
    return false;
  for (int i = 0; i < list.n; i++)
    if (writes(g, list.items + i) && !write_is_legal(b, g, &list, list.items + i))
      return false;
  return true;
}

bool tp__nests_are_begun(const tp__nest_block *b, const tp__map_group *g) {
  if (!tp__group_is_begun(g))
    return false;
  const tp__map_nest *n = g->nests[1];
  for (int i = 0; i < n->n_inputs; i++)
    if (!n->operands[i].is_scalar &&
        may_overlap(b, n->operands[i].memref, n->operands[n->n_inputs].memref))
      return false;
  return true;
}
