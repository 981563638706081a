/* Compiles kernels in the LLVM dialect to PTX with LLVM's NVPTX code generator. */
#include "ir/compile_ptx.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "support/support.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <mlir-c/Target/LLVMIR.h>
#include <pthread.h>
#include <string.h>

/* PTX ISA 7.8, as in the kernels that ship with the runtime; drivers support it since CUDA 11.8.
 * Without a PTX version, LLVM terminates the process. */
static const char features[] = "+ptx78", triple[] = "nvptx64-nvidia-cuda";

typedef struct translation {
  MlirOperation at;
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMTargetMachineRef machine;
} translation;

/* Not all targets: a static LLVM would contain the code generators of all machines. */
static void initialize(void) {
#ifdef TP_NVPTX
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
#endif
}

static tp_status fail(const translation *t, const char *what, char *message) {
  tp_status status =
      tp__error(t->at, TP_INTERNAL, "%s: %s", what, message ? message : "no reason given");
  LLVMDisposeMessage(message);
  return status;
}

static tp_status create_machine(translation *t, const char *chip) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  char *message = NULL;
  LLVMTargetRef target;
  pthread_once(&once, initialize);
  if (LLVMGetTargetFromTriple(triple, &target, &message)) {
    LLVMDisposeMessage(message);
    return tp__error(t->at, TP_UNSUPPORTED,
                     "this LLVM has no code generator for NVIDIA GPUs (target NVPTX)");
  }
  t->machine = LLVMCreateTargetMachine(target, triple, chip, features, LLVMCodeGenLevelDefault,
                                       LLVMRelocDefault, LLVMCodeModelDefault);
  LLVMSetTarget(t->module, triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(t->machine);
  LLVMSetModuleDataLayout(t->module, layout);
  LLVMDisposeTargetData(layout);
  return TP_OK;
}

static tp_status optimize(const translation *t) {
  LLVMPassBuilderOptionsRef settings = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(t->module, "default<O2>", t->machine, settings);
  LLVMDisposePassBuilderOptions(settings);
  if (!error)
    return TP_OK;
  char *message = LLVMGetErrorMessage(error);
  tp_status status = tp__error(t->at, TP_INTERNAL, "LLVM's optimizer failed: %s", message);
  LLVMDisposeErrorMessage(message);
  return status;
}

/* True for intrinsics that the NVPTX code generator lowers to instructions. For others, it
 * terminates the process or emits a library call. */
static bool is_instruction(const char *name) {
  static const char *const names[] = {
      "abs",       "assume", "bitreverse", "bswap",   "ceil",
      "copysign",  "ctlz",   "ctpop",      "cttz",    "experimental.noalias",
      "fabs",      "floor",  "fma",        "fmuladd", "fptosi",
      "fptoui",    "fshl",   "fshr",       "is",      "lifetime",
      "maximum",   "maxnum", "memcpy",     "memmove", "memset",
      "minimum",   "minnum", "nearbyint",  "nvvm",    "rint",
      "roundeven", "sadd",   "scmp",       "smax",    "smin",
      "smul",      "sqrt",   "ssub",       "trunc",   "uadd",
      "ucmp",      "umax",   "umin",       "umul",    "usub",
      "vector",
  };
  if (strncmp(name, "llvm.", 5) != 0)
    return false;
  for (int i = 0; i < TP_LEN(names); i++) {
    size_t n = strlen(names[i]);
    if (strncmp(name + 5, names[i], n) == 0 && (name[5 + n] == '.' || name[5 + n] == 0))
      return true;
  }
  return false;
}

/* Refuses calls of functions without a body, because no library exists on the device. */
static tp_status check_calls(const translation *t) {
  for (LLVMValueRef f = LLVMGetFirstFunction(t->module); f; f = LLVMGetNextFunction(f)) {
    size_t n;
    const char *name = LLVMGetValueName2(f, &n);
    if (LLVMIsDeclaration(f) && LLVMGetFirstUse(f) && !is_instruction(name))
      return tp__error(t->at, TP_UNSUPPORTED,
                       "a kernel calls '%s', which is not available on GPUs; this function does "
                       "not run on GPUs yet",
                       name);
  }
  return TP_OK;
}

static tp_status emit(const translation *t, tp_bytes *bytes) {
  char *message = NULL;
  LLVMMemoryBufferRef buffer;
  if (LLVMTargetMachineEmitToMemoryBuffer(t->machine, t->module, LLVMAssemblyFile, &message,
                                          &buffer))
    return fail(t, "LLVM could not generate PTX", message);
  size_t size = LLVMGetBufferSize(buffer);
  *bytes = (tp_bytes){tp__malloc(size + 1), size + 1};
  if (bytes->data) {
    memcpy(bytes->data, LLVMGetBufferStart(buffer), size);
    ((char *)bytes->data)[size] = 0;
  }
  LLVMDisposeMemoryBuffer(buffer);
  return bytes->data ? TP_OK : tp__out_of_memory(t->at);
}

tp_status tp__compile_ptx(MlirOperation module, const char *chip, tp_bytes *bytes) {
  translation t = {.at = module, .context = LLVMContextCreate()};
  char *message = NULL;
  t.module = mlirTranslateModuleToLLVMIR(module, t.context);
  tp_status status =
      t.module ? TP_OK : tp__error(module, TP_INVALID_ARGUMENT, "is not in the LLVM dialect");
  if (status == TP_OK && LLVMVerifyModule(t.module, LLVMReturnStatusAction, &message))
    status = fail(&t, "the LLVM IR is not valid", message);
  else if (message)
    LLVMDisposeMessage(message);
  if (status == TP_OK)
    status = create_machine(&t, chip);
  if (status == TP_OK)
    status = optimize(&t);
  if (status == TP_OK)
    status = check_calls(&t);
  if (status == TP_OK)
    status = emit(&t, bytes);
  if (t.machine)
    LLVMDisposeTargetMachine(t.machine);
  if (t.module)
    LLVMDisposeModule(t.module);
  LLVMContextDispose(t.context);
  return status;
}
