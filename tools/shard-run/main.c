/* shard-run: plans, partitions and compiles a model, runs it on all ranks, and compares the
 * results. */
#include "run.h"

#include "tp/env.h"
#include "tp/watch.h"
#include "tprt/cuda.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_file(const char *path, const tp_bytes *bytes) {
  cli_file file;
  bool ok = cli_file_open(&file, path) &&
            cli_file_close(&file, fwrite(bytes->data, 1, bytes->size, file.stream) == bytes->size);
  if (!ok)
    complain_of_write(path);
  return ok;
}

static bool read_model(MlirContext context, const char *path, MlirModule *module) {
  if (strcmp(path, "-") == 0) {
    complain("'-' is no file; give a file, or /dev/stdin for standard input");
    return false;
  }
  if (!cli_find_program(&path))
    return false;
  FILE *file = fopen(path, "rb");
  if (!file) {
    const char *why = strerror(errno);
    cli_suggestion closest;
    complain("cannot read '%s': %s%s", path, why, cli_suggest_file(path, &closest));
    return false;
  }
  fclose(file);
  *module = mlirModuleCreateParseFromFile(context, mlirStringRefCreateFromCString(path));
  if (mlirModuleIsNull(*module))
    complain("'%s' could not be read", path);
  return !mlirModuleIsNull(*module);
}

/* ---- Execution ---- */

static bool execute(const options *o, attachment *ranks, const build *b, const array *inputs,
                    launch *run, array **outputs) {
  *run = (launch){.function = b->shape->function,
                  .object = &b->object,
                  .timeout = o->timeout,
                  .repeat = o->repeat,
                  .backend = o->backend,
                  .graph = o->target == TARGET_CUDA && !o->no_graph,
                  .checks_gpu = o->target == TARGET_CUDA,
                  .trace = o->trace != NULL,
                  .on_step = progress_steps};
  if (!shards_create(b, inputs, run))
    return false;
  bool several = run->n_ranks > 1;
  bool ok = several && ranks->world                    ? launch_attached(run, ranks)
            : several && o->launch == LAUNCH_PROCESSES ? launch_processes(run)
                                                       : launch_threads(run);
  return ok && outputs_join(b->shape, run, outputs);
}

/* Checks, site by site, that the bytes counted by the runtime equal those of the plan, unless they
 * depend on values. */
static bool check_bytes(const tp_plan *plan, const launch *run) {
  if (run->n_sites < plan->n_collectives) {
    complain("the program has %d sites, but the plan has %d collectives; please report this",
             run->n_sites, plan->n_collectives);
    return false;
  }
  for (int r = 0; r < run->n_ranks; r++)
    for (int s = 0; s < run->n_sites; s++) {
      const tprt_site_stats *stats = run->ranks[r].sites + s;
      int64_t bytes = s < plan->n_collectives ? plan->collectives[s].bytes : 0;
      bool varies = s < plan->n_collectives && plan->collectives[s].varies;
      if (!varies && stats->bytes != stats->calls * bytes) {
        complain("site %d (%s): rank %d sent %lld bytes in %lld calls, but the plan expects %lld "
                 "bytes per call; please report this",
                 s,
                 s < plan->n_collectives ? tp_collective_name(plan->collectives[s].kind)
                                         : "contraction",
                 r, (long long)stats->bytes, (long long)stats->calls, (long long)bytes);
        return false;
      }
    }
  return true;
}

/* ---- The session ---- */

static bool is_one(const char *mesh) { return mesh && strcmp(mesh, "1") == 0; }

typedef struct session {
  const options *o;
  attachment *ranks;
  build program, reference;
  build_kind reference_kind;
  launch run, reference_run;
  array *inputs, *expected, *outputs, *reference_outputs;
  comparison *against_one, *against_expected, *against_evaluator;
  char why[256]; /* why the program is not evaluated */
  int n_inputs, n_outputs;
  double compile_seconds; /* of the reference, which takes about as long as the program */
} session;

static bool run_reference(session *s, MlirModule module) {
  double start = cli_seconds();
  progress("compiling the reference");
  if (!build_partition(s->o, module, s->reference_kind, &s->reference) ||
      !build_object(s->o, TARGET_CPU, EMIT_NOTHING, &s->reference)) {
    complain("the reference program, %s, could not be compiled",
             s->reference_kind == BUILD_WHOLE ? "with every value whole on every device"
                                              : "for one device");
    return false;
  }
  s->compile_seconds = cli_seconds() - start;
  progress("running the reference");
  return execute(s->o, s->ranks, &s->reference, s->inputs, &s->reference_run,
                 &s->reference_outputs);
}

/* Returns the least tolerance of floats: with TF32 that of f16, which has as many bits of
 * mantissa. */
static double least_tolerance(const options *o) {
  return o->tf32 ? compare_tolerance_of_unit(0x1p-11) : 0;
}

/* Returns the largest magnitude of the floats that the program takes and returns, without masks. */
static double largest_number(const session *s) {
  double largest = 0;
  for (int i = 0; i < s->n_inputs; i++)
    largest = fmax(largest, s->inputs[i].type->kind == 'f' ? compare_scale(s->inputs + i) : 0);
  for (int k = 0; k < s->n_outputs; k++)
    largest = fmax(largest, s->outputs[k].type->kind == 'f' ? compare_scale(s->outputs + k) : 0);
  return largest;
}

/* Compares integers that differ again, with bounds, because rounding may decide them. */
static void compare_integers_again(session *s, MlirModule module) {
  tp_reference *bounded = NULL;
  for (int k = 0; k < s->n_outputs; k++) {
    comparison *c = s->against_evaluator + k, *expected = s->against_expected + k;
    bool differs = !c->ok || (expected->done && !expected->ok);
    char why[256];
    if (s->outputs[k].type->kind == 'f' || !differs)
      continue;
    if (!bounded)
      bounded = evaluate(module, s->program.shape->function, s->program.shape, s->inputs,
                         EVALUATE_BOUNDED, 0, sizeof why, why);
    if (!bounded)
      return;
    if (!c->ok)
      *c = compare_with_evaluator(s->outputs + k, NULL, bounded, NULL, k, least_tolerance(s->o), 0);
    if (expected->done && !expected->ok)
      compare_expected_integers(s->expected + k, bounded, k, expected);
  }
  tp_reference_destroy(bounded);
}

/* Compares again where one device, too, has a large error, with an estimate of what rounding
 * explains. */
static void check_conditioning(session *s, MlirModule module, const tp_reference *reference) {
  bool any = false;
  for (int k = 0; k < s->n_outputs; k++)
    any |= s->against_evaluator[k].is_doubtful;
  if (!any)
    return;
  char why[256];
  const tp_plan *shape = s->program.shape;
  tp_reference *noisy =
      evaluate(module, shape->function, shape, s->inputs, EVALUATE_NOISY, 0, sizeof why, why);
  for (int k = 0; k < s->n_outputs && noisy; k++)
    if (s->against_evaluator[k].is_doubtful)
      s->against_evaluator[k] =
          compare_with_evaluator(s->outputs + k, s->reference_outputs + k, reference, noisy, k,
                                 least_tolerance(s->o), largest_number(s));
  tp_reference_destroy(noisy);
}

/* Results may have an error that rounding explains: against the evaluator f32 results that depend
 * on narrower numbers, against expected results all, as others round elsewhere. */
static void check_rounding(session *s, MlirModule module, const tp_reference *reference) {
  for (int k = 0; k < s->n_outputs; k++) {
    comparison *c = &s->against_evaluator[k], *expected = &s->against_expected[k];
    bool is_far = expected->done && !expected->ok && isfinite(expected->error);
    bool is_rounded = s->outputs[k].type->kind == 'f' && (c->rounding_tolerance > 0 || is_far);
    char why[256];
    double change = 0;
    for (int i = 0; i < TP_NOISES && is_rounded; i++) {
      tp_reference *noisy =
          evaluate(module, s->program.shape->function, s->program.shape, s->inputs,
                   (evaluation_mode)(EVALUATE_NOISY + i), 0, sizeof why, why);
      change = noisy ? fmax(change, change_by_noise(reference, noisy, k)) : change;
      tp_reference_destroy(noisy);
    }
    if (is_rounded && c->rounding_tolerance > 0)
      compare_with_rounding(c, change);
    if (is_rounded && is_far)
      compare_expected_floats(s->outputs + k, reference, change, largest_number(s), k, expected);
  }
}

/* Some 10^8 operations take about a second. */
#define QUICK_STEPS 1e8

/* Compares all results with the evaluator, within max_steps (0: any number). Runs the reference if
 * a float result exceeds the tolerance and the reference has not run yet. */
static bool compare_by_evaluator(session *s, MlirModule module, bool may_run_one, double max_steps,
                                 outcome *out) {
  const tp_plan *shape = s->program.shape;
  tp_reference *reference = evaluate(module, shape->function, shape, s->inputs, EVALUATE_EXACT,
                                     max_steps, sizeof s->why, s->why);
  if (!reference) {
    out->not_evaluated = s->why;
    return true;
  }
  bool ok = true;
  for (int pass = 0; pass < 2 && ok; pass++) {
    bool all = true;
    for (int k = 0; k < s->n_outputs; k++) {
      const array *one = s->reference_outputs ? s->reference_outputs + k : NULL;
      s->against_evaluator[k] =
          compare_with_evaluator(s->outputs + k, one, reference, NULL, k, least_tolerance(s->o), 0);
      all &= s->against_evaluator[k].ok || s->outputs[k].type->kind != 'f';
    }
    if (all || s->reference_outputs || !may_run_one)
      break;
    ok = run_reference(s, module);
  }
  check_conditioning(s, module, reference);
  check_rounding(s, module, reference);
  tp_reference_destroy(reference);
  if (ok)
    compare_integers_again(s, module);
  return ok;
}

static bool compare_all(session *s, MlirModule module, bool is_local, outcome *out) {
  s->against_one = calloc((size_t)s->n_outputs + 1, sizeof *s->against_one);
  s->against_expected = calloc((size_t)s->n_outputs + 1, sizeof *s->against_expected);
  s->against_evaluator = calloc((size_t)s->n_outputs + 1, sizeof *s->against_evaluator);
  if (!s->against_one || !s->against_expected || !s->against_evaluator) {
    complain("memory ran out");
    return false;
  }
  out->against_one = s->against_one;
  out->against_expected = s->against_expected;
  out->against_evaluator = s->against_evaluator;
  bool is_close = true;
  for (int k = 0; k < s->n_outputs; k++) {
    if (s->reference_outputs)
      s->against_one[k] =
          compare_arrays(s->outputs + k, s->reference_outputs + k, false, least_tolerance(s->o));
    if (s->expected[k].data)
      s->against_expected[k] =
          compare_arrays(s->outputs + k, s->expected + k, true, least_tolerance(s->o));
    is_close &= !s->against_one[k].done || s->against_one[k].ok;
    is_close &= !s->against_expected[k].done || s->against_expected[k].ok;
    char first[256];
    int64_t n_nan = array_count_nan(s->outputs + k, first, sizeof first);
    if (n_nan > 0)
      cli_print(
          "shard-run: warning: result %d has %lld NaN, the first at [%s]; they count as equal to "
          "NaN at the same places of the reference\n",
          k, (long long)n_nan, first);
    else if (is_constant(s->outputs + k))
      cli_print("shard-run: warning: all elements of result %d are equal, so its comparison shows "
                "little\n",
                k);
  }
  bool whole = is_one(s->o->mesh); /* if so, the result to verify is itself the one-device result */
  const reference_kind kind = s->o->reference;
  bool is_quick = kind == REFERENCE_AUTO && is_close;
  bool is_judged = !s->o->no_verify && (kind != REFERENCE_DEVICE || !is_close);
  if (!is_local && is_judged &&
      !compare_by_evaluator(s, module, !whole, is_quick ? QUICK_STEPS : 0, out))
    return false;
  out->is_independent = true;
  for (int k = 0; k < s->n_outputs; k++) {
    comparison *one = s->against_one + k, *evaluator = s->against_evaluator + k;
    /* not a NaN or infinity on only one side */
    bool is_number = s->outputs[k].type->kind != 'f' || isfinite(one->error);
    one->is_decided_elsewhere = one->done && !one->ok && is_number && evaluator->done;
    one->ok |= one->is_decided_elsewhere && evaluator->ok;
    /* with data for which even one device is far off, the evaluator shows nothing */
    bool shows = evaluator->done && !(is_quick && evaluator->is_ill_conditioned);
    out->verified &= (!one->done || one->ok) && (!shows || evaluator->ok) &&
                     (!s->against_expected[k].done || s->against_expected[k].ok);
    out->is_independent &= shows || s->against_expected[k].done;
  }
  out->verified &= !(kind == REFERENCE_EVALUATOR && out->not_evaluated);
  return true;
}

static bool save_outputs(session *s) {
  bool ok = true;
  for (int k = 0; k < s->o->save.n && ok; k++)
    ok = output_write(s->o->save.items[k], s->outputs + k);
  return ok;
}

static double bytes_of(int n, const tp_plan_value *values) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double bytes = (double)values[i].element_size;
    for (int d = 0; d < values[i].rank; d++)
      bytes *= (double)values[i].local[d];
    sum += bytes;
  }
  return sum;
}

/* Checks that arguments and results fit into memory, before they are allocated. A system that
 * overcommits memory would kill the process later. */
static bool fits_memory(const tp_plan *plan) {
  double bytes =
      (bytes_of(plan->n_arguments, plan->arguments) + bytes_of(plan->n_results, plan->results)) *
      (double)plan->n_devices;
  double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (bytes <= memory)
    return true;
  complain("arguments and results of %lld device%s take %.3g GiB, but this machine has %.3g GiB "
           "(--emit compiles for any size)",
           (long long)plan->n_devices, plan->n_devices == 1 ? "" : "s", bytes / 0x1p30,
           memory / 0x1p30);
  return false;
}

/* Checks that this machine can run a rank for each device, before the program is planned. */
static bool fits_this_machine(const options *o, MlirModule module) {
  enum { MAX_RANKS = 256 };
  tp_mesh mesh;
  if (is_one(o->mesh))
    return true; /* no annotation counts, not even those that do not fit one device */
  if (tp_module_mesh(module, o->mesh, &mesh) != TP_OK)
    return false;
  int64_t n_devices = tp_mesh_size(&mesh);
  if (o->emit || n_devices <= MAX_RANKS)
    return true;
  complain("the mesh has %lld devices; at most %d ranks run on one machine (--emit compiles for "
           "any number)",
           (long long)n_devices, MAX_RANKS);
  return false;
}

/* Reads the program, and imports it. Returns CLI_GO_ON, or an exit code: CLI_USAGE if the mesh of
 * the command line does not fit that of the program. */
static int read_program(const options *o, MlirContext context, MlirModule *module) {
  char import[256];
  tp_mesh mesh;
  if (!read_model(context, o->model, module) || tp_run_pipeline(*module, "tp-import") != TP_OK ||
      tp_module_mesh(*module, NULL, &mesh) != TP_OK)
    return EXIT_FAILED;
  if (o->mesh && !is_one(o->mesh) && tp_module_mesh(*module, o->mesh, &mesh) != TP_OK)
    return CLI_USAGE;
  snprintf(
      import, sizeof import, "tp-import-stablehlo{mesh=%s unknown-ops=%s},tp-lower-tosa{mesh=%s}",
      o->mesh ? o->mesh : "", o->unknown_ops ? o->unknown_ops : "refuse", o->mesh ? o->mesh : "");
  return tp_run_pipeline(*module, import) == TP_OK ? CLI_GO_ON : EXIT_FAILED;
}

/* Returns true for regular files: they are replaced by a new file in the same folder (cli_file).
 * Devices, pipes and links are opened directly. */
static bool is_replaced(const char *path) {
  struct stat state;
  return lstat(path, &state) == 0 && S_ISREG(state.st_mode);
}

/* Checks that an output can be written, before the work is done. */
static bool can_write(const char *path) {
  char folder[4096];
  const char *slash = strrchr(path, '/');
  struct stat state;
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
  bool exists = stat(path, &state) == 0;
  if (exists && S_ISDIR(state.st_mode))
    errno = EISDIR;
  else if (access(exists && !is_replaced(path) ? path : folder, W_OK) == 0)
    return true;
  complain_of_write(path);
  return false;
}

static bool can_write_all(const options *o) {
  bool ok = (!o->report || can_write(o->report)) &&
            (!o->plan_report || can_write(o->plan_report)) && (!o->trace || can_write(o->trace));
  for (int i = 0; i < o->save.n && ok; i++)
    ok = can_write(o->save.items[i]);
  return ok && (!o->emit || can_write(o->output));
}

static bool emit(const session *s) {
  const options *o = s->o;
  char library[256];
  const char *name = s->program.shape->function;
  if (o->emit != EMIT_LIBRARY && !write_file(o->output, &s->program.object))
    return false;
  if (o->emit == EMIT_LIBRARY) {
    name = library;
    if (!library_name(o->output, library, sizeof library) || !library_write(o, &s->program, name))
      return false;
  }
  return !o->shards ||
         shards_write(o, &s->program, name, s->inputs, s->expected, s->reference_outputs);
}

/* Checks that the caller of an emitted program gets the data of its constants: those that the plan
 * splits are not in the program. */
static bool has_constants(const options *o, const tp_plan *plan) {
  bool is_called = o->emit == EMIT_LIBRARY || o->emit == EMIT_OBJECT;
  if (!is_called || plan->n_constants == 0 || o->shards)
    return true;
  complain("the plan splits %d constant%s over the devices, and the program takes the shards as "
           "its last arguments; --shards FOLDER writes them, --shard-constants never keeps "
           "constants whole and in the program",
           plan->n_constants, plan->n_constants == 1 ? "" : "s");
  return false;
}

/* Returns true if there are arguments. Ahead-of-time compilation uses data only if it is given. */
static bool has_data(const options *o) {
  return !o->emit || (o->shards && (o->inputs.n || o->inputs_from));
}

static int run_session(session *s, MlirModule module) {
  const options *o = s->o;
  tp_plan *signature;
  if (!can_write_all(o))
    return EXIT_FAILED;
  if (tp_plan_measure(module, o->function, o->topology, &signature) != TP_OK)
    return EXIT_FAILED;
  bool local = signature->is_local, whole = !local && is_one(o->mesh);
  s->n_inputs = signature->n_arguments - signature->n_constants;
  s->n_outputs = signature->n_results;
  if (local && o->mesh)
    complain("the module is already partitioned, so --mesh cannot change its mesh; run without "
             "--mesh, or give the program before tp-partition");
  bool ok =
      !(local && o->mesh) && (o->emit || reached_only(module, signature->function)) &&
      fits_this_machine(o, module) && outputs_fit(o, signature) &&
      (!has_data(o) || (fits_memory(signature) && inputs_load(o, module, signature, &s->inputs) &&
                        expected_load(o, signature, &s->expected)));
  tp_plan_destroy(signature);
  if (!ok)
    return EXIT_FAILED;
  tprt_cuda_info gpus;
  if (o->target == TARGET_CUDA && !o->emit && tprt_cuda_probe(&gpus) != TPRT_OK) {
    complain("--target=cuda needs a GPU here: %s; leave --target out to run on CPUs, or compile "
             "without a GPU (--emit=ptx)",
             tprt_last_error());
    return EXIT_FAILED;
  }
  bool is_reference = whole && o->target == TARGET_CPU; /* the run is its own reference */
  bool verify = !o->no_verify && o->reference != REFERENCE_EVALUATOR && !local && !is_reference &&
                has_data(o);
  progress("planning");
  s->reference_kind = build_communicates(module) ? BUILD_WHOLE : BUILD_ALONE;
  build_kind kind = local ? BUILD_AS_IS : whole ? BUILD_ALONE : BUILD_SHARDED;
  ok = build_partition(o, module, kind, &s->program);
  if (ok && o->emit == EMIT_OBJECT && !library_can_export(s->program.shape->function))
    return EXIT_FAILED;
  if (ok && ((!o->emit && !fits_memory(s->program.shape)) || !has_constants(o, s->program.shape)))
    return EXIT_FAILED;
  if (ok)
    shards_warn_of_idle(s->program.shape);
  if (ok && verify && !run_reference(s, module))
    return EXIT_FAILED;
  progress("compiling");
  progress_detail("", s->compile_seconds > 0 ? s->compile_seconds : -1, false);
  if (!ok || !build_object(o, o->target, o->emit, &s->program)) {
    complain("'%s' could not be compiled", o->model);
    return EXIT_FAILED;
  }
  if (o->emit)
    return emit(s) ? EXIT_VERIFIED : EXIT_FAILED;
  progress("running");
  if (!execute(o, s->ranks, &s->program, s->inputs, &s->run, &s->outputs) ||
      !check_bytes(s->program.plan, &s->run))
    return EXIT_FAILED;
  outcome out = {.options = o,
                 .program = &s->program,
                 .against = s->reference_kind == BUILD_WHOLE ? "against whole values"
                                                             : "against one device",
                 .where = s->reference_kind == BUILD_WHOLE ? "with whole values" : "on one device",
                 .run = &s->run,
                 .verified = true};
  progress("comparing");
  if (!compare_all(s, module, local, &out))
    return EXIT_FAILED;
  if (s->reference_outputs) {
    out.reference = &s->reference;
    out.reference_run = &s->reference_run;
  }
  progress(NULL);
  table_print(&out, stdout);
  if (!save_outputs(s) || (o->report && !report_write(&out, o->report)) ||
      (o->plan_report && !page_add_run(&out, o->plan_report)) ||
      (o->trace && !trace_write(&out, o->trace)))
    return EXIT_FAILED;
  return out.verified ? EXIT_VERIFIED : EXIT_FAILED;
}

static int watch(void *data, const tp_progress *p) {
  const session *s = data;
  /* a launcher ends ranks that go on after a signal */
  return cli_watch(p->pass, p->phase, p->cost, p->bound, p->left, !s->ranks->world);
}

static int run_model(options *o, attachment *ranks) {
  cli_interrupt_catch(SIGINT, NULL);
  cli_interrupt_end_by(SIGTERM);
  cli_interrupt_end_by(SIGHUP);
  cli_warn_all(tp_env_warning);
  if (!host_topology(o))
    return EXIT_FAILED;
  progress("reading");
  tp_register_passes();
  MlirContext context = mlirContextCreate();
  diagnostics_attach(context);
  tp_context_prepare(context);
  /* accepts Shardy annotations; unknown ops are rejected later */
  mlirContextSetAllowUnregisteredDialects(context, true);
  session s = {.o = o, .ranks = ranks};
  tp_watch_set(watch, &s);
  MlirModule module = {NULL};
  int code = read_program(o, context, &module);
  if (code == CLI_GO_ON)
    code = run_session(&s, module);
  progress(NULL);
  tp_watch_set(NULL, NULL);
  free(s.against_one);
  free(s.against_expected);
  free(s.against_evaluator);
  arrays_clear(s.inputs, s.n_inputs);
  arrays_clear(s.expected, s.n_outputs);
  arrays_clear(s.outputs, s.n_outputs);
  arrays_clear(s.reference_outputs, s.n_outputs);
  launch_clear(&s.run);
  launch_clear(&s.reference_run);
  build_clear(&s.program);
  build_clear(&s.reference);
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return code;
}

static int run_rank_of_model(options *o) {
  attachment ranks = {NULL};
  int code;
  if (!attached_join(o, &ranks))
    return EXIT_FAILED;
  if (ranks.world && tprt_comm_rank(ranks.world) > 0) {
    code = attached_obey(&ranks);
  } else {
    code = run_model(o, &ranks);
    if (ranks.world)
      attached_end(&ranks, code);
  }
  attached_leave(&ranks);
  return code;
}

/* Prints errors that the runtime cannot return to a caller. */
static void warn(void *user, const char *text) {
  (void)user;
  cli_print("shard-run: warning: %s\n", text);
}

int tp__shard_run(int argc, char **argv) {
  options o;
  int code = cli_parse(argc, argv, &o);
  if (code >= 0)
    return cli_end(code);
  o.argc = argc;
  o.argv = argv;
  if (o.flight)
    return cli_end(flight_print(o.flight));
  faults_catch();
  tprt_set_logger(&(tprt_logger){.log = warn});
  if (o.worker)
    return worker_main(o.worker);
  code = o.n_copies ? start_program(o.n_copies, o.n_spares, o.command) : run_rank_of_model(&o);
  free(o.inputs.items);
  free(o.expected.items);
  free(o.save.items);
  return cli_end(code);
}
