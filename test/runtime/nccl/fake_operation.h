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

/* A split of a communicator, for which all its ranks meet. */
typedef struct partition {
  struct partition *next;
  long number;
  int n_called, n_left;
  int colors[MOST_RANKS], keys[MOST_RANKS];
  uint64_t first_id; /* of its groups, by color; 0: not all have called yet */
} partition;

/* The communicators of all ranks that have one id. */
typedef struct clique {
  struct clique *next;
  nccl_id id;
  int n_ranks, n_joined, references;
  bool joined[MOST_RANKS];
  meeting *meetings;
  partition *partitions;
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
  clique *clique; /* NULL: of a split that was aborted */
  int rank, device;
  bool aborted, hangs;
  int64_t ready_at;
  long n_collectives;
  int n_answers; /* polls that still count as calls, since something was begun */
  launch *unlaunched;
  int n_tasks; /* in streams */
  long n_splits;
  partition *splitting; /* NULL: not now */
  bool split_hangs;
  int64_t split_at; /* not before */
  nccl_comm *split_to;
  bool has_factor[MOST_FACTORS];
  unsigned char factors[MOST_FACTORS][FACTOR_BYTES];
};

/* The functions of NCCL, under the names of the library. */
#define EXPORT(member, symbol, parameters) extern nccl_result nccl_##member parameters __asm__(symbol) TPRT_API;
NCCL_CALLS(EXPORT)
NCCL_LATER_CALLS(EXPORT)
#undef EXPORT

/* ---- fake_comm.c ---- */
bool fake_is_busy(nccl_comm comm);
/* Counts a violation, and gives the lock back. */
nccl_result fake_fail(nccl_result result, const char *what);
int64_t fake_soon(void);
enum { FAKE_N_ANSWERS = 2 }; /* polls that count as calls: one right behind the call, one while the device works */
/* A rank of the communicators with this id; it is ready when all have joined. */
nccl_comm fake_make_comm(const nccl_id *id, int n_ranks, int rank, int device);

/* ---- fake_split.c ---- */
/* Ends a split that can: the child is where the caller wants it. */
void fake_try_split(nccl_comm comm);
/* Ends a split of what is aborted: the caller gets something that it has to abort. */
void fake_break_split(nccl_comm comm);

/* ---- fake_operation.c ---- */
/* In the thread of the stream: a launch, which it ends. */
void fake_run_launch(void *data);
/* With the lock: a communicator that was aborted goes when nothing of it is in a stream. */
void fake_release_comm(nccl_comm comm);

#endif
