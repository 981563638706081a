/* A random program: a list of ops as text over values v0, v1, ..., stored so that ops can be
 * removed.
 *
 * Invariant that makes shrinking simple: an op's text refers to the values it uses only as %vN.
 * When the op that defines such a value is removed, the value becomes a function argument, or an
 * alias of another value of the same type. */
#ifndef FUZZ_PROGRAM_H
#define FUZZ_PROGRAM_H

#include "base.h"

enum {
  MAX_DIMS = 5,
  MAX_VALUES = 96,
  MAX_OPS = 40,
  MAX_RESULTS = 6,
  MAX_MESH_AXES = 3,
  MAX_USES = 6,
  MAX_OP_RESULTS = 4
};

typedef enum element_kind { F32, F64, F16, BF16, I32, I64, I8, I1, N_ELEMENTS } element_kind;

typedef struct type {
  element_kind element;
  int rank;
  int64_t shape[MAX_DIMS];
} type;

typedef struct value {
  type type;
  int op;             /* the op that defines it; -1: an argument */
  double low, high;   /* range of its elements */
  bool integral;      /* floats: whole numbers, computed without rounding */
  double scale;       /* largest intermediate magnitude: errors are relative to this */
  int alias;          /* the value that replaces it after shrinking; otherwise itself */
  char sharding[200]; /* of an argument; "" for none */
} value;

typedef struct op {
  const char *family;
  bool dropped;
  text body;      /* lines in the function */
  text functions; /* helper functions that it needs */
  int n_uses, uses[MAX_USES];
  int n_results, results[MAX_OP_RESULTS];
} op;

typedef struct mesh {
  int n_axes;
  int sizes[MAX_MESH_AXES];
} mesh;

typedef struct program {
  uint64_t seed;
  mesh mesh;
  bool follow, processes;
  bool limited; /* planned within a memory limit */
  bool on_gpu;  /* compiled for GPUs and run on one */
  bool fused;   /* with fused collectives wherever possible */
  int n_values, n_ops, n_results;
  value values[MAX_VALUES];
  op ops[MAX_OPS];
  int results[MAX_RESULTS];
  char result_shardings[MAX_RESULTS][200];
} program;

extern const char *const axis_names[MAX_MESH_AXES];
extern const char *const element_names[N_ELEMENTS];
static inline bool is_float(element_kind e) { return e <= BF16; }

/* Returns a type like "tensor<4x8xf32>"; the text is in a ring of buffers and is valid for a few
 * calls. */
const char *type_text(const type *t);
int64_t type_elements(const type *t);
bool type_equal(const type *a, const type *b);

/* Writes the values that are arguments, in printing order; returns their number. */
int program_arguments(const program *p, int *arguments);
int program_root(const program *p, int v); /* resolves aliases */
/* Append the mesh, and the module. */
void program_print_grid(const program *p, text *out);
void program_print(const program *p, text *out);
void program_clear(program *p);
void program_copy(program *to, const program *from);

/* Generates a random program; deterministic in the arguments. `norms`: mostly row norms after
 * matmuls. */
void program_generate(program *p, uint64_t seed, bool norms);

#endif
