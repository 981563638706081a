/* shard-opt: MLIR's opt driver with the tp-* passes and pipelines. It accepts every flag of
 * mlir-opt. */
#include "options.h"

#include "tp/passes.h"

#include <stdlib.h>
#include <string.h>
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
        "--tp-explain prints why a value has its layout. The options of this build follow; options "
        "of MLIR and LLVM have the descriptions of their own help.",
    .examples = {"shard-opt model.mlir --pass-pipeline='builtin.module(tp-spmd{mesh=dp=2,tp=4})'",
                 "shard-opt model.mlir --tp-propagate=mesh=tp=4 -o planned.mlir",
                 "shard-opt model.mlir --tp-spmd=mesh=tp=4 --tp-explain=%w1"},
    .exits = {{0, "the passes ran"}, {1, "failure, or wrong usage"}},
    .page = "docs/reference/passes.md",
};

static int print_form(const char *form) {
  cli_tool tool = cli_program;
  if (!opt_options(&tool)) {
    complain("the options could not be listed");
    return 1;
  }
  return cli_print_form(&tool, form) ? cli_end(0)
                                     : cli_usage("--help takes man or bash, not '%s'", form);
}

int main(int argc, char **argv) {
  static const char help[] = "--help=";
  if (argc == 2 && strncmp(argv[1], help, strlen(help)) == 0)
    return print_form(argv[1] + strlen(help));
  for (int i = 1; i < argc; i++)
    if (argv[i][0] != '-' && strcmp(argv[i - 1], "-o") != 0 && cli_is_no_program(argv[i]))
      return 1;
  keep_freed_memory();
  return tp_opt_main(argc, argv);
}
