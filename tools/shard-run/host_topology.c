/* --topology=host: the topology file of this host, from a cache. What is not there is measured by
 * shard-bench, once. A file belongs to a processor model, the processors that this process may use,
 * and a version of tpshard. Only the process that plans reads it, so all ranks have one plan. */
#include "run.h"

#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_PATH = 4096 };

/* ---- The name of the file ---- */

/* FNV-1a of Fowler, Noll and Vo. */
static uint64_t hash(uint64_t h, const void *data, size_t n) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < n; i++)
    h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
  return h;
}

/* Hashes the first line that describes a processor: "model name" on x86, "CPU part" on Arm. */
static uint64_t hash_model(uint64_t h) {
  FILE *file = fopen("/proc/cpuinfo", "r");
  struct utsname machine;
  char line[512];
  if (uname(&machine) == 0)
    h = hash(h, machine.machine, strlen(machine.machine));
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, "model name", 10) == 0 || strncmp(line, "CPU part", 8) == 0) {
      h = hash(h, line, strlen(line));
      break;
    }
  if (file)
    fclose(file);
  return h;
}

static uint64_t key_of_host(void) {
  cpu_set_t set;
  uint64_t h = hash_model(UINT64_C(0xcbf29ce484222325));
  CPU_ZERO(&set);
  (void)sched_getaffinity(0, sizeof set, &set);
  h = hash(h, &set, sizeof set);
  return hash(h, tp_version(), strlen(tp_version()));
}

/* Makes a folder and those that contain it. */
static bool make_folder(char *path) {
  for (char *at = path + 1; *at; at++)
    if (*at == '/') {
      *at = 0;
      bool ok = mkdir(path, 0777) == 0 || errno == EEXIST;
      *at = '/';
      if (!ok)
        return false;
    }
  return mkdir(path, 0777) == 0 || errno == EEXIST;
}

static bool find_path(char *path, size_t size) {
  const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
  bool has_cache = cache && cache[0] == '/';
  if (!has_cache && (!home || home[0] != '/')) {
    complain(
        "--topology=host keeps a file in the folder that XDG_CACHE_HOME or HOME names; set one "
        "of them to an absolute path");
    return false;
  }
  int n =
      snprintf(path, size, "%s%s/tpshard", has_cache ? cache : home, has_cache ? "" : "/.cache");
  if (n < 0 || (size_t)n + 64 > size || !make_folder(path)) {
    complain("cannot create the folder '%s': %s", path, strerror(errno));
    return false;
  }
  snprintf(path + n, size - (size_t)n, "/host-%016llx.json", (unsigned long long)key_of_host());
  return true;
}

/* ---- Measuring ---- */

/* The shard-bench that is installed beside this program. */
static bool find_bench(char *path, size_t size) {
  ssize_t n = readlink("/proc/self/exe", path, size - 1);
  if (n < 0)
    return false;
  path[n] = 0;
  char *slash = strrchr(path, '/');
  if (!slash || (size_t)(slash - path) + sizeof "/shard-bench" > size)
    return false;
  strcpy(slash, "/shard-bench");
  return true;
}

/* Returns the environment without the variables by which launchers number their ranks: shard-bench
 * would measure these ranks, which do not take part. The caller frees it. */
static char **environment_of_one(void) {
  size_t n = 0, n_launchers, kept = 0;
  const tprt_launcher *launchers = tprt_launchers(&n_launchers);
  while (environ[n])
    n++;
  char **made = calloc(n + 1, sizeof *made);
  for (size_t i = 0; i < n && made; i++) {
    bool is_rank = false;
    for (size_t k = 0; k < n_launchers; k++) {
      size_t length = strlen(launchers[k].rank);
      is_rank |= strncmp(environ[i], launchers[k].rank, length) == 0 && environ[i][length] == '=';
    }
    if (!is_rank)
      made[kept++] = environ[i];
  }
  return made;
}

/* Runs shard-bench, with the descriptor as its standard output. Its messages go to stderr. */
static int start_bench(int output, pid_t *child) {
  char bench[MAX_PATH], name[] = "shard-bench", calibrate[] = "--calibrate", idle[] = "--idle";
  char *arguments[] = {name, calibrate, idle, NULL}, **environment = environment_of_one();
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (!error) {
    error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!error && environment)
      error = find_bench(bench, sizeof bench)
                  ? posix_spawn(child, bench, &actions, NULL, arguments, environment)
                  : ENOENT;
    posix_spawn_file_actions_destroy(&actions);
  }
  free(environment);
  return environment ? error : ENOMEM;
}

static bool measure(int output) {
  pid_t child;
  int status = 0, error = start_bench(output, &child);
  if (error) {
    complain("cannot start shard-bench, which measures this host: %s", strerror(error));
    return false;
  }
  cli_leftover_child(child, true);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  cli_leftover_child(child, false);
  if (status == 0)
    return true;
  complain(
      "this host was not measured; try again while it is idle, use --topology=cpu, or keep what "
      "'shard-bench --calibrate -o host.json' finds and use --topology=./host.json");
  return false;
}

/* Others see the whole file or none. */
static bool measure_to(const char *path) {
  cli_file file;
  if (!cli_file_open(&file, path)) {
    complain_of_write(path);
    return false;
  }
  cli_print("shard-run: note: measuring this host, once; this takes about half a minute\n");
  bool is_measured = measure(fileno(file.stream)), is_kept = cli_file_close(&file, is_measured);
  if (is_kept)
    cli_print("shard-run: note: the measurement is kept in %s\n", path);
  else if (is_measured)
    complain_of_write(path);
  return is_kept;
}

bool host_topology(options *o) {
  static char path[MAX_PATH];
  if (!o->topology || strcmp(o->topology, "host") != 0)
    return true;
  if (!find_path(path, sizeof path))
    return false;
  if (access(path, R_OK) != 0 && !measure_to(path))
    return false;
  o->topology = path;
  return true;
}
