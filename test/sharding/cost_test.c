/* Tests the cost model. Expected times are computed here from the inputs of the test and the
 * formulas of tp/cost.h: alpha + bytes / bandwidth, and the roofline of a device. */
#include "tp/cost.h"

#include "simulator.h"
#include "times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void bytes(void **state) {
  (void)state;
  assert_int_equal(tp_cost_bytes(TP_ALL_GATHER, 8, 1024, 4), 7 * 128 * 4);
  assert_int_equal(tp_cost_bytes(TP_REDUCE_SCATTER, 4, 10, 2), 3 * 3 * 2); /* c = ceil(10 / 4) */
  assert_int_equal(tp_cost_bytes(TP_ALL_REDUCE, 4, 10, 2), 2 * 3 * 3 * 2);
  assert_int_equal(tp_cost_bytes(TP_ALL_TO_ALL, 2, 6, 8), 24);
  assert_int_equal(tp_cost_bytes(TP_PERMUTE, 4, 10, 4), 40);
  assert_int_equal(tp_cost_bytes(TP_BROADCAST, 4, 10, 4), 40);
  for (int kind = 0; kind < TP_N_COLLECTIVES; kind++) {
    assert_int_equal(tp_cost_bytes((tp_collective)kind, 1, 10, 4), 0);
    assert_int_equal(tp_cost_bytes((tp_collective)kind, 4, 0, 4), 0);
    assert_true(tp_cost_bytes((tp_collective)kind, 4, INT64_MAX, 8) > 0); /* saturates */
    assert_string_not_equal(tp_collective_name((tp_collective)kind), "unknown");
  }
}

static void topologies(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(2, (int64_t[]){4, 8});
  tp_topology t;
  assert_int_equal(tp_topology_load("abacus", &mesh, NULL, 0, &t), TP_NOT_FOUND);
  assert_string_equal(tp_topology_names()[0], "cpu");
  for (const char *const *name = tp_topology_names(); *name; name++) {
    assert_int_equal(tp_topology_load(*name, &mesh, NULL, 0, &t), TP_OK);
    assert_string_equal(t.name, *name);
    assert_true(t.gflops[TP_PEAK_F32] > 0 && t.elementwise_gops > 0 && t.memory_gbytes_per_s > 0 &&
                t.efficiency > 0);
    for (int a = 0; a < 2; a++) {
      for (int kind = 0; kind < TP_N_COLLECTIVES; kind++) {
        assert_true(t.links[a].lines[kind].alpha_us > 0 && t.links[a].lines[kind].gbytes_per_s > 0);
      }
    }
  }
  /* the inner axis fills a node, the outer one goes through the network */
  assert_int_equal(tp_topology_load("h100", &mesh, NULL, 0, &t), TP_OK);
  assert_true(t.links[0].lines[TP_ALL_GATHER].gbytes_per_s <
              t.links[1].lines[TP_ALL_GATHER].gbytes_per_s / 5);
}

static tp_cost price(const tp_topology *t, const tp_mesh *mesh, tp_collective kind, int n,
                     const int *axes, int64_t elements) {
  return tp_cost_collective(t, mesh, kind, n, axes, elements, 4);
}

static void collectives(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(3, (int64_t[]){4, 8, 1});
  static const int both[] = {0, 1}, reversed[] = {1, 0}, outer[] = {0}, inner[] = {1}, one[] = {2};
  for (const char *const *name = tp_topology_names(); *name; name++) {
    tp_topology t;
    assert_int_equal(tp_topology_load(*name, &mesh, NULL, 0, &t), TP_OK);
    for (int k = 0; k < TP_N_COLLECTIVES; k++) {
      tp_collective kind = (tp_collective)k;
      assert_int_equal(price(&t, &mesh, kind, 1, one, 1000), 0);
      assert_int_equal(price(&t, &mesh, kind, 0, one, 1000), 0);
      assert_int_equal(price(&t, &mesh, kind, 2, both, 99999),
                       price(&t, &mesh, kind, 2, reversed, 99999));
      tp_cost last = 0;
      for (int64_t elements = 32; elements < INT64_C(1) << 40; elements *= 8) {
        /* cost is monotonic in the data size */
        tp_cost now = price(&t, &mesh, kind, 2, both, elements);
        assert_true(now >= last && now < TP_COST_FORBIDDEN);
        last = now;
      }
      assert_int_equal(price(&t, &mesh, kind, 2, both, INT64_MAX), TP_COST_FORBIDDEN);
    }
    /* all_reduce is never slower than reduce_scatter + all_gather, nor than stages */
    for (int64_t elements = 32; elements < INT64_C(1) << 30; elements *= 32) {
      tp_cost reduce = price(&t, &mesh, TP_ALL_REDUCE, 2, both, elements);
      tp_cost split = price(&t, &mesh, TP_REDUCE_SCATTER, 2, both, elements) +
                      price(&t, &mesh, TP_ALL_GATHER, 2, both, elements);
      tp_cost levels = price(&t, &mesh, TP_REDUCE_SCATTER, 1, inner, elements) +
                       price(&t, &mesh, TP_ALL_REDUCE, 1, outer, elements / 8) +
                       price(&t, &mesh, TP_ALL_GATHER, 1, inner, elements);
      assert_true(reduce <= split + 1 && reduce <= levels + 1); /* the parts are rounded */
    }
  }
}

static void exact_figures(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(2, (int64_t[]){2, 4});
  tp_topology t = {0};
  static const int both[] = {0, 1};
  const tp_line outer = {5, 10}, inner = {7, 40}, latency = {1, 1};
  for (int kind = 0; kind < TP_N_COLLECTIVES; kind++) {
    t.links[0].lines[kind] = outer;
    t.links[1].lines[kind] = inner;
  }
  /* largest alpha, smallest bandwidth; each of 8 devices sends 7 pieces of 1000 or 10 floats */
  const double large = 7 * 1000 * 4, small = 7 * 10 * 4;
  tp_line group = {inner.alpha_us, outer.gbytes_per_s};
  assert_int_equal(tp_cost_flat(&t, &mesh, TP_ALL_GATHER, 2, both, 8000, 4),
                   line_time(group, large));
  t.links[0].doubling_us = 2; /* axis 0 has 2 devices, the group 8: two doublings */
  group.alpha_us = outer.alpha_us + 2 * 2;
  assert_int_equal(tp_cost_flat(&t, &mesh, TP_ALL_GATHER, 2, both, 8000, 4),
                   line_time(group, large));
  /* the group needs a latency line on every axis */
  t.links[1].latency_lines[TP_ALL_GATHER] = latency;
  assert_int_equal(tp_cost_flat(&t, &mesh, TP_ALL_GATHER, 2, both, 80, 4), line_time(group, small));
  t.links[0].latency_lines[TP_ALL_GATHER] = latency;
  group = (tp_line){latency.alpha_us + 2 * 2, latency.gbytes_per_s};
  assert_int_equal(tp_cost_flat(&t, &mesh, TP_ALL_GATHER, 2, both, 80, 4), line_time(group, small));
}

/* Axes of one level form a group like a single axis of that size; axes of several levels do not. */
static void joint_groups(void **state) {
  (void)state;
  static const int both[] = {0, 1}, one[] = {0}, reach[] = {1, 2}, all[] = {0, 1, 2};
  tp_mesh parts = make_mesh(2, (int64_t[]){2, 4}), whole = make_mesh(1, (int64_t[]){8}),
          nodes = make_mesh(3, (int64_t[]){2, 2, 8}), between = make_mesh(3, (int64_t[]){2, 1, 4});
  tp_topology split, joined, trivial;
  for (const char *const *name = tp_topology_names(); *name; name++) {
    assert_int_equal(tp_topology_load(*name, &parts, NULL, 0, &split), TP_OK);
    assert_int_equal(tp_topology_load(*name, &whole, NULL, 0, &joined), TP_OK);
    /* its axis of size 1 is in no group */
    assert_int_equal(tp_topology_load(*name, &between, NULL, 0, &trivial), TP_OK);
    if (split.links[0].level != split.links[1].level)
      continue;
    assert_int_equal(split.n_joints, 1);
    assert_int_equal(split.joints[0].n, 8);
    for (int k = 0; k < TP_N_COLLECTIVES; k++)
      for (int64_t elements = 8; elements < INT64_C(1) << 30; elements *= 64)
        assert_int_equal(tp_cost_flat(&split, &parts, (tp_collective)k, 2, both, elements, 4),
                         tp_cost_flat(&joined, &whole, (tp_collective)k, 1, one, elements, 4));
    for (int k = 0; k < TP_N_COLLECTIVES; k++)
      assert_int_equal(tp_cost_flat(&trivial, &between, (tp_collective)k, 3, all, 4096, 4),
                       tp_cost_flat(&split, &parts, (tp_collective)k, 2, both, 4096, 4));
  }
  /* the latency line of eight devices is for small messages: each sends 7 floats */
  assert_int_equal(tp_topology_load("h100", &parts, NULL, 0, &split), TP_OK);
  assert_int_equal(tp_topology_load("h100", &whole, NULL, 0, &joined), TP_OK);
  tp_cost latency = line_time(joined.links[0].latency_lines[TP_ALL_GATHER], 7 * 4);
  assert_true(0 < latency && latency < line_time(joined.links[0].lines[TP_ALL_GATHER], 7 * 4));
  assert_int_equal(tp_cost_flat(&split, &parts, TP_ALL_GATHER, 2, both, 8, 4), latency);
  assert_int_equal(tp_topology_load("h100", &nodes, NULL, 0, &joined), TP_OK);
  /* both axes are in the network; a group with the node spans two levels */
  assert_int_equal(joined.n_joints, 1);
  assert_int_equal(joined.joints[0].n, 4);
  /* an axis of 2 in the network and the node: the line of the network, three doublings up to 16
   * devices, each of which sends 15 floats */
  tp_line wide = joined.links[1].lines[TP_ALL_GATHER];
  wide.alpha_us += 3 * joined.links[1].doubling_us;
  assert_true(joined.links[1].doubling_us > 0);
  assert_int_equal(tp_cost_flat(&joined, &nodes, TP_ALL_GATHER, 2, reach, 16, 4),
                   line_time(wide, 15 * 4));
}

static const tp_line network = {10, 1}, node = {1, 100};

/* Axis 0 has 2 devices on the network, axis 1 has 4 in a node. */
static tp_topology two_levels(void) {
  tp_topology t = {0};
  for (int kind = 0; kind < TP_N_COLLECTIVES; kind++) {
    t.links[0].lines[kind] = network;
    t.links[1].lines[kind] = node;
  }
  return t;
}

static void check_stages(const tp_form *form, int n, const tp_collective *kinds, const int *axes,
                         const tp_cost *costs) {
  tp_cost sum = 0;
  assert_int_equal(form->n_stages, n);
  for (int i = 0; i < n; i++) {
    assert_int_equal(form->stages[i].kind, kinds[i]);
    assert_int_equal(form->stages[i].n_axes, 1);
    assert_int_equal(form->stages[i].axes[0], axes[i]);
    assert_int_equal(form->stages[i].cost, costs[i]);
    sum += costs[i];
  }
  assert_int_equal(form->cost, sum);
}

/* Expected stages in closed form: 8000 floats over 8 devices are 4000 bytes each. */
static void stages(void **state) {
  (void)state;
  static const int both[] = {0, 1};
  tp_mesh mesh = make_mesh(2, (int64_t[]){2, 4});
  tp_topology t = two_levels();
  const double over = 4000, within = 3 * 8000;
  /* gather: over the network first, 4000 bytes of 2000 floats; then 3 * 8000 bytes in the node */
  tp_form form = tp_cost_form(&t, &mesh, TP_ALL_GATHER, 2, both, 8000, 4);
  check_stages(&form, 2, (tp_collective[]){TP_ALL_GATHER, TP_ALL_GATHER}, (int[]){0, 1},
               (tp_cost[]){line_time(network, over), line_time(node, within)});
  assert_int_equal(tp_cost_flat(&t, &mesh, TP_ALL_GATHER, 2, both, 8000, 4),
                   line_time(network, 7 * over));
  assert_int_equal(price(&t, &mesh, TP_ALL_GATHER, 2, both, 8000), form.cost);
  /* scatter: the reverse */
  form = tp_cost_form(&t, &mesh, TP_REDUCE_SCATTER, 2, both, 8000, 4);
  check_stages(&form, 2, (tp_collective[]){TP_REDUCE_SCATTER, TP_REDUCE_SCATTER}, (int[]){1, 0},
               (tp_cost[]){line_time(node, within), line_time(network, over)});
  /* reduce: scatter in the node, 2 * 4000 bytes of the piece over the network, gather in the
   * node */
  form = tp_cost_form(&t, &mesh, TP_ALL_REDUCE, 2, both, 8000, 4);
  check_stages(
      &form, 3, (tp_collective[]){TP_REDUCE_SCATTER, TP_ALL_REDUCE, TP_ALL_GATHER},
      (int[]){1, 0, 1},
      (tp_cost[]){line_time(node, within), line_time(network, 2 * over), line_time(node, within)});
  /* 8001 elements: no axis divides them */
  assert_int_equal(price(&t, &mesh, TP_ALL_REDUCE, 2, both, 8001),
                   tp_cost_flat(&t, &mesh, TP_ALL_REDUCE, 2, both, 8001, 4));
  /* exchange: 3 * 8000 bytes in the node, 16000 over the network, against 28000 as one operation;
   * equal times in both orders */
  form = tp_cost_form(&t, &mesh, TP_ALL_TO_ALL, 2, both, 8000, 4);
  check_stages(&form, 2, (tp_collective[]){TP_ALL_TO_ALL, TP_ALL_TO_ALL}, (int[]){0, 1},
               (tp_cost[]){line_time(network, 4 * over), line_time(node, within)});
  /* small messages use one operation: stages would add a latency */
  form = tp_cost_form(&t, &mesh, TP_ALL_GATHER, 2, both, 8, 4);
  assert_int_equal(form.n_stages, 1);
  assert_int_equal(form.stages[0].n_axes, 2);
  assert_int_equal(form.cost, line_time(network, 7 * 4));
  form = tp_cost_form(&t, &mesh, TP_BROADCAST, 2, both, 8000, 4);
  assert_int_equal(form.n_stages, 1);
  /* bytes do not depend on the form, except for all_to_all */
  assert_int_equal(tp_cost_bytes(TP_ALL_GATHER, 2, 2000, 4) +
                       tp_cost_bytes(TP_ALL_GATHER, 4, 8000, 4),
                   tp_cost_bytes(TP_ALL_GATHER, 8, 8000, 4));
  form = tp_cost_form(&t, &mesh, TP_ALL_GATHER, 0, both, 8000, 4);
  assert_true(form.n_stages == 0 && form.cost == 0);
}

/* Over three axes an all_reduce may be split at any of them; the other kinds are one operation. */
static void three_axes(void **state) {
  (void)state;
  static const int all[] = {0, 1, 2};
  tp_mesh mesh = make_mesh(3, (int64_t[]){2, 2, 4});
  tp_topology t = two_levels();
  t.links[2] = t.links[1];
  tp_form form = tp_cost_form(&t, &mesh, TP_ALL_REDUCE, 3, all, 16000, 4);
  assert_int_equal(form.n_stages, 3);
  assert_int_equal(form.stages[0].n_axes, 2); /* both axes of the node */
  /* 16000 floats: an eighth for each of the 8 devices of a node, half of that over the network */
  assert_int_equal(form.stages[0].cost, line_time(node, 7 * 2000 * 4));
  assert_int_equal(form.stages[1].cost, line_time(network, 2 * 1000 * 4));
  form = tp_cost_form(&t, &mesh, TP_ALL_GATHER, 3, all, 16000, 4);
  assert_int_equal(form.n_stages, 1);
}

static tp_cost compute(const tp_topology *t, tp_work work) { return tp_cost_compute(t, &work); }

static void work(void **state) {
  (void)state;
  tp_topology t = {.gflops = {[TP_PEAK_F32] = 100, [TP_PEAK_F16] = 400},
                   .elementwise_gops = 2,
                   .memory_gbytes_per_s = 10,
                   .launch_us = 3,
                   .efficiency = 0.5,
                   .min_gemm_dim = 128};
  /* every rate is reached by half; scalar operations add to the flops */
  const double half = t.efficiency;
  const tp_cost flops = rate(1e9, 100 * half), scalars = rate(1e7, 2 * half);
  assert_int_equal(compute(&t, (tp_work){.contraction_flops = 1e9}), flops);
  assert_int_equal(compute(&t, (tp_work){.contraction_flops = 1e9, .peak = TP_PEAK_F16}),
                   rate(1e9, 400 * half));
  assert_int_equal(compute(&t, (tp_work){.memory_bytes = 1e8, .launch = true}),
                   rate(1e8, 10 * half) + us(t.launch_us));
  /* the roofline: the arithmetic takes longer than the memory here, then the reverse */
  assert_int_equal(
      compute(&t, (tp_work){.contraction_flops = 1e9, .scalar_ops = 1e7, .memory_bytes = 1e8}),
      flops + scalars);
  assert_true(rate(1e8, 10 * half) < flops + scalars);
  assert_int_equal(
      compute(&t, (tp_work){.contraction_flops = 1e9, .scalar_ops = 1e7, .memory_bytes = 1e9}),
      rate(1e9, 10 * half));
  assert_true(rate(1e9, 10 * half) > flops + scalars);
  /* a small dimension leaves tiles partly empty; a matrix-vector product has no tiles */
  assert_int_equal(compute(&t, (tp_work){.contraction_flops = 1e9, .gemm_dim = 32}),
                   flops * 128 / 32);
  assert_int_equal(compute(&t, (tp_work){.contraction_flops = 1e9, .gemm_dim = 128}), flops);
  assert_int_equal(compute(&t, (tp_work){.contraction_flops = 1e9, .gemm_dim = 2}),
                   flops * 128 / 2);
  assert_int_equal(compute(&t, (tp_work){.contraction_flops = 1e9, .gemm_dim = 1}), flops);
  t.min_gemm_dim = 0;
  assert_int_equal(compute(&t, (tp_work){.contraction_flops = 1e9, .gemm_dim = 32}), flops);
}

/* Rates of contractions and stores, and what arithmetic and memory traffic do not hide. */
static void work_of_processors(void **state) {
  (void)state;
  tp_topology t = {.gflops = {[TP_PEAK_F32] = 100},
                   .elementwise_gops = 2,
                   .memory_gbytes_per_s = 10,
                   .efficiency = 0.5};
  const tp_work product = {.contraction_flops = 1e9, .memory_bytes = 1e8, .store_bytes = 1e7},
                sum = {.scalar_ops = 1e6, .memory_bytes = 1e8, .store_bytes = 1e7};
  const double half = t.efficiency;
  assert_int_equal(compute(&t, sum), rate(1e8, 10 * half)); /* stores are not counted */
  t.store_gbytes_per_s = 4;
  assert_int_equal(compute(&t, sum), rate(1e8, 10 * half) + rate(1e7, 4 * half));
  t.contraction_gbytes_per_s = 5; /* the sum still reads at 10 */
  assert_int_equal(compute(&t, sum), rate(1e8, 10 * half) + rate(1e7, 4 * half));
  const tp_cost flops = rate(1e9, 100 * half), bytes = rate(1e8, 5 * half) + rate(1e7, 4 * half);
  assert_true(bytes > flops);
  assert_int_equal(compute(&t, product), bytes);
  t.exposed = 0.25;
  assert_int_equal(compute(&t, product), bytes + flops / 4);
  t.contraction_gbytes_per_s = 100;
  const tp_cost less = rate(1e8, 100 * half) + rate(1e7, 4 * half);
  assert_true(less < flops);
  assert_int_equal(compute(&t, product), flops + less / 4);
}

/* A collective over more devices of a machine is never faster; a missing line in a topology file
 * would show here. */
static void larger_groups(void **state) {
  (void)state;
  static const int axis[] = {0};
  for (const char *const *name = tp_topology_names(); *name; name++)
    for (int k = 0; k < TP_N_COLLECTIVES; k++)
      for (int64_t elements = 1 << 10; elements <= 1 << 26; elements <<= 4) {
        tp_cost before = 0;
        for (int64_t n = 2; n <= 16; n *= 2) {
          tp_mesh mesh = make_mesh(1, &n);
          tp_topology t;
          assert_int_equal(tp_topology_load(*name, &mesh, NULL, 0, &t), TP_OK);
          tp_cost cost = price(&t, &mesh, (tp_collective)k, 1, axis, elements);
          if (cost < before)
            fail_msg("%s: %s of %lld elements over %lld devices is faster than over half as many",
                     *name, tp_collective_name((tp_collective)k), (long long)elements,
                     (long long)n);
          before = cost;
        }
      }
}

/* Bytes count first, then operations; time breaks ties. */
static void objective_bytes(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(2, (int64_t[]){4, 8});
  static const int outer[] = {0}, inner[] = {1};
  tp_objective found;
  assert_true(tp_objective_find("bytes", &found) && found == TP_OBJECTIVE_BYTES);
  assert_true(tp_objective_find("time", &found) && found == TP_OBJECTIVE_TIME);
  assert_false(tp_objective_find("money", &found));
  assert_string_equal(tp_objective_name(TP_OBJECTIVE_BYTES), "bytes");
  for (const char *const *name = tp_topology_names(); *name; name++) {
    tp_topology t;
    assert_int_equal(tp_topology_load(*name, &mesh, NULL, 0, &t), TP_OK);
    tp_topology_count_bytes(&t, TP_BYTE_FLOPS);
    for (int k = 0; k < TP_N_COLLECTIVES; k++) {
      tp_collective kind = (tp_collective)k;
      int64_t sent = tp_cost_bytes(kind, 8, 80000, 4);
      tp_cost cost = price(&t, &mesh, kind, 1, inner, 80000);
      /* latencies weigh less than a byte */
      assert_in_range(cost, sent * TP_BYTE_PS, (sent + 1) * TP_BYTE_PS);
    }
    tp_cost product =
        tp_cost_compute(&t, &(tp_work){.contraction_flops = TP_BYTE_FLOPS * 1e6, .gemm_dim = 2});
    tp_cost others =
        tp_cost_compute(&t, &(tp_work){.scalar_ops = TP_BYTE_SCALARS * 1e6, .launch = true});
    assert_in_range(product, INT64_C(1000000) * TP_BYTE_PS, INT64_C(1010000) * TP_BYTE_PS);
    assert_in_range(others, INT64_C(1000000) * TP_BYTE_PS, INT64_C(1010000) * TP_BYTE_PS);
    assert_true(tp_cost_compute(&t, &(tp_work){.memory_bytes = 1e9}) <
                INT64_C(1000000) * TP_BYTE_PS);
  }
  /* The same bytes cost more on a slower network, but less than one additional byte. */
  tp_topology t;
  assert_int_equal(tp_topology_load("h100", &mesh, NULL, 0, &t), TP_OK);
  tp_topology_count_bytes(&t, TP_BYTE_FLOPS);
  assert_true(price(&t, &mesh, TP_PERMUTE, 1, outer, 80000) >
              price(&t, &mesh, TP_PERMUTE, 1, inner, 80000));
  assert_true(price(&t, &mesh, TP_PERMUTE, 1, outer, 80000) <
              price(&t, &mesh, TP_PERMUTE, 1, inner, 80001));
}

static void sums_saturate(void **state) {
  (void)state;
  assert_int_equal(tp_cost_add(TP_COST_FORBIDDEN, TP_COST_FORBIDDEN), TP_COST_FORBIDDEN);
  assert_int_equal(tp_cost_add(1, TP_COST_FORBIDDEN), TP_COST_FORBIDDEN);
  assert_int_equal(tp_cost_add(TP_COST_FORBIDDEN - 1, 1), TP_COST_FORBIDDEN);
  assert_int_equal(tp_cost_add(1, 2), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes),
      cmocka_unit_test(topologies),
      cmocka_unit_test(collectives),
      cmocka_unit_test(exact_figures),
      cmocka_unit_test(joint_groups),
      cmocka_unit_test(work),
      cmocka_unit_test(work_of_processors),
      cmocka_unit_test(stages),
      cmocka_unit_test(three_axes),
      cmocka_unit_test(sums_saturate),
      cmocka_unit_test(objective_bytes),
      cmocka_unit_test(larger_groups),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
