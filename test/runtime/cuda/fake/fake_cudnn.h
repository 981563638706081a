/* Controls of the fake cuDNN for tests: injected failures and recorded calls, looked up with dlsym.
 * And its graphs. */
#ifndef TPRT_TEST_CUDA_FAKE_CUDNN_H
#define TPRT_TEST_CUDA_FAKE_CUDNN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fake_cudnn_plan {
  long fail_at;       /* number of the call that fails, from 1; 0: none */
  int status;         /* the status of that failure */
  bool knows_nothing; /* it has no kernel for any graph */
  bool falls_back;    /* heuristic A knows no kernel */
  int n_graphs;       /* it has kernels for so many graphs, the first; 0: all */
  int n_unfit;        /* so many kernels turn out not to support the graph when they are planned */
  bool varies;        /* the first kernel may give other bits from run to run */
  int64_t workspace;  /* bytes that each kernel needs */
  double ms;          /* time of an attention; 0: 1 */
  size_t version;     /* 0: 91900 */
} fake_cudnn_plan;

typedef struct fake_cudnn_report {
  long n_calls, n_graphs, n_runs;  /* since the plan was set */
  long n_by[2];                    /* runs of each kernel */
  long n_alive;                    /* handles and descriptors */
  int n_violations;                /* invalid arguments */
  char violation[200], failed[64]; /* the first violation; the call that failed */
} fake_cudnn_report;

/* fake_cudnn_begin, fake_cudnn_look. */
typedef void fake_cudnn_begin_fn(const fake_cudnn_plan *plan);
typedef void fake_cudnn_look_fn(fake_cudnn_report *report);

/* ---- fake_cudnn_graph.c ---- */

enum { FAKE_DIMENSIONS = 4, FAKE_MOST_OPERATIONS = 32, FAKE_MOST_TENSORS = 64 };

typedef struct fake_tensor {
  int64_t id, size[FAKE_DIMENSIONS], stride[FAKE_DIMENSIONS], alignment;
  int type;
  bool is_virtual, is_value;
} fake_tensor;

/* An operation; operands are indices of tensors, -1: none. A pointwise operation has x, b and t, a
 * reduction x, a matmul x and b. */
typedef struct fake_operation {
  int descriptor; /* its type */
  int mode;       /* of a pointwise operation or a reduction */
  int64_t axis;   /* -1: none */
  int x, b, t, y;
} fake_operation;

typedef struct fake_graph {
  fake_tensor tensors[FAKE_MOST_TENSORS];
  fake_operation operations[FAKE_MOST_OPERATIONS];
  int n_tensors, n_operations;
} fake_graph;

/* A graph with its memory: of the tensors that have one, or the value of the host. */
typedef struct fake_run {
  fake_graph graph;
  void *at[FAKE_MOST_TENSORS];
  unsigned char value[FAKE_MOST_TENSORS][4];
} fake_run;

/* Returns why cuDNN has no kernel for a graph; NULL: it has. */
const char *fake_graph_refusal(const fake_graph *graph);
/* Computes it in f64. Virtual tensors of 16-bit types are rounded. */
void fake_graph_compute(const fake_run *run);

#endif
