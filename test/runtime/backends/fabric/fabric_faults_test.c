/* Tests messages of backend fabric that fail in libfabric, or arrive with another size, while both
 * ranks live: with faulty_fabric.c in place of libfabric. */
#define _GNU_SOURCE 1
#include "test/runtime/bootstrap/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_other_size),
                                     cmocka_unit_test(test_failed_message)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
