/* Lists the distinct layouts of the strategies of a node. */
#include "passes/propagate/limits/layout_column.h"

static tp_layout_column *make_column(tp__arena *arena, const tp_node *node, bool makes, int at) {
  tp_memo numbers = {0};
  tp_layout_column *c = tp__arena_alloc(arena, sizeof *c);
  if (!c || !(c->specs = tp__arena_array(arena, (size_t)node->n, sizeof *c->specs)) ||
      !(c->number = tp__arena_array(arena, (size_t)node->n, sizeof *c->number)))
    return NULL;
  bool ok = true;
  for (int s = 0; s < node->n && ok; s++) {
    tp_spec spec = tp__node_spec(node, makes, at, s);
    int64_t key = (int64_t)spec.bits;
    void **slot = tp__memo(&numbers, arena, &key, 1);
    ok = slot != NULL;
    if (ok && !*slot) {
      c->specs[c->n++] = spec;
      *slot = (void *)(intptr_t)c->n;
    }
    c->number[s] = ok ? (uint16_t)((intptr_t)*slot - 1) : 0;
  }
  tp__memo_destroy(&numbers);
  return ok ? c : NULL;
}

const tp_layout_column *tp__layout_column(tp_memo *memo, tp__arena *arena, const tp_node *node,
                                          bool makes, int at) {
  const int64_t key[] = {(int64_t)(intptr_t)(makes ? node->out : node->in), node->n,
                         makes ? node->n_out : node->n_in, at};
  void **slot = tp__memo(memo, arena, key, TP_LEN(key));
  if (slot && !*slot)
    *slot = make_column(arena, node, makes, at);
  return slot ? *slot : NULL;
}
