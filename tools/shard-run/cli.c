/* The command line of shard-run: one table of options. */
#include "run.h"

#include <ctype.h>
#include <getopt.h>
#include <llvm/Config/llvm-config.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static bool push(text_list *list, const char *text) {
  const char **items = realloc(list->items, (size_t)(list->n + 1) * sizeof *items);
  if (!items)
    return false;
  list->items = items;
  list->items[list->n++] = text;
  return true;
}

static int parse_file(const cli_option *option, const char *text, void *data) {
  if (text[0] != '@' || text[1] == 0)
    return cli_usage("--%s takes @FILE.npy, not '%s'", option->name, text);
  void *list = (char *)data + option->offset;
  return push(list, text + 1) ? CLI_GO_ON : EXIT_FAILED;
}

static const cli_option rows[] = {
    {"mesh", "SIZES",
     "mesh of devices: dp=2,tp=4, or 2x4, or one size, without spaces; overrides the grid of the "
     "module; 1: one device",
     CLI_TEXT(options, mesh), .pipeline_option = "mesh"},
    {"input", "@FILE.npy", "next argument of the function; may be repeated",
     CLI_OTHER(options, inputs, parse_file)},
    {"expected-output", "@FILE.npy", "expected value of the next result; may be repeated",
     CLI_OTHER(options, expected, parse_file)},
    {"inputs-from", "PREFIX",
     "arguments from PREFIX.in.K.npy, expected results from PREFIX.out.K.npy, "
     "where they exist",
     CLI_TEXT(options, inputs_from)},
    {"output", "@FILE.npy", "write the next result to a file; may be repeated",
     CLI_OTHER(options, save, parse_file)},
    {"launch", "threads|processes|attached",
     "run ranks as threads or processes; attached: as the processes that mpirun, torchrun, srun or "
     "-n started (default: attached under such a launcher, else threads)",
     CLI_CHOICE(options, launch, LAUNCH_THREADS)},
    {"backend", "NAME",
     "backend of the runtime: shm, loopback, tcp, fabric, mpi, or the path of a plug-in (default: "
     "TPRT_BACKEND, else shm)",
     .values = "shm|loopback|tcp|fabric|mpi", CLI_TEXT(options, backend)},
    {"strategy", "plan|follow", "how shardings are chosen (default: plan)",
     CLI_WORD(options, strategy), .pipeline_option = "strategy"},
    {"report", "FILE.json", "write the report of the run as JSON", CLI_TEXT(options, report)},
    {"trace", "FILE.json",
     "write a trace of all ranks for Perfetto: compute, collectives with the wait for peers and "
     "the "
     "transfer, and the model beside them",
     CLI_TEXT(options, trace)},
    {"plan-report", "FILE",
     "write the report of the plan: FILE.html is a page to look at, FILE.json is JSON, FILE.md and "
     "FILE.txt are text, FILE.model-explorer.json is for Model Explorer",
     CLI_TEXT(options, plan_report), .pipeline_option = "report"},
    {"plan-diff", "OLD.json", "say what differs from the plan whose --plan-report is OLD.json",
     CLI_TEXT(options, plan_diff), .pipeline_option = "report-against"},
    {"frontier", "N", "plan within N memory limits, to show what less memory costs",
     CLI_TEXT(options, frontier), .pipeline_option = "report-frontier"},
    {"explain", "NAME",
     "print why a value has its layout and what others would cost: its name in the source (wq), a "
     "tp.name, result 0, or FILE:LINE",
     CLI_TEXT(options, explain), .pipeline_option = "explain"},
    {"seed", "N", "seed for arguments that are not read from a file (default: 0)",
     CLI_INT(options, seed, 0, 9e15)},
    {"no-verify", NULL, "do not run a reference for comparison", CLI_FLAG(options, no_verify)},
    {"reference", "auto|device|evaluator",
     "what results are compared with; device: the program on one device; evaluator: an evaluation "
     "of its text, which shares no code with the compiler, of any length; auto: both, if the "
     "evaluation takes about a second at most (default: auto)",
     CLI_CHOICE(options, reference, REFERENCE_AUTO)},
    {"function", "NAME", "function to run (default: the only public one, or main)",
     CLI_TEXT(options, function)},
    {"timeout", "SECONDS",
     "timeout of every wait for another rank (default: that of the runtime, 600)",
     CLI_NUMBER(options, timeout, 1e-3, 1e6)},
    {"repeat", "N", "timed executions after the first (default: 1)",
     CLI_INT(options, repeat, 1, 1e6)},
    {"emit", "so|obj|llvm|ptx",
     "write the compiled program to the file given by -o, and stop; so: libNAME.so and NAME.h; "
     "ptx: its GPU kernels",
     CLI_CHOICE(options, emit, EMIT_LIBRARY)},
    {"target", "cpu|cuda", "run on CPUs or on NVIDIA GPUs (default: cpu)",
     CLI_CHOICE(options, target, TARGET_CPU)},
    {"opt-level", "1|2|3", "optimization level of generated code (default: TP_OPT_LEVEL, else 2)",
     CLI_CHOICE(options, opt_level, 1)},
    {"cpu", "native|generic",
     "generate code for this processor, or for any processor of its architecture (default: native)",
     CLI_CHOICE(options, generic, false)},
    {"topology", "NAME",
     "cost model for the plan and the modelled times: a name or a topology file; host: this host, "
     "measured once (default: cpu; with --target=cuda: h100)",
     .values = "cpu|host|a100|h100|h200|pcie4|torus64k", CLI_TEXT(options, topology),
     .pipeline_option = "topology"},
    {"objective", "time|bytes", "what the plan minimizes (default: time)",
     CLI_WORD(options, objective), .pipeline_option = "objective"},
    {"byte-flops", "N",
     "with --objective bytes: operations that cost as much as a sent byte; the more, the fewer "
     "bytes are sent, and the more work is repeated (default: 20)",
     CLI_TEXT(options, byte_flops), .pipeline_option = "byte-flops"},
    {"unknown-ops", "refuse|replicate",
     "ops without a sharding rule: report an error, or replicate them on all devices",
     CLI_WORD(options, unknown_ops), .pipeline_option = "unknown-ops"},
    {"memory-limit", "BYTES",
     "memory limit per device: 512MiB, 80GB, ..., or topology (default: no limit)",
     CLI_TEXT(options, memory_limit), .pipeline_option = "memory-limit"},
    {"shard-constants", "BYTES",
     "constants of the program from this size on may be sharded: a device then holds its shard, as "
     "of an argument; never: none (default: 1MiB)",
     CLI_TEXT(options, shard_constants), .pipeline_option = "shard-constants"},
    {"overlap", "no|run|plan",
     "overlap communication with compute: no; run: as far as the order of the program allows; "
     "plan: also plan for it (default: no)",
     CLI_CHOICE(options, overlap, OVERLAP_NO)},
    {"no-graph", NULL,
     "with --target=cuda: launch every kernel, instead of a CUDA graph of all of them, captured "
     "after the first call",
     CLI_FLAG(options, no_graph)},
    {"tf32", NULL,
     "with --target=cuda: matmuls of f32 round their operands to TF32, 11 bits of mantissa, which "
     "is several times as fast; the tolerance of results is then that of f16",
     CLI_FLAG(options, tf32)},
    {"fuse", "no|faster|always",
     "fuse all-reduces with the ops that follow them, as GPU kernels do: no; faster: where the "
     "cost model predicts a gain; always: wherever possible (default: no; with --target=cuda: "
     "faster)",
     CLI_WORD(options, fuse), .pipeline_option = "fuse"},
    {"shards", "FOLDER",
     "with --emit=so or obj: write program.txt, which a launcher needs, to this folder, and the "
     "shards of constants that the program takes as arguments (in.K.RANK.npy); if arguments are "
     "given, also those of each rank, its expected results (out.K.RANK.npy), and its results "
     "according to one device (one.K.RANK.npy)",
     CLI_TEXT(options, shards)},
    {NULL, "FILE", "output file of --emit", .letter = 'o', CLI_TEXT(options, output)},
    {NULL, "N",
     "start PROGRAM N times, as ranks of one world; the exit code is the first of a rank that is "
     "not 0 (128 + the number of a signal)",
     .letter = 'n', CLI_INT(options, n_copies, 1, 1024)},
    {"spares", "K",
     "with -n: up to K times, another process takes the place of a rank that a signal killed; "
     "shard-run, as PROGRAM, then runs the model again (default: 0)",
     CLI_INT(options, n_spares, 0, 1024)},
    /* hidden option that starts worker processes */
    {"worker", "...", NULL, CLI_TEXT(options, worker)},
};

/* Refuses --PASS, which shard-opt takes. */
static bool refuse_pass(const char *word) {
  const char *name = word + strspn(word, "-");
  size_t n = strcspn(name, "=");
  for (int i = 0; i < tp_pass_count(); i++)
    if (strlen(tp_pass_get(i).name) == n && strncmp(tp_pass_get(i).name, name, n) == 0) {
      (void)cli_usage("'%s' is a pass, and shard-opt runs passes: shard-opt MODEL.mlir %s", word,
                      word);
      return true;
    }
  return false;
}

const cli_tool cli_program = {
    .name = "shard-run",
    .summary = "run a tensor program on a mesh of devices, and verify it",
    .usage = {"MODEL.mlir [--mesh SIZES] [options]", "-n N [--spares K] -- PROGRAM [arguments]",
              "flight DIRECTORY"},
    .description = "Partitions a tensor program, compiles it once, runs it on all devices of a "
                   "mesh as ranks of this machine, and compares the results with those of the "
                   "single-device program (if the program has communication of its own: with every "
                   "value whole on every device) and with expected results, if given. Started by "
                   "mpirun, torchrun or srun, or by the second form, each process is a rank. The "
                   "third form reads the flight recorders that the ranks of a failed run wrote to "
                   "TPRT_FLIGHT_DIR, and says which rank is missing in which operation.",
    .options = rows,
    .n_options = sizeof rows / sizeof *rows,
    .examples = {"shard-run model.mlir --mesh dp=2,tp=4",
                 "shard-run model.mlir --mesh 2x2 --inputs-from model --report run.json",
                 "shard-run -n 4 -- shard-run model.mlir --mesh 2x2", "shard-run flight dumps",
                 "shard-run model.mlir --mesh 2x2 --emit=so -o libmodel.so"},
    .notes =
        "Tolerances, relative to the largest absolute value of the reference: against one device "
        "f32 1e-5, f64 1e-12, bf16 and f16 2e-2, f8 8e-2, with --tf32 at least 2e-2; against "
        "expected results f32 and f64 "
        "1e-4, others the same, or more as far as rounding explains it; integers and booleans must "
        "be equal, unless rounding decides them. If the results of one device "
        "and of N differ by more, an evaluation of the program in f64 judges both: the results of "
        "N ranks are wrong if their error exceeds both the tolerance and four times the error of "
        "one device. A large error that one device shares is wrong, too, unless rounding explains "
        "it. The last line says \"verified\" only if the evaluator or given results "
        "confirm every result. One device goes through the same passes and code generation as N, "
        "so a result that only one device confirms is said to be consistent with it.\n"
        "Ctrl-C while a plan is searched ends the search with the best plan so far; a remark says "
        "how far it may be from the cheapest. A second Ctrl-C, or one at another time, ends the "
        "program and all ranks at once.",
    .synonyms =
        {{"--gpu", "--target cuda"},
         {"--target=gpu", "--target cuda"},
         {"-np",
          "--mesh 4 to run the model on 4 ranks, or -n 4 -- PROGRAM to start a program 4 times"}},
    .refuse_foreign = refuse_pass,
    .exits = {{0,
               "verified, or consistent with one device, or done where nothing was to be compared"},
              {1, "a mismatch or failure"},
              {2, "wrong usage"},
              {130, "interrupted"}},
    .page = "docs/how-to/read-a-plan.md",
    .built_on = "LLVM and MLIR " LLVM_VERSION_STRING,
};

/* Refuses more than one model, and says what is probably meant by a word that is no file. */
static int check_operands(int n, char **words) {
  static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"};
  for (int i = 0; i < n && n > 1; i++) {
    if (access(words[i], F_OK) == 0)
      continue;
    if (strchr(words[i], '='))
      return cli_usage("'%s' is not a file; commas join the axes of a mesh: --mesh dp=2,tp=4",
                       words[i]);
    for (size_t k = 0; k < sizeof units / sizeof *units; k++)
      if (strcasecmp(words[i], units[k]) == 0)
        return cli_usage("'%s' is not a file; a size and its unit have no blank between them: "
                         "--memory-limit 80GB",
                         words[i]);
  }
  return n > 1 ? cli_usage("more than one model is given: '%s' and '%s'", words[0], words[1])
               : CLI_GO_ON;
}

/* What is not given follows the target: GPUs are planned for as GPUs, with the kernels that they
 * have. */
static void follow_target(options *o) {
  if (o->target != TARGET_CUDA)
    return;
  o->topology = o->topology ? o->topology : "h100";
  o->fuse = o->fuse ? o->fuse : "faster";
}

/* Returns the value of an option of pipelines; NULL: it is not given. */
static const char *value_of(const options *o, const char *pipeline_option) {
  const char *value = NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows && !value; i++)
    if (rows[i].pipeline_option && strcmp(rows[i].pipeline_option, pipeline_option) == 0)
      memcpy(&value, (const char *)o + rows[i].offset, sizeof value);
  return value;
}

/* Prints a message of the compiler, with the names that options have here, as a usage error. */
static int refuse_value(const char *message) {
  char *text = NULL;
  size_t n;
  FILE *out = open_memstream(&text, &n);
  if (!out)
    return cli_usage("%s", message);
  cli_respell(message, out);
  if (fclose(out) == 0)
    message = text;
  int code = cli_usage("%s", message);
  free(text);
  return code;
}

/* Checks the values of the options that are passed on to tp-spmd, so that a wrong one is not
 * reported as an error in the program. */
static int check_values(const options *o) {
  char why[1024];
  tp_machine *machine;
  for (int i = 0; i < tp_pass_count(); i++) {
    if (strcmp(tp_pass_get(i).name, "tp-spmd") != 0)
      continue;
    for (int k = 0; k < tp_pass_get(i).n_options; k++) {
      const char *value = value_of(o, tp_pass_option(i, k).name);
      if (value && tp_pass_option_check(i, k, value, sizeof why, why) != TP_OK)
        return refuse_value(why);
    }
  }
  if (!o->topology || strcmp(o->topology, "host") == 0)
    return CLI_GO_ON;
  tp_status status = tp_machine_load(o->topology, why, sizeof why, &machine);
  if (status == TP_OK)
    tp_machine_destroy(machine);
  return status == TP_NOT_FOUND ? cli_usage("--topology: %s", why) : CLI_GO_ON;
}

/* True if all words before the program are those of -n and --spares. */
static bool is_of_launcher(char **words, int n) {
  for (int i = 0; i < n; i++) {
    bool is_copies = strncmp(words[i], "-n", 2) == 0,
         is_spares = strncmp(words[i], "--sp", 4) == 0; /* may be cut short */
    if (!is_copies && !is_spares)
      return false;
    i += is_copies ? !words[i][2] : !strchr(words[i], '='); /* its value is a word of its own */
  }
  return true;
}

/* shard-run -n N [--spares K] -- PROGRAM */
static int read_command(int argc, char **argv, options *o) {
  if (optind == argc || strcmp(argv[optind - 1], "--") != 0)
    return cli_usage("-n N requires a program: shard-run -n N -- PROGRAM ...");
  if (!is_of_launcher(argv + 1, optind - 2))
    return cli_usage("options of the ranks belong behind their program: shard-run -n N -- "
                     "shard-run MODEL --mesh 2x2");
  if (o->n_spares && o->n_copies == 1)
    return cli_usage("--spares requires at least 2 ranks: a spare joins those that are left");
  o->command = argv + optind;
  return CLI_GO_ON;
}

int cli_parse(int argc, char **argv, options *o) {
  char why[256];
  tp_mesh mesh;
  *o = (options){.repeat = 1};
  int code = cli_options(argc, argv, o);
  if (code != CLI_GO_ON)
    return code;
  if (o->worker)
    return CLI_GO_ON;
  if (o->n_copies)
    return read_command(argc, argv, o);
  if (o->n_spares)
    return cli_usage("--spares requires -n: shard-run -n N --spares K -- PROGRAM ...");
  if (optind < argc && strcmp(argv[optind], "flight") == 0) {
    if (optind + 2 != argc)
      return cli_usage("flight requires one directory: shard-run flight DIRECTORY");
    o->flight = argv[optind + 1];
    return CLI_GO_ON;
  }
  if (optind == argc)
    return cli_usage("no model is given; write for example shard-run model.mlir --mesh 2x2");
  code = check_operands(argc - optind, argv + optind);
  if (code != CLI_GO_ON)
    return code;
  o->model = argv[optind];
  if (o->mesh && strpbrk(o->mesh, " '\"{}") &&
      tp_mesh_parse("mesh", o->mesh, why, sizeof why, &mesh) != TP_OK)
    return cli_usage("%s", why); /* other meshes are refused with the axes of the program */
  code = usage_check(o);
  if (code != CLI_GO_ON)
    return code;
  follow_target(o);
  return check_values(o);
}

/* Returns true if a pipeline or pass has this option. */
static bool has_option(const char *pipeline, const char *option) {
  for (int i = 0; i < tp_pass_count(); i++)
    for (int k = 0; k < tp_pass_get(i).n_options; k++)
      if (strcmp(tp_pass_get(i).name, pipeline) == 0 &&
          strcmp(tp_pass_option(i, k).name, option) == 0)
        return true;
  return false;
}

static bool is_of_word(char c) { return isalnum((unsigned char)c) || strchr("-_.{'\"", c); }

/* The row whose option of pipelines a text begins with, as a word that is followed by '=' or has a
 * '-'; NULL: none. */
static const cli_option *named_in(const char *text) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *name = rows[i].pipeline_option;
    size_t n = name ? strlen(name) : 0;
    if (n == 0 || strncmp(text, name, n) != 0)
      continue;
    if (text[n] == '=' || (strchr(name, '-') && !(text[n] && is_of_word(text[n]))))
      return &rows[i];
  }
  return NULL;
}

void cli_respell(const char *message, FILE *out) {
  char before = ' ';
  for (const char *at = message; *at; before = at[-1]) {
    const cli_option *named = is_of_word(before) ? NULL : named_in(at);
    size_t n = named ? strlen(named->pipeline_option) : 0;
    if (named)
      fprintf(out, "--%s%s", named->name, at[n] == '=' ? " " : "");
    else
      fputc(*at, out);
    at += named ? n + (at[n] == '=') : 1;
  }
}

bool cli_pipeline(const options *o, const char *pipeline, bool overlap, char *text, size_t size) {
  bool tf32 = o->tf32 && has_option(pipeline, "tf32");
  size_t n = (size_t)snprintf(text, size, "%s{overlap=%s%s", pipeline, overlap ? "true" : "false",
                              tf32 ? " tf32=true" : "");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *value = NULL;
    if (rows[i].pipeline_option && has_option(pipeline, rows[i].pipeline_option))
      value = value_of(o, rows[i].pipeline_option);
    if (!value)
      continue;
    if (n < size)
      n += (size_t)snprintf(text + n, size - n, " %s='%s'", rows[i].pipeline_option, value);
    if (n + 2 > size || strpbrk(value, "'\"{}")) {
      complain("--%s has quotes or braces, or is too long: %s", rows[i].name, value);
      return false;
    }
  }
  snprintf(text + n, size - n, "}");
  return true;
}
