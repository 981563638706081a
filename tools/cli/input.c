/* Input files that are no programs, or that a tool cannot read itself: says what they are, and
 * which command reads them. */
#include "cli.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HEAD_SIZE = 4096 };

/* The begin of a file. */
typedef struct head {
  const char *path;
  size_t n;
  char bytes[HEAD_SIZE + 1]; /* ends with 0 */
} head;

static bool ends_in(const char *path, const char *suffix) {
  size_t n = strlen(path), m = strlen(suffix);
  return n > m && strcmp(path + n - m, suffix) == 0;
}

/* ---- formats ---- */

static bool is_empty(const head *h) { return strspn(h->bytes, " \t\r\n") == h->n; }
static bool is_elf(const head *h) { return h->n > 4 && memcmp(h->bytes, "\177ELF", 4) == 0; }
static bool is_npy(const head *h) { return h->n > 6 && memcmp(h->bytes, "\223NUMPY", 6) == 0; }
static bool is_zip(const head *h) { return h->n > 4 && memcmp(h->bytes, "PK\003\004", 4) == 0; }
static bool is_gzip(const head *h) { return h->n > 2 && memcmp(h->bytes, "\037\213", 2) == 0; }

/* The length of a JSON text in 8 bytes, then the text. */
static bool is_safetensors(const head *h) {
  return h->n > 9 && memcmp(h->bytes + 5, "\0\0\0", 3) == 0 && h->bytes[8] == '{';
}

static bool is_json(const head *h) {
  const char *at = h->bytes + strspn(h->bytes, " \t\r\n");
  return (*at == '{' && at[1] != '-') || *at == '[';
}

/* The length of the character of UTF-8 that begins here; 0: there is none. */
static size_t character_length(const char *text) {
  static const struct {
    unsigned char mask, begin;
  } leads[] = {{0x80, 0x00}, {0xe0, 0xc0}, {0xf0, 0xe0}, {0xf8, 0xf0}};
  for (size_t n = 1; n <= sizeof leads / sizeof *leads; n++) {
    if (((unsigned char)*text & leads[n - 1].mask) != leads[n - 1].begin)
      continue;
    for (size_t k = 1; k < n; k++)
      if (((unsigned char)text[k] & 0xc0) != 0x80)
        return 0;
    return n;
  }
  return 0;
}

/* Strings of a program may hold any byte, its begin may not. */
static bool is_binary(const head *h) {
  bool is_found = false;
  for (size_t i = 0, n; i < h->n && i < 16 && !is_found; i += n) {
    n = character_length(h->bytes + i);
    is_found = n == 0 || (unsigned char)h->bytes[i] < '\t';
  }
  return is_found && memcmp(h->bytes, "ML\357R", 4) != 0; /* bytecode of MLIR */
}

/* Byte order marks. */
static bool is_utf16(const head *h) {
  return h->n > 2 && (memcmp(h->bytes, "\377\376", 2) == 0 || memcmp(h->bytes, "\376\377", 2) == 0);
}
static bool has_mark(const head *h) { return h->n > 3 && memcmp(h->bytes, "\357\273\277", 3) == 0; }

static bool begins(const head *h, const char *text) {
  return strncmp(h->bytes + strspn(h->bytes, " \t\r\n"), text, strlen(text)) == 0;
}

static bool is_lfs(const head *h) { return begins(h, "version https://git-lfs.github.com/spec/"); }
static bool is_hlo(const head *h) { return begins(h, "HloModule "); }

static bool is_llvm(const head *h) {
  return ends_in(h->path, ".ll") || begins(h, "; ModuleID") || begins(h, "source_filename =") ||
         begins(h, "target datalayout") || begins(h, "define ");
}

static bool is_c(const head *h) {
  static const char *const suffixes[] = {".c", ".h", ".cc", ".cpp", ".cu"};
  bool has_suffix = false;
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
    has_suffix |= ends_in(h->path, suffixes[i]);
  return has_suffix || begins(h, "#include");
}

static bool has_hash(const head *h) { return ends_in(h->path, ".mlir") && begins(h, "# "); }

static bool is_python(const head *h) { return ends_in(h->path, ".py"); }
static bool is_jaxpr(const head *h) {
  return strncmp(h->bytes + strspn(h->bytes, " \t\r\n"), "{ lambda", 8) == 0;
}

/* Models of other frameworks, by the suffix of the file. */
static bool is_onnx(const head *h) { return ends_in(h->path, ".onnx"); }
static bool is_gguf(const head *h) { return ends_in(h->path, ".gguf"); }
static bool is_tflite(const head *h) { return ends_in(h->path, ".tflite"); }
static bool is_graph_def(const head *h) { return ends_in(h->path, ".pb"); }
static bool is_hdf5(const head *h) { return ends_in(h->path, ".h5"); }
static bool is_pickle(const head *h) { return ends_in(h->path, ".pkl"); }

/* True if a text cannot be MLIR: it has the name of another kind of file, or begins with what
 * begins no operation and no definition of an alias. */
static bool is_other_text(const head *h) {
  static const char *const suffixes[] = {".md", ".txt", ".rst", ".toml", ".yaml", ".cfg"};
  const char *at = h->bytes + strspn(h->bytes, " \t\r\n");
  while (strncmp(at, "//", 2) == 0) {
    at += strcspn(at, "\n");
    at += strspn(at, " \t\r\n");
  }
  size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$");
  if (*at == 0 || (size_t)(at - h->bytes) >= h->n || at[n] == '.' ||
      (n == 6 && strncmp(at, "module", n) == 0))
    return false;
  bool has_suffix = false;
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
    has_suffix |= ends_in(h->path, suffixes[i]);
  bool begins_op = isalpha((unsigned char)*at) || strchr("_\"%{", *at),
       begins_alias = (*at == '#' || *at == '!') && (isalpha((unsigned char)at[1]) || at[1] == '_');
  return n > 0 ? has_suffix || isdigit((unsigned char)*at) : !begins_op && !begins_alias;
}

#define IMPORT_HINT "docs/how-to/import-a-model.md shows how to make MLIR of a model"

static const struct format {
  bool (*matches)(const head *h);
  const char *what, *way_out;
} formats[] = {
    {is_empty, "empty", "give a program in MLIR"},
    {is_elf, "compiled code (ELF)",
     "give the MLIR program that it was made from; a library of shard-run --emit=so is called as "
     "its header says"},
    {is_onnx, "a model of ONNX", IMPORT_HINT},
    {is_gguf, "weights of GGUF, without a program", IMPORT_HINT},
    {is_tflite, "a model of TensorFlow Lite", IMPORT_HINT},
    {is_graph_def, "a graph of TensorFlow", IMPORT_HINT},
    {is_hdf5, "HDF5, in which Keras stores models", IMPORT_HINT},
    {is_pickle, "a pickle of Python", IMPORT_HINT},
    {is_python, "a Python program",
     "give the MLIR that it makes; docs/how-to/import-a-model.md "
     "shows how to write it"},
    {is_jaxpr, "the text of a jaxpr",
     "give MLIR, as jax.export writes it; "
     "docs/how-to/import-a-model.md shows how"},
    {is_npy, "an array of numpy", "give it beside the program, as --input @FILE.npy of shard-run"},
    {is_zip, "a zip archive, as numpy.savez, torch.save and torch.export write",
     "give arrays one by one as --input @FILE.npy of shard-run, and a model as "
     "docs/how-to/import-a-model.md shows"},
    {is_gzip, "compressed (gzip)", "decompress it with gunzip"},
    {is_safetensors, "weights (safetensors), without a program",
     "write its arrays with numpy.save, and give them beside the program, as --input @FILE.npy of "
     "shard-run"},
    {is_json, "JSON",
     "give a program in MLIR; topologies are read by --topology of shard-run, and planning "
     "problems "
     "by shard-solve"},
    {is_utf16, "text in UTF-16", "save it as UTF-8: iconv -f UTF-16 -t UTF-8"},
    {has_mark, "text with a byte order mark (BOM)", "save it as UTF-8 without one"},
    {is_lfs, "a pointer of Git LFS, without the contents of the file",
     "fetch them with git lfs pull"},
    {is_hlo, "HLO text of XLA", "give the StableHLO that it was made from; " IMPORT_HINT},
    {is_llvm, "LLVM IR, which is lowered too far to be sharded",
     "give the program with tensors that it was made from"},
    {is_c, "a program in C or C++", "give a program in MLIR; " IMPORT_HINT},
    {has_hash, "no MLIR: it begins with '# '", "comments begin with //"},
    {is_binary, "binary, and neither MLIR bytecode nor a format that is known here",
     "give a program in MLIR"},
    {is_other_text, "text, but not MLIR",
     "give a program in MLIR, which begins with module, func.func, or another operation; "
     "docs/how-to/import-a-model.md shows how to make one of a model"},
};

/* ---- refusal ---- */

static int is_program(const struct dirent *entry) { return ends_in(entry->d_name, ".mlir"); }

static void complain_of_folder(const char *path) {
  struct dirent **entries;
  int n = scandir(path, &entries, is_program, alphasort);
  complain("'%s' is a folder; give a program%s%s%s%s", path,
           n > 0 ? " in it, such as " : " in MLIR", n > 0 ? path : "",
           n > 0 && !ends_in(path, "/") ? "/" : "", n > 0 ? entries[0]->d_name : "");
  for (int i = 0; i < n; i++)
    free(entries[i]);
  if (n >= 0)
    free(entries);
}

bool cli_find_program(const char **path) {
  struct stat state;
  head h = {.path = *path};
  if (stat(*path, &state) != 0 || !(S_ISREG(state.st_mode) || S_ISDIR(state.st_mode)))
    return true; /* a pipe can be read only once */
  if (S_ISDIR(state.st_mode)) {
    complain_of_folder(*path);
    return false;
  }
  if (ends_in(*path, CLI_JAX_EXPORT)) {
    const char *made = cli_read_jax_export(*path);
    *path = made ? made : *path;
    return made != NULL;
  }
  FILE *file = fopen(*path, "rb");
  if (!file)
    return true;
  h.n = fread(h.bytes, 1, HEAD_SIZE, file);
  fclose(file);
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (!formats[i].matches(&h))
      continue;
    complain("'%s' is %s; %s", *path, formats[i].what, formats[i].way_out);
    return false;
  }
  return true;
}
