/* Passes messages between the layouts of nodes with momentum: in a deep program the bound creeps up
 * by as much in each of dozens of passes. */
#include "passes/propagate/limits/layout_messages.h"

#include "ir/run_hooks.h"

#include <string.h>

enum {
  PLAIN = 4, /* passes without momentum, which move what is near and make the first plan */
  UNIT = 16, /* sixteenths of the last movement ... */
  FIRST = UNIT / 2,
  MOST = 3 * UNIT,
};
/* Beyond it nothing is moved by momentum, so that no sum comes near TP_IMPOSSIBLE. */
#define FAR (TP_IMPOSSIBLE >> 10)

tp_status tp__momentum_open(tp_layout_messages *m, tp_momentum *momentum) {
  size_t n_charged = m->offset[m->p->problem.n_nodes];
  *momentum = (tp_momentum){
      .messages = m,
      .before = tp__arena_array(&m->arena, m->n_moved + 1, sizeof(tp_cost)),
      .kept = tp__arena_array(&m->arena, m->n_moved + 1, sizeof(tp_cost)),
      .charged = tp__arena_array(&m->arena, n_charged + 1, sizeof(tp_cost)),
      .sixteenths = FIRST,
  };
  return momentum->before && momentum->kept && momentum->charged ? TP_OK : TP_NO_MEMORY;
}

/* Repeats a share of the last movement. What is impossible stays so. */
static void move_on(const tp_momentum *momentum) {
  tp_cost *moved = momentum->messages->moved;
  for (size_t i = 0; i < momentum->messages->n_moved; i++) {
    tp_cost now = momentum->kept[i], before = momentum->before[i];
    tp_cost next = now > -FAR && now < FAR && before > -FAR && before < FAR
                       ? now + (now - before) * momentum->sixteenths / UNIT
                       : now;
    moved[i] = next > -FAR && next < FAR ? next : now;
  }
}

/* Passes messages from where momentum leads. If the bound falls, undoes it and returns false. */
static bool pass_further(tp_momentum *momentum) {
  tp_layout_messages *m = momentum->messages;
  tp_cost bound = m->bound;
  size_t charged_bytes = m->offset[m->p->problem.n_nodes] * sizeof *m->cost;
  memcpy(momentum->charged, m->cost, charged_bytes);
  move_on(momentum);
  tp__messages_charge(m);
  tp__messages_pass(m);
  /* the bound of a cancelled pass is not valid */
  if (m->bound > bound && m->bound < TP_COST_FORBIDDEN && !tp__run_is_cancelled())
    return true;
  memcpy(m->moved, momentum->kept, m->n_moved * sizeof *m->moved);
  memcpy(m->cost, momentum->charged, charged_bytes);
  m->bound = bound;
  return false;
}

void tp__momentum_pass(tp_momentum *momentum) {
  tp_layout_messages *m = momentum->messages;
  memcpy(momentum->kept, m->moved, m->n_moved * sizeof *m->moved);
  bool is_further = momentum->n_passes++ >= PLAIN && pass_further(momentum);
  if (is_further) {
    int more = momentum->sixteenths * 6 / 5;
    momentum->sixteenths = more < MOST ? more : MOST;
  } else {
    tp__messages_pass(m);
    if (momentum->n_passes > PLAIN)
      momentum->sixteenths /= 2;
  }
  tp_cost *kept = momentum->kept;
  momentum->kept = momentum->before;
  momentum->before = kept;
}
