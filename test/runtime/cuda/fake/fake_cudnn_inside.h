/* What the files of the fake cuDNN share. */
#ifndef TPRT_TEST_CUDA_FAKE_CUDNN_INSIDE_H
#define TPRT_TEST_CUDA_FAKE_CUDNN_INSIDE_H

#include "fake_cudnn.h"

#include "cuda/cudnn/cudnn.h"

enum { FAKE_ENGINES = 2, FAKE_MOST_ATTRIBUTES = 12 };

typedef struct fake_attribute {
  int name;
  int64_t n;
  void *elements;
} fake_attribute;

typedef struct fake_descriptor {
  int type;
  bool is_final;
  fake_attribute attributes[FAKE_MOST_ATTRIBUTES];
  int n_attributes;
  int engine;                          /* of an engine, its configuration, or a plan */
  const struct fake_descriptor *graph; /* that it is for */
} fake_descriptor;

#define EXPORT(member, symbol, parameters)                                                         \
  extern cudnn_status dnn_##member parameters __asm__(symbol) TPRT_API;
DNN_CALLS(EXPORT)
#undef EXPORT

/* ---- fake_cudnn.c ---- */

extern fake_cudnn_plan fake_cudnn_planned;
extern fake_cudnn_report fake_cudnn_state;

void fake_cudnn_lock(void);
void fake_cudnn_unlock(const int *entered);
/* Holds the lock to the end of the function. */
#define HOLD                                                                                       \
  __attribute__((cleanup(fake_cudnn_unlock))) int entered_ = (fake_cudnn_lock(), 0);               \
  (void)entered_

/* Counts a call of the library. Returns the error that the test has planned for this call, or
 * success. */
cudnn_status fake_cudnn_called(const char *name);
#define ENTER(name)                                                                                \
  HOLD;                                                                                            \
  cudnn_status planned_ = fake_cudnn_called(name);                                                 \
  if (planned_)                                                                                    \
  return planned_

/* What a correct program never does. */
cudnn_status fake_cudnn_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What it has no kernel for. */
cudnn_status fake_cudnn_refuse(const char *why);

/* ---- fake_cudnn_descriptor.c ---- */

/* NULL: the attribute is not set. */
const fake_attribute *fake_cudnn_find(const fake_descriptor *d, int name);
fake_graph fake_cudnn_graph_of(const fake_descriptor *d);

#endif
