/* Compiles a module to machine code and loads it, with LLVM's C API (tp/compile.h). */
#include "tp/compile.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "ir/symbols.h"
#include "support/support.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <mlir-c/Target/LLVMIR.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tp_bytes_clear(tp_bytes *bytes) {
  tp__free(bytes->data);
  *bytes = (tp_bytes){0};
}

static tp_status copy_bytes(const char *data, size_t size, tp_bytes *bytes) {
  void *copy = tp__malloc(size);
  if (!copy)
    return TP_NO_MEMORY;
  memcpy(copy, data, size);
  *bytes = (tp_bytes){copy, size};
  return TP_OK;
}

static void initialize_target(void) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
}

static void initialize_once(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, initialize_target);
}

/* ---- compilation ---- */

typedef struct compilation {
  MlirOperation at; /* for diagnostics */
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMTargetMachineRef machine;
} compilation;

static tp_status fail(compilation *c, const char *what, char *message) {
  tp_status status =
      tp__error(c->at, TP_INTERNAL, "%s: %s", what, message ? message : "no reason given");
  if (message)
    LLVMDisposeMessage(message);
  return status;
}

/* Row k - 1 is optimization level k. Each has a pass that combines instructions: without it LLVM 22
 * loses the sign of a bf16 that is read as an integer. */
static const struct {
  LLVMCodeGenOptLevel machine;
  const char *passes;
} levels[] = {
    {LLVMCodeGenLevelNone, "function(early-cse,instcombine<no-verify-fixpoint>)"},
    {LLVMCodeGenLevelDefault, "default<O2>"},
    {LLVMCodeGenLevelAggressive, "default<O3>"},
};
enum { N_LEVELS = TP__COUNT(levels), DEFAULT_LEVEL = 2 };

/* Sets *level to what the caller asks for, else to what the environment does. */
static tp_status choose_level(MlirOperation at, int asked, int *level) {
  if (asked < 0 || asked > N_LEVELS)
    return tp__error(at, TP_INVALID_ARGUMENT, "optimization level %d is not between 0 and %d",
                     asked, N_LEVELS);
  const char *variable = asked == 0 ? secure_getenv("TP_OPT_LEVEL") : NULL;
  *level = asked == 0 ? DEFAULT_LEVEL : asked;
  if (!variable)
    return TP_OK;
  *level = variable[0] - '0';
  if (*level >= 1 && *level <= N_LEVELS && variable[1] == '\0')
    return TP_OK;
  return tp__error(at, TP_INVALID_ARGUMENT, "TP_OPT_LEVEL is '%s', which is not between 1 and %d",
                   variable, N_LEVELS);
}

static tp_status create_machine(compilation *c, const tp_compile_options *options, int level) {
  char *triple = LLVMGetDefaultTargetTriple(), *message = NULL;
  LLVMTargetRef target;
  if (LLVMGetTargetFromTriple(triple, &target, &message)) {
    LLVMDisposeMessage(triple);
    return fail(c, "LLVM has no code generator for this machine", message);
  }
  char *cpu = options->generic ? NULL : LLVMGetHostCPUName();
  char *features = options->generic ? NULL : LLVMGetHostCPUFeatures();
  c->machine =
      LLVMCreateTargetMachine(target, triple, cpu ? cpu : "", features ? features : "",
                              levels[level - 1].machine, LLVMRelocPIC, LLVMCodeModelDefault);
  LLVMSetTarget(c->module, triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(c->machine);
  LLVMSetModuleDataLayout(c->module, layout);
  LLVMDisposeTargetData(layout);
  if (cpu)
    LLVMDisposeMessage(cpu);
  if (features)
    LLVMDisposeMessage(features);
  LLVMDisposeMessage(triple);
  return TP_OK;
}

static tp_status optimize(compilation *c, int level) {
  LLVMPassBuilderOptionsRef settings = LLVMCreatePassBuilderOptions();
  LLVMPassBuilderOptionsSetLoopVectorization(settings, 1);
  LLVMPassBuilderOptionsSetSLPVectorization(settings, 1);
  LLVMErrorRef error = LLVMRunPasses(c->module, levels[level - 1].passes, c->machine, settings);
  LLVMDisposePassBuilderOptions(settings);
  if (!error)
    return TP_OK;
  char *message = LLVMGetErrorMessage(error);
  tp_status status = tp__error(c->at, TP_INTERNAL, "LLVM's optimizer failed: %s", message);
  LLVMDisposeErrorMessage(message);
  return status;
}

static tp_status emit_bytes(compilation *c, tp_emit emit, tp_bytes *bytes) {
  tp_status status;
  char *message = NULL;
  if (emit == TP_EMIT_LLVM) {
    char *text = LLVMPrintModuleToString(c->module);
    status = copy_bytes(text, strlen(text), bytes);
    LLVMDisposeMessage(text);
  } else {
    LLVMMemoryBufferRef buffer;
    if (LLVMTargetMachineEmitToMemoryBuffer(c->machine, c->module, LLVMObjectFile, &message,
                                            &buffer))
      return fail(c, "LLVM could not generate code", message);
    status = copy_bytes(LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer), bytes);
    LLVMDisposeMemoryBuffer(buffer);
  }
  return status == TP_OK ? TP_OK : tp__out_of_memory(c->at);
}

/* Copies the PTX out of the constant that tp-embed-kernels adds to the module. */
static tp_status find_ptx(MlirModule module, tp_bytes *bytes) {
  MlirOperation at = mlirModuleGetOperation(module);
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (tp__op_is(op, "llvm.mlir.global") &&
        tp__ref_is(mlirStringAttrGetValue(tp__inherent(op, "sym_name")), "tp.ptx")) {
      MlirStringRef text = mlirStringAttrGetValue(tp__inherent(op, "value"));
      /* without the terminating zero */
      tp_status status = copy_bytes(text.data, text.length - 1, bytes);
      return status == TP_OK ? TP_OK : tp__out_of_memory(at);
    }
  return tp__error(
      at, TP_INVALID_ARGUMENT,
      "the program has no GPU kernels of its own, so there is no PTX to write: it only calls "
      "kernels of the runtime; write the whole program instead (--emit=so of shard-run). Without "
      "the pipeline tp-to-cuda no program has kernels");
}

/* Reports the first op that is not in the LLVM dialect. Otherwise upstream's translation would
 * print a message of its own for that op, and then ours would follow. */
static tp_status check_lowered(MlirOperation op, void *data) {
  (void)data;
  if (tp__op_has_dialect(op, "llvm") || tp__op_is(op, "builtin.module"))
    return TP_OK;
  return tp__error(op, TP_INVALID_ARGUMENT,
                   "is not in the LLVM dialect; run the pipeline tp-to-runtime first");
}

tp_status tp_compile(MlirModule module, const tp_compile_options *options, tp_emit emit,
                     tp_bytes *bytes) {
  tp_compile_options chosen = {0};
  compilation c = {.at = mlirModuleGetOperation(module)};
  if (options && options->size == 0)
    return tp__error(c.at, TP_INVALID_ARGUMENT,
                     "cannot be compiled: the size of the options is 0; set it to "
                     "sizeof(tp_compile_options)");
  /* a caller built with an older header passes fewer fields; the rest stays zero */
  if (options)
    memcpy(&chosen, options, options->size < sizeof chosen ? options->size : sizeof chosen);
  int level = DEFAULT_LEVEL;
  tp_status status = choose_level(c.at, chosen.opt_level, &level);
  if (status != TP_OK)
    return status;
  if ((int)emit < TP_EMIT_OBJECT || emit > TP_EMIT_PTX)
    return tp__error(c.at, TP_INVALID_ARGUMENT,
                     "cannot be emitted: invalid tp_emit value %d, expected a value below %d",
                     (int)emit, TP_EMIT_PTX + 1);
  if (emit == TP_EMIT_PTX)
    return find_ptx(module, bytes);
  status = tp__walk(c.at, check_lowered, NULL);
  if (status != TP_OK)
    return status;
  initialize_once();
  c.context = LLVMContextCreate();
  c.module = mlirTranslateModuleToLLVMIR(c.at, c.context);
  char *message = NULL;
  if (!c.module)
    status = tp__error(c.at, TP_INTERNAL, "could not be translated to LLVM IR");
  if (status == TP_OK && LLVMVerifyModule(c.module, LLVMReturnStatusAction, &message))
    status = fail(&c, "the LLVM IR is not valid", message);
  else if (message)
    LLVMDisposeMessage(message);
  if (status == TP_OK)
    status = create_machine(&c, &chosen, level);
  if (status == TP_OK)
    status = optimize(&c, level);
  if (status == TP_OK)
    status = emit_bytes(&c, emit, bytes);
  if (c.machine)
    LLVMDisposeTargetMachine(c.machine);
  if (c.module)
    LLVMDisposeModule(c.module);
  LLVMContextDispose(c.context);
  return status;
}

/* ---- loading ---- */

struct tp_program {
  LLVMOrcLLJITRef jit;
};

static tp_status take_error(LLVMErrorRef error, tp_status status, char *why, size_t why_size) {
  char *message = LLVMGetErrorMessage(error);
  if (why && why_size > 0)
    snprintf(why, why_size, "%s", message);
  LLVMDisposeErrorMessage(message);
  return status;
}

static tp_status lookup(tp_program *program, const char *name, uint64_t *address) {
  LLVMOrcExecutorAddress found;
  LLVMErrorRef error = LLVMOrcLLJITLookup(program->jit, &found, name);
  if (error)
    return take_error(error, TP_NOT_FOUND, NULL, 0);
  *address = found;
  return TP_OK;
}

/* Programs call the runtime in the process. A linker drops a library that nothing refers to. */
static tp_status find_runtime(tp_program *p, char *why, size_t why_size) {
  uint64_t entry;
  if (lookup(p, "tprt_abi_enter", &entry) == TP_OK)
    return TP_OK;
  if (why && why_size > 0)
    snprintf(why, why_size,
             "this process has no libtprt, which compiled programs call; link it with "
             "-Wl,--no-as-needed -ltprt");
  return TP_NOT_FOUND;
}

tp_status tp_program_load(const void *object, size_t size, char *why, size_t why_size,
                          tp_program **program) {
  initialize_once();
  tp_program *p = tp__calloc(1, sizeof *p);
  if (!p) {
    if (why && why_size > 0)
      snprintf(why, why_size, "memory ran out");
    return TP_NO_MEMORY;
  }
  LLVMErrorRef error = LLVMOrcCreateLLJIT(&p->jit, NULL);
  if (error) {
    p->jit = NULL;
    tp_program_unload(p);
    return take_error(error, TP_INTERNAL, why, why_size);
  }
  LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(p->jit);
  LLVMOrcDefinitionGeneratorRef process;
  error = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(
      &process, LLVMOrcLLJITGetGlobalPrefix(p->jit), NULL, NULL);
  if (!error) {
    LLVMOrcJITDylibAddGenerator(library, process);
    error = LLVMOrcLLJITAddObjectFile(
        p->jit, library, LLVMCreateMemoryBufferWithMemoryRangeCopy(object, size, "program"));
  }
  if (error) {
    tp_program_unload(p);
    return take_error(error, TP_INVALID_ARGUMENT, why, why_size);
  }
  tp_status status = find_runtime(p, why, why_size);
  if (status != TP_OK) {
    tp_program_unload(p);
    return status;
  }
  *program = p;
  return TP_OK;
}

tp_status tp_program_find(tp_program *program, const char *name, tp_entry *entry,
                          const int64_t **table) {
  uint64_t code, words;
  size_t size = strlen(name) + sizeof TP_ENTRY_PREFIX;
  char *symbol = tp__malloc(size);
  if (!symbol)
    return TP_NO_MEMORY;
  snprintf(symbol, size, "%s.tprt", name);
  tp_status status = lookup(program, symbol, &words);
  snprintf(symbol, size, "%s%s", tp__is_reserved_symbol(name, strlen(name)) ? TP_ENTRY_PREFIX : "",
           name);
  if (status == TP_OK)
    status = lookup(program, symbol, &code);
  tp__free(symbol);
  if (status != TP_OK)
    return status;
  *entry = (tp_entry)(uintptr_t)code;
  *table = (const int64_t *)(uintptr_t)words;
  return TP_OK;
}

void tp_program_unload(tp_program *program) {
  if (!program)
    return;
  if (program->jit) {
    LLVMErrorRef error = LLVMOrcDisposeLLJIT(program->jit);
    if (error)
      (void)take_error(error, TP_INTERNAL, NULL, 0);
  }
  tp__free(program);
}
