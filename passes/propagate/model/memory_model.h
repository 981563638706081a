/* Memory of a plan: live ranges of values, and the peak memory use of a device. Shared by the files
 * of tp-propagate. */
#ifndef TP_PASSES_PROPAGATE_MEMORY_H
#define TP_PASSES_PROPAGATE_MEMORY_H

#include "passes/propagate/model/planner.h"

/* An op of the function. Ops inside structured control flow are included, the bodies of other ops
 * are not. */
typedef struct tp_timeline_op {
  MlirOperation op;
  const tp_rule *rule; /* its rule in the plan; NULL: none */
  /* properties of the op alone (storage.c), cached on first request */
  const struct tp_storage_form *form;
  int parent; /* number of the enclosing op; -1: the function */
  int end;    /* number of the last op nested in it; its own number if there is none */
  int block;  /* ops in the same block have the same number */
  int result; /* its first result, as a value number; -1: that is not a tensor */
  int first_use, n_operands; /* use first_use + i is operand i; the uses in its body follow */
  bool is_control;           /* structured control flow */
  bool is_change;            /* shard.shard */
  bool is_constant, is_view; /* arith.constant; see tp__is_view */
  bool is_named;             /* an op of linalg other than a generic */
  uint8_t known;             /* which properties storage.c has computed */
  int root;   /* the op into which it is fused, possibly by way of others, or itself */
  int search; /* the last search for an overwritten buffer that met it; 0: none */
} tp_timeline_op;

/* A tensor that one of the ops makes or uses. */
typedef struct tp_timeline_value {
  int maker;     /* number of the op that makes it; -1: an argument */
  int first_use; /* -1: none */
} tp_timeline_value;

typedef struct tp_timeline_use {
  int value;  /* -1: the operand is not a tensor */
  int moment; /* of the user, or of the op whose body contains the user */
  int next;   /* next use of the same value; -1: none */
} tp_timeline_use;

/* All ops of a function, numbered in program order; an op comes before the ops nested in it. The
 * timeline reflects the program at the time it is built, with or without written reshards. A zeroed
 * timeline is empty. */
typedef struct tp_timeline {
  const tp_planner *planner;
  size_t n, capacity;
  tp_timeline_op *moments;
  int n_searches;                  /* for overwritten buffers */
  size_t n_values, value_capacity; /* first the planner's values, by number, then others */
  tp_timeline_value *values;
  size_t n_others, other_capacity;
  MlirValue *others; /* inserted reshards, and pads that are read in place */
  size_t n_uses, use_capacity;
  tp_timeline_use *uses;
  tp_value_table other_values; /* values and their index in `values` */
  tp_value_table bare_ops;     /* ops that make no tensor, and their numbers */
} tp_timeline;

tp_status tp__timeline_build(const tp_planner *planner, tp_timeline *timeline);
void tp__timeline_destroy(tp_timeline *timeline);
/* Index among the values of the timeline; -1: none. */
int tp__timeline_find(const tp_timeline *timeline, MlirValue value);
MlirValue tp__timeline_value(const tp_timeline *timeline, int value);
/* True if the value has exactly one use, counting every operand. */
bool tp__timeline_has_one_use(const tp_timeline *timeline, int value);
/* True if the use is an operand of the op itself, not of an op in its body. */
bool tp__timeline_is_operand(const tp_timeline *timeline, int use);
/* Number of the op, or of the op whose body contains it. */
int tp__timeline_number(const tp_timeline *timeline, MlirOperation op);
/* Number of the op that is or contains op `k` and stands directly in a region of op `place` (-1:
 * the function). */
int tp__timeline_around(const tp_timeline *timeline, int place, int k);
/* Number of the op that is or contains `user` and stands directly in the region where `value` is
 * defined. */
int tp__timeline_anchor(const tp_timeline *timeline, MlirValue value, MlirOperation user);

/* Bytes of one device for a value in layout `spec`. */
int64_t tp__local_bytes(const tp_mesh *mesh, tp_spec spec, int rank, const int64_t *shape,
                        int64_t element_size);

/* The same for a planned value. */
int64_t tp__value_bytes(const tp_planner *planner, const tp_planned_value *value, tp_spec spec);

/* Extra bytes that a reshard in several steps needs besides its source and its result: the maximum
 * over its steps, while the source is kept. */
int64_t tp__reshard_excess(const tp_reshard *path, int rank, const int64_t *shape,
                           int64_t element_size);

/* reshard_ops.c: writes all reshards as ops. */
tp_status tp__write_reshards(tp_planner *planner);

/* peak_memory.c */

typedef enum tp_live_buffer_kind {
  TP_LIVE_ARGUMENT,
  TP_LIVE_RESULT, /* the caller's memory for a returned value */
  TP_LIVE_VALUE,
  TP_LIVE_RESHARD_STEPS, /* intermediate buffers of a reshard, besides its source and result */
  TP_LIVE_WORKSPACE,     /* scratch of an op, besides its operands and results */
  TP_LIVE_CONSTANTS,     /* of the whole function */
} tp_live_buffer_kind;

typedef struct tp_live_buffer {
  tp_live_buffer_kind kind;
  MlirValue value;
  int64_t bytes;
  int from, to; /* op numbers, both inclusive */
  int of;       /* the op that makes the value; -1 - i: argument i of the function */
  int result;   /* number of the result of the function that it is; -1: none */
} tp_live_buffer;

/* The peak memory of a device, the op at which it occurs, all buffers, and the bytes held at every
 * op of the timeline. A zeroed peak is empty. */
typedef struct tp_memory_peak {
  int64_t bytes;
  MlirOperation op;
  size_t n, n_all; /* the first n of all buffers are held at the peak */
  tp_live_buffer *held;
  size_t n_ops;
  int64_t *over_time;
} tp_memory_peak;

/* Computes the peak memory of a written plan. Release it with tp__memory_peak_destroy. */
tp_status tp__plan_peak(tp_planner *planner, tp_memory_peak *peak);
void tp__memory_peak_destroy(tp_memory_peak *peak);

#endif
