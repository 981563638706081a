/* --emit=so: writes the compiled program as a shared library that any program can link, and a
 * header that documents the call. */
#include "run.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <mlir-c/BuiltinAttributes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Names ---- */

/* Returns true for keywords of C and C++, which cannot be function names. */
static bool is_keyword(const char *name) {
  static const char words[] = " "
                              "alignas alignof and and_eq asm auto bitand bitor bool break case "
                              "catch char char16_t char32_t char8_t class "
                              "co_await co_return co_yield compl concept const const_cast "
                              "consteval constexpr constinit continue decltype "
                              "default delete do double dynamic_cast else enum explicit export "
                              "extern false float for friend goto if inline "
                              "int long mutable namespace new noexcept not not_eq nullptr operator "
                              "or or_eq private protected public "
                              "register reinterpret_cast requires restrict return short signed "
                              "sizeof static static_assert static_cast "
                              "struct switch template this thread_local throw true try typedef "
                              "typeid typename typeof typeof_unqual union "
                              "unsigned using virtual void volatile wchar_t while xor xor_eq ";
  char word[300];
  snprintf(word, sizeof word, " %s ", name);
  return strstr(words, word) != NULL;
}

/* Returns the library that already defines a name, among those every program links: a function of
 * the same name would replace it. */
static const char *owner_of(const char *name) {
  static const char *const files[] = {"libc.so.6", "libm.so.6"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    void *library = dlopen(files[i], RTLD_LAZY | RTLD_NOLOAD);
    bool has = library && dlsym(library, name);
    if (library)
      dlclose(library);
    if (has)
      return "the C library has a function of that name";
  }
  if (strncmp(name, "tprt_", 5) == 0)
    return "names of the runtime begin with tprt_";
  return tp_is_reserved_symbol(name) ? "generated code may call another function of that name"
                                     : NULL;
}

bool library_can_export(const char *name) {
  const char *owner = owner_of(name);
  if (owner)
    complain("the function cannot be exported as '%s': %s; rename it", name, owner);
  return !owner;
}

/* "out/libmlp.so" gives mlp. */
static bool name_of(const char *path, char *name, size_t size) {
  const char *base = strrchr(path, '/');
  base = base ? base + 1 : path;
  base += strncmp(base, "lib", 3) == 0 ? 3 : 0;
  size_t length = strlen(base);
  if (length <= 3 || strcmp(base + length - 3, ".so") != 0 || length - 3 >= size)
    return false;
  snprintf(name, size, "%.*s", (int)length - 3, base);
  for (const char *c = name; *c; c++)
    if (!isalpha((unsigned char)*c) && *c != '_' && (c == name || !isdigit((unsigned char)*c)))
      return false;
  return strcmp(name, "main") != 0 && !is_keyword(name);
}

bool library_name(const char *path, char *name, size_t size) {
  if (!name_of(path, name, size)) {
    complain("'%s' is not a valid name for --emit=so: it must be libNAME.so, where NAME is the "
             "name of the function in C and C++, and is not main",
             path);
    return false;
  }
  const char *owner = owner_of(name);
  if (owner)
    complain("'%s' is not a valid name for --emit=so: %s", path, owner);
  return !owner;
}

/* Renames the function, since a function `main` of the model would become the main of every program
 * that links the library. */
bool library_rename(build *b, const char *name) {
  MlirOperation module = mlirModuleGetOperation(b->module);
  MlirContext context = mlirOperationGetContext(module);
  MlirStringRef from = mlirStringRefCreateFromCString(b->shape->function),
                to = mlirStringRefCreateFromCString(name);
  if (mlirStringRefEqual(from, to))
    return true;
  MlirSymbolTable table = mlirSymbolTableCreate(module);
  MlirOperation func = mlirSymbolTableLookup(table, from);
  bool is_free = mlirOperationIsNull(mlirSymbolTableLookup(table, to));
  bool ok =
      is_free && !mlirLogicalResultIsFailure(mlirSymbolTableReplaceAllSymbolUses(from, to, module));
  if (ok)
    mlirOperationSetInherentAttributeByName(func, mlirSymbolTableGetSymbolAttributeName(),
                                            mlirStringAttrGet(context, to));
  else
    complain(is_free ? "the function cannot be renamed to '%s'"
                     : "the model has another function '%s'; choose another name for the library",
             name);
  mlirSymbolTableDestroy(table);
  return ok;
}

/* ---- Header ---- */

/* Prints a text inside a comment. Names of files, values and axes come from the user and must not
 * end the comment. */
static void print_in_comment(FILE *file, const char *text) {
  for (const char *c = text; *c; c++) {
    fputc(iscntrl((unsigned char)*c) ? '?' : *c, file);
    if ((c[0] == '*' && c[1] == '/') || (c[0] == '/' && c[1] == '*'))
      fputc(' ', file);
  }
}

static void print_shape(FILE *file, const tp_plan_value *value, const int64_t *shape) {
  for (int d = 0; d < value->rank; d++)
    fprintf(file, "%s%lld", d ? "x" : "", (long long)shape[d]);
  fprintf(file, "%s%s", value->rank ? "x" : "", value->element);
}

static int64_t local_bytes(const tp_plan_value *value) {
  int64_t bytes = value->element_size;
  for (int d = 0; d < value->rank; d++)
    bytes *= value->local[d];
  return bytes;
}

static void print_values(FILE *file, const char *name, const char *what, int n,
                         const tp_plan_value *values, int n_constants) {
  fprintf(file, "\n/* %s, and the bytes of each on a device:\n", what);
  for (int i = 0; i < n; i++) {
    fprintf(file, " *   %d%s", i, *values[i].name ? " " : "");
    print_in_comment(file, values[i].name);
    fputs(": ", file);
    print_shape(file, values + i, values[i].local);
    fputs(" of ", file);
    print_shape(file, values + i, values[i].shape);
    fputs(", ", file);
    print_in_comment(file, values[i].sharding);
    if (i >= n - n_constants)
      fprintf(file, ", a constant: --shards wrote its shards, in.%d.RANK.npy", i);
    fputc('\n', file);
  }
  fprintf(file, " */\nstatic const int64_t %s[] = {", name);
  for (int i = 0; i < n; i++)
    fprintf(file, "%s%lld", i ? ", " : "", (long long)local_bytes(values + i));
  fprintf(file, "%s};\n", n ? "" : "0");
}

static bool print_header(FILE *file, const options *o, const tp_plan *plan, const char *name) {
  const char *model = strrchr(o->model, '/');
  char values[300];
  fprintf(file, "/* %s: ", name);
  print_in_comment(file, model ? model + 1 : o->model);
  fprintf(file, " for %lld device%s, compiled by tpshard %s. Link with -l%s -ltprt. */\n",
          (long long)plan->n_devices, plan->n_devices == 1 ? "" : "s", tp_version(), name);
  fprintf(file,
          "#ifndef TPSHARD_%s_H\n#define TPSHARD_%s_H\n\n#include \"tprt/abi.h\"\n\n#ifdef "
          "__cplusplus\nextern \"C\" {\n#endif\n\n",
          name, name);
  fprintf(file, "/* Devices: ");
  for (int a = 0; a < plan->mesh.n_axes; a++) {
    fputs(a ? ", " : "", file);
    print_in_comment(file, plan->mesh.axes[a].name);
    fprintf(file, "=%lld", (long long)plan->mesh.axes[a].size);
  }
  fprintf(file, ", the last axis fastest: as many ranks as the world of the context has. */\n");
  fprintf(file, "enum { %s_DEVICES = %lld, %s_ARGUMENTS = %d, %s_RESULTS = %d };\n", name,
          (long long)plan->n_devices, name, plan->n_arguments, name, plan->n_results);
  snprintf(values, sizeof values, "%s_argument_bytes", name);
  print_values(file, values, "Arguments", plan->n_arguments, plan->arguments, plan->n_constants);
  snprintf(values, sizeof values, "%s_result_bytes", name);
  print_values(file, values, "Results", plan->n_results, plan->results, 0);
  fprintf(file,
          "\n/* Runs on this rank's device; every rank calls it. inputs[i] and outputs[i] are "
          "dense row-major data of this "
          "device, aligned to 64\n"
          " * bytes, which do not overlap each other. Returns a tprt_status; tprt_context_error "
          "has the text. */\n"
          "int32_t %s(tprt_context *context, void *const *inputs, void *const *outputs);\n\n"
          "#ifdef __cplusplus\n}\n#endif\n#endif\n",
          name);
  return !ferror(file);
}

static bool write_header(const options *o, const tp_plan *plan, const char *name) {
  char path[4096];
  const char *slash = strrchr(o->output, '/');
  int n = snprintf(path, sizeof path, "%.*s%s.h", slash ? (int)(slash - o->output) + 1 : 0,
                   o->output, name);
  cli_file file;
  if (n >= (int)sizeof path)
    errno = ENAMETOOLONG;
  bool ok = n < (int)sizeof path && cli_file_open(&file, path) &&
            cli_file_close(&file, print_header(file.stream, o, plan, name));
  if (!ok)
    complain_of_write(path);
  return ok;
}

/* ---- Linking ---- */

/* Runs a command, which ends with this process and all that it started. Returns its exit code; -1
 * with errno set if it could not be started. */
static int run_command(char *const *arguments) {
  posix_spawnattr_t attributes;
  pid_t child;
  int status = 0;
  errno = posix_spawnattr_init(&attributes);
  if (errno)
    return -1;
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  int error = posix_spawnp(&child, arguments[0], NULL, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  errno = error;
  if (error)
    return -1;
  cli_leftover_child(-child, true);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  cli_leftover_child(-child, false);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Links `object` into the shared library `output`. The C compiler does it, because it knows where
 * the C library is. Messages say `shown`, the name that the output is given once it is complete. */
static bool link_object(const char *object, const char *output, const char *shown,
                        const char *name) {
  const char *driver = getenv("CC");
  char soname[300], runtime[4096], search[4200];
  Dl_info here;
  if (!driver || !*driver)
    driver = "cc";
  snprintf(soname, sizeof soname, "-Wl,-soname,lib%s.so", name);
  if (!dladdr((void *)(uintptr_t)tprt_abi_enter, &here) || !realpath(here.dli_fname, runtime)) {
    complain("the runtime library is not found");
    return false;
  }
  /* the runtime beside the library, else the one of this tool */
  snprintf(search, sizeof search, "-Wl,-rpath,$ORIGIN:%.*s", (int)(strrchr(runtime, '/') - runtime),
           runtime);
  char *arguments[] = {(char *)driver, "-shared",     "-o",         (char *)output,  (char *)object,
                       soname,         "-Wl,-z,defs", "-Wl,-z,now", "-nostartfiles", runtime,
                       search,         "-lm",         NULL};
  int code = run_command(arguments);
  if (code < 0)
    complain(
        "cannot start the C compiler '%s', which links the library: %s; install one, or set CC",
        driver, strerror(errno));
  else if (code > 0)
    complain("the C compiler '%s' could not link '%s'", driver, shown);
  return code == 0;
}

/* The object has a temporary name beside the library. */
static bool link_library(const options *o, const build *b, cli_file *library, const char *name) {
  cli_file object;
  bool ok = cli_file_open(&object, o->output);
  if (ok) {
    bool is_written = fwrite(b->object.data, 1, b->object.size, object.stream) == b->object.size &&
                      fflush(object.stream) == 0;
    if (!is_written)
      complain_of_write(o->output);
    ok = is_written && link_object(object.partial, library->partial, o->output, name);
    (void)cli_file_close(&object, false);
  } else {
    complain_of_write(o->output);
  }
  return ok;
}

bool library_write(const options *o, const build *b, const char *name) {
  cli_file library;
  if (!cli_file_open(&library, o->output)) {
    complain_of_write(o->output);
    return false;
  }
  bool is_linked = link_library(o, b, &library, name),
       is_kept = cli_file_close(&library, is_linked);
  if (is_linked && !is_kept)
    complain_of_write(o->output);
  return is_kept && write_header(o, b->plan, name);
}
