/* Runs loops and branches: on one device, and on several in step. Those that communicate inside run
 * on all devices that take the same branch, and that go on with the loop, together. */
#include "reference/devices.h"

#include "ir/ir.h"

#include <mlir-c/BuiltinAttributes.h>

/* Copies cells through a buffer, because the source and the destination slots may overlap. */
static void copy_cells(evaluation *r, const node *at, cell *frame, int n, const int *from,
                       const int *to) {
  int most = at->n_operands + at->n_results;
  cell *held = *at->kept =
      *at->kept ? *at->kept : tp__eval_allocate(r, (size_t)most * sizeof *held);
  for (int i = 0; i < n; i++)
    held[i] = frame[from[i]];
  for (int i = 0; i < n; i++)
    frame[to[i]] = held[i];
}

/* ---- scf.for ---- */

/* The counter of a loop. The loop ends where the distance to the upper bound is at most one step:
 * the counter never wraps around. */
typedef struct counter {
  const kind *kind;
  uint64_t at, end, step;
  bool goes_on;
} counter;

/* Reads the bounds and the step, as unsigned numbers if the loop compares so. */
static bool start_for(evaluation *r, cell *frame, const node *n, counter *c) {
  bool is_unsigned = !mlirAttributeIsNull(tp__inherent(n->op, "unsignedCmp"));
  int64_t bounds[3];
  c->kind = tp__kind_of(r, mlirValueGetType(mlirOperationGetOperand(n->op, 0)));
  for (int i = 0; i < 3; i++) {
    if (!tp__integer_in(r, n, frame + n->operands[i], bounds + i))
      return false;
    if (is_unsigned && c->kind->bits < 64)
      bounds[i] &= (INT64_C(1) << c->kind->bits) - 1;
  }
  if (is_unsigned ? bounds[2] == 0 : bounds[2] <= 0)
    return tp__eval_fail(r, n->op, "has step %lld, which is not positive", (long long)bounds[2]);
  c->at = (uint64_t)bounds[0];
  c->end = (uint64_t)bounds[1];
  c->step = (uint64_t)bounds[2];
  c->goes_on = is_unsigned ? c->at < c->end : bounds[0] < bounds[1];
  copy_cells(r, n, frame, n->n_results, n->operands + 3, n->results);
  return true;
}

static void begin_trip(evaluation *r, cell *frame, const node *n, const counter *c) {
  const block *body = n->blocks;
  copy_cells(r, n, frame, n->n_results, n->results, body->arguments + 1);
  frame[body->arguments[0]] = (cell){.scalar = {tp__whole(c->kind, (int64_t)c->at)}};
}

static void end_trip(evaluation *r, cell *frame, const node *n, counter *c) {
  copy_cells(r, n, frame, n->n_results, terminator(n->blocks)->operands, n->results);
  c->goes_on = c->end - c->at > c->step;
  c->at += c->step;
}

static bool run_for(evaluation *r, cell *frame, const node *n) {
  counter c;
  if (!start_for(r, frame, n, &c))
    return false;
  while (c.goes_on) {
    begin_trip(r, frame, n, &c);
    if (!tp__run_block(r, frame, n->blocks))
      return false;
    end_trip(r, frame, n, &c);
  }
  return true;
}

static bool run_for_on(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  counter *c = tp__eval_allocate(r, (size_t)r->n_devices * sizeof *c);
  devices going = tp__no_devices(r);
  for (int i = 0; i < on->n; i++) {
    int d = on->numbers[i];
    if (!start_for(r, frames[d], n, c + d))
      return false;
    if (c[d].goes_on)
      going.numbers[going.n++] = d;
  }
  while (going.n > 0) {
    for (int i = 0; i < going.n; i++)
      begin_trip(r, frames[going.numbers[i]], n, c + going.numbers[i]);
    if (!tp__run_block_on(r, frames, n->blocks, &going))
      return false;
    int n_left = 0;
    for (int i = 0; i < going.n; i++) {
      int d = going.numbers[i];
      end_trip(r, frames[d], n, c + d);
      if (c[d].goes_on)
        going.numbers[n_left++] = d;
    }
    going.n = n_left;
  }
  return true;
}

/* ---- scf.while ---- */

/* Reads the condition, and copies the values: to the body if the loop goes on, else to the
 * results. */
static bool decide(evaluation *r, cell *frame, const node *n, bool *goes_on) {
  const node *condition = terminator(n->blocks);
  int64_t value;
  if (!tp__integer_in(r, condition, frame + condition->operands[0], &value))
    return false;
  *goes_on = value != 0;
  copy_cells(r, n, frame, n->n_results, condition->operands + 1,
             *goes_on ? n->blocks[1].arguments : n->results);
  return true;
}

static bool run_while(evaluation *r, cell *frame, const node *n) {
  const block *before = n->blocks, *after = n->blocks + 1;
  copy_cells(r, n, frame, n->n_operands, n->operands, before->arguments);
  for (;;) {
    bool goes_on;
    if (!tp__run_block(r, frame, before) || !decide(r, frame, n, &goes_on))
      return false;
    if (!goes_on)
      return true;
    if (!tp__run_block(r, frame, after))
      return false;
    copy_cells(r, n, frame, n->n_operands, terminator(after)->operands, before->arguments);
  }
}

static bool run_while_on(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  const block *before = n->blocks, *after = n->blocks + 1;
  devices going = tp__no_devices(r);
  for (int i = 0; i < on->n; i++) {
    going.numbers[going.n++] = on->numbers[i];
    copy_cells(r, n, frames[on->numbers[i]], n->n_operands, n->operands, before->arguments);
  }
  for (;;) {
    if (!tp__run_block_on(r, frames, before, &going))
      return false;
    int n_left = 0;
    for (int i = 0; i < going.n; i++) {
      bool goes_on;
      if (!decide(r, frames[going.numbers[i]], n, &goes_on))
        return false;
      if (goes_on)
        going.numbers[n_left++] = going.numbers[i];
    }
    going.n = n_left;
    if (n_left == 0)
      return true;
    if (!tp__run_block_on(r, frames, after, &going))
      return false;
    for (int i = 0; i < going.n; i++)
      copy_cells(r, n, frames[going.numbers[i]], n->n_operands, terminator(after)->operands,
                 before->arguments);
  }
}

/* ---- branches ---- */

/* Each finds the block that the op runs. */
typedef bool (*choose_fn)(evaluation *r, const cell *frame, const node *n, int *chosen);

static bool choose_if(evaluation *r, const cell *frame, const node *n, int *chosen) {
  int64_t condition;
  bool ok = tp__integer_in(r, n, frame + n->operands[0], &condition);
  *chosen = condition ? 0 : 1;
  return ok;
}

/* Block 0 is the default, block 1 + i that of case i. */
static bool choose_case(evaluation *r, const cell *frame, const node *n, int *chosen) {
  MlirAttribute cases = tp__eval_attribute(n->op, "cases");
  intptr_t i = 0, n_cases = mlirDenseArrayGetNumElements(cases);
  int64_t selected;
  if (!tp__integer_in(r, n, frame + n->operands[0], &selected))
    return false;
  while (i < n_cases && mlirDenseI64ArrayGetElement(cases, i) != selected)
    i++;
  *chosen = i < n_cases ? 1 + (int)i : 0;
  return true;
}

static bool choose_only(evaluation *r, const cell *frame, const node *n, int *chosen) {
  return (void)r, (void)frame, (void)n, *chosen = 0, true;
}

/* The results of the op are the values that the block yields. */
static bool run_branch(evaluation *r, cell *frame, const node *n, choose_fn choose) {
  int chosen;
  if (!choose(r, frame, n, &chosen))
    return false;
  const block *b = n->blocks + chosen;
  if (b->n_nodes == 0)
    return true;
  if (!tp__run_block(r, frame, b))
    return false;
  copy_cells(r, n, frame, n->n_results, terminator(b)->operands, n->results);
  return true;
}

/* One block after the other, each on the devices that chose it. */
static bool run_branch_on(evaluation *r, cell *const *frames, const node *n, const devices *on,
                          choose_fn choose) {
  int *chosen = tp__eval_allocate(r, (size_t)r->n_devices * sizeof *chosen);
  for (int i = 0; i < on->n; i++)
    if (!choose(r, frames[on->numbers[i]], n, chosen + on->numbers[i]))
      return false;
  for (int k = 0; k < n->n_blocks; k++) {
    const block *b = n->blocks + k;
    devices some = tp__no_devices(r);
    for (int i = 0; i < on->n; i++)
      if (chosen[on->numbers[i]] == k)
        some.numbers[some.n++] = on->numbers[i];
    if (some.n == 0 || b->n_nodes == 0)
      continue;
    if (!tp__run_block_on(r, frames, b, &some))
      return false;
    for (int i = 0; i < some.n; i++)
      copy_cells(r, n, frames[some.numbers[i]], n->n_results, terminator(b)->operands, n->results);
  }
  return true;
}

static bool run_if(evaluation *r, cell *frame, const node *n) {
  return run_branch(r, frame, n, choose_if);
}

static bool run_if_on(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  return run_branch_on(r, frames, n, on, choose_if);
}

static bool run_switch(evaluation *r, cell *frame, const node *n) {
  return run_branch(r, frame, n, choose_case);
}

static bool run_switch_on(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  return run_branch_on(r, frames, n, on, choose_case);
}

static bool run_region(evaluation *r, cell *frame, const node *n) {
  return run_branch(r, frame, n, choose_only);
}

static bool run_region_on(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  return run_branch_on(r, frames, n, on, choose_only);
}

const op_row tp__control_rows[] = {
    {"scf.for", run_for, run_for_on},
    {"scf.while", run_while, run_while_on},
    {"scf.if", run_if, run_if_on},
    {"scf.index_switch", run_switch, run_switch_on},
    {"scf.execute_region", run_region, run_region_on},
    {NULL, NULL, NULL},
};
