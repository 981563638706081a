/* Tests TPRT_SITE_ROUTE: tables that are refused, and exchanges of rows over two axes, of which one
 * divides the groups and the other the rows of the same groups, against the definition. */
#include "test/runtime/harness/harness.h"
#include "test/runtime/harness/table.h"

#include <stdlib.h>
#include <string.h>

enum { A = 2, B = 3, RANKS = A * B, WIDTH = 3, MOST_ROWS = 64, MOST_GROUPS = 6 };

/* Axis 0 has A devices and axis 1 has B; bit i of part_axes: axis i divides rows. */
typedef struct exchange {
  tprt_abi_route words;
  int32_t positions[MOST_ROWS], starts[MOST_GROUPS], ends[MOST_GROUPS];
} exchange;

static test_table table_of(const exchange *x) {
  static const int64_t sizes[] = {A, B}, axes[] = {0, 1};
  test_table t = table_make(2, sizes);
  int64_t block = (x->words.block_rows + RANKS - 1) / RANKS;
  int64_t shape[] = {x->words.to_groups ? block : x->words.group_rows, WIDTH};
  table_site(&t, TPRT_SITE_ROUTE, TPRT_F32, TPRT_NO_REDUCTION, 2, axes, 2, shape, &x->words,
             N_WORDS_OF(tprt_abi_route));
  return t;
}

static int n_parts(int64_t part_axes) { return (part_axes & 1 ? A : 1) * (part_axes & 2 ? B : 1); }

static exchange make(tprt_route_form form, bool to_groups, int64_t block_rows, int64_t group_rows,
                     int64_t n_groups, int64_t part_axes) {
  exchange x = {.words = {.form = form,
                          .to_groups = to_groups,
                          .block_rows = block_rows,
                          .group_rows = group_rows,
                          .n_groups = n_groups,
                          .position_type = TPRT_I32,
                          .group_type = TPRT_I32,
                          .part_axes = part_axes}};
  static const tprt_operand inputs[] = {TPRT_IN_TENSOR, TPRT_IN_POSITION, TPRT_IN_STARTS,
                                        TPRT_IN_ENDS, TPRT_IN_INIT};
  for (int i = 0; i < 5 - (form == TPRT_ROUTE_GATHER); i++)
    add_input(&x.words.operands, inputs[i]);
  add_output(&x.words.operands, TPRT_OUT_TENSOR);
  return x;
}

/* ---- tables ---- */

static void test_refused(void **state) {
  (void)state;
  static const struct {
    size_t word;
    int64_t value;
    const char *text;
  } wrong[] = {
      {EXTRA_WORD(tprt_abi_route, form), 3, "form of a route"},
      {EXTRA_WORD(tprt_abi_route, to_groups), 2, "side of a route"},
      {EXTRA_WORD(tprt_abi_route, block_rows), -1, "rows of blocks"},
      {EXTRA_WORD(tprt_abi_route, group_rows), -1, "rows of groups"},
      {EXTRA_WORD(tprt_abi_route, n_groups), 0, "number of groups"},
      {EXTRA_WORD(tprt_abi_route, n_groups), 4, "route: 3 ranks do not divide 4 groups"},
      {EXTRA_WORD(tprt_abi_route, position_type), TPRT_F32, "route: positions of type"},
      {EXTRA_WORD(tprt_abi_route, part_axes), 4, "axes of parts of a route"},
      {EXTRA_WORD(tprt_abi_route, part_axes), 0, "route: 6 ranks do not divide 3 groups"},
      {EXTRA_WORD(tprt_abi_route, group_rows), 39, "a tensor of 40 rows, but 39 are expected"},
  };
  exchange x = make(TPRT_ROUTE_GATHER, false, 20, 40, 3, 1);
  test_table t = table_of(&x);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_true(table_refused(&t, wrong[i].word, wrong[i].value, wrong[i].text));
  table_free(&t);
}

/* ---- exchanges ---- */

/* The rows [*first, *last) of a rank on the side of groups, by the definition of the site. */
static void rows_of(const exchange *x, int rank, int *first, int *last) {
  const int place[] = {rank / B, rank % B}, sizes[] = {A, B};
  int holder = 0, part = 0, parts = n_parts(x->words.part_axes), n_holders = RANKS / parts;
  for (int i = 0; i < 2; i++) {
    int *number = x->words.part_axes >> i & 1 ? &part : &holder;
    *number = *number * sizes[i] + place[i];
  }
  int per_holder = (int)x->words.n_groups / n_holders;
  int begin = holder == 0 ? 0 : x->starts[holder * per_holder],
      end = holder == n_holders - 1 ? (int)x->words.group_rows
                                    : x->ends[(holder + 1) * per_holder - 1];
  *first = begin + (end - begin) * part / parts;
  *last = begin + (end - begin) * (part + 1) / parts;
}

static float value_at(int row, int column) { return (float)(100 * row + column); }

/* What one device computes: rows of `out` for all rows of the result. */
static void compute(const exchange *x, int n_out, float out[MOST_ROWS][WIDTH]) {
  int n_in = (int)(x->words.to_groups ? x->words.block_rows : x->words.group_rows);
  bool gathers = x->words.form == TPRT_ROUTE_GATHER;
  for (int i = 0; i < n_out * WIDTH; i++)
    out[i / WIDTH][i % WIDTH] = (float)(i % 7);
  for (int i = 0; i < (gathers ? n_out : n_in); i++) {
    int at = x->positions[i];
    if (!gathers && (at < 0 || at >= n_out))
      continue;
    int from = !gathers ? i : at < 0 ? 0 : at >= n_in ? n_in - 1 : at, to = gathers ? i : at;
    for (int c = 0; c < WIDTH; c++)
      out[to][c] = value_at(from, c) + (x->words.form == TPRT_ROUTE_ADD ? out[to][c] : 0);
  }
}

static int run_exchange(tprt_comm *comm, void *argument) {
  exchange *x = argument;
  int errors = 0, rank = tprt_comm_rank(comm), first, last;
  bool to_groups = x->words.to_groups;
  int block = (int)(x->words.block_rows + RANKS - 1) / RANKS,
      n_out = (int)(to_groups ? x->words.group_rows : x->words.block_rows);
  float in[MOST_ROWS][WIDTH], out[MOST_ROWS][WIDTH], init[MOST_ROWS][WIDTH],
      expected[MOST_ROWS][WIDTH];
  rows_of(x, rank, &first, &last);
  for (int i = 0; i < MOST_ROWS * WIDTH; i++) { /* of the rows, only those of the rank are right */
    int row = i / WIDTH, whole = to_groups ? rank * block + row : row;
    bool is_own = to_groups || (row >= first && row < last);
    in[row][i % WIDTH] = is_own ? value_at(whole, i % WIDTH) : -1;
    init[row][i % WIDTH] = (float)((to_groups ? i : i + rank * block * WIDTH) % 7);
  }
  test_table t = table_of(x);
  tprt_context *context;
  CHECK_STATUS(errors, tprt_context_create(comm, NULL, &context), TPRT_OK);
  CHECK(errors, tprt_abi_enter(context, t.words) == TPRT_OK);
  fused_pointers pointers = {.of = {[TPRT_IN_TENSOR] = {in},
                                    [TPRT_IN_POSITION] = {x->positions},
                                    [TPRT_IN_STARTS] = {x->starts},
                                    [TPRT_IN_ENDS] = {x->ends},
                                    [TPRT_IN_INIT] = {init},
                                    [TPRT_OUT_TENSOR] = {out}}};
  CHECK(errors, call_fused(context, 0, &x->words.operands, &pointers) == TPRT_OK);
  compute(x, n_out, expected);
  int begin = to_groups ? first : rank * block, end = to_groups               ? last
                                                      : begin + block < n_out ? begin + block
                                                                              : n_out;
  for (int row = begin; row < end; row++)
    for (int c = 0; c < WIDTH; c++)
      errors += out[to_groups ? row : row - begin][c] != expected[row][c];
  if (errors)
    fprintf(stderr, "form %d, %s groups, parts %d, rank %d: %d errors\n", (int)x->words.form,
            to_groups ? "to" : "from", (int)x->words.part_axes, rank, errors);
  tprt_context_destroy(context);
  table_free(&t);
  return errors;
}

static void test_exchanges(void **state) {
  (void)state;
  tprt_config config = test_config();
  uint64_t random = 1;
  for (int turn = 0; turn < 60; turn++) {
    int64_t part_axes = turn % 4;
    int form = turn / 4 % 3, to_groups = turn / 12 % 2, n_groups = MOST_GROUPS;
    int group_rows = 1 + (int)(test_random(&random) % (MOST_ROWS - 1)),
        block_rows = 1 + (int)(test_random(&random) % (MOST_ROWS - RANKS));
    exchange x =
        make((tprt_route_form)form, to_groups, block_rows, group_rows, n_groups, part_axes);
    bool counts_groups = (form == TPRT_ROUTE_GATHER) == to_groups;
    int n = counts_groups ? group_rows : block_rows,
        limit = counts_groups ? block_rows : group_rows;
    for (int i = 0; i < n; i++)
      x.positions[i] = (int)(test_random(&random) % (unsigned)(limit + 2)) - 1;
    for (int g = 0, at = 0; g < n_groups; g++) { /* some are empty, and some rows in none */
      x.starts[g] = at;
      at += (int)(test_random(&random) % 3) * (group_rows / n_groups) / 2;
      x.ends[g] = at;
    }
    assert_int_equal(run_threads(RANKS, &config, run_exchange, &x), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_exchanges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
