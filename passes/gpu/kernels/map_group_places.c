/* Kernel of several nests: the values that a thread keeps, and the rows and elements of a
 * thread. */
#include "passes/gpu/kernels/map_group_build.h"

#include "passes/support/lower.h"
#include "support/support.h"

/* ---- kept values ---- */

static bool same_place(const tp__group_kept *k, const tp__map_operand *o, tp__group_access access,
                       const int *place) {
  if (!mlirValueEqual(k->memref, o->memref) || k->access != access)
    return false;
  for (int d = 0; d < o->rank; d++)
    if (k->place[d] != place[d])
      return false;
  return true;
}

int tp__group_find_kept(const tp__group_builder *b, int nest, int operand) {
  const tp__map_nest *n = b->group->nests[nest];
  int place[TP_MAX_RANK];
  tp__group_access access = tp__group_access_of(b->group, n, operand, place);
  for (size_t i = b->n; i-- > 0 && access != TP_ACCESS_OTHER;)
    if (b->items[i].nest < nest && same_place(b->items + i, n->operands + operand, access, place))
      return (int)i;
  return -1;
}

int tp__group_add_kept(tp__group_builder *b, int nest, int operand, bool is_read) {
  const tp__map_nest *n = b->group->nests[nest];
  if (tp__grow((void **)&b->items, &b->capacity, b->n + 1, sizeof *b->items) != TP_OK)
    return -1;
  tp__group_kept *k = b->items + b->n;
  *k = (tp__group_kept){.nest = nest - is_read, .memref = n->operands[operand].memref};
  k->access = tp__group_access_of(b->group, n, operand, k->place);
  return (int)b->n++;
}

bool tp__group_is_used_after(const tp__group_builder *b, int nest, MlirValue memref,
                             bool is_written) {
  for (int i = nest + 1; i < b->group->n_nests; i++) {
    const tp__map_nest *n = b->group->nests[i];
    for (int k = is_written ? n->n_inputs : 0; k < n->n_operands; k++)
      if (mlirValueEqual(n->operands[k].memref, memref))
        return true;
  }
  return false;
}

bool tp__group_is_stored(const tp__group_builder *b, int nest, MlirValue memref) {
  return !tp__op_is(tp__defining_op(memref), "memref.alloca") &&
         !tp__group_is_used_after(b, nest, memref, true);
}

/* ---- rows and elements ---- */

void tp__group_build_rows(tp__group_builder *b) {
  const tp__map_group *g = b->group;
  const tp__map_nest *n = g->nests[0];
  tp__map_sharing *s = &b->sharing;
  MlirType i32 = n->i32, counter = tp__map_counter(n, g->n_rows + TP_GROUP_THREADS);
  MlirValue size = tp__build_int(b->end, i32, s->n_sharing);
  s->thread = tp__map_register(n, b->end, "tid.x");
  s->element = tp__binary(b->end, "arith.divui", s->thread, size);
  s->turn = tp__binary(b->end, "arith.remui", s->thread, size);
  MlirValue block = tp__map_cast(b->end, tp__map_register(n, b->end, "ctaid.x"), counter);
  MlirValue first =
      tp__binary(b->end, "arith.muli", block, tp__build_int(b->end, counter, s->n_elements));
  b->row = tp__binary(b->end, "arith.addi", first, tp__map_cast(b->end, s->element, counter));
  if (g->n_rows % s->n_elements != 0) {
    b->exists = tp__compare(b->end, TP_ULT, b->row, tp__build_int(b->end, counter, g->n_rows));
    b->row = tp__select(b->end, b->exists, b->row, tp__build_int(b->end, counter, g->n_rows - 1));
  }
  b->is_writer = tp__compare(b->end, TP_EQ, s->turn, tp__build_int(b->end, i32, 0));
  if (!mlirValueIsNull(b->exists))
    b->is_writer = tp__binary(b->end, "arith.andi", b->is_writer, b->exists);
}

void tp__group_build_sections(tp__group_builder *b) {
  MlirType i32 = b->group->nests[0]->i32;
  int64_t n_steps = b->group->width / b->lanes;
  int n_sharing = b->sharing.n_sharing;
  b->n_sections = (int)((n_steps + n_sharing - 1) / n_sharing);
  for (int s = 0; s < b->n_sections; s++) {
    MlirValue position = b->sharing.turn;
    if (s > 0)
      position = tp__binary(b->end, "arith.addi", position,
                            tp__build_int(b->end, i32, (int64_t)s * n_sharing));
    b->stores[s] = b->exists;
    if ((int64_t)(s + 1) * n_sharing > n_steps) {
      MlirValue inside = tp__compare(b->end, TP_ULT, position, tp__build_int(b->end, i32, n_steps));
      position = tp__select(b->end, inside, position, b->sharing.turn);
      b->inside[s] = inside;
      b->stores[s] =
          mlirValueIsNull(b->exists) ? inside : tp__binary(b->end, "arith.andi", inside, b->exists);
    }
    b->positions[s] = position;
  }
}

void tp__group_begin_loops(tp__group_builder *b) {
  b->n_sections = 1;
  b->stores[0] = b->exists;
}

void tp__group_build_items(tp__group_builder *b, int64_t n_items) {
  const tp__map_nest *n = b->group->nests[0];
  MlirType counter = tp__map_counter(n, n_items + TP_GROUP_THREADS);
  MlirValue block = tp__map_cast(b->end, tp__map_register(n, b->end, "ctaid.x"), counter);
  MlirValue thread = tp__map_cast(b->end, tp__map_register(n, b->end, "tid.x"), counter);
  MlirValue first =
      tp__binary(b->end, "arith.muli", block, tp__build_int(b->end, counter, TP_GROUP_THREADS));
  b->positions[0] = tp__binary(b->end, "arith.addi", first, thread);
  b->n_sections = 1;
  b->row = tp__build_int(b->end, counter, 0);
  tp__map_if(b->end,
             tp__compare(b->end, TP_ULT, b->positions[0], tp__build_int(b->end, counter, n_items)),
             &b->end);
}

void tp__group_build_at(const tp__group_builder *b, const tp__map_nest *n, int section,
                        MlirValue *at) {
  int loops[TP_MAP_LOOPS], count = tp__group_order(b->group, n, true, loops);
  if (count > 0)
    tp__map_split(n, b->end, b->row, count, loops, 1, at);
  count = section >= 0 ? tp__group_order(b->group, n, false, loops) : 0;
  if (count > 0)
    tp__map_split(n, b->end, b->positions[section], count, loops, b->lanes, at);
}
