/* Tests the choice of the GEMM implementation: pinned, measured and cached, or the default. A
 * choice applies to a process, so each case runs this program as a new process. With the argument
 * "tell", it enters a program and prints the report line or the error. */
#define _GNU_SOURCE 1
#include "cpu/gemm_choice.h"
#include "test/runtime/harness/harness.h"
#include "test/runtime/harness/table.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int tell(void) {
  tprt_comm *comm = NULL;
  tprt_context *context;
  tprt_config config = {.size = sizeof config, .backend = "self"};
  tprt_status status = tprt_world_create(1, 0, &config, &comm);
  if (!status)
    status = tprt_context_create(comm, NULL, &context);
  if (status) {
    printf("%s", tprt_last_error());
    tprt_comm_destroy(comm);
    return 1;
  }
  if (*tprt_context_gemm(context))
    return 2;
  float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, c[4];
  test_table program = table_make(0, NULL);
  const int64_t words[] = {2, 2, 0, 2, 2, 0, 1, 1, 2, 1, 2, 0};
  table_contract(&program, TPRT_F32, 3, words)->dim = 1;
  if (tprt_abi_enter(context, program.words) || tprt_abi_contract(context, 0, a, b, c))
    return 3;
  printf("%g: %s", (double)c[0], tprt_context_gemm(context));
  tprt_context_destroy(context);
  tprt_comm_destroy(comm);
  table_free(&program);
  return 0;
}

/* ---- Processes ---- */

static char text[1024];

/* Starts a process with `environment`, which lists names and values in turn; the result is its
 * output. */
static FILE *start(const char *const *environment, pid_t *child) {
  int ends[2];
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  *child = fork();
  assert_true(*child >= 0);
  if (*child == 0) {
    dup2(ends[1], 1);
    unsetenv("TPRT_GEMM");
    unsetenv("TPRT_BLAS_LIBRARY");
    setenv("TPRT_BLAS_THREADS", "2", 1);
    for (; *environment; environment += 2) {
      if (environment[1]) {
        setenv(environment[0], environment[1], 1);
      } else {
        unsetenv(environment[0]);
      }
    }
    execl("/proc/self/exe", "gemm_choice", "tell", (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  return fdopen(ends[0], "r");
}

static int finish(FILE *from, pid_t child) {
  int status;
  size_t n = fread(text, 1, sizeof text - 1, from);
  text[n] = 0;
  fclose(from);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

#define RUN(...) run((const char *const[]){__VA_ARGS__, NULL})
static int run(const char *const *environment) {
  pid_t child;
  FILE *from = start(environment, &child);
  return finish(from, child);
}

#define EXPECT(expected)                                                                           \
  do {                                                                                             \
    if (!strstr(text, expected))                                                                   \
      fail_msg("\"%s\" has no \"%s\"", text, expected);                                            \
  } while (0)

/* ---- Cache ---- */

static char cache[64], folder[96];

static int make_cache(void **state) {
  (void)state;
  snprintf(cache, sizeof cache, "/tmp/tprt-choice-XXXXXX");
  snprintf(folder, sizeof folder, "%s/tpshard", mkdtemp(cache) ? cache : "");
  return *folder == '/' && folder[1] == 't' ? 0 : 1;
}

/* Counts the files in the cache; `path` is that of the last one. */
static int files(char *path, size_t size) {
  DIR *d = opendir(folder);
  int n = 0;
  for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
    if (*e->d_name == '.')
      continue;
    if (path)
      snprintf(path, size, "%s/%s", folder, e->d_name);
    n++;
  }
  if (d)
    closedir(d);
  return n;
}

static int remove_cache(void **state) {
  (void)state;
  char path[512];
  while (files(path, sizeof path) > 0 && unlink(path) == 0)
    continue;
  rmdir(folder);
  rmdir(cache);
  return 0;
}

static void read_file(const char *path, char *to, size_t size) {
  FILE *f = fopen(path, "r");
  assert_non_null(f);
  to[fread(to, 1, size - 1, f)] = 0;
  fclose(f);
}

static void write_file(const char *path, const char *from) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(from, f);
  fclose(f);
}

/* ---- Tests ---- */

static void test_pin(void **state) {
  (void)state;
  assert_int_equal(RUN("TPRT_GEMM", "built-in"), 0);
  EXPECT("19: built-in (pinned by TPRT_GEMM)");
  assert_int_equal(RUN("TPRT_GEMM", "openblas", "TPRT_BLAS_LIBRARY", FAKE_BLAS), 0);
  EXPECT("0: openblas (pinned by TPRT_GEMM)");
  assert_int_equal(RUN("TPRT_GEMM", "eigen"), 1);
  EXPECT("TPRT_GEMM is \"eigen\"; it must be auto, built-in or openblas");
  assert_int_equal(RUN("TPRT_GEMM", "openblas", "TPRT_BLAS_LIBRARY", "/dev/null"), 1);
  EXPECT("TPRT_BLAS_LIBRARY: /dev/null cannot be loaded");
  if (RUN("TPRT_GEMM", "openblas") == 1)
    EXPECT("TPRT_GEMM=openblas: libopenblas.so.0 cannot be loaded");
}

static void test_measured(void **state) {
  (void)state;
  assert_int_equal(RUN("XDG_CACHE_HOME", cache, "TPRT_BLAS_LIBRARY", FAKE_BLAS), 0);
  EXPECT("0: openblas (measured, time of openblas relative to built-in 0.");
  assert_int_equal(files(NULL, 0), 1);
  /* A library whose results depend on how a GEMM is split is never chosen, however fast. */
  assert_int_equal(RUN("XDG_CACHE_HOME", cache, "TPRT_BLAS_LIBRARY", CUTTING_BLAS), 0);
  EXPECT("19: built-in (measured, time of openblas relative to built-in 0.");
  EXPECT("* (f64); *: openblas results change bitwise if a GEMM is split)");
  assert_int_equal(files(NULL, 0), 2); /* another library has another key */
  assert_int_equal(
      RUN("XDG_CACHE_HOME", cache, "TPRT_BLAS_LIBRARY", FAKE_BLAS, "TPRT_BLAS_THREADS", "1"), 0);
  assert_int_equal(files(NULL, 0), 3);
}

/* A cached choice is used; an untrusted one is measured again and replaced. */
static void test_kept(void **state) {
  (void)state;
  char path[512], whole[2048], changed[2048];
  assert_int_equal(RUN("XDG_CACHE_HOME", cache, "TPRT_BLAS_LIBRARY", FAKE_BLAS), 0);
  assert_int_equal(files(path, sizeof path), 1);
  read_file(path, whole, sizeof whole);
  char *line = strchr(strstr(whole, "threads"), '\n');
  int head = (int)(line - whole);
  snprintf(changed, sizeof changed, "%.*s\n8 2 301 302 303 304\nend\n", head, whole);
  write_file(path, changed);
  assert_int_equal(RUN("XDG_CACHE_HOME", cache, "TPRT_BLAS_LIBRARY", FAKE_BLAS), 0);
  EXPECT(
      "19: openblas for f64, else built-in (measured, time of openblas relative to built-in 3.01 "
      "(f32, "
      "k <= 128), 3.02* (f32), "
      "3.03 (f64, k <= 128), 3.04 (f64); *: openblas results change bitwise if a GEMM is split)");
  static const char *const wrong[] = {"\n8 8 1 1 1 1\nend\n",
                                      "\n10 0 1 1 1 1\nend\n",
                                      "\n0 0 1 1 1\nend\n",
                                      "\n0 0 1 1 1 1\n",
                                      "\n0 0 1 1 1 1\nend\nmore",
                                      "",
                                      "\n",
                                      "0\n0 0 1 1 1 1\nend\n"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    snprintf(changed, sizeof changed, "%.*s%s", head, whole, wrong[i]);
    write_file(path, changed);
    assert_int_equal(RUN("XDG_CACHE_HOME", cache, "TPRT_BLAS_LIBRARY", FAKE_BLAS), 0);
    EXPECT("0: openblas (measured");
    assert_int_equal(files(NULL, 0), 1);
    read_file(path, changed, sizeof changed);
    assert_non_null(strstr(changed, "\nend\n"));
    assert_non_null(strstr(changed, "\nf 0 "));
  }
  if (geteuid() == 0) { /* owned by another user */
    snprintf(changed, sizeof changed, "%.*s\n0 0 301 302 303 304\nend\n", head, whole);
    write_file(path, changed);
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_int_equal(RUN("XDG_CACHE_HOME", cache, "TPRT_BLAS_LIBRARY", FAKE_BLAS), 0);
    EXPECT("0: openblas (measured");
  }
  assert_int_equal(unlink(path), 0); /* not a regular file */
  assert_int_equal(symlink("/dev/zero", path), 0);
  assert_int_equal(RUN("XDG_CACHE_HOME", cache, "TPRT_BLAS_LIBRARY", FAKE_BLAS), 0);
  EXPECT("0: openblas (measured");
}

/* A library whose parts differ from the whole in the rounding of f64 alone: with probes whose sums
 * are exact it would pass. */
static void test_rounding(void **state) {
  (void)state;
  enum { F64_CLASSES = 0xc };
  char path[512], kept[2048];
  unsigned library, changes;
  assert_int_equal(RUN("XDG_CACHE_HOME", cache, "TPRT_BLAS_LIBRARY", ROUNDING_BLAS), 0);
  assert_int_equal(files(path, sizeof path), 1);
  read_file(path, kept, sizeof kept);
  const char *end = strstr(kept, "\nend");
  assert_non_null(end);
  while (end > kept && end[-1] != '\n')
    end--;
  assert_int_equal(sscanf(end, "%x %x", &library, &changes), 2);
  assert_int_equal(changes & F64_CLASSES, F64_CLASSES);
  assert_int_equal(library & F64_CLASSES, 0);
}

static void test_not_kept(void **state) {
  (void)state;
  static const char *const places[][2] = {
      {"/dev/null/none", "/"}, {NULL, NULL}, {"relative", "relative"}, {NULL, "/dev/null"}};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    assert_int_equal(RUN("TPRT_BLAS_LIBRARY", CUTTING_BLAS, "XDG_CACHE_HOME", places[i][0], "HOME",
                         places[i][1]),
                     0);
    EXPECT("19: built-in (default, there is no cache directory to store a measurement)");
  }
  if (tprt__gemm_vectors() != TPRT__PLAIN) {
    assert_int_equal(RUN("TPRT_BLAS_LIBRARY", FAKE_BLAS, "XDG_CACHE_HOME", "/dev/null/none"), 0);
    EXPECT("19: built-in (default, there is no cache directory to store a measurement)");
  }
}

/* Several processes that measure first all use the choice that one of them wrote. */
static void test_at_once(void **state) {
  (void)state;
  enum { N = 4 };
  FILE *from[N];
  pid_t children[N];
  char first[sizeof text] = "";
  for (int i = 0; i < N; i++)
    from[i] = start(
        (const char *const[]){"XDG_CACHE_HOME", cache, "TPRT_BLAS_LIBRARY", CUTTING_BLAS, NULL},
        &children[i]);
  for (int i = 0; i < N; i++) {
    assert_int_equal(finish(from[i], children[i]), 0);
    if (!*first)
      memcpy(first, text, sizeof first);
    assert_string_equal(text, first);
  }
  assert_int_equal(files(NULL, 0), 1);
}

static void test_ranks(void **state) {
  (void)state;
  tprt__gemm_choice mixed = {
      .library = 2, .changes = 4, .why = TPRT__GEMM_MEASURED, .percent = {1, 60, 65535, 100}};
  uint64_t words[3][TPRT__GEMM_WORDS] = {{77}, {77}, {77}};
  tprt__gemm_encode(&mixed, 77, words[0]);
  tprt__gemm_choice agreed = tprt__gemm_agree(3, words[0]);
  assert_memory_equal(agreed.percent, mixed.percent, sizeof mixed.percent);
  assert_true(agreed.library == 2 && agreed.changes == 4 && agreed.why == TPRT__GEMM_MEASURED);
  words[2][0] = 78;
  agreed = tprt__gemm_agree(3, words[0]);
  tprt__gemm_describe(&agreed, text, sizeof text);
  EXPECT("built-in (default, the ranks use different libraries)");
  words[0][1] = 0; /* irrelevant with different kernels */
  agreed = tprt__gemm_agree(3, words[0]);
  assert_true(agreed.library == 0 && agreed.why == TPRT__GEMM_MEASURED);
  const tprt__gemm_choice alone = {.why = TPRT__GEMM_NO_LIBRARY};
  tprt__gemm_describe(&alone, text, sizeof text);
  EXPECT("built-in (default, openblas is not available)");
  for (size_t size = 1; size < 300; size += 7) { /* truncated, and whole strings */
    tprt__gemm_describe(&mixed, text, size);
    assert_true(strlen(text) < size);
  }
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "tell") == 0)
    return tell();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pin),
      cmocka_unit_test_setup_teardown(test_measured, make_cache, remove_cache),
      cmocka_unit_test_setup_teardown(test_kept, make_cache, remove_cache),
      cmocka_unit_test_setup_teardown(test_rounding, make_cache, remove_cache),
      cmocka_unit_test(test_not_kept),
      cmocka_unit_test_setup_teardown(test_at_once, make_cache, remove_cache),
      cmocka_unit_test(test_ranks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
