/* Tests the reshards in reshard.txt: each path ends at the target with correct data, and sends no
 * more bytes than the cheapest known sequence when bytes are the objective. */
#include "test/sharding/simulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *table;

typedef struct reshard_case {
  char name[80], mesh[80], shape[40], from[80], to[80], partial[16], sizes[16];
  long long optimal, shardy;
} reshard_case;

/* ---- The table ---- */

static int64_t number_in(const char *text, const char *why) {
  char *end;
  long long value = strtoll(text, &end, 10);
  if (end == text || *end != 0)
    fail_msg("'%s' is no number (%s)", text, why);
  return value;
}

static int read_shape(const reshard_case *c, int64_t *shape) {
  char text[sizeof c->shape], *at = text;
  int rank = 0;
  snprintf(text, sizeof text, "%s", c->shape);
  for (char *size; (size = strsep(&at, "x"));) {
    assert_true(rank < SIM_MAX_RANK);
    shape[rank++] = number_in(size, c->name);
  }
  return rank;
}

/* "x" or "x:(2)2"; pre == 0: the whole axis. */
static void split_token(const char *token, char name[TP_MAX_AXIS_NAME], int64_t *pre,
                        int64_t *size) {
  long long p = 0, s = 0;
  const char *colon = strchr(token, ':');
  if (colon && sscanf(colon, ":(%lld)%lld", &p, &s) != 2)
    fail_msg("'%s' is no axis", token);
  snprintf(name, TP_MAX_AXIS_NAME, "%.*s", (int)strcspn(token, ":"), token);
  *pre = p;
  *size = s;
}

static void refine(tp_mesh *mesh, const char *layout) {
  char text[80], *at = text;
  snprintf(text, sizeof text, "%s", layout);
  for (char *token; (token = strsep(&at, ",/"));) {
    char name[TP_MAX_AXIS_NAME];
    int64_t pre, size;
    split_token(token, name, &pre, &size);
    if (pre > 0)
      assert_int_equal(tp_mesh_refine(mesh, name, pre, size), TP_OK);
  }
}

static bool is_prime(int64_t n) {
  for (int64_t p = 2; p * p <= n; p++)
    if (n % p == 0)
      return false;
  return true;
}

/* Splits every axis into primes, as far as the mesh has space: sequences in the table may split
 * axes anywhere. */
static void cut(tp_mesh *mesh) {
  for (int a = 0; a < mesh->n_axes && mesh->n_axes < TP_MAX_AXES; a++) {
    tp_axis axis = mesh->axes[a];
    for (int64_t p = 2; p < axis.size && !is_prime(axis.size); p++)
      if (axis.size % p == 0) {
        assert_int_equal(tp_mesh_refine(mesh, axis.name, axis.pre, p), TP_OK);
        a--;
        break;
      }
  }
}

static tp_spec read_layout(const tp_mesh *mesh, const char *layout, const char *partial) {
  char text[80], *dims = text;
  tp_spec spec = tp_spec_replicated();
  int first;
  snprintf(text, sizeof text, "%s", layout);
  for (int d = 0; dims; d++) {
    char *axes = strsep(&dims, "/");
    for (char *token; strcmp(axes ? axes : ".", ".") != 0 && (token = strsep(&axes, ","));) {
      char name[TP_MAX_AXIS_NAME];
      int64_t pre, size;
      split_token(token, name, &pre, &size);
      int n = tp_mesh_find(mesh, name, pre, size, &first);
      assert_true(n > 0);
      for (int i = 0; i < n; i++)
        assert_int_equal(tp_spec_append(&spec, first + i, d), TP_OK);
    }
  }
  if (strcmp(partial, ".") != 0) {
    int n = tp_mesh_find(mesh, partial, 0, 0, &first);
    assert_true(n > 0);
    for (int i = 0; i < n; i++)
      assert_int_equal(tp_spec_set_partial(&spec, first + i, TP_SUM), TP_OK);
  }
  return spec;
}

/* Calls `check` for every line. */
static int for_each_case(void (*check)(const reshard_case *c, void *data), void *data) {
  char line[512];
  int n = 0;
  FILE *file = fopen(table, "r");
  if (!file) {
    fail_msg("cannot open %s", table);
    return 0;
  }
  while (fgets(line, sizeof line, file)) {
    reshard_case c;
    if (line[0] == '#')
      continue;
    if (sscanf(line, "%79s %79s %39s %79s %79s %15s %lld %lld %*s %15s", c.name, c.mesh, c.shape,
               c.from, c.to, c.partial, &c.optimal, &c.shardy, c.sizes) != 9)
      fail_msg("not a case: %s", line);
    check(&c, data);
    n++;
  }
  fclose(file);
  return n;
}

/* ---- One path ---- */

/* A topology where only bytes cost, for groups of one axis and of several: no latencies, and free
 * memory traffic. */
static const char bytes_only[] = "{\"schema\": \"tpshard.topology/1\", \"name\": \"bytes_only\", "
                                 "\"description\": \"-\", \"source\": \"-\","
                                 " \"certainty\": \"made up\","
                                 " \"device\": {\"gflops\": {\"f32\": 1, \"f16\": 1}, "
                                 "\"elementwise_gops\": 1, \"memory_gbytes_per_s\": 1e9,"
                                 "  \"launch_us\": 0, \"efficiency\": 1},"
                                 " \"levels\": [{\"name\": \"all\", \"doubling_us\": 0, \"lines\": "
                                 "[{\"kinds\": [\"all_gather\", \"reduce_scatter\","
                                 "  \"all_reduce\", \"all_to_all\", \"permute\", \"broadcast\"], "
                                 "\"n\": 2, \"alpha_us\": 0, \"gbytes_per_s\": 1}]}]}";

/* `name`: of a built-in machine; NULL: bytes_only. */
static void load_topology(const char *name, const tp_mesh *mesh, tp_topology *topology) {
  tp_machine *machine;
  char why[256] = "";
  tp_status status = name ? tp_machine_load(name, why, sizeof why, &machine)
                          : tp_machine_parse("bytes_only", bytes_only, strlen(bytes_only), why,
                                             sizeof why, &machine);
  if (status != TP_OK)
    fail_msg("%s", why);
  assert_int_equal(tp_machine_bind(machine, mesh, NULL, 0, topology), TP_OK);
  tp_machine_destroy(machine);
}

typedef struct setting {
  const char *topology; /* NULL: bytes_only */
  bool cut;             /* split all axes into primes */
  bool large;           /* elements of 4 MB instead of 4 bytes, so that latency is negligible */
  int n_right, n_optimal, n_shardy, n_exact;
  int64_t bytes, optimal, shardy; /* of the exact cases */
} setting;

/* Executes the path on a small tensor; every step must start where the last one ended. */
static void execute(const reshard_case *c, const tp_mesh *mesh, tp_spec from, tp_spec to, int rank,
                    const int64_t *shape, const tp_reshard *path) {
  sim tensor;
  tp_spec now = from;
  sim_create(&tensor, mesh, from, rank, shape, TP_SUM);
  for (int i = 0; i < path->n_steps; i++) {
    assert_true(tp_spec_equal(path->steps[i].from, now));
    now = path->steps[i].to;
    sim_execute(&tensor, &path->steps[i]);
    if (!sim_holds(&tensor, now))
      fail_msg("%s: wrong after step %d (%s)", c->name, i, tp_step_kind_name(path->steps[i].kind));
  }
  assert_true(tp_spec_equal(now, to));
  sim_destroy(&tensor);
}

static void check_case(const reshard_case *c, void *data) {
  setting *s = data;
  tp_mesh mesh;
  tp_topology topology;
  tp_reshard path;
  int64_t shape[SIM_MAX_RANK];
  int rank = read_shape(c, shape);
  assert_int_equal(tp_mesh_parse("mesh", c->mesh, NULL, 0, &mesh), TP_OK);
  refine(&mesh, c->from);
  refine(&mesh, c->to);
  if (s->cut)
    cut(&mesh);
  tp_spec from = read_layout(&mesh, c->from, c->partial),
          to = read_layout(&mesh, c->to, c->partial);
  load_topology(s->topology, &mesh, &topology);
  tp_reshard_cache *cache = tp_reshard_cache_create(&mesh, &topology);
  assert_non_null(cache);
  int64_t scale = s->large ? 1000000 : 1;
  tp_status status = tp_reshard_path(cache, from, to, rank, shape, 4 * scale, &path);
  tp_reshard_cache_destroy(cache);
  if (status != TP_OK)
    fail_msg("%s: no path", c->name);
  execute(c, &mesh, from, to, rank, shape, &path);
  s->n_right++;
  if (strcmp(c->sizes, "exact") != 0)
    return;
  path.bytes /= scale;
  s->n_exact++;
  s->n_optimal += path.bytes <= c->optimal;
  s->n_shardy += path.bytes <= c->shardy;
  s->bytes += path.bytes;
  s->optimal += c->optimal;
  s->shardy += c->shardy;
  if (!s->topology && path.bytes > c->optimal)
    print_message("%s%s: %lld bytes, %lld are enough\n", c->name, s->cut ? ", axes cut" : "",
                  (long long)path.bytes, c->optimal);
}

static void check_setting(setting *s) {
  int n = for_each_case(check_case, s);
  assert_int_equal(n, 44);
  assert_int_equal(s->n_right, n);
  print_message("%s%s%s: %d cases right; of %d exact ones %d at most the optimum, %d at most "
                "Shardy; %lld bytes in all, optimum %lld, "
                "Shardy %lld\n",
                s->topology ? s->topology : "bytes only", s->cut ? ", axes cut" : "",
                s->large ? ", large" : "", s->n_right, s->n_exact, s->n_optimal, s->n_shardy,
                (long long)s->bytes, (long long)s->optimal, (long long)s->shardy);
}

static void bytes_are_least(void **state) {
  (void)state;
  setting plain = {0}, primes = {.cut = true};
  check_setting(&plain);
  /* three need a split of an axis that neither sharding has */
  assert_int_equal(plain.n_optimal, plain.n_exact - 3);
  check_setting(&primes);
  assert_int_equal(primes.n_optimal, primes.n_exact);
}

static void data_is_right_by_time(void **state) {
  (void)state;
  for (const char *const *name = tp_topology_names(); *name; name++) {
    setting small = {.topology = *name}, large = {.topology = *name, .large = true};
    check_setting(&small);
    check_setting(&large);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_are_least),
      cmocka_unit_test(data_is_right_by_time),
  };
  if (argc != 2) {
    fprintf(stderr, "usage: %s reshard.txt\n", argv[0]);
    return 2;
  }
  table = argv[1];
  return cmocka_run_group_tests(tests, NULL, NULL);
}
