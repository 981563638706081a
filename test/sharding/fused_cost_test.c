/* Tests the cost model of fused kernels. Expected times are computed here from the inputs of the
 * test and the formulas of tp/cost.h: launches, signals, bytes on the wire and in memory. */
#include "tp/cost.h"

#include "simulator.h"
#include "times.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* A machine whose fused kernels run on four devices of axis 0; `gflops` for every type. */
static tp_topology make_machine(double gflops) {
  tp_topology t = {
      .memory_gbytes_per_s = 1000, .launch_us = 4, .efficiency = 0.5, .elementwise_gops = 1};
  t.kernels[0] = (tp_kernels){.signal_us = 2,
                              .gbytes_per_s = 100,
                              .push_bytes = 65536,
                              .n_pulls = 1,
                              .pulls = {{4, 1 << 20}}};
  for (int peak = 0; peak < TP_N_PEAKS; peak++)
    t.gflops[peak] = gflops;
  for (int k = 0; k < TP_N_COLLECTIVES; k++)
    t.links[0].lines[k] = (tp_line){.alpha_us = 10, .gbytes_per_s = 100};
  return t;
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
  tp_topology t = make_machine(1);
  t.kernels[0].n_pulls = 2;
  t.kernels[0].pulls[1] = t.kernels[0].pulls[0];
  t.kernels[0].pulls[0].n = 2;
  t.kernels[0].pulls[0].bytes = 1 << 22;
  t.links[1] = t.links[0];
  t.links[1].level = 1;
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
  tp_topology t = make_machine(1);
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
  tp_topology t = make_machine(10000);
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
  assert_string_equal(fused(&t, &mesh, rows).unmeasured,
                      "a communication time below 1/20 or above 2 times the matmul time");
  rows.k = 1 << 14;
  assert_non_null(fused(&t, &mesh, rows).unmeasured);
  rows.k = 1250;
  rows.tokens = 4095;
  assert_string_equal(fused(&t, &mesh, rows).unmeasured,
                      "fewer than 4096 rows, or fewer than 512 rows per device");
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
  tp_topology t = make_machine(10000);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fused_rows),
      cmocka_unit_test(fused_products),
      cmocka_unit_test(gathered_rows),
      cmocka_unit_test(fused_softmax),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
