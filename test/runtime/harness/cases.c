/* Tables of test cases that all backends run. */
#include "cases.h"
#include "long.h"

bool cases_are_long(void) { return test_is_long(); }

/* ---- Tables of cases; each runs as the function of a rank ---- */

/* Selects one of `stride` cases, evenly distributed; the same on all ranks. */
typedef struct sampler {
  uint64_t state;
  uint64_t stride;
} sampler;

static bool draw(sampler *s) { return test_random(&s->state) % s->stride == 0; }

static scenario base_case(tprt_op_kind kind, int dtype, int n, int64_t outer, int64_t width,
                          int64_t inner) {
  scenario s = {.kind = kind,
                .dtype = (tprt_dtype)dtype,
                .outer = outer,
                .width = width,
                .inner = inner,
                .root = n - 1};
  if (scenario_cuts(kind))
    s.width *= n;
  return s;
}

/* Every operation, dtype and reduction on small shapes; `argument` is the stride of the cases. */
int cases_types(tprt_comm *comm, void *argument) {
  static const int64_t shapes[][3] = {{1, 0, 1},   {1, 1, 1},   {3, 2, 5},   {1, 31, 1},
                                      {2, 1, 257}, {1, 127, 1}, {1, 1, 1021}};
  int errors = 0, n = tprt_comm_size(comm);
  sampler sample = {.state = (uint64_t)n, .stride = *(const uint64_t *)argument};
  for (int kind = 1; kind < TPRT_N_OP_KINDS; kind++) {
    for (int t = 1; t < TPRT_N_DTYPES && scenario_is_collective((tprt_op_kind)kind); t++) {
      for (int r = 0; r < TPRT_N_REDUCTIONS && !errors; r++) {
        if (scenario_reduces((tprt_op_kind)kind)
                ? !tprt_reduction_supports((tprt_reduction)r, (tprt_dtype)t)
                : r > 0)
          continue;
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
          scenario s =
              base_case((tprt_op_kind)kind, t, n, shapes[i][0], shapes[i][1], shapes[i][2]);
          uint64_t bits = test_random(&sample.state);
          s.reduction = (tprt_reduction)r;
          s.in_place = bits & 1 && scenario_in_place(s.kind);
          s.misaligned = bits >> 1 & 1;
          s.registered = bits >> 2 & 1;
          s.root = (int)((bits >> 8) % (uint64_t)n);
          s.style = (piece_style)((bits >> 16) % N_PIECE_STYLES);
          if (draw(&sample))
            errors += scenario_run(comm, &s);
        }
      }
    }
  }
  return errors;
}

/* Every data path: sizes around chunk and threshold, all placements, every root, one type per width
 * class. */
int cases_sizes(tprt_comm *comm, void *argument) {
  static const struct {
    tprt_dtype dtype;
    tprt_reduction reduction;
  } kinds_of[] = {{TPRT_F32, TPRT_SUM},
                  {TPRT_BF16, TPRT_AVG},
                  {TPRT_F64, TPRT_PREMUL_SUM},
                  {TPRT_U8, TPRT_BXOR}};
  static const int64_t shapes[][3] = {{1, 1, 4095},  {1, 4097, 1},  {7, 3, 331},
                                      {509, 4, 5},   {1, 1, 20011}, {5, 2, 2048},
                                      {1, 3, 14983}, {1, 1, 8191},  {2, 4099, 1}};
  int errors = 0, n = tprt_comm_size(comm);
  sampler sample = {.state = (uint64_t)n + 99, .stride = *(const uint64_t *)argument};
  for (int kind = 1; kind < TPRT_N_OP_KINDS; kind++) {
    int n_roots = scenario_has_root((tprt_op_kind)kind) ? n : 1;
    for (size_t t = 0;
         t < sizeof kinds_of / sizeof *kinds_of && scenario_is_collective((tprt_op_kind)kind);
         t++) {
      for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int place = 0; place < 8 * n_roots && !errors; place++) {
          scenario s = base_case((tprt_op_kind)kind, kinds_of[t].dtype, n, shapes[i][0],
                                 shapes[i][1], shapes[i][2]);
          s.reduction = scenario_reduces(s.kind) ? kinds_of[t].reduction : TPRT_NO_REDUCTION;
          s.in_place = place & 1 && scenario_in_place(s.kind);
          s.misaligned = place & 2;
          s.registered = place & 4;
          s.root = n_roots > 1 ? place / 8 : 0;
          s.style = (piece_style)(place % N_PIECE_STYLES);
          if (draw(&sample))
            errors += scenario_run(comm, &s);
        }
      }
    }
  }
  return errors;
}

/* The same paths in sub-communicators, while the rest of the world runs them too. */
int cases_groups(tprt_comm *comm, void *argument) {
  int errors = 0, me = tprt_comm_rank(comm);
  tprt_comm *child;
  uint64_t stride = 16 * *(const uint64_t *)argument;
  CHECK_STATUS(errors, tprt_comm_split(comm, me % 2, -me, &child), TPRT_OK);
  if (errors)
    return errors;
  errors = cases_sizes(child, &stride);
  tprt_comm_destroy(child);
  return errors;
}

/* Returns the stride of the cases: the oracle's time grows with the square of the ranks. */
uint64_t cases_stride(int n) {
  uint64_t stride = (uint64_t)(n * n + 8) * (CASES_WATCHED ? 64 : 16);
  return cases_are_long() ? (stride + 31) / 32 : stride;
}
