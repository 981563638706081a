/* Contractions that run side by side on a GPU.
 *
 * Projections of one tensor, such as queries, keys and values, do not depend on each other. If
 * their results are small, none of them fills the GPU alone. They are moved to the first of them,
 * and become one call.
 *
 * A contraction moves only across ops that do not access its result, and that do not write its
 * factors. */
#include "passes/lower/contractions.h"

#include "passes/support/memory_classes.h"
#include "support/support.h"

/* A product joins at most this many products before it. */
enum { WINDOW = 16 };

typedef struct grouper {
  const tp__product *products;
  size_t n;
  MlirOperation func;
  tp__memory_classes classes;
} grouper;

static MlirValue operand(const tp__product *p, int k) {
  return mlirOperationGetOperand(p->op, k < 2 ? p->contraction.operands[k] : 2);
}

static int64_t class_of(grouper *g, const tp__product *p, int k) {
  return tp__memory_class(&g->classes, operand(p, k));
}

/* True for a product that leaves a GPU idle alone, and that a group can have. */
static bool is_small(const tp__product *p) {
  int64_t elements = 1;
  if (mlirOperationIsNull(p->fill) || p->contraction.n_loops > TPRT_PRODUCT_LOOPS)
    return false;
  for (int i = 0; i < p->contraction.n_loops; i++) {
    if (p->contraction.sizes[i] == 0)
      return false;
    elements *= p->contraction.reduced[i] ? 1 : p->contraction.sizes[i];
  }
  return elements <= tp__most_elements;
}

static bool is_alike(const tp__product *a, const tp__product *b) {
  return a->site.dtype == b->site.dtype && a->site.split_dim == b->site.split_dim &&
         a->site.root == b->site.root;
}

static bool shares_factor(const tp__product *a, const tp__product *b) {
  for (int i = 0; i < 4; i++)
    if (mlirValueEqual(operand(a, i / 2), operand(b, i % 2)))
      return true;
  return false;
}

/* True if neither writes what the other accesses. */
static bool are_independent(grouper *g, const tp__product *a, const tp__product *b) {
  for (int k = 0; k < 3; k++)
    if (class_of(g, a, k) == class_of(g, b, 2) || class_of(g, b, k) == class_of(g, a, 2))
      return false;
  return true;
}

/* ---- moves ---- */

/* True if the value is available at `first`, or the ops that make it can move there: they do not
 * access memory. */
static bool can_move(MlirValue value, MlirOperation first) {
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op) ||
      !mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(first)) ||
      mlirOperationIsBeforeInBlock(op, first))
    return true;
  if (!tp__leaves_memory(op))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!can_move(mlirOperationGetOperand(op, i), first))
      return false;
  return true;
}

static void move(MlirValue value, MlirOperation first) {
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op) ||
      !mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(first)) ||
      mlirOperationIsBeforeInBlock(op, first))
    return;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    move(mlirOperationGetOperand(op, i), first);
  mlirOperationMoveBefore(op, first);
}

void tp__move_factors(const tp__product *member, MlirOperation first) {
  for (int k = 0; k < 3; k++)
    move(operand(member, k), first);
}

/* ---- what stands in between ---- */

/* A program only reads its arguments. */
static bool is_argument(grouper *g, int64_t class) {
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(g->func, 0));
  for (intptr_t a = 0; a < mlirBlockGetNumArguments(entry); a++)
    if (tp__memory_class(&g->classes, mlirBlockGetArgument(entry, a)) == class)
      return true;
  return false;
}

typedef struct crossing {
  grouper *grouper;
  int64_t classes[3]; /* of A, B and C of the product that moves */
  bool conflicts;
} crossing;

/* Inputs of structured ops are read; any other operand may be written. */
static tp_status cross(MlirOperation op, void *data) {
  crossing *c = data;
  int64_t segments[2] = {0};
  bool structured = tp__op_has_dialect(op, "linalg") &&
                    tp__int_list(tp__inherent(op, "operandSegmentSizes"), 2, segments) == 2;
  if (tp__leaves_memory(op))
    return TP_OK;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    int64_t class = tp__memory_class(&c->grouper->classes, mlirOperationGetOperand(op, i));
    bool reads = structured && i < segments[0];
    c->conflicts |= class >= 0 && (class == c->classes[2] ||
                                   (!reads && (class == c->classes[0] || class == c->classes[1]) &&
                                    !is_argument(c->grouper, class)));
  }
  return TP_OK;
}

/* True if a product can move to `first`, an op before it in its block. */
static bool can_cross(grouper *g, const tp__product *p, MlirOperation first) {
  crossing c = {.grouper = g};
  for (int k = 0; k < 3; k++) {
    c.classes[k] = class_of(g, p, k);
    if (c.classes[k] < 0 || !can_move(operand(p, k), first))
      return false;
  }
  for (MlirOperation op = mlirOperationGetNextInBlock(first);
       !mlirOperationEqual(op, p->op) && !c.conflicts; op = mlirOperationGetNextInBlock(op))
    if (!mlirOperationEqual(op, p->fill)) {
      (void)cross(op, &c); /* does not fail */
      (void)tp__walk(op, cross, &c);
    }
  return !c.conflicts;
}

/* ---- groups ---- */

static void find_classes(grouper *g) {
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(g->func, 0));
  for (intptr_t a = 0; a < mlirBlockGetNumArguments(entry); a++)
    (void)tp__memory_node(&g->classes, mlirBlockGetArgument(entry, a));
  (void)tp__walk(g->func, tp__memory_classes_visit, &g->classes); /* the visitor does not fail */
}

static bool may_join(grouper *g, const tp__product_group *group, const tp__product *p) {
  const tp__product *first = &g->products[group->members[0]];
  if (!mlirBlockEqual(mlirOperationGetBlock(first->op), mlirOperationGetBlock(p->op)) ||
      !is_small(p) || !is_alike(first, p) || !shares_factor(first, p))
    return false;
  for (int i = 0; i < group->n; i++)
    if (!are_independent(g, &g->products[group->members[i]], p))
      return false;
  return can_cross(g, p, first->op);
}

tp_status tp__group_products(MlirOperation func, size_t n_products, const tp__product *products,
                             tp__product_group **groups, size_t *n) {
  grouper g = {.products = products, .n = n_products, .func = func};
  bool *grouped = tp__calloc(n_products, sizeof *grouped);
  tp__product_group *made = tp__calloc(n_products, sizeof *made);
  find_classes(&g);
  bool memory = grouped && made && !g.classes.no_memory;
  *n = 0;
  for (size_t i = 0; i < n_products && memory; i++) {
    if (grouped[i])
      continue;
    tp__product_group *group = &made[(*n)++];
    group->members[group->n++] = i;
    size_t end = i + 1 + WINDOW < n_products ? i + 1 + WINDOW : n_products;
    for (size_t j = i + 1; j < end && is_small(&products[i]) && group->n < TPRT_MAX_MATMULS; j++) {
      if (grouped[j] || !may_join(&g, group, &products[j]))
        continue;
      grouped[j] = true;
      group->members[group->n++] = j;
    }
  }
  tp__memory_classes_destroy(&g.classes);
  tp__free(grouped);
  if (!memory) {
    tp__free(made);
    return tp__out_of_memory(func);
  }
  *groups = made;
  return TP_OK;
}
