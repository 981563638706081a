/* The command line of shard-run: one table of options. */
#include "run.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
  OPT_MESH,
  OPT_INPUT,
  OPT_EXPECTED,
  OPT_INPUTS_FROM,
  OPT_SAVE,
  OPT_LAUNCH,
  OPT_BACKEND,
  OPT_STRATEGY,
  OPT_REPORT,
  OPT_PLAN_REPORT,
  OPT_SEED,
  OPT_NO_VERIFY,
  OPT_REFERENCE,
  OPT_FUNCTION,
  OPT_TIMEOUT,
  OPT_REPEAT,
  OPT_EMIT,
  OPT_TARGET,
  OPT_OPT_LEVEL,
  OPT_CPU,
  OPT_TOPOLOGY,
  OPT_OBJECTIVE,
  OPT_UNKNOWN_OPS,
  OPT_MEMORY_LIMIT,
  OPT_OVERLAP,
  OPT_GRAPH,
  OPT_FUSE,
  OPT_SHARDS,
  OPT_OUTPUT,
  OPT_COPIES,
  OPT_WORKER,
  N_OPTIONS
};

static const cli_option rows[N_OPTIONS] = {
    [OPT_MESH] = {"mesh", "SIZES",
                  "devices, e.g. dp=2,tp=4; overrides the grid of the module; 1: one device"},
    [OPT_INPUT] = {"input", "@FILE.npy", "next argument of the function; may be repeated"},
    [OPT_EXPECTED] = {"expected-output", "@FILE.npy",
                      "what the next result has to be; may be repeated"},
    [OPT_INPUTS_FROM] = {"inputs-from", "PREFIX",
                         "arguments from PREFIX.in.K.npy, expected results from PREFIX.out.K.npy, "
                         "where they exist"},
    [OPT_SAVE] = {"output", "@FILE.npy", "write the next result to a file; may be repeated"},
    [OPT_LAUNCH] = {"launch", "threads|processes|attached",
                    "what a rank is; attached: what mpirun, torchrun, srun or -n started (default: "
                    "attached if there is such a launcher, else threads)"},
    [OPT_STRATEGY] = {"strategy", "plan|follow", "how shardings are chosen (default: plan)"},
    [OPT_REPORT] = {"report", "FILE.json", "write the report of the run as JSON"},
    [OPT_PLAN_REPORT] = {"plan-report", "FILE",
                         "write the report of the plan: JSON, or text for FILE.md and FILE.txt"},
    [OPT_SEED] = {"seed", "N", "seed of the arguments that no file gives (default: 0)"},
    [OPT_NO_VERIFY] = {"no-verify", NULL, "do not run a reference for comparison"},
    [OPT_REFERENCE] =
        {"reference", "device|evaluator",
         "what results are compared with: the program on one device, or an evaluation of its text "
         "that shares no code with the compiler (default: device)"},
    [OPT_FUNCTION] = {"function", "NAME",
                      "function to run (default: the only public one, or main)"},
    [OPT_BACKEND] = {"backend", "NAME",
                     "of the runtime: shm, loopback, tcp, mpi, a plug-in's path (default: "
                     "TPRT_BACKEND, else shm)",
                     .values = "shm|loopback|tcp|mpi"},
    [OPT_TIMEOUT] = {"timeout", "SECONDS",
                     "limit of every wait for another rank (default: the runtime's, 600)"},
    [OPT_REPEAT] = {"repeat", "N", "timed executions after the first (default: 1)"},
    [OPT_EMIT] = {"emit", "so|obj|llvm|ptx",
                  "write the compiled program to the file of -o, and stop; so: libNAME.so and "
                  "NAME.h; ptx: its kernels"},
    [OPT_TARGET] = {"target", "cpu|cuda",
                    "what runs it: processors, or NVIDIA GPUs (default: cpu)"},
    [OPT_OPT_LEVEL] = {"opt-level", "1|2|3", "optimization of generated code (default: 2)"},
    [OPT_CPU] = {"cpu", "native|generic",
                 "code for this processor, or for all of its architecture (default: native)"},
    [OPT_TOPOLOGY] = {"topology", "NAME",
                      "cost model for the plan and the modelled times: a name or a topology file "
                      "(default: cpu)",
                      .values = "cpu|a100|h100|h200|pcie4|torus64k"},
    [OPT_OBJECTIVE] = {"objective", "time|bytes", "what the plan makes least (default: time)"},
    [OPT_UNKNOWN_OPS] = {"unknown-ops", "refuse|replicate",
                         "ops without a sharding rule: an error, or run on all devices"},
    [OPT_MEMORY_LIMIT] =
        {"memory-limit", "BYTES",
         "what a device may hold: 512MiB, 80GB, ..., or topology (default: no limit)"},
    [OPT_OVERLAP] = {"overlap", "no|run|plan",
                     "communicate beside compute: no; as the order of the program allows; plan for "
                     "it, too (default: no)"},
    [OPT_GRAPH] = {"graph", NULL,
                   "with --target=cuda: capture the program in a graph, and launch that"},
    [OPT_FUSE] = {"fuse", "no|faster|always",
                  "sums over devices together with what follows them, as kernels of GPUs do them: "
                  "no; where that is modelled to "
                  "be faster; wherever it can be (default: no)"},
    [OPT_SHARDS] =
        {"shards", "FOLDER",
         "with --emit=so: write there what a launcher needs, program.txt; and where arguments are "
         "given, what each rank gets (in.K.RANK.npy), and has to return by what is expected "
         "(out.K.RANK.npy) and by one device (one.K.RANK.npy)"},
    [OPT_OUTPUT] = {NULL, "FILE", "file that --emit writes", 'o'},
    [OPT_COPIES] = {NULL, "N", "start PROGRAM N times, as ranks of one world", 'n'},
    [OPT_WORKER] = {"worker", "...", NULL}, /* hidden option that starts worker processes */
};

const cli_tool cli_program = {
    .name = "shard-run",
    .summary = "run a tensor program on a mesh of devices, and verify it",
    .usage = {"MODEL.mlir [--mesh SIZES] [options]", "-n N -- PROGRAM [arguments]"},
    .description =
        "Partitions a tensor program, compiles it once, runs it on all devices of a mesh as ranks "
        "of this machine, and compares the results with the same program on one device (if it has "
        "communication of its own: with every value whole on every device) and with given ones. "
        "Started by mpirun, torchrun or srun, or by the second form, each process is a rank.",
    .options = rows,
    .n_options = N_OPTIONS,
    .examples = {"shard-run model.mlir --mesh dp=2,tp=4",
                 "shard-run model.mlir --mesh 2x2 --inputs-from model --report run.json",
                 "shard-run -n 4 -- shard-run model.mlir --mesh 2x2",
                 "shard-run model.mlir --mesh 2x2 --emit=so -o libmodel.so"},
    .notes =
        "Tolerances, relative to the largest absolute value of the reference: against one device "
        "f32 1e-5, f64 1e-12, bf16 and f16 2e-2, f8 8e-2; against expected results f32 and f64 "
        "1e-4, others the same; integers and booleans are equal. Where one device and N differ by "
        "more, an evaluation of the program in f64 judges both: N ranks are wrong if they are "
        "farther off than the tolerance and than four times what one device is off.",
    .exits = {{0, "verified (or done, where nothing was to be verified)"},
              {1, "a mismatch or failure"},
              {2, "wrong usage"}},
    .page = "docs/how-to/read-a-plan.md",
};

static bool push(text_list *list, const char *text) {
  const char **items = realloc(list->items, (size_t)(list->n + 1) * sizeof *items);
  if (!items)
    return false;
  list->items = items;
  list->items[list->n++] = text;
  return true;
}

static int parse_choice(const char *name, const char *text, const char *a, const char *b) {
  if (strcmp(text, a) == 0 || strcmp(text, b) == 0)
    return CLI_GO_ON;
  return cli_usage("--%s takes %s or %s", name, a, b);
}

static int parse_launch(const char *name, const char *text, launch_kind *kind) {
  static const char *const names[] = {[LAUNCH_THREADS] = "threads",
                                      [LAUNCH_PROCESSES] = "processes",
                                      [LAUNCH_ATTACHED] = "attached"};
  for (int i = LAUNCH_THREADS; i <= LAUNCH_ATTACHED; i++) {
    if (strcmp(text, names[i]) == 0) {
      *kind = (launch_kind)i;
      return CLI_GO_ON;
    }
  }
  return cli_usage("--%s takes threads, processes or attached, not '%s'", name, text);
}

static int parse_file(const char *name, const char *text, text_list *list) {
  if (text[0] != '@' || text[1] == 0)
    return cli_usage("--%s takes @FILE.npy, not '%s'", name, text);
  return push(list, text + 1) ? CLI_GO_ON : EXIT_FAILED;
}

static int apply(int which, const char *text, void *data) {
  options *o = data;
  const char *name = rows[which].name;
  double number = 0;
  switch (which) {
  case OPT_MESH:
    o->mesh = text;
    return CLI_GO_ON;
  case OPT_INPUT:
    return parse_file(name, text, &o->inputs);
  case OPT_EXPECTED:
    return parse_file(name, text, &o->expected);
  case OPT_SAVE:
    return parse_file(name, text, &o->save);
  case OPT_INPUTS_FROM:
    o->inputs_from = text;
    return CLI_GO_ON;
  case OPT_LAUNCH:
    return parse_launch(name, text, &o->launch);
  case OPT_BACKEND:
    o->backend = text;
    return CLI_GO_ON;
  case OPT_STRATEGY:
    o->strategy = text;
    return parse_choice(name, text, "plan", "follow");
  case OPT_REPORT:
    o->report = text;
    return CLI_GO_ON;
  case OPT_PLAN_REPORT:
    o->plan_report = text;
    return CLI_GO_ON;
  case OPT_NO_VERIFY:
    o->verify = false;
    return CLI_GO_ON;
  case OPT_REFERENCE:
    o->by_evaluator = strcmp(text, "evaluator") == 0;
    return parse_choice(name, text, "device", "evaluator");
  case OPT_FUNCTION:
    o->function = text;
    return CLI_GO_ON;
  case OPT_EMIT:
    o->emit = text;
    if (strcmp(text, "so") == 0 || strcmp(text, "obj") == 0 || strcmp(text, "llvm") == 0 ||
        strcmp(text, "ptx") == 0)
      return CLI_GO_ON;
    return cli_usage("--emit takes so, obj, llvm or ptx");
  case OPT_TARGET:
    o->target = strcmp(text, "cuda") == 0 ? TARGET_CUDA : TARGET_CPU;
    return parse_choice(name, text, "cpu", "cuda");
  case OPT_TOPOLOGY:
    o->topology = text;
    return CLI_GO_ON;
  case OPT_OBJECTIVE:
    o->objective = text;
    return parse_choice(name, text, "time", "bytes");
  case OPT_UNKNOWN_OPS:
    o->unknown_ops = text;
    return parse_choice(name, text, "refuse", "replicate");
  case OPT_MEMORY_LIMIT:
    o->memory_limit = text;
    return CLI_GO_ON;
  case OPT_OVERLAP:
    o->overlap = text;
    if (strcmp(text, "no") != 0 && strcmp(text, "run") != 0 && strcmp(text, "plan") != 0)
      return cli_usage("--%s takes no, run or plan, not '%s'", name, text);
    return CLI_GO_ON;
  case OPT_GRAPH:
    o->graph = true;
    return CLI_GO_ON;
  case OPT_FUSE:
    o->fuse = text;
    if (strcmp(text, "no") != 0 && strcmp(text, "faster") != 0 && strcmp(text, "always") != 0)
      return cli_usage("--%s takes no, faster or always, not '%s'", name, text);
    return CLI_GO_ON;
  case OPT_SHARDS:
    o->shards = text;
    return CLI_GO_ON;
  case OPT_SEED:
    if (!cli_number(text, 0, 9e15, &number))
      return cli_usage("--%s takes a whole number >= 0, not '%s'", name, text);
    o->seed = (uint64_t)number;
    return CLI_GO_ON;
  case OPT_TIMEOUT:
    if (!cli_number(text, 1e-3, 1e6, &o->timeout))
      return cli_usage("--%s takes seconds between 0.001 and 1000000, not '%s'", name, text);
    return CLI_GO_ON;
  case OPT_REPEAT:
    if (!cli_number(text, 1, 1e6, &number))
      return cli_usage("--%s takes a whole number >= 1, not '%s'", name, text);
    o->repeat = (int)number;
    return CLI_GO_ON;
  case OPT_OPT_LEVEL:
    if (!cli_number(text, 1, 3, &number))
      return cli_usage("--%s takes 1, 2 or 3, not '%s'", name, text);
    o->opt_level = (int)number;
    return CLI_GO_ON;
  case OPT_CPU:
    o->generic = strcmp(text, "generic") == 0;
    return parse_choice(name, text, "native", "generic");
  case OPT_OUTPUT:
    o->output = text;
    return CLI_GO_ON;
  case OPT_COPIES:
    if (!cli_number(text, 1, 1024, &number) || number != (int)number)
      return cli_usage("-n takes a whole number from 1 to 1024, not '%s'", text);
    o->n_copies = (int)number;
    return CLI_GO_ON;
  default:
    o->worker = text;
    return CLI_GO_ON;
  }
}

int cli_parse(int argc, char **argv, options *o) {
  *o = (options){.verify = true,
                 .repeat = 1,
                 .strategy = "plan",
                 .objective = "time",
                 .unknown_ops = "refuse",
                 .overlap = "no",
                 .fuse = "no"};
  int code = cli_options(argc, argv, apply, o);
  if (code != CLI_GO_ON)
    return code;
  if (o->worker)
    return CLI_GO_ON;
  if (o->n_copies && (optind == argc || strcmp(argv[optind - 1], "--") != 0))
    return cli_usage("-n N starts a program: shard-run -n N -- PROGRAM ...");
  if (o->n_copies) {
    o->command = argv + optind;
    return CLI_GO_ON;
  }
  if (optind == argc)
    return cli_usage("no model is given");
  if (optind + 1 < argc)
    return cli_usage("more than one model is given: '%s' and '%s'", argv[optind], argv[optind + 1]);
  o->model = argv[optind];
  if ((o->emit != NULL) != (o->output != NULL))
    return cli_usage("--emit and -o FILE go together");
  if (o->by_evaluator && !o->verify)
    return cli_usage("--reference and --no-verify do not go together");
  if (o->by_evaluator && o->emit)
    return cli_usage("--reference=evaluator is about running; --emit runs nothing");
  if (o->shards && (!o->emit || strcmp(o->emit, "so") != 0))
    return cli_usage("--shards goes with --emit=so");
  if (o->emit && strcmp(o->emit, "ptx") == 0 && o->target != TARGET_CUDA)
    return cli_usage("--emit=ptx is of --target=cuda");
  if (o->graph && o->target != TARGET_CUDA)
    return cli_usage("--graph is of --target=cuda");
  if (o->graph && o->emit)
    return cli_usage(
        "--graph is about running; what --emit writes is called by tprt_context_replay for that");
  if (o->target == TARGET_CUDA && o->launch == LAUNCH_PROCESSES)
    return cli_usage("ranks of --target=cuda are threads, of one GPU or one each");
  if (o->backend && o->launch == LAUNCH_PROCESSES && strcasecmp(o->backend, "shm") != 0)
    return cli_usage(
        "--launch=processes is of backend shm; '%s' has threads, or what its own launcher starts",
        o->backend);
  return CLI_GO_ON;
}
