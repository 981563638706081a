#include "rules/window.h"

static bool is_split(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, const tp_value_map *map, int d) {
  return map->dims[d].window && tp__strategy_shards(rule, mesh, s, map->dims[d].factors[0]) > 1;
}

bool tp__windows_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  for (int i = 0; i < rule->n_operands; i++)
    for (int d = 0; rule->operands[i].is_tensor && d < rule->operands[i].rank; d++)
      if (is_split(rule, mesh, s, &rule->operands[i], d))
        return false; /* nothing fetches windows yet */
  return true;
}

tp_cost tp__window_cost(const tp_rule *rule, const tp_mesh *mesh, const tp_topology *topology, const tp_strategy *s) {
  (void)rule, (void)mesh, (void)topology, (void)s;
  return 0;
}
