/* Objectives: the quantity that prices measure. */
#include "tp/cost.h"

#include <string.h>

static const char *const names[TP_N_OBJECTIVES] = {[TP_OBJECTIVE_TIME] = "time",
                                                   [TP_OBJECTIVE_BYTES] = "bytes"};

const char *tp_objective_name(tp_objective objective) {
  return (unsigned)objective < TP_N_OBJECTIVES ? names[objective] : "unknown";
}

bool tp_objective_find(const char *name, tp_objective *objective) {
  for (int i = 0; i < TP_N_OBJECTIVES; i++)
    if (strcmp(name, names[i]) == 0) {
      *objective = (tp_objective)i;
      return true;
    }
  return false;
}

/* The weight of a second of machine time. A byte then weighs as much as a millisecond, which is
 * more than a layout with one byte less can save in time. Prices of plans that send terabytes still
 * fit. */
static const double second_weight = TP_BYTE_PS * 1e-9;

/* Returns the priced rate, in 1e9 per second, of items that cost `ps` picoseconds each, if the
 * machine processes `rate` of them (in 1e9 per second); 0: the machine has no such rate. */
static double priced_rate(double ps, double rate) {
  return rate > 0 ? 1 / (ps * 1e-3 + second_weight / rate) : 0;
}

static void price_line(tp_line *line) {
  line->alpha_us *= second_weight;
  line->gbytes_per_s = priced_rate(TP_BYTE_PS, line->gbytes_per_s);
}

static void price_link(tp_link *link) {
  link->doubling_us *= second_weight;
  for (int kind = 0; kind < TP_N_COLLECTIVES; kind++) {
    price_line(&link->lines[kind]);
    price_line(&link->latency_lines[kind]);
  }
}

void tp_topology_count_bytes(tp_topology *topology, double byte_flops) {
  const double flop_ps = TP_BYTE_PS / byte_flops;
  topology->objective = TP_OBJECTIVE_BYTES;
  for (int a = 0; a < TP_MAX_AXES; a++)
    price_link(&topology->links[a]);
  for (int i = 0; i < topology->n_joints; i++)
    price_link(&topology->joints[i].link);
  for (int i = 0; i < TP_N_PEAKS; i++)
    topology->gflops[i] = priced_rate(flop_ps, topology->gflops[i] * topology->efficiency);
  topology->elementwise_gops = priced_rate(flop_ps * TP_BYTE_FLOPS / TP_BYTE_SCALARS,
                                           topology->elementwise_gops * topology->efficiency);
  topology->memory_gbytes_per_s *= topology->efficiency / second_weight;
  topology->contraction_gbytes_per_s *= topology->efficiency / second_weight;
  topology->store_gbytes_per_s *= topology->efficiency / second_weight;
  topology->launch_us *= second_weight;
  topology->efficiency = 1;
  topology->min_gemm_dim = 0;
}
