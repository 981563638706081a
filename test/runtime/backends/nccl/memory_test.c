/* Tests backend nccl when host memory runs out: every allocation fails in turn. The backend must
 * not crash, hang or leak, and a rank that fails reports the reason. */
#define _GNU_SOURCE 1
#include "everything.h"
#include "test/runtime/harness/cases.h"
#include "tprt/nccl.h"

#include <stdatomic.h>
#include <stdlib.h>

static _Atomic long n_allocations, n_alive, fail_at;

static void *allocate(void *user, size_t bytes) {
  (void)user;
  if (atomic_fetch_add(&n_allocations, 1) == atomic_load(&fail_at))
    return NULL;
  void *made = malloc(bytes);
  atomic_fetch_add(&n_alive, made != NULL);
  return made;
}

static void release(void *user, void *memory) {
  (void)user;
  atomic_fetch_sub(&n_alive, memory != NULL);
  free(memory);
}

/* `step`: tests every step-th allocation. */
static long sweep(int step, int delay_us) {
  long i = 0;
  for (bool failed = true; failed; i += step) {
    everything result;
    take_buffers(N_EVERYTHING);
    machine_begin((fake_plan){.most_delay_us = delay_us});
    atomic_store(&n_allocations, 0);
    atomic_store(&fail_at, i);
    run_everything(INT64_C(20000000000), &result);
    fake_report report = machine_look();
    give_buffers(N_EVERYTHING);
    if (report.n_violations)
      fail_msg("allocation %ld: %s", i, report.violation);
    machine_expect_clean();
    assert_int_equal(atomic_load(&n_alive), 0);
    failed = atomic_load(&n_allocations) > i;
    assert_true(failed || !result.n_failed);
  }
  return i;
}

static void test_every_allocation(void **state) {
  (void)state;
  const tprt_allocator allocator = {allocate, release, NULL};
  tprt_set_allocator(&allocator);
  long n = sweep(1, 0);
  sweep(cases_are_long() ? 1 : 7, 50);
  tprt_set_allocator(NULL);
  print_message("%ld allocations failed in turn\n", n);
  assert_true(n > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation)};
  machine_start();
  tprt_nccl_info info;
  if (tprt_nccl_probe(&info)) /* loads the libraries once, before allocations are counted */
    return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
