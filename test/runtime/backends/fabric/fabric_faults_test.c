/* Tests messages of backend fabric that fail in libfabric, or arrive with another size, while both
 * ranks live: with faulty_fabric.c in place of libfabric. */
#define _GNU_SOURCE 1
#include "test/runtime/bootstrap/stores.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 2, FAULTY = 1, ELEMENTS = 3000 };

typedef struct fault {
  char address[128];
  const char *name, *text;
  tprt_status status;
} fault;

/* Rank 1 gets the error of its messages, and rank 0 is told the same status. */
static int plays(int number, void *argument) {
  const fault *f = argument;
  static int32_t data[ELEMENTS];
  int errors = 0;
  tprt_store *store;
  tprt_comm *comm = store_open_world(f->address, "fabric", N, number, &store, &errors);
  if (!errors)
    CHECK_STATUS(errors,
                 tprt_all_reduce(comm, data, data, ELEMENTS, TPRT_I32, TPRT_SUM, NULL, NULL),
                 TPRT_OK);
  if (errors)
    return errors;
  double begin = test_seconds();
  if (number == FAULTY)
    setenv("FAULTY_FABRIC", f->name, 1);
  CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, ELEMENTS, TPRT_I32, TPRT_SUM, NULL, NULL),
               f->status);
  CHECK(errors, number != FAULTY || strstr(tprt_last_error(), f->text));
  CHECK(errors, test_seconds() - begin < 10);
  if (errors)
    fprintf(stderr, "rank %d: %s\n", number, tprt_last_error());
  unsetenv("FAULTY_FABRIC");
  tprt_comm_destroy(comm);
  tprt_store_destroy(store);
  return errors;
}

static void check_fault(fault f) {
  int how[N];
  setenv("TPRT_FABRIC_LIBRARY", FAULTY_LIBRARY, 1);
  store_make_address(STORE_UNIX, f.address, sizeof f.address);
  assert_int_equal(store_run_ranks(N, plays, &f, how), 0);
}

static void test_other_size(void **state) {
  (void)state;
  check_fault((fault){.name = "size",
                      .status = TPRT_INTERNAL,
                      .text = "backend fabric: rank 0 sent another number of bytes than the"});
}

static void test_failed_message(void **state) {
  (void)state;
  check_fault((fault){.name = "error",
                      .status = TPRT_SYSTEM,
                      .text = "backend fabric: a message from rank 0 failed: "});
}

/* ---- a rank that ends while another one says farewell ---- */

static _Atomic long n_alive;

static void *count_allocation(void *user, size_t bytes) {
  (void)user;
  atomic_fetch_add(&n_alive, 1);
  return malloc(bytes);
}

static void count_release(void *user, void *memory) {
  (void)user;
  atomic_fetch_sub(&n_alive, 1);
  free(memory);
}

/* Rank 0 cannot send its farewell to rank 1, which ends, while it waits for rank 2. */
static int says_farewell(int number, void *argument) {
  enum { RANKS = 3, LEAVER = 0, DEAD = 1, SOON_US = 50000, LATER_US = 300000 };
  const tprt_allocator allocator = {count_allocation, count_release, NULL};
  const fault *f = argument;
  int32_t value = 1;
  int errors = 0;
  tprt_store *store;
  tprt_set_allocator(&allocator);
  tprt_comm *comm = store_open_world(f->address, "fabric", RANKS, number, &store, &errors);
  if (!errors)
    CHECK_STATUS(errors, tprt_all_reduce(comm, &value, &value, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
                 TPRT_OK);
  if (errors)
    return errors;
  if (number != LEAVER)
    usleep(number == DEAD ? SOON_US : LATER_US);
  if (number == DEAD)
    _exit(0);
  if (number == LEAVER)
    setenv("FAULTY_FABRIC", "busy", 1);
  tprt_comm_destroy(comm);
  unsetenv("FAULTY_FABRIC");
  tprt_store_destroy(store);
  CHECK(errors, n_alive == 0);
  return errors;
}

static void test_farewell(void **state) {
  fault f = {.name = "busy"};
  (void)state;
  setenv("TPRT_FABRIC_LIBRARY", FAULTY_LIBRARY, 1);
  store_make_address(STORE_UNIX, f.address, sizeof f.address);
  assert_int_equal(store_run_ranks(3, says_farewell, &f, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_other_size),
                                     cmocka_unit_test(test_failed_message),
                                     cmocka_unit_test(test_farewell)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
