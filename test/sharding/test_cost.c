/* Tests the cost model. Expected times are computed here from the inputs of the test and the
 * formulas of tp/cost.h: alpha + bytes / bandwidth, and the roofline of a device. */
#include "tp/cost.h"

#include "simulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Returns picoseconds. */
static tp_cost us(double microseconds) { return (tp_cost)(microseconds * 1e6 + 0.5); }

/* Returns the time that `bytes` bytes, or `bytes` operations, take at `giga` times 1e9 a second. */
static tp_cost rate(double bytes, double giga) { return us(bytes / (giga * 1e3)); }

/* Returns alpha + bytes / bandwidth. */
static tp_cost line_time(tp_line line, double bytes) {
  return us(line.alpha_us + bytes / (line.gbytes_per_s * 1e3));
}

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

/* Fused reductions with row epilogues: the algorithm, and both times. The time of a fused kernel is
 * a launch, its signals (one to push, two in the other algorithms) and the longer one of its memory
 * and its wire traffic. Unfused, each collective and each kernel adds its time. */
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
  const double memory = t.memory_gbytes_per_s * t.efficiency, wire = t.kernels[0].gbytes_per_s;
  const double row = 1024 * 4, f8 = 1024, scales = 8 * 4; /* bytes of a row */
  const tp_cost launch = us(t.launch_us), signal = us(t.kernels[0].signal_us);
  const tp_line line = t.links[0].lines[0];
  tp_fused_rows rows = norm;
  /* 4 rows: memory 4 rows * (1 + 2 * 4 + 3) takes less time than the wire's 3 * 4 rows */
  assert_true(rate(4 * row * 12, memory) < rate(3 * 4 * row, wire));
  rows.tokens = 4;
  rows.hidden = 1024;
  tp_fused_price price = fused(&t, &mesh, rows);
  assert_int_equal(price.algorithm, TP_FUSED_PUSH);
  assert_int_equal(price.fused, launch + signal + rate(3 * 4 * row, wire));
  /* all_reduce: 2 * 3 pieces of a row; the kernel reads two and writes two tensors of 4 rows */
  assert_int_equal(price.separate,
                   line_time(line, 2 * 3 * row) + launch + rate(4 * 4 * row, memory));
  /* one more row: too large for staging */
  rows.tokens = 5;
  price = fused(&t, &mesh, rows);
  assert_int_equal(price.algorithm, TP_FUSED_PULL);
  assert_int_equal(price.fused, launch + 2 * signal + rate(3 * 5 * row, wire));
  /* fewer rows than devices: no slices */
  rows.tokens = 3;
  rows.hidden = 1 << 20;
  assert_int_equal(fused(&t, &mesh, rows).algorithm, TP_FUSED_PULL);
  /* 1024 rows: each device sends three quarters of its input, and its quarter of both results to
   * three peers */
  rows.tokens = 1024;
  rows.hidden = 1024;
  price = fused(&t, &mesh, rows);
  assert_int_equal(price.algorithm, TP_FUSED_SLICES);
  assert_int_equal(price.fused, launch + 2 * signal + rate(3 * 256 * row * (1 + 2), wire));
  /* scattered: slices for any size; the first result stays local, the second is all-gathered */
  rows.tokens = 4;
  rows.scattered = true;
  rows.n_gathered = 1;
  price = fused(&t, &mesh, rows);
  assert_int_equal(price.algorithm, TP_FUSED_SLICES);
  assert_int_equal(price.fused, launch + 2 * signal + rate(3 * row * (1 + 1), wire));
  assert_int_equal(price.separate, 2 * line_time(line, 3 * row) + launch + rate(4 * row, memory));
  /* f8 and eight scales per row instead of the second result: 9 * 4 KiB and 128 bytes, of which a
   * quarter stays local; 3 quarters of 4224 bytes are sent */
  rows.n_results = 1;
  rows.n_gathered = 0;
  rows.quantized = rows.quantized_gathered = true;
  rows.n_scales = 8;
  price = fused(&t, &mesh, rows);
  assert_int_equal(price.algorithm, TP_FUSED_SLICES);
  assert_int_equal(price.fused, launch + 2 * signal + rate(3 * (row + f8 + scales), wire));
  /* unfused: reduce_scatter; all_gathers of the f8 and of the scales of a row from each peer; a
   * kernel that reads two rows and writes one, the f8 and the scales */
  const tp_cost collectives =
      line_time(line, 3 * row) + line_time(line, 3 * f8) + line_time(line, 3 * scales);
  assert_int_equal(price.separate, collectives + launch + rate(3 * row + f8 + scales, memory));
  /* two kernels, of which the second reads the first result */
  rows.n_kernels = 2;
  assert_int_equal(fused(&t, &mesh, rows).separate,
                   collectives + 2 * launch + rate(4 * row + f8 + scales, memory));
  /* which is only an intermediate */
  rows.n_results = 0;
  rows.n_passed = 1;
  assert_int_equal(fused(&t, &mesh, rows).separate,
                   collectives + 2 * launch + rate(4 * row + f8 + scales, memory));
  assert_int_equal(fused(&t, &mesh, rows).fused, price.fused);
  /* without all-gathers, with a given scale */
  rows.quantized_gathered = false;
  rows.n_scales = rows.n_passed = 0;
  rows.n_kernels = 1;
  price = fused(&t, &mesh, rows);
  assert_int_equal(price.fused, launch + 2 * signal + rate(3 * row, wire));
  assert_int_equal(price.separate, line_time(line, 3 * row) + launch + rate(2 * row + f8, memory));
  /* no epilogue: no row kernel */
  rows = (tp_fused_rows){.tokens = 4, .hidden = 1024, .n_results = 1};
  assert_int_equal(fused(&t, &mesh, rows).separate, line_time(line, 2 * 3 * row));
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

/* Softmax of sharded rows in one exchange: both times. */
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
  const double memory = t.memory_gbytes_per_s * t.efficiency;
  const tp_line line = t.links[0].lines[0];
  /* a kernel that reads the logits; an all_gather of 16 bytes a row from each of three peers; a
   * kernel that reads those of all four devices */
  const tp_cost launch = us(t.launch_us), kernel = launch + rate(1000 * 32000 * 2, memory);
  assert_true(tp_cost_fused_softmax(&t, &mesh, &softmax, &once, &separate));
  assert_int_equal(once,
                   kernel + line_time(line, 3 * 1000 * 16) + launch + rate(4 * 1000 * 16, memory));
  /* twice the kernel; three all_reduces of 2 * 3 quarters of 4 bytes a row */
  const tp_cost reduce = line_time(line, 2 * 3 * 1000);
  assert_int_equal(separate, 2 * kernel + 3 * reduce);
  softmax.n_collectives = 2;
  assert_true(tp_cost_fused_softmax(&t, &mesh, &softmax, &once, &separate));
  assert_int_equal(separate, 2 * kernel + 2 * reduce);
  mesh.axes[0].size = 8;
  assert_false(tp_cost_fused_softmax(&t, &mesh, &softmax, &once, &separate));
}

/* Matmuls in slices, each sent while the next is computed. */
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
  const double memory = t.memory_gbytes_per_s * t.efficiency, wire = t.kernels[0].gbytes_per_s,
               gflops = t.gflops[TP_PEAK_F32] * t.efficiency;
  const double slice = 1024 * 1000 * 4, multiply_adds = 1024.0 * 1000; /* of a slice; per k */
  const tp_cost launch = us(t.launch_us), signal = us(t.kernels[0].signal_us);
  /* four slices; then the kernel, with two signals, reads four slices and writes one */
  const tp_cost reduction = launch + 2 * signal + rate(5 * slice, memory);
  assert_int_equal(price.fused, 4 * (launch + rate(2 * multiply_adds * 1250, gflops)) + reduction);
  /* whole matmul; then the kernel that reads three slices of peers */
  assert_int_equal(price.separate, launch + rate(4 * 2 * multiply_adds * 1250, gflops) + launch +
                                       2 * signal + rate(3 * slice, wire));
  assert_null(price.unmeasured);
  /* computing a slice takes less time than sending one */
  rows.k = 50;
  price = fused(&t, &mesh, rows);
  assert_true(launch + rate(2 * multiply_adds * 50, gflops) < rate(slice, wire));
  assert_int_equal(price.fused, 3 * rate(slice, wire) + launch +
                                    rate(2 * multiply_adds * 50, gflops) + reduction);
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

/* All-gathered rows and matmuls, slice by slice. */
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
  const double wire = t.kernels[0].gbytes_per_s, gflops = t.gflops[TP_PEAK_F32] * t.efficiency;
  const double slice = 1024 * 1000 * 4, multiply_adds = 1024.0 * 1000; /* of a slice; per column */
  const tp_cost launch = us(t.launch_us), signal = us(t.kernels[0].signal_us);
  /* four slices of two products of 1250 columns together; two barriers */
  assert_int_equal(price.fused,
                   4 * (2 * launch + rate(2 * multiply_adds * 1250, gflops)) + 2 * signal);
  /* three slices from the peers, then both products */
  assert_int_equal(price.separate, line_time(t.links[0].lines[0], 3 * slice) + 2 * launch +
                                       rate(4 * 2 * multiply_adds * 1250, gflops));
  assert_null(price.unmeasured);
  /* sending a slice takes longer than computing one */
  rows.n = 1;
  rows.columns[0] = 50;
  price = tp_cost_gathered_rows(&t, &mesh, &rows);
  assert_true(launch + rate(2 * multiply_adds * 50, gflops) < rate(slice, wire));
  assert_int_equal(price.fused, 3 * rate(slice, wire) + launch +
                                    rate(2 * multiply_adds * 50, gflops) + 2 * signal);
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
