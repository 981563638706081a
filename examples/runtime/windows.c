/* A work queue without a server: rank 0 puts a task into the memory of each other rank and signals
 * it; they answer in place. */
#include "ranks.h"

static void *play(void *argument) {
  tprt_comm *comm = argument;
  void *memory;
  tprt_window *window;
  expect(tprt_mem_alloc(comm, 2 * sizeof(int), &memory));
  expect(tprt_window_create(comm, memory, 2 * sizeof(int), &window));
  const int *task = memory;

  if (tprt_comm_rank(comm) == 0) {
    int sum = 0;
    for (int to = 1; to < N_RANKS; to++) {
      int number = 10 * to;
      expect(tprt_window_put(window, to, 0, &number, sizeof number));
      /* what was put before is there for who waits for the signal */
      expect(tprt_window_signal(window, to));
    }
    for (int from = 1; from < N_RANKS; from++) {
      int answer;
      expect(tprt_window_wait_signal(window, from, 1, 0));
      expect(tprt_window_get(window, from, sizeof(int), &answer, sizeof answer));
      sum += answer;
    }
    printf("the squares of 10, 20 and 30 add up to %d\n", sum);
  } else {
    expect(tprt_window_wait_signal(window, 0, 1, 0));
    ((int *)memory)[1] = task[0] * task[0];
    expect(tprt_window_signal(window, 0));
  }
  expect(tprt_window_destroy(window)); /* returns when nobody uses it any more */
  tprt_mem_free(comm, memory);
  return NULL;
}

int main(void) {
  run_ranks(play);
  return 0;
}
