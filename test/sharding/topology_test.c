/* Tests topology files: contents, search, and every error message. */
#include "tp/cost.h"

#include "simulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_TEXT = 8192 };

static const char good[] =
    /* 1 */
    "{\n"
    /* 2 */
    "  \"schema\": \"tpshard.topology/1\",\n"
    /* 3 */
    "  \"name\": \"toy\",\n"
    /* 4 */
    "  \"source\": \"made up\",\n"
    /* 5 */
    "  \"device\": {\n"
    /* 6 */
    "    \"gflops\": {\"f32\": 100, \"f16\": 400},\n"
    /* 7 */
    "    \"elementwise_gops\": 2,\n"
    /* 8 */
    "    \"memory_gbytes_per_s\": 10,\n"
    /* 9 */
    "    \"memory_bytes\": 1000000000,\n"
    /* 10 */
    "    \"launch_us\": 3,\n"
    /* 11 */
    "    \"efficiency\": 0.5\n"
    /* 12 */
    "  },\n"
    /* 13 */
    "  \"levels\": [\n"
    /* 14 */
    "    {\"devices\": 4, \"doubling_us\": 1, \"lines\": [\n"
    /* 15 */
    "      {\"kinds\": [\"all_gather\", \"reduce_scatter\", \"all_reduce\"], \"n\": 2,\n"
    /* 16 */
    "       \"alpha_us\": 5, \"gbytes_per_s\": 40, \"latency\": {\"alpha_us\": 2, "
    "\"gbytes_per_s\": 1}},\n"
    "      {\"kinds\": [\"all_to_all\", \"permute\", \"broadcast\"], \"n\": 2, \"alpha_us\": 6, "
    "\"gbytes_per_s\": 30}]},\n"
    "    {\"devices\": 16, \"doubling_us\": 2, \"lines\": [\n" /* 18 */
    "      {\"kinds\": [\"all_gather\", \"reduce_scatter\", \"all_reduce\", \"all_to_all\", "
    "\"permute\", \"broadcast\"],\n"
    "       \"n\": 2, \"alpha_us\": 50, \"gbytes_per_s\": 4}]}\n" /* 20 */
    "  ]\n"
    "}\n";

/* Writes `good` with the first occurrence of `from` replaced by `to`. */
static void edit(const char *from, const char *to, char *text) {
  const char *at = strstr(good, from);
  assert_non_null(at);
  snprintf(text, MAX_TEXT, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
}

static void expect(const char *text, tp_status status, const char *message) {
  char why[1024] = "";
  tp_machine *machine = NULL;
  tp_status got = tp_machine_parse("toy.json", text, strlen(text), why, sizeof why, &machine);
  if (got != status || !strstr(why, message))
    fail_msg("expected %d \"%s\", got %d \"%s\"", status, message, got, why);
  assert_null(machine);
  /* without a buffer for the message */
  assert_int_equal(tp_machine_parse("toy.json", text, strlen(text), NULL, 0, &machine), status);
}

static void wrong_files(void **state) {
  (void)state;
  static const struct {
    const char *from, *to, *message;
  } cases[] = {
      {"\"name\": \"toy\",", "", "toy.json:1: the file: the key \"name\" is missing"},
      {"  \"schema\": \"tpshard.topology/1\",\n", "",
       "toy.json:1: the file: the key \"schema\" is missing; a topology begins with {\"schema\": "
       "\"tpshard.topology/1\", \"name\": ..."},
      {"topology/1", "topology/2",
       "toy.json:2: schema: expected \"tpshard.topology/1\", found \"tpshard.topology/2\""},
      {"\"toy\"", "7", "toy.json:3: name: expected a text, found a number"},
      {"\"toy\"", "\"\"", "toy.json:3: name: expected a name of 1 to 31 bytes, found one of 0"},
      {"\"toy\"", "\"a name that is much longer than it may be\"",
       "toy.json:3: name: expected a name of 1 to 31 bytes"},
      {"\"source\": \"made up\"", "\"source\": []",
       "toy.json:4: source: expected a text, found a list"},
      {"\"source\": \"made up\"", "\"sauce\": \"made up\"",
       "toy.json:4: sauce: unknown key; known are schema, name, description, source, "
       "certainty, device, levels"},
      {"\"source\": \"made up\"", "\"name\": \"made up\"", "invalid JSON: duplicate object key"},
      {"\"device\": {", "\"device\": 3, \"x\": {", "unknown key"},
      {"\"f32\": 100, ", "", "toy.json:6: device.gflops: the key \"f32\" is missing"},
      {"\"f32\": 100", "\"f32\": -100",
       "toy.json:6: device.gflops.f32: expected a number above 0 and at most 1e15, found -100"},
      {"\"f32\": 100", "\"f32\": 100, \"f48\": 1",
       "toy.json:6: device.gflops.f48: unknown key (did you mean \"f8\"?); known are f32, f64"},
      {"{\"f32\": 100, \"f16\": 400}", "100",
       "toy.json:6: device.gflops: expected an object with a number for f32, f16, ..."},
      {"    \"elementwise_gops\": 2,\n", "",
       "toy.json:5: device: the key \"elementwise_gops\" is missing"},
      {"\"elementwise_gops\": 2", "\"elementwise_gops\": true",
       "toy.json:7: device.elementwise_gops: expected a number above 0"},
      {"\"memory_gbytes_per_s\": 10", "\"memory_gbytes_per_s\": 0",
       "toy.json:8: device.memory_gbytes_per_s: expected a number above 0"},
      {"1000000000", "1.5",
       "toy.json:9: device.memory_bytes: expected a whole number from 1 to 1e15, found 1.5"},
      {"1000000000", "1e16",
       "toy.json:9: device.memory_bytes: expected a whole number from 1 to 1e15, found 1e+16"},
      {"1000000000", "1e999", "toy.json:9: invalid JSON: real number overflow"},
      {"\"launch_us\": 3", "\"launch_us\": null",
       "toy.json:10: device.launch_us: expected a number from 0 to 1e15, found null"},
      {"0.5", "1.01",
       "toy.json:11: device.efficiency: expected a number above 0 and at most 1, found 1.01"},
      {"0.5", "0.5, \"min_gemm_dim\": 0",
       "toy.json:11: device.min_gemm_dim: expected a whole number from 1"},
      {"0.5", "0.5, \"exposed\": 1.5",
       "toy.json:11: device.exposed: expected a number from 0 to 1, found 1.5"},
      {"0.5", "0.5, \"store_gbytes_per_s\": 0",
       "toy.json:11: device.store_gbytes_per_s: expected a number above 0"},
      {"0.5", "0.5, \"contraction_gbytes_per_s\": -1",
       "toy.json:11: device.contraction_gbytes_per_s: expected a number above 0"},
      {"0.5", "0.5, \"processors\": 0",
       "toy.json:11: device.processors: expected a whole number from 1"},
      {"0.5", "0.5, \"flops\": {\"a\": [1, \"}\\\"]\"]}, \"x\": 1",
       "toy.json:11: device.flops: unknown key"},
      {"\"devices\": 4", "\"devices\": 1",
       "toy.json:14: levels[0].devices: expected a whole number of devices, from 2 to 2147483647"},
      {"\"devices\": 4, ", "",
       "toy.json:18: levels[1]: an earlier level has no \"devices\" and so spans all devices"},
      {"\"devices\": 4", "\"devices\": 16",
       "toy.json:18: levels[1]: it has 16 devices, but the level inside it has 16"},
      {"\"devices\": 4", "\"name\": 4, \"devices\": 4",
       "toy.json:14: levels[0].name: expected a text, found a number"},
      {"\"doubling_us\": 1, ", "", "toy.json:14: levels[0]: the key \"doubling_us\" is missing"},
      {"\"doubling_us\": 1", "\"doubling_us\": -1",
       "toy.json:14: levels[0].doubling_us: expected a number from 0 to 1e15, found -1"},
      {"\"lines\": [", "\"lines\": {}, \"more\": [",
       "levels[0].more: unknown key; known are name, devices, doubling_us, lines, "
       "kernels"},
      {"\"kinds\": [\"all_gather\", \"reduce_scatter\", \"all_reduce\"]",
       "\"kinds\": [\"all_gather\", \"reduce_scatter\"]",
       "toy.json:14: levels[0].lines: there is no line of all_reduce"},
      {"\"reduce_scatter\"", "\"reduce_gather\"",
       "toy.json:15: levels[0].lines[0].kinds[1]: expected one of all_gather, reduce_scatter, "
       "all_reduce, all_to_all, permute, "
       "broadcast, "
       "found \"reduce_gather\""},
      {"\"reduce_scatter\"", "4",
       "toy.json:15: levels[0].lines[0].kinds[1]: expected the name of a collective, found a "
       "number"},
      {"\"all_to_all\", \"permute\"", "\"all_gather\", \"permute\"",
       "levels[0].lines[1].kinds[0]: n is 2, but an earlier line of all_gather has n 2; lines of "
       "one kind must be in ascending order of n"},
      {"[\"all_gather\", \"reduce_scatter\", \"all_reduce\"]", "[]",
       "toy.json:15: levels[0].lines[0].kinds: expected a list of all_gather"},
      {"[\"all_gather\", \"reduce_scatter\", \"all_reduce\"]", "\"all\"",
       "levels[0].lines[0].kinds: expected a list of all_gather"},
      {"\"n\": 2,\n", "\"n\": 2.5,\n",
       "toy.json:15: levels[0].lines[0].n: expected a whole number of devices, from 2"},
      {", \"n\": 2,\n", ",", "toy.json:15: levels[0].lines[0]: the key \"n\" is missing"},
      {"\"gbytes_per_s\": 40", "\"gbytes_per_s\": 0",
       "toy.json:16: levels[0].lines[0].gbytes_per_s: expected a number above 0"},
      {"\"alpha_us\": 5", "\"alpha_us\": \"5\"",
       "toy.json:16: levels[0].lines[0].alpha_us: expected a number from 0 to 1e15, found a text"},
      {"{\"alpha_us\": 2, \"gbytes_per_s\": 1}", "[2, 1]",
       "toy.json:16: levels[0].lines[0].latency: expected an object with alpha_us and "
       "gbytes_per_s, found a list"},
      {"\"alpha_us\": 2, \"gbytes_per_s\": 1}", "\"alpha_us\": 2}",
       "levels[0].lines[0].latency: the key \"gbytes_per_s\" is missing"},
      {"\"alpha_us\": 2, \"gbytes_per_s\": 1}", "\"alpha_us\": 2, \"gbytes_per_s\": 0}",
       "levels[0].lines[0].latency.gbytes_per_s: expected a number above 0"},
      {"\"alpha_us\": 2, \"gbytes_per_s\": 1}", "\"beta\": 2}",
       "levels[0].lines[0].latency.beta: unknown key"},
      {"\"n\": 2, \"alpha_us\": 6, \"gbytes_per_s\": 30}]",
       "\"n\": 2, \"alpha_us\": 6, \"gbytes_per_s\": 30}], \"kernels\": 7",
       "levels[0].kernels: expected an object with signal_us, gbytes_per_s, push_bytes and pulls, "
       "found a number"},
      {"\"gbytes_per_s\": 30}]", "\"gbytes_per_s\": 30}], \"kernels\": {\"signal_us\": -1}",
       "levels[0].kernels.signal_us: expected a number from 0 to 1e15, found -1"},
      {"\"gbytes_per_s\": 30}]",
       "\"gbytes_per_s\": 30}], \"kernels\": {\"signal_us\": 1, \"gbytes_per_s\": 0}",
       "levels[0].kernels.gbytes_per_s: expected a number above 0"},
      {"\"gbytes_per_s\": 30}]",
       "\"gbytes_per_s\": 30}], \"kernels\": {\"signal_us\": 1, \"gbytes_per_s\": 1, "
       "\"push_bytes\": \"all\"}",
       "levels[0].kernels.push_bytes: expected a number from 0 to 1e15, found a text"},
      {"\"gbytes_per_s\": 30}]", "\"gbytes_per_s\": 30}], \"kernels\": {\"pushes\": 1}",
       "levels[0].kernels.pushes: unknown key; known are signal_us, gbytes_per_s, "
       "push_bytes, pulls"},
      {"\"gbytes_per_s\": 30}]",
       "\"gbytes_per_s\": 30}], \"kernels\": {\"signal_us\": 1, \"gbytes_per_s\": 1, "
       "\"push_bytes\": 1}",
       "levels[0].kernels: the key \"pulls\" is missing"},
      {"\"gbytes_per_s\": 30}]",
       "\"gbytes_per_s\": 30}], \"kernels\": {\"signal_us\": 1, \"gbytes_per_s\": 1, "
       "\"push_bytes\": 1, \"pulls\": []}",
       "levels[0].kernels.pulls: expected 1 to 8 objects, found 0"},
      {"\"gbytes_per_s\": 30}]",
       "\"gbytes_per_s\": 30}], \"kernels\": {\"signal_us\": 1, \"gbytes_per_s\": 1, "
       "\"push_bytes\": 1, \"pulls\": [8]}",
       "levels[0].kernels.pulls[0]: expected an object with n and bytes, found a number"},
      {"\"gbytes_per_s\": 30}]",
       "\"gbytes_per_s\": 30}], \"kernels\": {\"signal_us\": 1, \"gbytes_per_s\": 1, "
       "\"push_bytes\": 1, \"pulls\": "
       "[{\"n\": 4, \"bytes\": 1}, {\"n\": 4, \"bytes\": 1}]}",
       "levels[0].kernels.pulls[1]: n is 4, but an earlier one is 4; entries must be in ascending "
       "order of n"},
      {"  ]\n}", "  ]\n", "toy.json:23: invalid JSON: "},
  };
  char text[MAX_TEXT];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    edit(cases[i].from, cases[i].to, text);
    expect(text, TP_INVALID_ARGUMENT, cases[i].message);
  }
  expect("", TP_INVALID_ARGUMENT, "toy.json:1: invalid JSON");
  expect("[]", TP_INVALID_ARGUMENT,
         "toy.json:1: the file: expected an object with the keys of a topology, found a list");
  expect("7", TP_INVALID_ARGUMENT, "invalid JSON");
}

/* Truncated files and files with a missing byte never crash; most are rejected, and accepted ones
 * are complete. */
static void damaged_files(void **state) {
  (void)state;
  char text[MAX_TEXT], why[64];
  for (size_t n = 0; n < sizeof good - 1; n++) {
    tp_machine *machine = NULL;
    tp_status status = tp_machine_parse("toy", good, n, why, sizeof why, &machine);
    assert_true(status == TP_INVALID_ARGUMENT || n == sizeof good - 2); /* the last newline */
    tp_machine_destroy(machine);
    snprintf(text, sizeof text, "%.*s%s", (int)n, good, good + n + 1);
    machine = NULL;
    status = tp_machine_parse("toy", text, strlen(text), why, sizeof why, &machine);
    assert_true(status == TP_INVALID_ARGUMENT || (status == TP_OK && machine));
    tp_machine_destroy(machine);
  }
}

static void too_much(void **state) {
  (void)state;
  static char text[1 << 20];
  size_t length = 0;
  tp_machine *machine = NULL;
  char why[512];
  const char *levels = strstr(good, "    {\"devices\""), *end = strstr(good, "  ]\n}");
  length = (size_t)snprintf(text, sizeof text, "%.*s", (int)(levels - good), good);
  for (int i = 0; i < 9; i++)
    length += (size_t)snprintf(text + length, sizeof text - length, "%s{}", i ? "," : "");
  snprintf(text + length, sizeof text - length, "%s", end);
  expect(text, TP_INVALID_ARGUMENT, "levels: expected 1 to 8 levels, found 9");
  const char *lines = strstr(good, "      {\"kinds\"");
  length = (size_t)snprintf(text, sizeof text, "%.*s", (int)(lines - good), good);
  for (int i = 0; i < 33; i++)
    length += (size_t)snprintf(
        text + length, sizeof text - length,
        "{\"kinds\": [\"permute\"], \"n\": %d, \"alpha_us\": 1, \"gbytes_per_s\": 1},", i + 2);
  snprintf(text + length, sizeof text - length, "%s", lines);
  expect(text, TP_INVALID_ARGUMENT,
         "levels[0].lines[32].kinds[0]: there are more than 32 lines of permute");
  /* nested deeper than the parser supports */
  memset(text, '[', sizeof text - 1);
  assert_int_equal(tp_machine_parse("deep", text, sizeof text - 1, why, sizeof why, &machine),
                   TP_INVALID_ARGUMENT);
}

static tp_status bind(const char *text, const tp_mesh *mesh, char *why, tp_topology *t) {
  tp_machine *machine;
  assert_int_equal(tp_machine_parse("toy", text, strlen(text), why, 512, &machine), TP_OK);
  tp_status status = tp_machine_bind(machine, mesh, why, 512, t);
  tp_machine_destroy(machine);
  return status;
}

static void binding(void **state) {
  (void)state;
  char why[512] = "";
  tp_topology t;
  tp_mesh mesh = make_mesh(3, (int64_t[]){2, 2, 4});
  assert_int_equal(bind(good, &mesh, why, &t), TP_OK);
  assert_string_equal(t.name, "toy");
  assert_true(t.gflops[TP_PEAK_F32] == 100 && t.gflops[TP_PEAK_F64] == 50 &&
              t.gflops[TP_PEAK_F16] == 400);
  assert_true(t.gflops[TP_PEAK_F8] == 400 && t.gflops[TP_PEAK_I8] == 400);
  assert_int_equal(t.memory_bytes, 1000000000);
  assert_int_equal(t.min_gemm_dim, 0);
  /* the innermost axis has 4 adjacent devices and one doubling more than the line; the others span
   * levels */
  assert_true(t.links[2].lines[TP_ALL_GATHER].alpha_us == 6 &&
              t.links[2].latency_lines[TP_ALL_GATHER].alpha_us == 3);
  assert_true(t.links[1].lines[TP_ALL_GATHER].alpha_us == 50 &&
              t.links[0].lines[TP_PERMUTE].gbytes_per_s == 4);
  assert_true(t.links[1].latency_lines[TP_ALL_GATHER].gbytes_per_s == 0);
  mesh = make_mesh(2, (int64_t[]){5, 4});
  assert_int_equal(bind(good, &mesh, why, &t), TP_INVALID_ARGUMENT);
  assert_string_equal(why, "topology \"toy\" has 16 devices, but the mesh has 20; use a smaller "
                           "mesh or a larger topology");
}

/* Devices that share processors are slower, all rates alike. */
static void shared_processors(void **state) {
  (void)state;
  char why[512], text[MAX_TEXT];
  tp_topology whole, shared;
  tp_mesh two = make_mesh(1, (int64_t[]){2}), eight = make_mesh(1, (int64_t[]){8});
  edit("0.5",
       "0.5, \"processors\": 2, \"exposed\": 0, \"store_gbytes_per_s\": 6, "
       "\"contraction_gbytes_per_s\": 12",
       text);
  assert_int_equal(bind(text, &two, why, &whole), TP_OK);
  assert_int_equal(bind(text, &eight, why, &shared), TP_OK);
  assert_true(whole.gflops[TP_PEAK_F16] == 400 && shared.gflops[TP_PEAK_F16] == 100);
  assert_true(whole.elementwise_gops == 2 && shared.elementwise_gops == 0.5);
  assert_true(whole.memory_gbytes_per_s == 10 && shared.memory_gbytes_per_s == 2.5);
  assert_true(whole.store_gbytes_per_s == 6 && shared.store_gbytes_per_s == 1.5);
  assert_true(whole.contraction_gbytes_per_s == 12 && shared.contraction_gbytes_per_s == 3);
  assert_true(whole.launch_us == 3 && shared.launch_us == 12);
  assert_int_equal(bind(good, &eight, why, &shared), TP_OK);
  assert_true(shared.gflops[TP_PEAK_F16] == 400);
}

/* A machine of 65,536 devices, as four axes. */
static void large_mesh(void **state) {
  (void)state;
  tp_topology t;
  char why[512];
  tp_mesh mesh = make_mesh(4, (int64_t[]){16, 16, 16, 16});
  assert_int_equal(tp_topology_load("torus64k", &mesh, why, sizeof why, &t), TP_OK);
  assert_true(t.links[0].lines[TP_ALL_REDUCE].gbytes_per_s <
              t.links[1].lines[TP_ALL_REDUCE].gbytes_per_s);
  assert_true(t.links[2].lines[TP_ALL_REDUCE].gbytes_per_s <
              t.links[3].lines[TP_ALL_REDUCE].gbytes_per_s);
  mesh = make_mesh(4, (int64_t[]){17, 16, 16, 16});
  assert_int_equal(tp_topology_load("torus64k", &mesh, why, sizeof why, &t), TP_INVALID_ARGUMENT);
}

/* ---- Files ---- */

static void write_file(const char *path, const char *text, size_t length) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static void expect_load(const char *name, tp_status status, const char *message) {
  char why[1024] = "";
  tp_machine *machine = NULL;
  tp_status got = tp_machine_load(name, why, sizeof why, &machine);
  if (got != status || !strstr(why, message))
    fail_msg("%s: expected %d \"%s\", got %d \"%s\"", name, status, message, got, why);
  tp_machine_destroy(machine);
}

static void files(void **state) {
  (void)state;
  char folder[] = "/tmp/test_topology.XXXXXX", path[256], variable[600], text[MAX_TEXT];
  static char huge[(1 << 20) + 1];
  tp_mesh mesh = make_mesh(1, (int64_t[]){4});
  tp_topology t;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/toy.json", folder);
  write_file(path, good, sizeof good - 1);
  expect_load(path, TP_OK, "");
  expect_load("toy", TP_NOT_FOUND, "unknown topology \"toy\"; known are cpu, h100, ");
  expect_load("", TP_NOT_FOUND, "unknown topology \"\"");
  expect_load("toy.json", TP_NOT_FOUND, "cannot open topology file \"toy.json\": No such file");
  expect_load(folder, TP_IO, "it is not a regular file");
  snprintf(variable, sizeof variable, ":/nowhere:%s", folder);
  setenv("TP_TOPOLOGY_PATH", variable, 1);
  expect_load("toy", TP_OK, "");
  /* a measured file takes precedence over the built-in one */
  snprintf(path, sizeof path, "%s/cpu.json", folder);
  edit("\"f32\": 100", "\"f32\": 123", text);
  write_file(path, text, strlen(text));
  assert_int_equal(tp_topology_load("cpu", &mesh, NULL, 0, &t), TP_OK);
  assert_true(t.gflops[TP_PEAK_F32] == 123);
  write_file(path, "{", 1);
  expect_load("cpu", TP_INVALID_ARGUMENT, "cpu.json:1: invalid JSON");
  write_file(path, huge, sizeof huge);
  expect_load("cpu", TP_INVALID_ARGUMENT, "is larger than 1 MiB");
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0); /* it has no writer: must not hang */
  expect_load(path, TP_IO, "it is not a regular file");
  unsetenv("TP_TOPOLOGY_PATH");
  assert_int_equal(tp_topology_load("cpu", &mesh, NULL, 0, &t), TP_OK);
  assert_true(t.gflops[TP_PEAK_F32] == 20);
  unlink(path);
  snprintf(path, sizeof path, "%s/toy.json", folder);
  unlink(path);
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_files),
      cmocka_unit_test(damaged_files),
      cmocka_unit_test(too_much),
      cmocka_unit_test(binding),
      cmocka_unit_test(shared_processors),
      cmocka_unit_test(large_mesh),
      cmocka_unit_test(files),
  };
  unsetenv("TP_TOPOLOGY_PATH");
  return cmocka_run_group_tests(tests, NULL, NULL);
}
