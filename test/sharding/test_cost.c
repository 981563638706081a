/* Tests the cost model. */
#include "tp/cost.h"

#include "simulator.h"

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
  for (int kind = 0; kind < TP_N_COLLECTIVES; kind++) {
    t.links[0].lines[kind] = (tp_line){5, 10};
    t.links[1].lines[kind] = (tp_line){7, 40};
  }
  /* largest alpha 7 us, smallest bandwidth 10 GB/s; 8 devices, 8000 floats: 7 * 4000 bytes = 2.8
   * us */
  assert_int_equal(tp_cost_flat(&t, &mesh, TP_ALL_GATHER, 2, both, 8000, 4), 9800000);
  t.links[0].doubling_us = 2; /* axis 0 has 2 devices, the group 8: 5 + 2 * 2 = 9 us */
  assert_int_equal(tp_cost_flat(&t, &mesh, TP_ALL_GATHER, 2, both, 8000, 4), 11800000);
  /* the group needs a latency line on every axis */
  t.links[1].latency_lines[TP_ALL_GATHER] = (tp_line){1, 1};
  assert_int_equal(tp_cost_flat(&t, &mesh, TP_ALL_GATHER, 2, both, 80, 4), 9000000 + 28000);
  t.links[0].latency_lines[TP_ALL_GATHER] = (tp_line){1, 1};
  assert_int_equal(tp_cost_flat(&t, &mesh, TP_ALL_GATHER, 2, both, 80, 4), 5000000 + 280000);
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
  assert_int_equal(tp_topology_load("h100", &parts, NULL, 0, &split), TP_OK);
  assert_int_equal(tp_cost_flat(&split, &parts, TP_ALL_GATHER, 2, both, 8, 4),
                   11000199); /* the latency line of eight: 28 bytes at 141 GB/s */
  assert_int_equal(tp_topology_load("h100", &nodes, NULL, 0, &joined), TP_OK);
  /* both axes are in the network; a group with the node spans two levels */
  assert_int_equal(joined.n_joints, 1);
  assert_int_equal(joined.joints[0].n, 4);
  /* an axis of the network and the node: 20 us, plus 20 us for each of three doublings; 60 bytes at
   * 48 GB/s */
  assert_int_equal(tp_cost_flat(&joined, &nodes, TP_ALL_GATHER, 2, reach, 16, 4), 80001250);
}

/* Axis 0 has 2 devices on a network, 10 us and 1 GB/s; axis 1 has 4 in a node, 1 us and 100
 * GB/s. */
static tp_topology two_levels(void) {
  tp_topology t = {0};
  for (int kind = 0; kind < TP_N_COLLECTIVES; kind++) {
    t.links[0].lines[kind] = (tp_line){10, 1};
    t.links[1].lines[kind] = (tp_line){1, 100};
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
  /* gather: over the network first, 4000 bytes of 2000 floats; then 3 * 8000 bytes in the node */
  tp_form form = tp_cost_form(&t, &mesh, TP_ALL_GATHER, 2, both, 8000, 4);
  check_stages(&form, 2, (tp_collective[]){TP_ALL_GATHER, TP_ALL_GATHER}, (int[]){0, 1},
               (tp_cost[]){14000000, 1240000});
  assert_int_equal(tp_cost_flat(&t, &mesh, TP_ALL_GATHER, 2, both, 8000, 4), 10000000 + 28000000);
  assert_int_equal(price(&t, &mesh, TP_ALL_GATHER, 2, both, 8000), 15240000);
  /* scatter: the reverse */
  form = tp_cost_form(&t, &mesh, TP_REDUCE_SCATTER, 2, both, 8000, 4);
  check_stages(&form, 2, (tp_collective[]){TP_REDUCE_SCATTER, TP_REDUCE_SCATTER}, (int[]){1, 0},
               (tp_cost[]){1240000, 14000000});
  /* reduce: scatter in the node, 2 * 4000 bytes of the piece over the network, gather in the
   * node */
  form = tp_cost_form(&t, &mesh, TP_ALL_REDUCE, 2, both, 8000, 4);
  check_stages(&form, 3, (tp_collective[]){TP_REDUCE_SCATTER, TP_ALL_REDUCE, TP_ALL_GATHER},
               (int[]){1, 0, 1}, (tp_cost[]){1240000, 18000000, 1240000});
  /* 8001 elements: no axis divides them */
  assert_int_equal(price(&t, &mesh, TP_ALL_REDUCE, 2, both, 8001),
                   tp_cost_flat(&t, &mesh, TP_ALL_REDUCE, 2, both, 8001, 4));
  /* exchange: 3 * 8000 bytes in the node, 16000 over the network, against 28000 as one operation;
   * equal times in both orders */
  form = tp_cost_form(&t, &mesh, TP_ALL_TO_ALL, 2, both, 8000, 4);
  check_stages(&form, 2, (tp_collective[]){TP_ALL_TO_ALL, TP_ALL_TO_ALL}, (int[]){0, 1},
               (tp_cost[]){26000000, 1240000});
  /* small messages use one operation: stages would add a latency */
  form = tp_cost_form(&t, &mesh, TP_ALL_GATHER, 2, both, 8, 4);
  assert_int_equal(form.n_stages, 1);
  assert_int_equal(form.stages[0].n_axes, 2);
  assert_int_equal(form.cost, 10000000 + 28000);
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
  assert_int_equal(form.stages[0].cost, 1000000 + 7 * 8000 * 10);
  assert_int_equal(form.stages[1].cost, 10000000 + 2 * 4000 * 1000);
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
  /* 1e9 flop at 50 gflop/s: 20 ms; 1e8 bytes at 5 GB/s: 20 ms; scalar operations add to the
   * flops */
  assert_int_equal(compute(&t, (tp_work){.contraction_flops = 1e9}), INT64_C(20000000000));
  assert_int_equal(compute(&t, (tp_work){.contraction_flops = 1e9, .peak = TP_PEAK_F16}),
                   INT64_C(5000000000));
  assert_int_equal(compute(&t, (tp_work){.memory_bytes = 1e8, .launch = true}),
                   INT64_C(20003000000));
  assert_int_equal(
      compute(&t, (tp_work){.contraction_flops = 1e9, .scalar_ops = 1e7, .memory_bytes = 1e8}),
      INT64_C(30000000000));
  /* a small dimension leaves tiles partly empty; a matrix-vector product has no tiles */
  assert_int_equal(compute(&t, (tp_work){.contraction_flops = 1e9, .gemm_dim = 32}),
                   INT64_C(80000000000));
  assert_int_equal(compute(&t, (tp_work){.contraction_flops = 1e9, .gemm_dim = 128}),
                   INT64_C(20000000000));
  assert_int_equal(compute(&t, (tp_work){.contraction_flops = 1e9, .gemm_dim = 2}),
                   INT64_C(1280000000000));
  assert_int_equal(compute(&t, (tp_work){.contraction_flops = 1e9, .gemm_dim = 1}),
                   INT64_C(20000000000));
  t.min_gemm_dim = 0;
  assert_int_equal(compute(&t, (tp_work){.contraction_flops = 1e9, .gemm_dim = 32}),
                   INT64_C(20000000000));
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

static tp_fused_price fused(const tp_topology *t, const tp_mesh *mesh, tp_fused_rows rows) {
  static const int axis[] = {0};
  rows.n_axes = 1;
  rows.axes = axis;
  rows.element_size = 4;
  return tp_cost_fused_rows(t, mesh, &rows);
}

/* Fused reductions with row epilogues: the algorithm, and both times computed by hand. */
static void fused_rows(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(2, (int64_t[]){4, 2});
  tp_topology t = {.memory_gbytes_per_s = 1000,
                   .launch_us = 4,
                   .efficiency = 0.5,
                   .elementwise_gops = 1,
                   .gflops = {1, 1, 1, 1, 1}};
  t.kernels[0] = (tp_kernels){.signal_us = 2,
                              .gbytes_per_s = 100,
                              .push_bytes = 65536,
                              .n_pulls = 2,
                              .pulls = {{2, 1 << 22}, {4, 1 << 20}}};
  t.links[1].level = 1;
  for (int k = 0; k < TP_N_COLLECTIVES; k++)
    t.links[0].lines[k] = t.links[1].lines[k] = (tp_line){.alpha_us = 10, .gbytes_per_s = 100};
  const tp_fused_rows norm = {.n_kernels = 1, .n_operands = 1, .n_results = 2};
  tp_fused_rows rows = norm;
  /* 16 KiB: memory 16 KiB * (1 + 2 * 4 + 3) at 500 GB/s is less than the wire's 3 * 16 KiB at 100
   * GB/s: 491.52 ns */
  rows.tokens = 4;
  rows.hidden = 1024;
  tp_fused_price price = fused(&t, &mesh, rows);
  assert_int_equal(price.algorithm, TP_FUSED_PUSH);
  assert_int_equal(price.fused, 4000000 + 2000000 + 491520);
  /* all_reduce: 10 us and 2 * 3 * 4 KiB at 100 GB/s; the kernel: 4 us and 4 * 16 KiB at 500 GB/s */
  assert_int_equal(price.separate, 10000000 + 245760 + 4000000 + 131072);
  /* one more row: too large for staging */
  rows.tokens = 5;
  price = fused(&t, &mesh, rows);
  assert_int_equal(price.algorithm, TP_FUSED_PULL);
  assert_int_equal(price.fused, 4000000 + 4000000 + 614400);
  /* fewer rows than devices: no slices */
  rows.tokens = 3;
  rows.hidden = 1 << 20;
  assert_int_equal(fused(&t, &mesh, rows).algorithm, TP_FUSED_PULL);
  /* 4 MiB: each device sends three quarters of its input, and its quarter of both results to three
   * peers: 9 MiB */
  rows.tokens = 1024;
  rows.hidden = 1024;
  price = fused(&t, &mesh, rows);
  assert_int_equal(price.algorithm, TP_FUSED_SLICES);
  assert_int_equal(price.fused, 4000000 + 4000000 + 94371840);
  /* scattered: slices for any size; the first result stays local, the second is all-gathered */
  rows.tokens = 4;
  rows.scattered = true;
  rows.n_gathered = 1;
  price = fused(&t, &mesh, rows);
  assert_int_equal(price.algorithm, TP_FUSED_SLICES);
  assert_int_equal(price.fused, 4000000 + 4000000 + 245760);
  assert_int_equal(price.separate, 10000000 + 122880 + 10000000 + 122880 + 4000000 + 32768);
  /* f8 and eight scales per row instead of the second result: 9 * 4 KiB and 128 bytes, of which a
   * quarter stays local; 3 quarters of 4224 bytes are sent */
  rows.n_results = 1;
  rows.n_gathered = 0;
  rows.quantised = rows.quantised_gathered = true;
  rows.n_scales = 8;
  price = fused(&t, &mesh, rows);
  assert_int_equal(price.algorithm, TP_FUSED_SLICES);
  assert_int_equal(price.fused, 4000000 + 4000000 + 122880 + 31680);
  /* unfused: reduce_scatter; all_gathers of 1 KiB and 32 bytes from each peer; a kernel for three
   * rows of 4 KiB and the f8 */
  const tp_cost collectives = 10000000 + 122880 + 10000000 + 30720 + 10000000 + 960;
  assert_int_equal(price.separate, collectives + 4000000 + 24576 + 2112);
  /* two kernels, of which the second reads the first result */
  rows.n_kernels = 2;
  assert_int_equal(fused(&t, &mesh, rows).separate,
                   collectives + 2 * 4000000 + 24576 + 8192 + 2112);
  /* which is only an intermediate */
  rows.n_results = 0;
  rows.n_passed = 1;
  assert_int_equal(fused(&t, &mesh, rows).separate,
                   collectives + 2 * 4000000 + 24576 + 8192 + 2112);
  assert_int_equal(fused(&t, &mesh, rows).fused, price.fused);
  /* without all-gathers, with a given scale */
  rows.quantised_gathered = false;
  rows.n_scales = rows.n_passed = 0;
  rows.n_kernels = 1;
  price = fused(&t, &mesh, rows);
  assert_int_equal(price.fused, 4000000 + 4000000 + 122880);
  assert_int_equal(price.separate, 10000000 + 122880 + 4000000 + 16384 + 2048);
  /* no epilogue: no row kernel */
  rows = (tp_fused_rows){.tokens = 4, .hidden = 1024, .n_results = 1};
  assert_int_equal(fused(&t, &mesh, rows).separate, 10000000 + 245760);
  /* unsupported by kernels: the other level, more devices, both levels */
  static const int outer[] = {1}, both[] = {0, 1};
  rows.n_axes = 1;
  rows.axes = outer;
  rows.element_size = 4;
  assert_int_equal(tp_cost_fused_rows(&t, &mesh, &rows).algorithm, TP_FUSED_NONE);
  rows.n_axes = 2;
  rows.axes = both;
  assert_int_equal(tp_cost_fused_rows(&t, &mesh, &rows).algorithm, TP_FUSED_NONE);
  mesh.axes[0].size = 8;
  assert_int_equal(fused(&t, &mesh, rows).algorithm, TP_FUSED_NONE);
  for (int i = 0; i < TP_N_FUSED; i++)
    assert_string_not_equal(tp_fused_name((tp_fused_algorithm)i), "unknown");
}

/* Softmax of sharded rows in one exchange: both times computed by hand. */
static void fused_softmax(void **state) {
  (void)state;
  static const int axis[] = {0};
  tp_mesh mesh = make_mesh(1, (int64_t[]){4});
  tp_topology t = {.memory_gbytes_per_s = 1000,
                   .launch_us = 4,
                   .efficiency = 0.5,
                   .elementwise_gops = 1,
                   .gflops = {1, 1, 1, 1, 1}};
  t.kernels[0] = (tp_kernels){.signal_us = 2,
                              .gbytes_per_s = 100,
                              .push_bytes = 65536,
                              .n_pulls = 1,
                              .pulls = {{4, 1 << 20}}};
  for (int k = 0; k < TP_N_COLLECTIVES; k++)
    t.links[0].lines[k] = (tp_line){.alpha_us = 10, .gbytes_per_s = 100};
  tp_fused_softmax softmax = {.n_axes = 1,
                              .axes = axis,
                              .tokens = 1000,
                              .columns = 32000,
                              .element_size = 2,
                              .n_collectives = 3};
  tp_cost once, separate;
  /* 64 MB at 500 GB/s; 3 * 16 KB at 100 GB/s; 64 KB at 500 GB/s */
  assert_true(tp_cost_fused_softmax(&t, &mesh, &softmax, &once, &separate));
  assert_int_equal(once, 4000000 + 128000000 + 10000000 + 480000 + 4000000 + 128000);
  /* twice the kernel; three all_reduces of 2 * 3 * 1 KB */
  assert_int_equal(separate, 2 * (4000000 + 128000000) + 3 * (10000000 + 60000));
  softmax.n_collectives = 2;
  assert_true(tp_cost_fused_softmax(&t, &mesh, &softmax, &once, &separate));
  assert_int_equal(separate, 2 * (4000000 + 128000000) + 2 * (10000000 + 60000));
  mesh.axes[0].size = 8;
  assert_false(tp_cost_fused_softmax(&t, &mesh, &softmax, &once, &separate));
}

/* Matmuls in slices, each sent while the next is computed; times computed by hand. */
static void fused_products(void **state) {
  (void)state;
  tp_mesh mesh = make_mesh(1, (int64_t[]){4});
  tp_topology t = {.memory_gbytes_per_s = 1000,
                   .launch_us = 4,
                   .efficiency = 0.5,
                   .elementwise_gops = 1,
                   .gflops = {10000}};
  t.kernels[0] = (tp_kernels){.signal_us = 2,
                              .gbytes_per_s = 100,
                              .push_bytes = 65536,
                              .n_pulls = 1,
                              .pulls = {{4, 1 << 20}}};
  for (int k = 0; k < TP_N_COLLECTIVES; k++)
    t.links[0].lines[k] = (tp_line){.alpha_us = 10, .gbytes_per_s = 100};
  tp_fused_rows rows = {
      .tokens = 4096, .hidden = 1000, .scattered = true, .n_results = 1, .k = 1250};
  tp_fused_price price = fused(&t, &mesh, rows);
  assert_int_equal(price.algorithm, TP_FUSED_SLICES);
  /* slices: 4 us and 2.56e9 flop at 5e12 a second; the kernel: 4 us, two signals, and 5 slices of
   * 4096 kB at 500 GB/s */
  const tp_cost reduction = 4000000 + 4000000 + 40960000;
  assert_int_equal(price.fused, 4 * (4000000 + 512000000) + reduction);
  /* whole matmul; then the kernel that reads three slices at 100 GB/s */
  assert_int_equal(price.separate, INT64_C(4000000) + 2048000000 + 4000000 + 4000000 + 122880000);
  assert_null(price.unmeasured);
  /* computing a slice takes less time than sending one */
  rows.k = 50;
  price = fused(&t, &mesh, rows);
  assert_int_equal(price.fused, 3 * 40960000 + 4000000 + 20480000 + reduction);
  assert_null(price.unmeasured);
  /* unmeasured cases */
  rows.k = 20;
  assert_string_equal(
      fused(&t, &mesh, rows).unmeasured,
      "sending less than a 20th of the time of the product, or more than twice that");
  rows.k = 1 << 14;
  assert_non_null(fused(&t, &mesh, rows).unmeasured);
  rows.k = 1250;
  rows.tokens = 4095;
  assert_string_equal(fused(&t, &mesh, rows).unmeasured,
                      "fewer than 4096 rows, or 512 for a device");
  /* a matmul followed by an all_reduce of few rows uses slices, too */
  rows = (tp_fused_rows){.tokens = 8, .hidden = 1000, .n_results = 1, .k = 50};
  assert_int_equal(fused(&t, &mesh, rows).algorithm, TP_FUSED_SLICES);
  t.kernels[0].n_pulls = 0;
  assert_int_equal(fused(&t, &mesh, rows).algorithm, TP_FUSED_NONE);
}

/* All-gathered rows and matmuls, slice by slice; times computed by hand. */
static void gathered_rows(void **state) {
  (void)state;
  static const int axis[] = {0};
  tp_mesh mesh = make_mesh(1, (int64_t[]){4});
  tp_topology t = {.memory_gbytes_per_s = 1000,
                   .launch_us = 4,
                   .efficiency = 0.5,
                   .elementwise_gops = 1,
                   .gflops = {10000}};
  t.kernels[0] = (tp_kernels){.signal_us = 2,
                              .gbytes_per_s = 100,
                              .push_bytes = 65536,
                              .n_pulls = 1,
                              .pulls = {{4, 1 << 20}}};
  for (int k = 0; k < TP_N_COLLECTIVES; k++)
    t.links[0].lines[k] = (tp_line){.alpha_us = 10, .gbytes_per_s = 100};
  tp_gathered_rows rows = {.n_axes = 1,
                           .axes = axis,
                           .tokens = 4096,
                           .width = 1000,
                           .element_size = 4,
                           .n = 2,
                           .columns = {1000, 250}};
  tp_fused_price price = tp_cost_gathered_rows(&t, &mesh, &rows);
  assert_int_equal(price.algorithm, TP_FUSED_SLICES);
  /* slices: twice 4 us, 2.56e9 flop at 5e12 per second; two barriers */
  assert_int_equal(price.fused, INT64_C(4) * (8000000 + 512000000) + 4000000);
  /* three slices of 4096 kB at 100 GB/s, then both products */
  assert_int_equal(price.separate, INT64_C(10000000) + 122880000 + 8000000 + 2048000000);
  assert_null(price.unmeasured);
  /* sending a slice takes longer than computing one */
  rows.n = 1;
  rows.columns[0] = 50;
  price = tp_cost_gathered_rows(&t, &mesh, &rows);
  assert_int_equal(price.fused, 3 * 40960000 + 4000000 + 20480000 + 4000000);
  rows.tokens = 4095;
  assert_non_null(tp_cost_gathered_rows(&t, &mesh, &rows).unmeasured);
  t.kernels[0].n_pulls = 0;
  assert_int_equal(tp_cost_gathered_rows(&t, &mesh, &rows).algorithm, TP_FUSED_NONE);
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
    tp_topology_count_bytes(&t);
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
  tp_topology_count_bytes(&t);
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
      cmocka_unit_test(bytes),          cmocka_unit_test(topologies),
      cmocka_unit_test(collectives),    cmocka_unit_test(exact_figures),
      cmocka_unit_test(joint_groups),   cmocka_unit_test(work),
      cmocka_unit_test(stages),         cmocka_unit_test(three_axes),
      cmocka_unit_test(sums_saturate),  cmocka_unit_test(objective_bytes),
      cmocka_unit_test(larger_groups),  cmocka_unit_test(fused_rows),
      cmocka_unit_test(fused_products), cmocka_unit_test(gathered_rows),
      cmocka_unit_test(fused_softmax),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
