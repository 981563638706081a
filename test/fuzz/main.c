/* shard-fuzz: tests random programs, mutated programs and random reshards. */
#include "modes.h"

#include "tp/passes.h"

#include "tools/shard-run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  int (*run)(const setting *s);
} modes[] = {{"programs", fuzz_programs},
             {"limits", fuzz_limits},
             {"texts", fuzz_texts},
             {"mutations", fuzz_mutations},
             {"reshards", fuzz_reshards}};

static int usage(void) {
  fputs("usage: shard-fuzz programs|limits|texts|mutations|reshards [--seed N] [--count N] "
        "[--seconds S] [--out DIR] [--verbose] "
        "[--require]\n"
        "                                                  [--target cpu|cuda] [--fuse no|always] "
        "[FILE...]\n"
        "  programs   random programs, run on all ranks and on one\n"
        "  limits     the same, planned within random memory limits\n"
        "  texts      programs of the FILEs, against an evaluation of their text\n"
        "  mutations  the FILEs, changed at random, through the pipelines\n"
        "  reshards   random changes of layout, run on all ranks\n"
        "Without --count it goes on until --seconds are over. Minimal programs of defects are "
        "written to DIR (default: .).\n"
        "--target cuda: programs for GPUs, on the driver that TPRT_CUDA_LIBRARY names. --fuse "
        "always: programs with norms, and\n"
        "sums over devices fused with what stands behind them.\n"
        "--require: programs fail when fewer than 90 % are accepted, or fewer than 50 % of these "
        "communicate.\n"
        "Exit code: 0 no defect, 1 a defect, 2 wrong usage.\n",
        stderr);
  return 2;
}

static bool read_options(int argc, char **argv, setting *s) {
  int i = 2;
  for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
    bool *flag = strcmp(argv[i], "--verbose") == 0   ? &s->verbose
                 : strcmp(argv[i], "--require") == 0 ? &s->require
                                                     : NULL;
    if (flag) {
      *flag = true;
      continue;
    }
    if (i + 1 == argc)
      return false;
    const char *value = argv[++i];
    if (strcmp(argv[i - 1], "--seed") == 0)
      s->seed = strtoull(value, NULL, 10);
    else if (strcmp(argv[i - 1], "--count") == 0)
      s->count = atoi(value);
    else if (strcmp(argv[i - 1], "--seconds") == 0)
      s->seconds = atof(value);
    else if (strcmp(argv[i - 1], "--out") == 0)
      s->out = value;
    else if (strcmp(argv[i - 1], "--target") == 0 &&
             (strcmp(value, "cuda") == 0 || strcmp(value, "cpu") == 0))
      s->on_gpu = strcmp(value, "cuda") == 0;
    else if (strcmp(argv[i - 1], "--fuse") == 0 &&
             (strcmp(value, "always") == 0 || strcmp(value, "no") == 0))
      s->fused = strcmp(value, "always") == 0;
    else
      return false;
  }
  s->files = argv + i;
  s->n_files = argc - i;
  return s->count > 0 || s->seconds > 0;
}

int main(int argc, char **argv) {
  setting s = {.seed = 1, .out = "."};
  if (argc == 2 && strncmp(argv[1], "--worker=", 9) == 0)
    return worker_main(argv[1] + 9);
  if (argc < 2 || !read_options(argc, argv, &s))
    return usage();
  tp_register_passes();
  for (int m = 0; m < COUNT(modes); m++)
    if (strcmp(argv[1], modes[m].name) == 0)
      return modes[m].run(&s) == 0 ? 0 : 1;
  return usage();
}
