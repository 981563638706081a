/* A fake libcublasLt. It checks every argument, and multiplies on the host, sequentially,
 * when the fake driver reaches the call in the stream. Any thread; one call at a time. */
#define _GNU_SOURCE 1
#include "fake_blaslt.h"

#include "cuda/gemm/blaslt.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_VALUE = 7 };

struct cublasLtContext {
  int alive;
};
struct blaslt_layout {
  int type;
  uint64_t rows, columns;
  int64_t leading, step;
  int32_t batch;
};
struct blaslt_operation {
  int compute, scale;
  int32_t transpose_a, transpose_b;
  uint32_t epilogue;
  void *bias, *aux;
  int64_t aux_leading, aux_step;
};
struct blaslt_preference {
  uint64_t bytes;
  uint32_t reductions, alignment[4];
};

#define EXPORT(member, symbol, parameters)                                                         \
  extern blaslt_status lt_##member parameters __asm__(symbol) TPRT_API;
BLASLT_CALLS(EXPORT)
#undef EXPORT
extern const char *lt_text(blaslt_status status) __asm__("cublasLtGetStatusString") TPRT_API;
extern size_t lt_version(void) __asm__("cublasLtGetVersion") TPRT_API;
extern TPRT_API fake_blaslt_begin_fn fake_blaslt_begin;
extern TPRT_API fake_blaslt_look_fn fake_blaslt_look;

static fake_blaslt_plan plan;
static fake_blaslt_report state;

void fake_blaslt_begin(const fake_blaslt_plan *next) {
  long alive = state.n_alive;
  plan = *next;
  state = (fake_blaslt_report){.n_alive = alive};
}

void fake_blaslt_look(fake_blaslt_report *report) { *report = state; }

static void violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void violation(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (state.n_violations++ == 0)
    vsnprintf(state.violation, sizeof state.violation, format, arguments);
  va_end(arguments);
}

static void require(bool holds, const char *what) {
  if (!holds)
    violation("%s", what);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void leave(const int *entered) {
  (void)entered;
  pthread_mutex_unlock(&lock);
}
/* Holds the lock to the end of the function. */
#define HOLD                                                                                       \
  __attribute__((cleanup(leave))) int entered_ = pthread_mutex_lock(&lock);                        \
  (void)entered_

/* Counts a call of the library. Returns the error that the test has planned for this call, or
 * success. */
static blaslt_status called(const char *name) {
  if (++state.n_calls != plan.fail_at)
    return BLASLT_SUCCESS;
  snprintf(state.failed, sizeof state.failed, "%s", name);
  return plan.status;
}

#define ENTER(name)                                                                                \
  HOLD;                                                                                            \
  blaslt_status planned = called(name);                                                            \
  if (planned)                                                                                     \
  return planned

/* Finds a function of the fake driver. `to` is a pointer to a function pointer. */
static bool find_in_driver(const char *name, void *to) {
  void *driver = dlopen(getenv("TPRT_CUDA_LIBRARY"), RTLD_NOW | RTLD_LOCAL),
       *found = driver ? dlsym(driver, name) : NULL;
  memcpy(to, &found, sizeof found);
  return found;
}

/* cuBLASLt works in the current context of the thread, whose driver it finds by itself. */
static void require_context(void) {
  void *context = NULL;
  cuda_result (*current)(void **context);
  require(find_in_driver("cuCtxGetCurrent", &current) && !current(&context) && context,
          "a current context");
}

static void *made(size_t bytes) {
  void *object = calloc(1, bytes);
  if (!object)
    abort();
  state.n_alive++;
  return object;
}

/* Counts a release; the object is released even if the call must fail. */
static blaslt_status ended(const char *name, void *object) {
  HOLD;
  require(object != NULL, name);
  free(object);
  state.n_alive--;
  return called(name);
}

const char *lt_text(blaslt_status status) {
  return status == BLASLT_NOT_SUPPORTED ? "not supported"
         : status == INVALID_VALUE      ? "an unsupported value"
                                        : "made up";
}

size_t lt_version(void) { return plan.version ? plan.version : 130100; }

/* ---- Handles and descriptors ---- */

/* Jobs of GEMMs in streams or graphs live until their handle is destroyed. */
static struct job *jobs;
static void free_jobs(blaslt_handle handle);

blaslt_status lt_create(blaslt_handle *handle) {
  ENTER("cublasLtCreate");
  require_context();
  *handle = made(sizeof **handle);
  return BLASLT_SUCCESS;
}

blaslt_status lt_destroy(blaslt_handle handle) {
  free_jobs(handle);
  return ended("cublasLtDestroy", handle);
}

blaslt_status lt_layout_create(blaslt_layout *layout, int type, uint64_t rows, uint64_t columns,
                               int64_t leading) {
  ENTER("cublasLtMatrixLayoutCreate");
  *layout = made(sizeof **layout);
  **layout = (struct blaslt_layout){
      .type = type, .rows = rows, .columns = columns, .leading = leading, .batch = 1};
  return BLASLT_SUCCESS;
}

blaslt_status lt_layout_destroy(blaslt_layout layout) {
  return ended("cublasLtMatrixLayoutDestroy", layout);
}

static blaslt_status set(void *to, size_t size, const void *value, size_t bytes) {
  if (size != bytes)
    violation("an attribute of %zu bytes is set with %zu", size, bytes);
  memcpy(to, value, size < bytes ? size : bytes);
  return BLASLT_SUCCESS;
}

blaslt_status lt_layout_set(blaslt_layout layout, int attribute, const void *value, size_t bytes) {
  ENTER("cublasLtMatrixLayoutSetAttribute");
  switch (attribute) {
  case BLASLT_LAYOUT_BATCH:
    return set(&layout->batch, sizeof layout->batch, value, bytes);
  case BLASLT_LAYOUT_STEP:
    return set(&layout->step, sizeof layout->step, value, bytes);
  default:
    violation("attribute %d of a layout", attribute);
    return INVALID_VALUE;
  }
}

blaslt_status lt_operation_create(blaslt_operation *operation, int compute, int scale) {
  ENTER("cublasLtMatmulDescCreate");
  require(scale == (compute == BLASLT_COMPUTE_F64 ? BLASLT_F64 : BLASLT_F32),
          "alpha and beta have the type of the sums");
  *operation = made(sizeof **operation);
  **operation = (struct blaslt_operation){
      .compute = compute, .scale = scale, .epilogue = BLASLT_WITH_NOTHING};
  return BLASLT_SUCCESS;
}

blaslt_status lt_operation_destroy(blaslt_operation operation) {
  return ended("cublasLtMatmulDescDestroy", operation);
}

blaslt_status lt_operation_set(blaslt_operation o, int attribute, const void *value, size_t bytes) {
  ENTER("cublasLtMatmulDescSetAttribute");
  const struct {
    int attribute;
    void *to;
    size_t size;
  } rows[] = {{BLASLT_TRANSPOSE_A, &o->transpose_a, sizeof o->transpose_a},
              {BLASLT_TRANSPOSE_B, &o->transpose_b, sizeof o->transpose_b},
              {BLASLT_EPILOGUE, &o->epilogue, sizeof o->epilogue},
              {BLASLT_BIAS, &o->bias, sizeof o->bias},
              {BLASLT_AUX, &o->aux, sizeof o->aux},
              {BLASLT_AUX_LEADING, &o->aux_leading, sizeof o->aux_leading},
              {BLASLT_AUX_STEP, &o->aux_step, sizeof o->aux_step}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].attribute == attribute)
      return set(rows[i].to, rows[i].size, value, bytes);
  violation("attribute %d of an operation", attribute);
  return INVALID_VALUE;
}

blaslt_status lt_preference_create(blaslt_preference *preference) {
  ENTER("cublasLtMatmulPreferenceCreate");
  *preference = made(sizeof **preference);
  **preference = (struct blaslt_preference){.reductions = 7, .alignment = {256, 256, 256, 256}};
  return BLASLT_SUCCESS;
}

blaslt_status lt_preference_destroy(blaslt_preference preference) {
  return ended("cublasLtMatmulPreferenceDestroy", preference);
}

blaslt_status lt_preference_set(blaslt_preference p, int attribute, const void *value,
                                size_t bytes) {
  ENTER("cublasLtMatmulPreferenceSetAttribute");
  switch (attribute) {
  case BLASLT_WORKSPACE_BYTES:
    return set(&p->bytes, sizeof p->bytes, value, bytes);
  case BLASLT_REDUCTIONS:
    return set(&p->reductions, sizeof p->reductions, value, bytes);
  case BLASLT_ALIGNMENT_A:
  case BLASLT_ALIGNMENT_B:
  case BLASLT_ALIGNMENT_C:
  case BLASLT_ALIGNMENT_D:
    return set(&p->alignment[attribute - BLASLT_ALIGNMENT_A], sizeof *p->alignment, value, bytes);
  default:
    violation("attribute %d of preferences", attribute);
    return INVALID_VALUE;
  }
}

/* ---- GEMMs ---- */

typedef struct problem {
  struct blaslt_operation operation;
  struct blaslt_layout a, b, c, d;
} problem;

/* Returns a hash of everything an algorithm depends on: all but addresses. */
static uint64_t mark_of(const problem *p) {
  problem copy;
  uint64_t hash = 1469598103934665603u;
  memcpy(&copy, p, sizeof copy);
  copy.operation.bias = copy.operation.aux = NULL;
  const struct {
    const void *from;
    size_t n;
  } parts[] = {{&copy.operation.transpose_a, 12},
               {&copy.operation.aux_leading, 16},
               {&copy.a.rows, 32},
               {&copy.b.rows, 32},
               {&copy.d.rows, 32}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    for (size_t b = 0; b < parts[i].n; b++)
      hash = (hash ^ ((const unsigned char *)parts[i].from)[b]) * 1099511628211u;
  return hash ^ (uint64_t)copy.a.batch ^
         (uint64_t)(copy.a.type * 64 + copy.d.type * 8 + copy.operation.compute) ^
         (uint64_t)copy.b.type << 20;
}

static void check_layout(const struct blaslt_layout *l, const char *name) {
  if (l->leading < (int64_t)l->rows || l->rows == 0 || l->columns == 0 || l->batch < 1)
    violation("layout of %s: %llu x %llu, leading %lld, batch %d", name,
              (unsigned long long)l->rows, (unsigned long long)l->columns, (long long)l->leading,
              l->batch);
}

static bool is_f8(int type) { return type == BLASLT_F8E4M3 || type == BLASLT_F8E5M2; }

/* True if there are kernels for a problem of f8: on compute capability 8.9 or more, for A that is
 * transposed and B that is not, with columns of multiples of 16 bytes. Newer GPUs than those of
 * compute capability 9.0 support more. */
static bool supports_f8(const problem *p) {
  cuda_result (*attribute)(int *value, int which, int device) = NULL;
  int major = 0, minor = 0;
  bool found = find_in_driver("cuDeviceGetAttribute", &attribute) &&
               !attribute(&major, CUDA_CAPABILITY_MAJOR, 0) &&
               !attribute(&minor, CUDA_CAPABILITY_MINOR, 0);
  int64_t d = p->d.type == BLASLT_F32 ? 4 : 2;
  return found && 10 * major + minor >= 89 && is_f8(p->a.type) && is_f8(p->b.type) &&
         (p->a.type == BLASLT_F8E4M3 || p->b.type == BLASLT_F8E4M3) &&
         (p->d.type == BLASLT_F32 || p->d.type == BLASLT_F16 || p->d.type == BLASLT_BF16) &&
         p->operation.compute == BLASLT_COMPUTE_F32 && p->operation.transpose_a &&
         !p->operation.transpose_b && p->operation.epilogue == BLASLT_WITH_NOTHING &&
         p->a.rows % 16 == 0 && p->a.leading % 16 == 0 && p->b.leading % 16 == 0 &&
         (int64_t)p->d.rows * d % 16 == 0 && p->d.leading * d % 16 == 0 && p->a.step % 16 == 0 &&
         p->b.step % 16 == 0 && p->d.step * d % 16 == 0;
}

/* Checks the requirements in the manual of cublasLtMatmul. */
static void check_problem(const problem *p) {
  const struct blaslt_operation *o = &p->operation;
  uint64_t m = o->transpose_a ? p->a.columns : p->a.rows,
           k = o->transpose_a ? p->a.rows : p->a.columns;
  uint64_t k_of_b = o->transpose_b ? p->b.columns : p->b.rows,
           n = o->transpose_b ? p->b.rows : p->b.columns;
  check_layout(&p->a, "A");
  check_layout(&p->b, "B");
  check_layout(&p->d, "D");
  require(memcmp(&p->c, &p->d, sizeof p->c) == 0, "C is laid out as D");
  if (m != p->d.rows || n != p->d.columns || k != k_of_b)
    violation("%llu x %llu times %llu x %llu to %llu x %llu", (unsigned long long)m,
              (unsigned long long)k, (unsigned long long)k_of_b, (unsigned long long)n,
              (unsigned long long)p->d.rows, (unsigned long long)p->d.columns);
  bool wide = p->a.type == BLASLT_F64, f8 = is_f8(p->a.type) || is_f8(p->b.type);
  require(f8 || (p->a.type == p->b.type &&
                 (p->d.type == p->a.type || (p->d.type == BLASLT_F32 && !wide))),
          "types of matrices");
  require(!f8 || supports_f8(p), "layouts and types of f8");
  require(wide ? o->compute == BLASLT_COMPUTE_F64
               : o->compute == BLASLT_COMPUTE_F32 ||
                     (o->compute == BLASLT_COMPUTE_TF32 && p->a.type == BLASLT_F32),
          "type of sums");
  require(!wide || o->epilogue == BLASLT_WITH_NOTHING, "no epilogue of f64");
  require(p->a.batch == p->d.batch && p->b.batch == p->d.batch, "equal batches");
  uint32_t e = o->epilogue & ~(uint32_t)BLASLT_WITH_AUX;
  bool relu = e & (BLASLT_WITH_RELU | (BLASLT_WITH_RELU_GRADIENT & 127));
  if (o->epilogue & BLASLT_WITH_AUX &&
      (o->aux_leading < (int64_t)m || o->aux_leading % (relu ? 128 : 8)))
    violation("aux of rows of %lld for %llu", (long long)o->aux_leading, (unsigned long long)m);
  if (o->epilogue & BLASLT_WITH_AUX && p->d.batch > 1)
    require(o->aux_step >= o->aux_leading * (int64_t)n, "aux of a batch");
}

static problem problem_of(blaslt_operation operation, blaslt_layout a, blaslt_layout b,
                          blaslt_layout c, blaslt_layout d) {
  problem p;
  memset(&p, 0, sizeof p);
  p.operation = *operation;
  p.a = *a;
  p.b = *b;
  p.c = *c;
  p.d = *d;
  return p;
}

/* The words of an algorithm: the problem it is for, the bytes of workspace it needs, its number
 * among the algorithms for the problem. */
enum { MARK, WORKSPACE, NUMBER };

blaslt_status lt_choose(blaslt_handle handle, blaslt_operation operation, blaslt_layout a,
                        blaslt_layout b, blaslt_layout c, blaslt_layout d,
                        blaslt_preference preference, int n_wanted, blaslt_choice *choices,
                        int *n_found) {
  ENTER("cublasLtMatmulAlgoGetHeuristic");
  require_context();
  state.n_choices++;
  require(handle && n_wanted >= 1, "a handle, and a place for the choice");
  /* parts that are summed up in the output, or in its type, are rounded */
  require(preference->reductions == 2, "parts of sums are added in the type of the computation");
  for (int i = 0; i < 4; i++)
    require(preference->alignment[i] == 16, "alignment of addresses");
  problem p = problem_of(operation, a, b, c, d);
  if (is_f8(a->type) && !supports_f8(&p))
    return BLASLT_NOT_SUPPORTED;
  check_problem(&p);
  int n = plan.n_algorithms ? plan.n_algorithms : 2;
  *n_found = plan.knows_nothing ? 0 : n < n_wanted ? n : n_wanted;
  for (int i = 0; i < *n_found; i++) {
    choices[i] =
        (blaslt_choice){.workspace_bytes = preference->bytes / 2,
                        .state = i > 0 && i <= plan.n_unusable ? INVALID_VALUE : BLASLT_SUCCESS};
    choices[i].algorithm.data[MARK] = mark_of(&p);
    choices[i].algorithm.data[WORKSPACE] = preference->bytes / 2;
    choices[i].algorithm.data[NUMBER] = (uint64_t)i;
  }
  return BLASLT_SUCCESS;
}

blaslt_status lt_check(blaslt_handle handle, blaslt_operation operation, blaslt_layout a,
                       blaslt_layout b, blaslt_layout c, blaslt_layout d,
                       const blaslt_algorithm *algorithm, blaslt_choice *result) {
  ENTER("cublasLtMatmulAlgoCheck");
  require_context();
  require(handle != NULL, "a handle");
  state.n_checks++;
  problem p = problem_of(operation, a, b, c, d);
  check_problem(&p);
  if (algorithm->data[NUMBER] + 1 == (uint64_t)plan.refused)
    return BLASLT_NOT_SUPPORTED;
  if (algorithm->data[MARK] != mark_of(&p))
    return INVALID_VALUE;
  *result = (blaslt_choice){.workspace_bytes = algorithm->data[WORKSPACE]};
  return BLASLT_SUCCESS;
}

typedef struct job {
  struct job *next;
  blaslt_handle handle;
  problem of;
  int algorithm;
  double alpha, beta;
  const char *a, *b, *c;
  char *d;
} job;

static void free_jobs(blaslt_handle handle) {
  HOLD;
  job **at = &jobs;
  while (*at) {
    job *found = *at;
    if (found->handle == handle) {
      *at = found->next;
      free(found);
    } else {
      at = &found->next;
    }
  }
}

static double load(int type, const void *from, int64_t i) {
  return type == BLASLT_F64      ? ((const double *)from)[i]
         : type == BLASLT_F8E4M3 ? (double)tprt_f8e4m3_to_f32(((const uint8_t *)from)[i])
         : type == BLASLT_F8E5M2 ? (double)tprt_f8e5m2_to_f32(((const uint8_t *)from)[i])
         : type == BLASLT_F32    ? (double)((const float *)from)[i]
         : type == BLASLT_F16    ? (double)tprt_f16_to_f32(((const uint16_t *)from)[i])
                                 : (double)tprt_bf16_to_f32(((const uint16_t *)from)[i]);
}

static void store(int type, void *to, int64_t i, double x) {
  if (type == BLASLT_F64)
    ((double *)to)[i] = x;
  else if (type == BLASLT_F32)
    ((float *)to)[i] = (float)x;
  else
    ((uint16_t *)to)[i] =
        type == BLASLT_F16 ? tprt_f32_to_f16((float)x) : tprt_f32_to_bf16((float)x);
}

/* Rounds to the type of sums. */
static double rounded(const problem *p, double x) {
  return p->operation.compute == BLASLT_COMPUTE_F64 ? x : (double)(float)x;
}

/* Rounds to nearest, to the 11-bit significand of TF32. */
static double tf32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof x);
  bits = (bits + 0xfff + (bits >> 13 & 1)) & ~UINT32_C(0x1fff);
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}

static double factor(const problem *p, const struct blaslt_layout *l, bool transposed,
                     const char *from, int64_t batch, int64_t row, int64_t column) {
  int64_t i =
      batch * l->step + (transposed ? row * l->leading + column : column * l->leading + row);
  double x = load(l->type, from, i);
  return p->operation.compute == BLASLT_COMPUTE_TF32 ? tf32((float)x) : x;
}

static const double ROOT = 0.7978845608028654, CUBE = 0.044715; /* of gelu: sqrt(2 / pi) */
static double gelu(double x) { return 0.5 * x * (1 + tanh(ROOT * (x + CUBE * x * x * x))); }
static double gelu_gradient(double x) {
  double t = tanh(ROOT * (x + CUBE * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * ROOT * (1 + 3 * CUBE * x * x);
}

/* ReLU of NaN is NaN in some of cuBLASLt's kernels and 0 in others. Here the problem decides, so
 * that a test that relies on either fails for some shapes and types. */
static bool keeps_nan(const problem *p) { return mark_of(p) >> 40 & 1; }

/* Applies the epilogue to an element of D. */
static double finish(const problem *p, int64_t batch, int64_t i, int64_t j, double x) {
  const struct blaslt_operation *o = &p->operation;
  uint32_t e = o->epilogue;
  int64_t at = batch * o->aux_step + j * o->aux_leading + i;
  unsigned char *bits = o->aux;
  bool has_aux = e & BLASLT_WITH_AUX;
  if (e & BLASLT_WITH_BIAS)
    x = rounded(p, x + load(p->d.type, o->bias, i));
  if (e & BLASLT_WITH_RELU) {
    if (has_aux)
      bits[at / 8] = (unsigned char)((bits[at / 8] & ~(1 << at % 8)) | (x > 0) << at % 8);
    return x > 0 || (isnan(x) && keeps_nan(p)) ? x : 0;
  }
  if (e & BLASLT_WITH_GELU) {
    if (has_aux)
      store(p->d.type, o->aux, at, x);
    return rounded(p, gelu(x));
  }
  if ((e & BLASLT_WITH_RELU_GRADIENT) == BLASLT_WITH_RELU_GRADIENT)
    return bits[at / 8] >> at % 8 & 1 ? x : 0;
  if ((e & BLASLT_WITH_GELU_GRADIENT) == BLASLT_WITH_GELU_GRADIENT)
    return rounded(p, x * rounded(p, gelu_gradient(load(p->d.type, o->aux, at))));
  return x;
}

/* Lets the clock of the fake driver's events go on. */
static void pass_time(const job *w) {
  void (*pass)(double ms);
  if (find_in_driver("fake_pass_time", &pass))
    pass(w->algorithm == plan.fastest ? 1 : 2);
}

/* One row of A, all of B, and the row of the product that they give; numbers are of the type in
 * which products are added. */
typedef struct operands {
  int64_t n, k;
  float *row, *b, *sum;
  double *wide_row, *wide_b, *wide_sum; /* these of f64, or those */
} operands;

static void *allocated(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  if (!memory)
    abort();
  return memory;
}

static operands make_operands(const problem *p, int64_t n, int64_t k) {
  operands x = {.n = n, .k = k};
  if (p->operation.compute == BLASLT_COMPUTE_F64) {
    x.wide_row = allocated((size_t)k * sizeof *x.wide_row);
    x.wide_b = allocated((size_t)(k * n) * sizeof *x.wide_b);
    x.wide_sum = allocated((size_t)n * sizeof *x.wide_sum);
  } else {
    x.row = allocated((size_t)k * sizeof *x.row);
    x.b = allocated((size_t)(k * n) * sizeof *x.b);
    x.sum = allocated((size_t)n * sizeof *x.sum);
  }
  return x;
}

static void free_operands(operands *x) {
  void *const all[] = {x->row, x->b, x->sum, x->wide_row, x->wide_b, x->wide_sum};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
}

/* The numbers of A and B are numbers of the type of sums, too. */
static void load_row(const job *w, const operands *x, int64_t batch, int64_t i) {
  for (int64_t l = 0; l < x->k; l++) {
    double a = factor(&w->of, &w->of.a, w->of.operation.transpose_a, w->a, batch, i, l);
    if (x->row)
      x->row[l] = (float)a;
    else
      x->wide_row[l] = a;
  }
}

static void load_b(const job *w, const operands *x, int64_t batch) {
  for (int64_t l = 0; l < x->k; l++)
    for (int64_t j = 0; j < x->n; j++) {
      double b = factor(&w->of, &w->of.b, w->of.operation.transpose_b, w->b, batch, l, j);
      if (x->b)
        x->b[l * x->n + j] = (float)b;
      else
        x->wide_b[l * x->n + j] = b;
    }
}

/* Products and sums are rounded one by one, in the order of the algorithm. */
static void multiply(const job *w, const operands *x) {
  memset(x->sum ? (void *)x->sum : x->wide_sum, 0,
         (size_t)x->n * (x->sum ? sizeof *x->sum : sizeof *x->wide_sum));
  for (int64_t step = 0; step < x->k; step++) {
    int64_t l = w->algorithm % 2 ? x->k - 1 - step : step;
    if (x->sum)
      for (int64_t j = 0; j < x->n; j++)
        x->sum[j] += x->row[l] * x->b[l * x->n + j];
    else
      for (int64_t j = 0; j < x->n; j++)
        x->wide_sum[j] += x->wide_row[l] * x->wide_b[l * x->n + j];
  }
}

static void run(void *data) {
  const job *w = data;
  pass_time(w);
  const problem *p = &w->of;
  const struct blaslt_operation *o = &p->operation;
  int64_t m = (int64_t)p->d.rows, n = (int64_t)p->d.columns;
  operands operand = make_operands(p, n, (int64_t)(o->transpose_a ? p->a.rows : p->a.columns));
  for (int64_t batch = 0; batch < p->d.batch; batch++) {
    load_b(w, &operand, batch);
    for (int64_t i = 0; i < m; i++) {
      double sum_of_a = 0, gradient = 0;
      load_row(w, &operand, batch, i);
      multiply(w, &operand);
      for (int64_t l = 0; l < operand.k && o->epilogue & BLASLT_WITH_SUM_OF_A; l++)
        sum_of_a =
            rounded(p, sum_of_a + (operand.row ? (double)operand.row[l] : operand.wide_row[l]));
      for (int64_t j = 0; j < n; j++) {
        int64_t at = batch * p->d.step + j * p->d.leading + i;
        double x = operand.sum ? (double)operand.sum[j] : operand.wide_sum[j];
        double old = w->beta != 0 ? rounded(p, w->beta * load(p->d.type, w->c, at)) : 0;
        x = finish(p, batch, i, j, rounded(p, rounded(p, w->alpha * x) + old));
        gradient = rounded(p, gradient + x);
        store(p->d.type, w->d, at, x);
      }
      if (o->epilogue & BLASLT_WITH_SUM_OF_A)
        store(p->d.type, o->bias, i, sum_of_a);
      else if (o->epilogue & BLASLT_WITH_BIAS_GRADIENT)
        store(p->d.type, o->bias, i, gradient);
    }
  }
  free_operands(&operand);
}

/* Enqueues in the fake driver, which knows whether the stream is being captured. Does not hold the
 * lock, because the stream may first have to run work that waits for other ranks. */
static void enqueue(cuda_stream stream, job *w) {
  cuda_result (*host_call)(cuda_stream, void (*)(void *), void *) = NULL;
  bool taken = find_in_driver("cuLaunchHostFunc", &host_call) &&
               host_call(stream, run, w) == CUDA_RESULT_SUCCESS;
  pthread_mutex_lock(&lock);
  require(taken, "the stream takes a product");
  pthread_mutex_unlock(&lock);
}

static void check_vector(const struct blaslt_operation *o) {
  bool wanted = o->epilogue & (BLASLT_WITH_BIAS | BLASLT_WITH_BIAS_GRADIENT | BLASLT_WITH_SUM_OF_A);
  require(!wanted || (o->bias && (uintptr_t)o->bias % 16 == 0), "address of the bias");
  require(!(o->epilogue & BLASLT_WITH_AUX) || (o->aux && (uintptr_t)o->aux % 16 == 0),
          "address of aux");
}

static void note_workspace(const void *workspace) {
  enum { MOST = sizeof state.workspaces / sizeof *state.workspaces };
  for (int i = 0; i < state.n_workspaces; i++)
    if (state.workspaces[i] == workspace)
      return;
  if (state.n_workspaces < MOST)
    state.workspaces[state.n_workspaces++] = workspace;
}

/* Checks a call and stores its job. */
static blaslt_status keep_job(const job *given, const blaslt_algorithm *algorithm,
                              const void *workspace, size_t workspace_bytes, job **kept) {
  ENTER("cublasLtMatmul");
  require_context();
  uintptr_t bits =
      (uintptr_t)given->a | (uintptr_t)given->b | (uintptr_t)given->c | (uintptr_t)given->d;
  state.n_products++;
  check_problem(&given->of);
  check_vector(&given->of.operation);
  require(given->handle != NULL, "a handle");
  require(given->a && given->b && given->c && given->d && bits % 16 == 0, "addresses of matrices");
  require(algorithm->data[MARK] == mark_of(&given->of),
          "an algorithm that was chosen for this problem");
  require(algorithm->data[WORKSPACE] <= workspace_bytes &&
              (workspace || !algorithm->data[WORKSPACE]),
          "a workspace for the algorithm");
  state.n_by[algorithm->data[NUMBER] % 8]++;
  require((uintptr_t)workspace % 256 == 0, "address of the workspace");
  note_workspace(workspace);
  job *w = calloc(1, sizeof *w);
  if (!w)
    abort();
  *w = *given;
  w->next = jobs;
  jobs = *kept = w;
  return BLASLT_SUCCESS;
}

blaslt_status lt_multiply(blaslt_handle handle, blaslt_operation operation, const void *alpha,
                          const void *a, blaslt_layout of_a, const void *b, blaslt_layout of_b,
                          const void *beta, const void *c, blaslt_layout of_c, void *d,
                          blaslt_layout of_d, const blaslt_algorithm *algorithm, void *workspace,
                          size_t workspace_bytes, cuda_stream stream) {
  const job given = {.handle = handle,
                     .of = problem_of(operation, of_a, of_b, of_c, of_d),
                     .algorithm = (int)algorithm->data[NUMBER],
                     .alpha = load(operation->scale, alpha, 0),
                     .beta = load(operation->scale, beta, 0),
                     .a = a,
                     .b = b,
                     .c = c,
                     .d = d};
  job *w = NULL;
  blaslt_status status = keep_job(&given, algorithm, workspace, workspace_bytes, &w);
  if (!status)
    enqueue(stream, w);
  return status;
}
