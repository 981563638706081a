/* shard-opt: MLIR's opt driver with the tp-* passes and pipelines. It accepts every flag of
 * mlir-opt. */
#include "options.h"

#include "tp/env.h"
#include "tp/passes.h"
#include "tp/watch.h"

#include <llvm/Config/llvm-config.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Keeps freed memory in the process, because the next pass allocates it again. If it went back to
 * the kernel, every page would be cleared anew, which takes longer than most of the work on it. */
static void keep_freed_memory(void) {
#ifdef __GLIBC__
  enum { MIB = 1 << 20 };
  /* larger blocks are mapped separately and unmapped when freed */
  mallopt(M_MMAP_THRESHOLD, 64 * MIB);
  mallopt(M_TRIM_THRESHOLD, 1024 * MIB);
  mallopt(M_TOP_PAD, 16 * MIB);
#endif
}

/* The options are collected when they are printed. */
const cli_tool cli_program = {
    .name = "shard-opt",
    .summary = "run passes of tpshard and of MLIR on a module",
    .usage = {"[options] [FILE.mlir]"},
    .description =
        "The opt driver of MLIR with the tp-* passes and pipelines of tpshard: reads a module "
        "(from standard input if no file is given), runs passes, and prints the result. Give the "
        "passes with --pass-pipeline, or with one option for each, in the order in which they run. "
        "--help=PASS prints the options of a pass or pipeline, --help-all those of all passes, of "
        "MLIR and of LLVM. --tp-explain prints why a value has its layout.",
    .examples = {"shard-opt model.mlir --pass-pipeline='builtin.module(tp-spmd{mesh=dp=2,tp=4})'",
                 "shard-opt model.mlir --tp-propagate=mesh=tp=4 -o planned.mlir",
                 "shard-opt model.mlir --tp-spmd=mesh=tp=4 --tp-explain=w1"},
    .notes = "Ctrl-C while tp-propagate plans ends the search with the best plan so far; a remark "
             "says how far it may be from the cheapest. A second Ctrl-C ends the program at once, "
             "and so does one at another time.",
    .exits = {{0, "the passes ran"}, {1, "failure, or wrong usage"}, {130, "interrupted"}},
    .page = "docs/reference/passes.md",
    .built_on = "LLVM and MLIR " LLVM_VERSION_STRING,
};

static int not_listed(void) {
  complain("the options could not be listed");
  return 1;
}

static int print_page(const char *unused) {
  (void)unused;
  cli_tool page = cli_program;
  return opt_page(&page) && cli_print_form(&page, NULL) ? cli_end(0) : not_listed();
}

static int print_all(const char *unused) {
  (void)unused;
  cli_tool all = cli_program;
  return opt_options(&all) && cli_print_form(&all, NULL) ? cli_end(0) : not_listed();
}

/* "man" or a shell, or the name of a pass. */
static int print_form(const char *form) {
  cli_tool all = cli_program;
  int n;
  const cli_option *rows = opt_pass(form, &n);
  if (rows) {
    cli_buffer_output();
    cli_print_rows(rows, n);
    return cli_end(0);
  }
  if (!opt_options(&all))
    return not_listed();
  if (*form && cli_print_form(&all, form))
    return cli_end(0);
  cli_suggestion closest;
  (void)cli_usage("--help takes man, bash, zsh or the name of a pass or pipeline of tpshard, not "
                  "'%s'%s",
                  form, opt_suggest_pass(form, strlen(form), &closest));
  return 1; /* as the driver for other wrong usage */
}

static int print_version(const char *unused) {
  (void)unused;
  cli_print_version(&cli_program);
  return cli_end(0);
}

/* Options that the driver has, too, and that print something else here. As there, one dash does as
 * well as two. */
static const struct {
  const char *name;
  bool has_value;
  int (*print)(const char *value);
} answers[] = {
    {"h", false, print_page},       {"help", false, print_page},       {"help=", true, print_form},
    {"help-all", false, print_all}, {"version", false, print_version},
};

/* Returns the exit code of the first option that asks for help or the version; -1: there is
 * none. */
static int answer(int argc, char **argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    const char *name = argv[i] + strspn(argv[i], "-");
    for (size_t k = 0; k < sizeof answers / sizeof *answers && *argv[i] == '-'; k++) {
      size_t n = strlen(answers[k].name);
      if (strncmp(name, answers[k].name, n) == 0 && (answers[k].has_value || name[n] == 0))
        return answers[k].print(name + n);
    }
  }
  return -1;
}

/* The driver ends the process if the command line is wrong. */
static struct {
  int argc;
  char **argv;
  bool has_succeeded;
} driver;

static void suggest_at_exit(void) {
  if (!driver.has_succeeded)
    opt_suggest(driver.argc, driver.argv);
}

/* Returns true, with a message, if --tp-explain is given twice: the driver takes the last. */
static bool asks_twice(int argc, char **argv) {
  static const char name[] = "tp-explain";
  int n = 0;
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    const char *option = argv[i] + strspn(argv[i], "-");
    n += argv[i][0] == '-' && strncmp(option, name, sizeof name - 1) == 0 &&
         strchr("=", option[sizeof name - 1]);
  }
  if (n > 1)
    complain("--tp-explain is given %d times; ask for one value in each run", n);
  return n > 1;
}

/* Called when the driver has opened its files. Then it has set handlers of its own; these end the
 * process by the signal. */
static int watch(void *data, const tp_progress *p) {
  static const char *current = "";
  (void)data;
  cli_interrupt_catch(SIGINT, tp_opt_abandon);
  if (p->is_diagnostic)
    progress_hide();
  if (strcmp(current, p->pass) != 0)
    progress(*p->pass ? p->pass : NULL);
  current = p->pass;
  return cli_watch(p->pass, p->phase, p->cost, p->bound, p->left, true);
}

/* Returns the arguments with the driver's option for colors, unless it is given. */
static char **with_colors(int *argc, char **argv) {
  char **all = calloc((size_t)*argc + 2, sizeof *all);
  bool is_given = false;
  for (int i = 1; i < *argc; i++)
    is_given |= strncmp(argv[i] + strspn(argv[i], "-"), "color", 5) == 0;
  if (is_given || !all) {
    free(all);
    return argv;
  }
  memcpy(all, argv, (size_t)*argc * sizeof *all);
  memmove(all + 2, all + 1, (size_t)(*argc - 1) * sizeof *all);
  all[1] = cli_has_colors(STDERR_FILENO) ? "--color=1" : "--color=0";
  ++*argc;
  return all;
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], OPT_DRIVER_HELP) == 0)
    return tp_opt_main(2, (char *[]){argv[0], "--help", NULL});
  int code = answer(argc, argv);
  if (code >= 0)
    return code;
  for (int i = 1; i < argc; i++) {
    const char *path = argv[i];
    if (path[0] != '-' && strcmp(argv[i - 1], "-o") != 0 && !cli_find_program(&path))
      return 1;
    argv[i] = (char *)path;
  }
  if (asks_twice(argc, argv))
    return 1;
  cli_warn_all(tp_env_warning);
  keep_freed_memory();
  tp_watch_set(watch, NULL);
  int n = argc;
  char **all = with_colors(&n, argv);
  driver.argc = argc;
  driver.argv = argv;
  (void)atexit(suggest_at_exit);
  code = tp_opt_main(n, all);
  if (all != argv)
    free(all);
  driver.has_succeeded = code == 0;
  progress(NULL);
  return code;
}
