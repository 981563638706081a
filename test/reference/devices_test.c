/* Tests the evaluator on programs with communication: what each device of a grid of 2 x 3 gets.
 * Device (i, j) starts with the three numbers 10 i + j + 100 e. */
#include "evaluated.h"

/* %own, and the coordinates %i and %j. */
static const char first_lines[] =
    "shard.grid @mesh(shape = 2x3) {tp.axes = [\"a\", \"b\"]}\n"
    "func.func private @ring(%%x: tensor<3xi32>) -> tensor<3xi32> {\n"
    "  %%r = shard.shift %%x on @mesh grid_axes = [1] shift_axis = 1 offset = 1 rotate"
    " : tensor<3xi32> -> tensor<3xi32>\n"
    "  return %%r : tensor<3xi32>\n"
    "}\n"
    "func.func private @swap(tensor<3xi32>) -> tensor<3xi32>\n"
    "func.func @main() -> %s {\n"
    "  %%i, %%j = shard.process_multi_index on @mesh axes = [0, 1] : index, index\n"
    "  %%c0 = arith.constant 0 : index\n  %%c1 = arith.constant 1 : index\n"
    "  %%c2 = arith.constant 2 : index\n  %%c3 = arith.constant 3 : index\n"
    "  %%c10 = arith.constant 10 : index\n"
    "  %%ten = arith.muli %%i, %%c10 : index\n  %%n = arith.addi %%ten, %%j : index\n"
    "  %%v = arith.index_cast %%n : index to i32\n  %%s = tensor.splat %%v : tensor<3xi32>\n"
    "  %%e = arith.constant dense<[0, 100, 200]> : tensor<3xi32>\n"
    "  %%own = arith.addi %%s, %%e : tensor<3xi32>\n";

/* Element e of the result of device (i, j). */
typedef int64_t (*expected_fn)(int i, int j, int e);

static int64_t start(int i, int j, int e) { return 10 * i + j + 100 * e; }
static int64_t sum_of_row(int i, int j, int e) { return (void)j, 30 * i + 3 + 300 * e; }
static int64_t sum_of_all(int i, int j, int e) { return (void)i, (void)j, 36 + 600 * e; }
static int64_t max_of_column(int i, int j, int e) { return (void)i, start(1, j, e); }
static int64_t xor_of_column(int i, int j, int e) {
  return (void)i, start(0, j, e) ^ start(1, j, e);
}
/* Devices in the order of axes b, a. */
static int64_t crosswise(int i, int j, int e) {
  return (void)i, (void)j, start(e / 3 % 2, e / 6, e % 3);
}
static int64_t slice_of_row(int i, int j, int e) { return (void)e, start(i, j, j); }
static int64_t scattered(int i, int j, int e) { return (void)e, sum_of_row(i, 0, j); }
static int64_t exchanged(int i, int j, int e) { return start(i, e, j); }
static int64_t of_root(int i, int j, int e) { return (void)i, (void)j, start(1, 2, e); }
static int64_t of_row_root(int i, int j, int e) { return (void)j, start(i, 1, e); }
static int64_t part_of_root(int i, int j, int e) { return (void)e, start(i, 2, j); }
static int64_t only_root_sum(int i, int j, int e) {
  return j == 2 ? sum_of_row(i, j, e) : INT64_MAX;
}
static int64_t only_root_row(int i, int j, int e) {
  return j == 1 ? start(i, e / 3, e % 3) : INT64_MAX;
}
static int64_t from_left(int i, int j, int e) { return j > 0 ? start(i, j - 1, e) : 0; }
static int64_t from_right(int i, int j, int e) { return start(i, (j + 1) % 3, e); }
static int64_t from_ring(int i, int j, int e) { return start(i, (j + 2) % 3, e); }
static int64_t two_swapped(int i, int j, int e) {
  return i == 0 && j == 0 ? start(1, 2, e) : i == 1 && j == 2 ? start(0, 0, e) : 0;
}
static int64_t message(int i, int j, int e) { return j == 0 ? start(i, 2, e) : 0; }
static int64_t linear(int i, int j, int e) { return (void)e, 3 * i + j; }
static int64_t grid_size(int i, int j, int e) { return (void)i, (void)j, (void)e, 23; }
static int64_t neighbors(int i, int j, int e) {
  return (void)e, 100 * (j > 0 ? 3 * i + j - 1 : -1) + (j < 2 ? 3 * i + j + 1 : -1);
}
/* One element of its own, and a halo at either side. */
static int64_t with_halos(int i, int j, int e) {
  int at = j + e - 1;
  return at < 0 || at > 2 ? start(i, j, e) : start(i, at, 1);
}
/* As many rotations as the row has a number. */
static int64_t turned(int i, int j, int e) { return i == 0 ? start(i, j, e) : from_ring(i, j, e); }
static int64_t by_row(int i, int j, int e) {
  return i == 0 ? sum_of_row(i, j, e) : from_ring(i, j, e);
}
static int64_t until_large(int i, int j, int e) { return (i ? 9 : 27) * start(i, j, e); }

#define ON " on @mesh grid_axes = "
#define SAME " : tensor<3xi32> -> tensor<3xi32>\n"

typedef struct case_row {
  const char *ops; /* they define %r */
  int n;           /* its number of elements */
  expected_fn expected;
} case_row;

static const case_row cases[] = {
    {"%r = shard.all_reduce %own" ON "[]" SAME, 3, start},
    {"%r = shard.all_reduce %own" ON "[1]" SAME, 3, sum_of_row},
    {"%r = shard.all_reduce %own" ON "[1, 0]" SAME, 3, sum_of_all},
    {"%r = shard.all_reduce %own" ON "[0] reduction = max" SAME, 3, max_of_column},
    {"%r = shard.all_reduce %own" ON "[0] reduction = bitwise_xor" SAME, 3, xor_of_column},
    {"%r = shard.all_reduce %own" ON "[0] {tp.combiner = \"maxui\"}" SAME, 3, max_of_column},
    {"%r = shard.all_gather %own" ON "[1, 0] gather_axis = 0 : tensor<3xi32> -> tensor<18xi32>\n",
     18, crosswise},
    {"%r = shard.all_slice %own" ON "[1] slice_axis = 0 : tensor<3xi32> -> tensor<1xi32>\n", 1,
     slice_of_row},
    {"%r = shard.reduce_scatter %own" ON "[1] scatter_axis = 0 : tensor<3xi32> -> tensor<1xi32>\n",
     1, scattered},
    {"%r = shard.all_to_all %own" ON "[1] split_axis = 0 concat_axis = 0" SAME, 3, exchanged},
    {"%m = tensor.expand_shape %own [[0, 1]] output_shape [3, 1] : tensor<3xi32> into "
     "tensor<3x1xi32>\n"
     "%x = shard.all_to_all %m" ON
     "[1] split_axis = 0 concat_axis = 1 : tensor<3x1xi32> -> tensor<1x3xi32>\n"
     "%r = tensor.collapse_shape %x [[0, 1]] : tensor<1x3xi32> into tensor<3xi32>\n",
     3, exchanged},
    {"%r = shard.broadcast %own" ON "[1, 0] root = [2, %c1] : (tensor<3xi32>, index) -> "
     "tensor<3xi32>\n",
     3, of_root},
    {"%r = shard.broadcast %own" ON "[1] root = [1] : (tensor<3xi32>) -> tensor<3xi32>\n", 3,
     of_row_root},
    {"%r = shard.scatter %own" ON
     "[1] scatter_axis = 0 root = [2] : (tensor<3xi32>) -> tensor<1xi32>\n",
     1, part_of_root},
    {"%r = shard.reduce %own" ON "[1] root = [2] : (tensor<3xi32>) -> tensor<3xi32>\n", 3,
     only_root_sum},
    {"%r = shard.gather %own" ON
     "[1] gather_axis = 0 root = [1] : (tensor<3xi32>) -> tensor<9xi32>\n",
     9, only_root_row},
    {"%r = shard.shift %own" ON "[1] shift_axis = 1 offset = 1" SAME, 3, from_left},
    {"%r = shard.shift %own" ON "[0, 1] shift_axis = 1 offset = -4 rotate" SAME, 3, from_right},
    {"%r = func.call @swap(%own) {tp.pairs = [[0, 5], [5, 0]]} : (tensor<3xi32>) -> "
     "tensor<3xi32>\n",
     3, two_swapped},
    /* what the last device sends first comes first */
    {"%x = tensor.empty() : tensor<3xi32>\n"
     "%m0 = shard.send %own" ON "[1] destination = [0] : (tensor<3xi32>) -> tensor<3xi32>\n"
     "%m1 = shard.send %e" ON "[1] destination = [0] : (tensor<3xi32>) -> tensor<3xi32>\n"
     "%r = shard.recv %x" ON "[1] source = [%c2] : (tensor<3xi32>, index) -> tensor<3xi32>\n"
     "%t = shard.recv %x" ON "[1] source = [1] : (tensor<3xi32>) -> tensor<3xi32>\n",
     3, message},
    {"%u = arith.addi %j, %c1 : index\n%to = arith.remui %u, %c3 : index\n"
     "%m = shard.send %own" ON "[1] destination = [%to] : (tensor<3xi32>, index) -> tensor<3xi32>\n"
     "%r = shard.recv %own" ON "[1] : (tensor<3xi32>) -> tensor<3xi32>\n",
     3, from_ring},
    {"%r = shard.update_halo %own on @mesh split_axes = [[1]] halo_sizes = [1, 1] : "
     "tensor<3xi32>\n",
     3, with_halos},
    {"%l = shard.process_linear_index on @mesh : index\n%k = arith.index_cast %l : index to i32\n"
     "%r = tensor.splat %k : tensor<3xi32>\n",
     3, linear},
    {"%g:2 = shard.grid_shape @mesh axes = [0, 1] : index, index\n"
     "%t = arith.muli %g#0, %c10 : index\n%u = arith.addi %t, %g#1 : index\n"
     "%k = arith.index_cast %u : index to i32\n%r = tensor.splat %k : tensor<3xi32>\n",
     3, grid_size},
    {"%l, %u = shard.neighbors_linear_indices on @mesh[%i, %j] split_axes = [1] : index, index\n"
     "%h = arith.constant 100 : index\n%t = arith.muli %l, %h : index\n"
     "%w = arith.addi %t, %u : index\n"
     "%k = arith.index_cast %w : index to i32\n%r = tensor.splat %k : tensor<3xi32>\n",
     3, neighbors},
    {"%r = scf.for %k = %c0 to %i step %c1 iter_args(%a = %own) -> tensor<3xi32> {\n"
     "  %x = func.call @ring(%a) : (tensor<3xi32>) -> tensor<3xi32>\n"
     "  scf.yield %x : tensor<3xi32>\n}\n",
     3, turned},
    {"%q = arith.cmpi eq, %i, %c0 : index\n"
     "%r = scf.if %q -> tensor<3xi32> {\n"
     "  %x = shard.all_reduce %own" ON "[1]" SAME "  scf.yield %x : tensor<3xi32>\n} else {\n"
     "  %x = func.call @ring(%own) : (tensor<3xi32>) -> tensor<3xi32>\n"
     "  scf.yield %x : tensor<3xi32>\n}\n",
     3, by_row},
    {"%r = scf.index_switch %i -> tensor<3xi32>\ncase 1 {\n"
     "  %x = func.call @ring(%own) : (tensor<3xi32>) -> tensor<3xi32>\n"
     "  scf.yield %x : tensor<3xi32>\n}\ndefault {\n"
     "  %x = scf.execute_region -> tensor<3xi32> {\n"
     "    %y = shard.all_reduce %own" ON "[1]" SAME "    scf.yield %y : tensor<3xi32>\n  }\n"
     "  scf.yield %x : tensor<3xi32>\n}\n",
     3, by_row},
    /* three times its numbers, until the first of the row's last device is above 50 */
    {"%three = arith.constant dense<3> : tensor<3xi32>\n%most = arith.constant 50 : i32\n"
     "%r = scf.while (%a = %own) : (tensor<3xi32>) -> tensor<3xi32> {\n"
     "  %x = shard.broadcast %a" ON "[1] root = [2] : (tensor<3xi32>) -> tensor<3xi32>\n"
     "  %f = tensor.extract %x[%c0] : tensor<3xi32>\n  %q = arith.cmpi sle, %f, %most : i32\n"
     "  scf.condition(%q) %a : tensor<3xi32>\n} do {\n^bb0(%a: tensor<3xi32>):\n"
     "  %m = arith.muli %a, %three : tensor<3xi32>\n  scf.yield %m : tensor<3xi32>\n}\n",
     3, until_large},
};

/* The program of a case; its result is %r of all devices in turn. */
static void write_case(const case_row *c, char *program, size_t size) {
  char type[64];
  snprintf(type, sizeof type, "tensor<%dxi32>", 6 * c->n);
  int used = snprintf(program, size, first_lines, type);
  snprintf(program + used, size - (size_t)used,
           "%s  %%all = shard.all_gather %%r" ON
           "[0, 1] gather_axis = 0 : tensor<%dxi32> -> %s\n  return %%all : %s\n}\n",
           c->ops, c->n, type, type);
}

static void test_ops(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const case_row *c = cases + k;
    char program[6000];
    fixture f = {0};
    int64_t expected[6 * 18];
    write_case(c, program, sizeof program);
    if (evaluate_with(&f, program, NULL, NULL) != TP_OK)
      fail_msg("%s: %s", c->ops, f.why);
    for (int d = 0; d < 6; d++)
      for (int e = 0; e < c->n; e++)
        expected[d * c->n + e] = c->expected(d / 3, d % 3, e);
    expect_integers(&f, 0, 6 * c->n, expected);
    clear(&f);
  }
}

static void test_floats(void **state) {
  (void)state;
  fixture f = {0};
  evaluate(&f, "shard.grid @mesh(shape = 3)\n"
               "func.func @main() -> (tensor<2xf32>, tensor<2xf32>, tensor<1xcomplex<f32>>) {\n"
               "  %a = arith.constant dense<[2.0, 0x7FC00000]> : tensor<2xf32>\n"
               "  %i = shard.process_linear_index on @mesh : index\n"
               "  %n = arith.index_cast %i : index to i32\n  %g = arith.sitofp %n : i32 to f32\n"
               "  %s = tensor.from_elements %g, %g : tensor<2xf32>\n"
               "  %x = arith.addf %a, %s : tensor<2xf32>\n"
               "  %0 = shard.all_reduce %x on @mesh grid_axes = [0] reduction = average"
               " : tensor<2xf32> -> tensor<2xf32>\n"
               "  %1 = shard.all_reduce %x on @mesh grid_axes = [0] {tp.combiner = \"product\"}"
               " : tensor<2xf32> -> tensor<2xf32>\n"
               "  %z = complex.create %g, %g : complex<f32>\n"
               "  %c = tensor.from_elements %z : tensor<1xcomplex<f32>>\n"
               "  %2 = shard.all_reduce %c on @mesh grid_axes = [0] : tensor<1xcomplex<f32>> -> "
               "tensor<1xcomplex<f32>>\n"
               "  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<1xcomplex<f32>>\n}\n");
  expect_numbers(&f, 0, 2, (double[]){3, NAN});
  expect_numbers(&f, 1, 2, (double[]){24, NAN});
  expect_numbers(&f, 2, 2, (double[]){3, 3});
  clear(&f);
}

/* A sum of devices may round once per addition, in any order. */
static void test_bounds(void **state) {
  (void)state;
  fixture f = {0};
  evaluate(&f, "shard.grid @mesh(shape = 4)\n"
               "func.func @main() -> tensor<1xf32> {\n"
               "  %a = arith.constant dense<0.1> : tensor<1xf32>\n"
               "  %0 = shard.all_reduce %a on @mesh grid_axes = [0] : tensor<1xf32> -> "
               "tensor<1xf32>\n  return %0 : tensor<1xf32>\n}\n");
  double value, error;
  assert_true(tp_reference_value(f.results, 0, 0, &value, &error));
  assert_true(fabs(value - 4 * (double)0.1f) < 1e-12 && error >= 0.4 * 0x1p-24 && error < 1e-6);
  clear(&f);
}

/* What a device gets from another one, it gets with the roundoff of its types. */
static void test_units(void **state) {
  (void)state;
  fixture f = {0};
  evaluate(&f, "shard.grid @mesh(shape = 2)\n"
               "func.func @main() -> (tensor<4xf32>, tensor<2xf32>) {\n"
               "  %a = arith.constant dense<0.5> : tensor<2xbf16>\n"
               "  %x = math.tanh %a : tensor<2xbf16>\n"
               "  %g = shard.all_gather %x on @mesh grid_axes = [0] gather_axis = 0"
               " : tensor<2xbf16> -> tensor<4xbf16>\n"
               "  %0 = arith.extf %g : tensor<4xbf16> to tensor<4xf32>\n"
               "  %s = shard.send %x on @mesh grid_axes = [0] destination = [1]"
               " : (tensor<2xbf16>) -> tensor<2xbf16>\n"
               "  %r = shard.recv %a on @mesh grid_axes = [0] source = [0]"
               " : (tensor<2xbf16>) -> tensor<2xbf16>\n"
               "  %b = shard.broadcast %r on @mesh grid_axes = [0] root = [1]"
               " : (tensor<2xbf16>) -> tensor<2xbf16>\n"
               "  %1 = arith.extf %b : tensor<2xbf16> to tensor<2xf32>\n"
               "  return %0, %1 : tensor<4xf32>, tensor<2xf32>\n}\n");
  for (int k = 0; k < 2; k++) {
    const float right[4] = {0.462f, 0.462f, 0.462f, 0.462f};
    tp_reference_judgement judgement;
    tp_reference_judge(f.results, k, right, &judgement);
    assert_int_equal(judgement.first_wrong, -1);
    assert_true(judgement.unit == 0x1p-8);
  }
  clear(&f);
}

typedef struct error_row {
  const char *ops, *why; /* the ops end in a return of tensor<3xi32> */
  tp_status status;
} error_row;

static const error_row errors[] = {
    {"return %own : tensor<3xi32>\n",
     "func.func: has a result 0 that differs between devices 0 and 1", TP_INVALID_ARGUMENT},
    {"%q = arith.cmpi eq, %j, %c0 : index\n"
     "%r = scf.if %q -> tensor<3xi32> {\n"
     "  %x = shard.all_reduce %own" ON "[1]" SAME "  scf.yield %x : tensor<3xi32>\n} else {\n"
     "  scf.yield %own : tensor<3xi32>\n}\nreturn %r : tensor<3xi32>\n",
     "shard.all_reduce: runs on device 0, but not on device 1, which it waits for",
     TP_INVALID_ARGUMENT},
    {"%r = scf.for %k = %c0 to %j step %c1 iter_args(%a = %own) -> tensor<3xi32> {\n"
     "  %x = func.call @ring(%a) : (tensor<3xi32>) -> tensor<3xi32>\n"
     "  scf.yield %x : tensor<3xi32>\n}\nreturn %r : tensor<3xi32>\n",
     "shard.shift: runs on device 1, but not on device 0, which it waits for", TP_INVALID_ARGUMENT},
    {"%r = shard.broadcast %own" ON "[1] root = [%c3] : (tensor<3xi32>, index) -> tensor<3xi32>\n"
     "return %r : tensor<3xi32>\n",
     "shard.broadcast: has a root outside of the grid", TP_INVALID_ARGUMENT},
    {"%r = shard.broadcast %own" ON "[1] root = [%j] : (tensor<3xi32>, index) -> tensor<3xi32>\n"
     "return %r : tensor<3xi32>\n",
     "shard.broadcast: has different roots on devices 0 and 1", TP_INVALID_ARGUMENT},
    {"%r = shard.recv %own" ON "[1] : (tensor<3xi32>) -> tensor<3xi32>\n"
     "return %r : tensor<3xi32>\n",
     "shard.recv: has no send before it in its block", TP_INVALID_ARGUMENT},
    {"%m = shard.send %own" ON "[1] destination = [0] : (tensor<3xi32>) -> tensor<3xi32>\n"
     "return %e : tensor<3xi32>\n",
     "func.return: ends a block before a message is received", TP_UNSUPPORTED},
    {"%m = shard.send %own" ON "[1] destination = [0] : (tensor<3xi32>) -> tensor<3xi32>\n"
     "%r = shard.recv %own" ON "[1] : (tensor<3xi32>) -> tensor<3xi32>\n"
     "return %r : tensor<3xi32>\n",
     "shard.recv: has two sources", TP_INVALID_ARGUMENT},
    {"%r = shard.update_halo %own on @mesh split_axes = [[1]] halo_sizes = [2, 1] : tensor<3xi32>\n"
     "return %r : tensor<3xi32>\n",
     "shard.update_halo: has halos larger than what a device owns", TP_INVALID_ARGUMENT},
    {"%w = arith.index_cast %j : index to i64\n"
     "%r = shard.update_halo %own on @mesh split_axes = [[1]] halo_sizes = [%w, 1] : "
     "tensor<3xi32>\nreturn %r : tensor<3xi32>\n",
     "shard.update_halo: has halos whose sizes differ between devices", TP_INVALID_ARGUMENT},
    {"%r = shard.all_reduce %own" ON "[0] {tp.combiner = \"rows\"}" SAME
     "return %r : tensor<3xi32>\n",
     "shard.all_reduce: has a reduction that the evaluator does not support", TP_UNSUPPORTED},
    {"%r = shard.update_halo %own on @mesh split_axes = [[2]] halo_sizes = [1, 1] : tensor<3xi32>\n"
     "return %r : tensor<3xi32>\n",
     "shard.update_halo: has an axis that is not in the grid", TP_INVALID_ARGUMENT},
    {"%r = shard.all_reduce %own" ON "[1] : tensor<3xi32> -> tensor<3xi64>\n"
     "%t = arith.trunci %r : tensor<3xi64> to tensor<3xi32>\nreturn %t : tensor<3xi32>\n",
     "shard.all_reduce: has a result of another type", TP_INVALID_ARGUMENT},
    {"%l, %u = shard.neighbors_linear_indices on @mesh[%i, %j] split_axes = [0, 1] : index, index\n"
     "return %own : tensor<3xi32>\n",
     "shard.neighbors_linear_indices: has several axes, or coordinates for some axes only",
     TP_UNSUPPORTED},
    {"%r = func.call @swap(%own) {tp.pairs = [[0, 6]]} : (tensor<3xi32>) -> tensor<3xi32>\n"
     "return %r : tensor<3xi32>\n",
     "func.call: has a pair of devices that are not in the grid", TP_INVALID_ARGUMENT},
    {"%r = tensor.generate {\n^bb0(%k: index):\n"
     "  %l = shard.process_linear_index on @mesh : index\n"
     "  %m = arith.index_cast %l : index to i32\n  tensor.yield %m : i32\n} : tensor<3xi32>\n"
     "return %r : tensor<3xi32>\n",
     "tensor.generate: communicates, which the evaluator does not support here", TP_UNSUPPORTED},
};

static void test_errors(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof errors / sizeof *errors; k++) {
    const error_row *e = errors + k;
    char program[6000];
    fixture f = {0};
    int used = snprintf(program, sizeof program, first_lines, "tensor<3xi32>");
    snprintf(program + used, sizeof program - (size_t)used, "%s}\n", e->ops);
    tp_status status = evaluate_with(&f, program, NULL, NULL);
    assert_string_equal(f.why, e->why);
    assert_int_equal(status, e->status);
    clear(&f);
  }
}

static void test_grids(void **state) {
  (void)state;
  fixture f = {0};
  static const char format[] =
      "%s\nfunc.func @main() -> tensor<1xi32> {\n"
      "  %%a = arith.constant dense<1> : tensor<1xi32>\n"
      "  %%0 = shard.all_reduce %%a on @mesh grid_axes = [%d] : tensor<1xi32> -> tensor<1xi32>\n"
      "  return %%0 : tensor<1xi32>\n}\n";
  char program[1000];
  snprintf(program, sizeof program, format,
           "shard.grid @mesh(shape = 2)\nshard.grid @other(shape = 2)", 0);
  assert_int_equal(evaluate_with(&f, program, NULL, NULL), TP_UNSUPPORTED);
  assert_string_equal(f.why, "builtin.module: communicates, and does not have one grid");
  clear(&f);
  snprintf(program, sizeof program, format, "shard.grid @mesh(shape = 8192)", 0);
  assert_int_equal(evaluate_with(&f, program, NULL, NULL), TP_UNSUPPORTED);
  assert_string_equal(f.why, "shard.grid: has more devices than the evaluator supports");
  clear(&f);
  snprintf(program, sizeof program, format, "shard.grid @mesh(shape = 4x1024)", 1);
  assert_int_equal(evaluate_with(&f, program, NULL, NULL), TP_OK);
  expect_integers(&f, 0, 1, (int64_t[]){1024});
  clear(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ops),   cmocka_unit_test(test_floats), cmocka_unit_test(test_bounds),
      cmocka_unit_test(test_units), cmocka_unit_test(test_errors), cmocka_unit_test(test_grids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
