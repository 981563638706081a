/* shard-run flight DIRECTORY: reads the files of the flight recorders of all ranks
 * (TPRT_FLIGHT_DIR), and says which rank is missing in which operation. A folder may have files of
 * several runs: those of the newest count. */
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file: the last operations of one communicator on one rank. */
typedef struct dump {
  json_t *root, *ranks, *ops; /* the last two are borrowed from the first */
  const char *comm, *status, *error;
  int rank; /* in the communicator */
  int world_rank;
  int number; /* of the communicator in its process, from the name of the file */
  /* random numbers; "" of older files */
  const char *world, *process;
  char name[64];
  struct timespec written;
} dump;

typedef struct dumps {
  dump *items;
  size_t n, n_damaged; /* the latter are not among the items */
} dumps;

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static int64_t number_of(const json_t *object, const char *key) {
  return json_integer_value(json_object_get(object, key));
}

/* ---- reading ---- */

static bool read_dump(const char *path, dump *d) {
  json_error_t error;
  json_t *root = json_load_file(path, 0, &error);
  if (!root) {
    complain("cannot read '%s': %s", path, error.text);
    return false;
  }
  *d = (dump){.root = root,
              .ranks = json_object_get(root, "ranks"),
              .ops = json_object_get(root, "ops"),
              .comm = text_of(root, "comm"),
              .status = text_of(root, "status"),
              .error = text_of(root, "error"),
              .rank = (int)number_of(root, "rank"),
              .world_rank = (int)number_of(root, "world_rank"),
              .world = text_of(root, "world"),
              .process = text_of(root, "process")};
  if (json_is_array(d->ranks) && json_is_array(d->ops))
    return true;
  complain("'%s' is no flight recorder; TPRT_FLIGHT_DIR writes them", path);
  json_decref(root);
  return false;
}

static bool add_dump(dumps *all, const char *folder, const char *name) {
  char path[4096];
  struct stat state;
  dump *items = realloc(all->items, (all->n + 1) * sizeof *items);
  int rank, number;
  if (!items) {
    complain("memory ran out");
    return false;
  }
  all->items = items;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  dump *d = &items[all->n];
  if (!read_dump(path, d)) {
    all->n_damaged++;
    return true;
  }
  d->number = sscanf(name, "rank-%d-comm-%d.json", &rank, &number) == 2 ? number : 0;
  snprintf(d->name, sizeof d->name, "%s", name);
  if (stat(path, &state) == 0)
    d->written = state.st_mtim;
  all->n++;
  return true;
}

static bool read_folder(const char *folder, dumps *all) {
  DIR *directory = opendir(folder);
  bool ok = directory != NULL;
  if (!ok)
    complain("cannot read '%s': %s", folder, strerror(errno));
  for (struct dirent *entry; ok && (entry = readdir(directory)) != NULL;) {
    size_t n = strlen(entry->d_name);
    if (strncmp(entry->d_name, "rank-", 5) == 0 && n > 5 &&
        strcmp(entry->d_name + n - 5, ".json") == 0)
      ok = add_dump(all, folder, entry->d_name);
  }
  if (directory)
    closedir(directory);
  if (ok && all->n == 0 && all->n_damaged == 0)
    complain("'%s' has no files rank-R-comm-K.json; set TPRT_FLIGHT_DIR to an existing folder "
             "that all ranks can write, and run the program again",
             folder);
  return ok && all->n > 0;
}

/* ---- runs ---- */

static bool is_newer(const dump *a, const dump *b) {
  return a->written.tv_sec != b->written.tv_sec ? a->written.tv_sec > b->written.tv_sec
                                                : a->written.tv_nsec > b->written.tv_nsec;
}

/* True if a process of the world of `newest` wrote the file, maybe for another world. */
static bool is_of_run(const dumps *all, const dump *newest, const dump *d) {
  bool is = strcmp(d->world, newest->world) == 0;
  for (size_t i = 0; i < all->n && !is; i++)
    is = strcmp(all->items[i].world, newest->world) == 0 && *d->process &&
         strcmp(all->items[i].process, d->process) == 0;
  return is;
}

/* Drops the files of all runs but the newest, and says so. False when memory runs out. */
static bool keep_newest_run(dumps *all) {
  enum { MAX_NAMED = 8 };
  size_t n_kept = 0, n_ignored = 0;
  char names[MAX_NAMED * 66] = "";
  const dump *newest = all->items;
  bool *is_kept = calloc(all->n, sizeof *is_kept);
  if (!is_kept) {
    complain("memory ran out");
    return false;
  }
  for (size_t i = 1; i < all->n; i++)
    newest = is_newer(&all->items[i], newest) ? &all->items[i] : newest;
  for (size_t i = 0; i < all->n; i++)
    is_kept[i] = is_of_run(all, newest, &all->items[i]);
  for (size_t i = 0; i < all->n; i++) {
    dump *d = &all->items[i];
    if (is_kept[i]) {
      all->items[n_kept++] = *d;
      continue;
    }
    if (n_ignored++ < MAX_NAMED)
      snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "",
               d->name);
    json_decref(d->root);
  }
  free(is_kept);
  all->n = n_kept;
  if (n_ignored)
    cli_print("shard-run: note: %zu file%s of earlier runs %s ignored: %s%s\n", n_ignored,
              n_ignored == 1 ? "" : "s", n_ignored == 1 ? "is" : "are", names,
              n_ignored > MAX_NAMED ? ", ..." : "");
  return true;
}

/* ---- groups: the dumps of one communicator ---- */

static int compare_dumps(const void *left, const void *right) {
  const dump *a = left, *b = right;
  if (strcmp(a->comm, b->comm) != 0)
    return strcmp(a->comm, b->comm);
  size_t n = json_array_size(a->ranks), m = json_array_size(b->ranks);
  if (n != m)
    return n < m ? -1 : 1;
  for (size_t i = 0; i < n; i++) {
    json_int_t x = json_integer_value(json_array_get(a->ranks, i)),
               y = json_integer_value(json_array_get(b->ranks, i));
    if (x != y)
      return x < y ? -1 : 1;
  }
  if (a->rank != b->rank)
    return a->rank < b->rank ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

static bool same_members(const dump *a, const dump *b) {
  return strcmp(a->comm, b->comm) == 0 && json_equal(a->ranks, b->ranks);
}

/* An operation in which a rank did not do what the others did. */
typedef struct finding {
  int64_t sequence; /* 0: none */
  const json_t *op; /* of a rank that is in it */
} finding;

static bool is_collective(const json_t *op) {
  const char *kind = text_of(op, "kind");
  return strcmp(kind, "send") != 0 && strcmp(kind, "recv") != 0;
}

static const json_t *op_of(const dump *d, int64_t sequence) {
  size_t i;
  const json_t *op;
  json_array_foreach(d->ops, i, op) {
    if (is_collective(op) && number_of(op, "sequence") == sequence)
      return op;
  }
  return NULL;
}

/* The number of the last collective that a rank began; 0: none is known. */
static int64_t last_of(const dump *d) {
  int64_t last = 0;
  size_t i;
  const json_t *op;
  json_array_foreach(d->ops, i, op) {
    if (is_collective(op) && number_of(op, "sequence") > last)
      last = number_of(op, "sequence");
  }
  return last;
}

/* The last operation of a rank that has not ended well; NULL: none. */
static const json_t *unfinished(const dump *d) {
  for (size_t i = json_array_size(d->ops); i-- > 0;) {
    const json_t *op = json_array_get(d->ops, i);
    if (strcmp(text_of(op, "status"), "ok") != 0)
      return op;
  }
  return NULL;
}

static void describe(const json_t *op, char *text, size_t n) {
  bool transfers = !is_collective(op);
  size_t at = 0;
  if (!transfers)
    at = (size_t)snprintf(text, n, "operation %lld, ", (long long)number_of(op, "sequence"));
  snprintf(text + at, n - at, "%s of %lld bytes", text_of(op, "kind"),
           (long long)number_of(op, "bytes"));
  at = strlen(text);
  if (strcmp(text_of(op, "dtype"), "none") != 0)
    snprintf(text + at, n - at, " of %s", text_of(op, "dtype"));
  at = strlen(text);
  if (transfers)
    snprintf(text + at, n - at, " %s rank %lld",
             strcmp(text_of(op, "kind"), "send") == 0 ? "to" : "from",
             (long long)number_of(op, "peer"));
}

static void append_rank(char *list, size_t size, int rank) {
  size_t n = strlen(list);
  snprintf(list + n, size - n, "%s%d", n ? ", " : "", rank);
}

/* True if a rank began the operation only after another one had given up waiting for it. */
static bool came_late(const dump *d, int64_t sequence) {
  const json_t *fault = json_object_get(d->root, "fault");
  return fault && strcmp(text_of(fault, "status"), "timeout") == 0 &&
         number_of(fault, "rank") == d->world_rank && number_of(fault, "sequence") == sequence;
}

/* Finds the ranks of the group that wait in its last collective, and says which others are not
 * there. `group` has at most one dump for a rank. */
static bool print_missing(const dump *group, size_t n) {
  int64_t last = 0;
  for (size_t i = 0; i < n; i++)
    last = last_of(&group[i]) > last ? last_of(&group[i]) : last;
  const json_t *first = NULL;
  char waiting[512] = "", what[256];
  for (size_t i = 0; i < n; i++) {
    const json_t *op = op_of(&group[i], last);
    if (op && strcmp(text_of(op, "status"), "ok") != 0 && !came_late(&group[i], last)) {
      append_rank(waiting, sizeof waiting, group[i].world_rank);
      first = first ? first : op;
    }
  }
  if (!first)
    return false;
  describe(first, what, sizeof what);
  printf("  %s: rank%s %s there\n", what, strchr(waiting, ',') ? "s" : "", waiting);
  size_t n_members = json_array_size(group->ranks);
  for (size_t r = 0; r < n_members; r++) {
    int world = (int)json_integer_value(json_array_get(group->ranks, r));
    const dump *of_rank = NULL;
    for (size_t i = 0; i < n; i++)
      of_rank = group[i].rank == (int)r ? &group[i] : of_rank;
    if (!of_rank)
      printf("  rank %d is missing: it wrote no file, so it has ended, or computes outside of the "
             "runtime\n",
             world);
    else if (last_of(of_rank) < last)
      printf("  rank %d is missing: its last operation is %lld\n", world,
             (long long)last_of(of_rank));
    else if (came_late(of_rank, last))
      printf("  rank %d was missing: it came after the others had given up\n", world);
    else if (op_of(of_rank, last) &&
             strcmp(text_of(op_of(of_rank, last), "kind"), text_of(first, "kind")) != 0)
      printf("  rank %d has %s there\n", world, text_of(op_of(of_rank, last), "kind"));
  }
  return true;
}

static void print_group(const dump *group, size_t n) {
  size_t n_members = json_array_size(group->ranks);
  printf("communicator %s of %zu rank%s, %zu file%s: %s\n",
         *group->comm ? group->comm : "without a name", n_members, n_members == 1 ? "" : "s", n,
         n == 1 ? "" : "s", group->status);
  bool found = print_missing(group, n);
  for (size_t i = 0; i < n && !found; i++) {
    const json_t *op = unfinished(&group[i]);
    char what[256];
    if (!op)
      continue;
    describe(op, what, sizeof what);
    printf("  rank %d: %s: %s\n", group[i].world_rank, what, text_of(op, "status"));
  }
  for (size_t i = 0; i < n; i++)
    if (*group[i].error)
      printf("  rank %d says: %s\n", group[i].world_rank, group[i].error);
}

/* Prints the dumps of one set of members. A process may have made several such communicators, one
 * after the other: the k-th of each rank belong together. */
static void print_members(dump *items, size_t n) {
  dump *group = calloc(n, sizeof *group);
  bool *used = calloc(n, sizeof *used);
  for (size_t left = n; left && group && used;) {
    size_t n_group = 0;
    for (size_t i = 0; i < n; i++) {
      bool is_next = !used[i] && (n_group == 0 || group[n_group - 1].rank != items[i].rank);
      if (is_next) {
        used[i] = true;
        group[n_group++] = items[i];
        left--;
      }
    }
    print_group(group, n_group);
  }
  free(used);
  free(group);
}

int flight_print(const char *directory) {
  dumps all = {NULL};
  bool ok = read_folder(directory, &all) && keep_newest_run(&all);
  if (ok) {
    qsort(all.items, all.n, sizeof *all.items, compare_dumps);
    for (size_t begin = 0, end; begin < all.n; begin = end) {
      for (end = begin; end < all.n && same_members(&all.items[begin], &all.items[end]);)
        end++;
      print_members(all.items + begin, end - begin);
    }
  }
  for (size_t i = 0; i < all.n; i++)
    json_decref(all.items[i].root);
  free(all.items);
  return ok ? EXIT_VERIFIED : EXIT_FAILED;
}
