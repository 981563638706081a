/* Communicators of the fake, and operations on their way. */
#ifndef TPRT_TEST_FAKE_OPERATION_H
#define TPRT_TEST_FAKE_OPERATION_H

#include "fake_inside.h"

enum { MOST_RANKS = 64, MOST_FACTORS = 8, FACTOR_BYTES = 8, FIRST_FACTOR = 5 };

typedef enum op_kind {
  ALL_REDUCE = 1,
  REDUCE,
  REDUCE_SCATTER,
  ALL_GATHER,
  BROADCAST,
  ALL_TO_ALL,
  GATHER,
  SCATTER,
  SEND,
  RECEIVE
} op_kind;

typedef struct operation {
  op_kind kind;
  const void *send;
  void *recv;
  size_t count;
  nccl_type type;
  nccl_reduction reduction; /* FIRST_FACTOR: with the factor below */
  unsigned char factor[FACTOR_BYTES];
  int peer;    /* or root */
  long number; /* of the collective on its communicator */
  bool hangs;
  enum { POSTED, MOVING, DONE } state; /* of transfers */
  struct operation *next;              /* in the list of its pair of ranks */
} operation;

/* A collective operation in which ranks meet. */
typedef struct meeting {
  struct meeting *next;
  long number;
  int n_arrived, n_left;
  bool broken, running, done;
  operation *of[MOST_RANKS];
} meeting;

/* The communicators of all ranks that have one id. */
typedef struct clique {
  struct clique *next;
  nccl_id id;
  int n_ranks, n_joined, references;
  bool joined[MOST_RANKS];
  meeting *meetings;
  operation *sends[MOST_RANKS][MOST_RANKS], *receives[MOST_RANKS][MOST_RANKS]; /* by source and destination, oldest first */
} clique;

/* The operations of one group on one communicator and stream. */
typedef struct launch {
  struct launch *next;
  nccl_comm comm;
  cuda_stream stream;
  int64_t at; /* not before */
  int n;
  operation operations[];
} launch;

struct ncclComm {
  clique *clique;
  int rank, device;
  bool aborted, hangs;
  int64_t ready_at;
  long n_collectives;
  int n_answers; /* polls that still count as calls, since something was begun */
  launch *unlaunched;
  int n_tasks; /* in streams */
  bool has_factor[MOST_FACTORS];
  unsigned char factors[MOST_FACTORS][FACTOR_BYTES];
};

/* In the thread of the stream: a launch, which it ends. */
void fake_run_launch(void *data);
/* With the lock: a communicator that was aborted goes when nothing of it is in a stream. */
void fake_release_comm(nccl_comm comm);

#endif
