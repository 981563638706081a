/* Communicators of fake NCCL, and operations in flight. */
#ifndef TPRT_TEST_FAKE_OPERATION_H
#define TPRT_TEST_FAKE_OPERATION_H

#include "fake_inside.h"

#include <sys/types.h>

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
  nccl_reduction reduction; /* FIRST_FACTOR: uses the factor below */
  unsigned char factor[FACTOR_BYTES];
  int peer;    /* peer or root */
  long number; /* number of the collective on its communicator */
  bool hangs;
  enum { POSTED, MOVING, DONE } state; /* state of transfers */
  struct operation *next;              /* in the list of its pair of ranks */
  bool is_copy;                        /* of data that is on its way to another rank */
} operation;

/* A collective operation at which ranks synchronize. */
typedef struct meeting {
  struct meeting *next;
  long number;
  int n_arrived, n_left;
  bool broken, running, done;
  operation *of[MOST_RANKS]; /* of a rank that has left already: a copy, with its data */
} meeting;

/* A call that synchronizes all ranks of a communicator: a split or a window. */
typedef struct gathering {
  struct gathering *next;
  long number;
  bool is_window;
  int n_called, n_left;
  int colors[MOST_RANKS], keys[MOST_RANKS];
  size_t bytes;      /* of the window */
  uint64_t first_id; /* of the groups of a split, by color */
} gathering;

/* A communicator's part of a window. */
typedef struct fake_window {
  struct fake_window *next;
  char *at;
} fake_window;

/* The communicators of all ranks with one id. */
typedef struct clique {
  struct clique *next;
  nccl_id id;
  int n_ranks, n_joined, references;
  bool joined[MOST_RANKS];
  /* which ranks have begun a collective, and transfers with which rank: the first ones connect the
   * ranks, and wait for each other on the host */
  bool met[MOST_RANKS], talked[MOST_RANKS][MOST_RANKS];
  bool ended[MOST_RANKS]; /* has finalized, or was aborted */
  pid_t process[MOST_RANKS];
  int n_sent[MOST_RANKS]; /* data of a rank that is on its way to others */
  meeting *meetings;
  gathering *gatherings;
  /* by source and destination, oldest first */
  operation *sends[MOST_RANKS][MOST_RANKS], *receives[MOST_RANKS][MOST_RANKS];
} clique;

/* The operations of one group on one communicator and stream. */
typedef struct launch {
  struct launch *next;
  nccl_comm comm;
  cuda_stream stream;
  int64_t at; /* earliest time */
  bool captured;
  int n;
  operation operations[];
} launch;

struct ncclComm {
  clique *clique; /* NULL: from an aborted split */
  int rank, device;
  bool aborted, finalized, hangs;
  bool ended;           /* the call that ends it has returned */
  int n_captured_alive; /* its operations in captures and graphs */
  int64_t ready_at;
  /* numbers of collectives; those in graphs are negative, whenever they are launched */
  long n_collectives, n_captured;
  int n_answers; /* polls that still count as calls since the last operation began */
  launch *unlaunched;
  int n_tasks; /* tasks in streams */
  long n_gatherings;
  gathering *gathers; /* NULL: none in progress */
  bool gathering_hangs;
  int64_t gathered_at; /* earliest time */
  void *gathered_to;   /* where the caller wants the result */
  char *window;        /* memory that becomes a window */
  fake_window *windows;
  bool has_factor[MOST_FACTORS];
  unsigned char factors[MOST_FACTORS][FACTOR_BYTES];
};

/* Checks and reports the configuration of a communicator. Fields that the version does not have
 * must not be there. */
bool fake_take_config(const nccl_config *config);

/* NCCL functions, under the names of the library. */
#define EXPORT(member, symbol, parameters)                                                         \
  extern nccl_result nccl_##member parameters __asm__(symbol) TPRT_API;
NCCL_CALLS(EXPORT)
NCCL_LATER_CALLS(EXPORT)
#undef EXPORT

/* ---- fake_comm.c ---- */
bool fake_is_busy(nccl_comm comm);
/* Counts a violation and releases the lock. */
nccl_result fake_fail(nccl_result result, const char *what);
int64_t fake_soon(void);
/* polls that count as calls: one right after the call, one while the device works */
enum { FAKE_N_ANSWERS = 2 };
/* Creates a rank of the communicators with this id; it is ready when all have joined. */
nccl_comm fake_make_comm(const nccl_id *id, int n_ranks, int rank, int device);

/* ---- fake_manage.c ---- */
/* Completes a call that all ranks have made: writes the result where the caller wants it. */
void fake_try_gathering(nccl_comm comm);
/* Completes an aborted call: a split returns a child that must be aborted; windows are removed. */
void fake_break_gathering(nccl_comm comm);

/* ---- fake_operation.c ---- */
/* Execute a launch, in the stream's thread; and end it, with the lock held. */
void fake_run_launch(void *data);
void fake_end_launch(void *data);
/* Drops the data of an aborted communicator that is on its way to other ranks. With the lock
 * held. */
void fake_lose_data(nccl_comm comm);
/* Frees a communicator that has ended when none of its work is in a stream. With the lock held. */
void fake_release_comm(nccl_comm comm);

#endif
