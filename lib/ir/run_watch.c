/* Keeps the watch of the process, and the progress of the pass of each thread. */
#include "ir/run_watch.h"

#include "ir/run_hooks.h"

#include <stdatomic.h>
#include <stdint.h>

enum { CALLS = 16 /* of tp__watch_ends for one look at the clock */ };
static const int64_t ns_between = 50 * 1000 * 1000;

static tp_watch *watch;
static void *watch_data;
static atomic_flag is_watching = ATOMIC_FLAG_INIT;

typedef struct run_state {
  tp_progress progress;
  bool is_ended; /* the watch has ended the search of this pass */
  unsigned calls;
  int64_t next; /* when the watch is asked again */
} run_state;

static _Thread_local run_state state;

void tp_watch_set(tp_watch *given, void *data) {
  watch = given;
  watch_data = data;
}

bool tp__is_watched(void) { return watch; }

/* While the watch is busy with another thread, this one goes on. */
static void ask(void) {
  if (atomic_flag_test_and_set(&is_watching))
    return;
  state.is_ended |= watch(watch_data, &state.progress) != 0;
  atomic_flag_clear(&is_watching);
}

void tp__watch_pass(const char *pass) {
  if (!watch)
    return;
  state = (run_state){.progress = {.size = sizeof state.progress,
                                   .pass = pass,
                                   .phase = "",
                                   .cost = -1,
                                   .bound = -1,
                                   .left = -1}};
  ask();
}

void tp__watch_phase(const char *phase) {
  state.progress.phase = phase;
  state.progress.cost = state.progress.bound = state.progress.left = -1;
}

void tp__watch_plan(double cost, double bound) {
  state.progress.cost = cost >= 0 ? cost : state.progress.cost;
  state.progress.bound = bound >= 0 ? bound : state.progress.bound;
}

void tp__watch_diagnostic(void) {
  if (!watch)
    return;
  state.progress.is_diagnostic = 1;
  ask();
  state.progress.is_diagnostic = 0;
}

void tp__watch_left(double seconds) { state.progress.left = seconds; }

bool tp__watch_ends(void) {
  if (!watch || !state.progress.pass || state.is_ended || state.calls++ % CALLS != 0)
    return state.is_ended;
  int64_t time = tp__run_now_ns();
  if (time >= state.next) {
    state.next = time + ns_between;
    ask();
  }
  return state.is_ended;
}
