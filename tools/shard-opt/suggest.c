/* Suggestions for misspelled passes, pipelines and options of passes. The driver reports these
 * errors, and does not know what is close. */
#include "options.h"

#include "tp/mesh.h"
#include "tp/passes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MAX_NAMES = 256 };

static int find_pass(const char *name, size_t length) {
  for (int i = 0; i < tp_pass_count(); i++)
    if (strlen(tp_pass_get(i).name) == length && strncmp(tp_pass_get(i).name, name, length) == 0)
      return i;
  return -1;
}

/* Returns the first pass whose name without "tp-" is a part of this one, as tp-propagate for
 * tp-sharding-propagate; NULL: none. */
static const char *find_part(const char *name, size_t length) {
  for (int i = 0; i < tp_pass_count(); i++) {
    const char *known = tp_pass_get(i).name, *part = known + 3;
    size_t n = strlen(part);
    for (size_t at = 3; at + n <= length; at++)
      if (strncmp(name + at, part, n) == 0 && name[at - 1] == '-' &&
          (at + n == length || name[at + n] == '-'))
        return known;
  }
  return NULL;
}

const char *opt_suggest_pass(const char *name, size_t length, cli_suggestion *out) {
  const char *names[MAX_NAMES];
  int n = 0;
  for (; n < tp_pass_count() && n < MAX_NAMES; n++)
    names[n] = tp_pass_get(n).name;
  const char *part = find_part(name, length);
  if (!*cli_suggest(name, length, n, names, out) && part)
    snprintf(out->text, sizeof out->text, " (did you mean '%s'?)", part);
  return out->text;
}

static bool ends_in(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

static size_t length_of_word(const char *text) {
  size_t n = 0;
  while (isalnum((unsigned char)text[n]) || strchr("-_.", text[n] ? text[n] : ' '))
    n++;
  return n;
}

/* ---- options of passes ---- */

static bool has_option(int pass, const char *name, size_t length) {
  for (int i = 0; i < tp_pass_get(pass).n_options; i++) {
    const char *known = tp_pass_option(pass, i).name;
    if (strlen(known) == length && strncmp(known, name, length) == 0)
      return true;
  }
  return false;
}

/* The option mesh=... of the options that begin at `begin` and end before `name`; NULL: none. */
static const char *mesh_before(const char *begin, const char *name) {
  for (const char *at = begin; (at = strstr(at, "mesh=")) && at < name; at++)
    if (at == begin || at[-1] == ' ')
      return at;
  return NULL;
}

/* True if the text up to a blank or brace is a mesh. */
static bool is_mesh(const char *text) {
  char copy[64];
  tp_mesh mesh;
  size_t n = strcspn(text, " }");
  return snprintf(copy, sizeof copy, "%.*s", (int)n, text) < (int)sizeof copy &&
         tp_mesh_parse("mesh", copy, NULL, 0, &mesh) == TP_OK;
}

/* Checks the name of an option. `begin`: where the options of the pass begin. */
static void check_option(int pass, const char *begin, const char *name, size_t length) {
  const char *names[MAX_NAMES];
  int n = tp_pass_get(pass).n_options;
  const char *mesh = mesh_before(begin, name);
  cli_suggestion closest;
  if (has_option(pass, name, length))
    return;
  for (int i = 0; i < n && i < MAX_NAMES; i++)
    names[i] = tp_pass_option(pass, i).name;
  if (*cli_suggest(name, length, n, names, &closest))
    cli_print("shard-opt: note: %s has no option '%.*s'%s; see shard-opt --help=%s\n",
              tp_pass_get(pass).name, (int)length, name, closest.text, tp_pass_get(pass).name);
  else if (!mesh && has_option(pass, "mesh", 4) && is_mesh(name))
    cli_print("shard-opt: note: %s has no option '%.*s'; if it is the mesh, write mesh=%.*s\n",
              tp_pass_get(pass).name, (int)length, name, (int)strcspn(name, " }"), name);
  else if (mesh && name[length] == '=' && isdigit((unsigned char)name[length + 1]))
    cli_print("shard-opt: note: %s has no option '%.*s'; if it is an axis, write %.*s,%.*s, with a "
              "comma and no blank\n",
              tp_pass_get(pass).name, (int)length, name, (int)strcspn(mesh, " ,"), mesh,
              (int)strcspn(name, " }"), name);
}

/* The options of the largest pipeline, which users give to the driver by mistake. */
static bool is_option_of_spmd(const char *name, size_t length) {
  int pass = find_pass("tp-spmd", 7);
  return pass >= 0 && has_option(pass, name, length);
}

/* Skips a value, which may have quotes or braces. */
static const char *skip_value(const char *at) {
  int depth = 0;
  char quote = 0;
  for (; *at; at++) {
    if (quote || *at == '\'' || *at == '"')
      quote = !quote ? *at : *at == quote ? 0 : quote;
    else if (*at == '{')
      depth++;
    else if (depth > 0 && *at == '}')
      depth--;
    else if (depth == 0 && strchr(" }", *at))
      return at;
  }
  return at;
}

/* Notes a comma before the next option, where a blank has to stand. */
static void check_separator(int pass, const char *value, const char *end) {
  for (const char *at = value; at < end && (at = strchr(at, ',')) && at < end; at++) {
    size_t n = length_of_word(at + 1);
    if (at[1 + n] == '=' && has_option(pass, at + 1, n))
      cli_print(
          "shard-opt: note: a blank separates options of a pass, not a comma: '%.*s %.*s...'\n",
          (int)(at - value), value, (int)n + 1, at + 1);
  }
}

/* Checks "NAME=VALUE NAME=VALUE". Returns the end: a '}' or that of the text. */
static const char *check_options(int pass, const char *at) {
  const char *begin = at;
  while (*at && *at != '}') {
    size_t n = length_of_word(at);
    if (n == 0) {
      at++;
      continue;
    }
    if (pass >= 0)
      check_option(pass, begin, at, n);
    const char *end = skip_value(at + n);
    if (pass >= 0)
      check_separator(pass, at, end);
    at = end;
  }
  return at;
}

/* ---- pipelines ---- */

/* Notes a pass that does not exist. Without `all`, the passes of MLIR are not known. */
static void check_pass(const cli_tool *all, const char *name, size_t length) {
  const char **names = calloc((size_t)(all ? all->n_options : 0) + MAX_NAMES, sizeof *names);
  cli_suggestion closest;
  int n = 0;
  bool is_known = !names || find_pass(name, length) >= 0;
  for (; names && n < tp_pass_count() && n < MAX_NAMES; n++)
    names[n] = tp_pass_get(n).name;
  for (int i = 0; names && all && i < all->n_options; i++) {
    const cli_option *o = all->options + i;
    if (!o->name || o->is_part)
      continue;
    names[n++] = o->name;
    is_known |= strlen(o->name) == length && strncmp(o->name, name, length) == 0;
  }
  if (!is_known && *cli_suggest(name, length, n, names, &closest))
    cli_print("shard-opt: note: there is no pass or pipeline '%.*s'%s\n", (int)length, name,
              closest.text);
  free(names);
}

/* Notes a pipeline that does not say on which ops it runs, or not on the module. */
static void check_anchor(const char *text) {
  size_t n = length_of_word(text);
  bool is_of_functions = strncmp(text, "func.func(", 10) == 0;
  if (text[n] != '(')
    cli_print("shard-opt: note: write --pass-pipeline='builtin.module(%s)'\n", text);
  else if (is_of_functions && find_pass(text + 10, length_of_word(text + 10)) >= 0)
    cli_print("shard-opt: note: passes of tpshard run on the module; write "
              "--pass-pipeline='builtin.module(%s'\n",
              text + 10);
}

/* Notes a bracket that is not closed, or not opened. */
static void check_brackets(const char *text) {
  static const char open[] = "({", closed[] = ")}";
  char expected[64];
  size_t depth = 0;
  for (const char *at = text; *at && depth < sizeof expected; at++) {
    const char *opens = strchr(open, *at);
    if (opens) {
      expected[depth++] = closed[opens - open];
    } else if (strchr(closed, *at)) {
      if (depth == 0)
        cli_print("shard-opt: note: the pipeline has one '%c' too many\n", *at);
      else if (expected[depth - 1] != *at)
        cli_print("shard-opt: note: a '%c' is missing before '%s'\n", expected[depth - 1], at);
      if (depth == 0 || expected[depth - 1] != *at)
        return;
      depth--;
    }
  }
  if (depth > 0 && depth < sizeof expected)
    cli_print("shard-opt: note: a '%c' is missing at the end of the pipeline\n",
              expected[depth - 1]);
}

static void check_pipeline(const char *text) {
  static cli_tool all;
  bool is_listed = all.options || opt_options(&all);
  for (const char *at = text; *at;) {
    size_t n = length_of_word(at);
    bool is_nest = at[n] == '(';
    if (n > 0 && at[n] == ';')
      cli_print("shard-opt: note: commas separate the passes of a pipeline, not semicolons\n");
    if (n > 0 && !is_nest)
      check_pass(is_listed ? &all : NULL, at, n);
    if (n > 0 && is_nest && find_pass(at, n) >= 0) {
      size_t inside = strcspn(at + n + 1, ")");
      cli_print("shard-opt: note: options of a pass stand in braces: %.*s{%.*s}\n", (int)n, at,
                (int)inside, at + n + 1);
      at += n + 1 + inside;
      continue;
    }
    if (at[n] == '{')
      at = check_options(find_pass(at, n), at + n + 1);
    else
      at += n;
    at += *at != 0;
  }
}

/* Notes an operand that is no file: options of a pass, or a misspelled path. */
static void check_operand(const char *before, const char *word) {
  const char *name = before + strspn(before, "-");
  size_t length = length_of_word(word);
  bool follows_pass = *before == '-' && find_pass(name, strlen(name)) >= 0;
  cli_suggestion closest;
  if (follows_pass && strchr(word, '='))
    cli_print("shard-opt: note: options of a pass follow its name and a '=': %s='%s'\n", before,
              word);
  else if (access(word, F_OK) != 0 && find_pass(word, length) >= 0)
    cli_print("shard-opt: note: '%.*s' is a pass; write --%.*s\n", (int)length, word, (int)length,
              word);
  else if (access(word, F_OK) != 0 && *cli_suggest_file(word, &closest))
    cli_print("shard-opt: note: the file '%s' does not exist%s\n", word, closest.text);
}

#define RUNS "is an option of shard-run, which compiles and runs programs"

/* Options of shard-run that no pass has, which users give to shard-opt by mistake. */
static const struct {
  const char *name, *way_out;
} of_shard_run[] = {
    {"emit", "is an option of shard-run, which compiles: shard-run FILE.mlir --emit=so -o libm.so"},
    {"plan-report", "is an option of shard-run; write --tp-spmd='mesh=4 report=plan.html'"},
    {"plan-diff", "is an option of shard-run; write --tp-spmd='mesh=4 report-against=OLD.json'"},
    {"frontier", "is an option of shard-run; write --tp-spmd='mesh=4 report-frontier=8'"},
    {"input", RUNS},
    {"inputs-from", RUNS},
    {"expected-output", RUNS},
    {"output", RUNS},
    {"launch", RUNS},
    {"backend", RUNS},
    {"trace", RUNS},
    {"seed", RUNS},
    {"no-verify", RUNS},
    {"tf32", "is an option of shard-run; write --tp-to-cuda=tf32=true"},
    {"reference", RUNS},
    {"function", RUNS},
    {"timeout", RUNS},
    {"repeat", RUNS},
    {"target", RUNS},
    {"opt-level", RUNS},
    {"cpu", RUNS},
    {"no-graph", RUNS},
    {"shards", RUNS},
    {"spares", RUNS},
};

static void check_option_of_shard_run(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof of_shard_run / sizeof *of_shard_run; i++)
    if (strlen(of_shard_run[i].name) == length && strncmp(of_shard_run[i].name, name, length) == 0)
      cli_print("shard-opt: note: --%s %s\n", of_shard_run[i].name, of_shard_run[i].way_out);
}

/* Notes an option that the driver does not have and that is spelled like a pass of tpshard. */
static void check_pass_option(const char *name, size_t length) {
  cli_suggestion closest;
  if (length > 3 && strncmp(name, "tp-", 3) == 0 && find_pass(name, length) < 0 &&
      strncmp(name, "tp-explain", length) != 0)
    cli_print("shard-opt: note: there is no pass or pipeline '%.*s'%s\n", (int)length, name,
              *opt_suggest_pass(name, length, &closest) ? closest.text
                                                        : "; shard-opt --help lists them");
}

/* Notes what follows the name of a pass: other passes, or options after a colon. */
static void check_after_pass(const char *name, size_t length) {
  const char *rest = name + length;
  size_t next = strspn(rest + (*rest != 0), "-");
  if (*rest == ',' && find_pass(rest + 1 + next, length_of_word(rest + 1 + next)) >= 0)
    cli_print("shard-opt: note: each pass is an option of its own: --%.*s --%s\n", (int)length,
              name, rest + 1 + next);
  if (*rest == ':')
    cli_print("shard-opt: note: options of a pass follow its name and a '=': --%.*s='%s'\n",
              (int)length, name, rest + 1);
}

/* Notes --tp-explain without a name: the driver takes the next option as the name. */
static void check_explain(const char *option, const char *next) {
  if (strcmp(option + strspn(option, "-"), "tp-explain") == 0 && (!next || *next == '-'))
    cli_print("shard-opt: note: --tp-explain takes a name of a value: --tp-explain=w1\n");
}

/* True if the driver read an empty file, or /dev/null, as standard input. Of a pipe it is not
 * known. */
static bool has_read_nothing(int argc, char **argv) {
  struct stat in;
  for (int i = 1; i < argc; i++)
    if (argv[i][0] != '-' && strcmp(argv[i - 1], "-o") != 0)
      return false;
  if (fstat(STDIN_FILENO, &in) != 0)
    return false;
  return S_ISREG(in.st_mode) ? in.st_size == 0 : S_ISCHR(in.st_mode) && in.st_rdev == makedev(1, 3);
}

void opt_suggest(int argc, char **argv) {
  static const char pipeline[] = "pass-pipeline";
  if (has_read_nothing(argc, argv))
    cli_print("shard-opt: note: standard input is empty; name a file, or write a program to "
              "standard input\n");
  for (int i = 1; i < argc; i++) {
    const char *name = argv[i] + strspn(argv[i], "-");
    size_t n = length_of_word(name);
    int pass = find_pass(name, n);
    if (argv[i][0] != '-' && strcmp(argv[i - 1], "-o") != 0 && !ends_in(argv[i - 1], pipeline))
      check_operand(argv[i - 1], argv[i]);
    if (argv[i][0] != '-')
      continue;
    check_option_of_shard_run(name, n);
    check_pass_option(name, n);
    check_explain(argv[i], i + 1 < argc ? argv[i + 1] : NULL);
    if (pass < 0 && is_option_of_spmd(name, n))
      cli_print("shard-opt: note: --%.*s is an option of passes; write --tp-spmd='%.*s=%s'\n",
                (int)n, name, (int)n, name, name[n] == '=' ? name + n + 1 : "...");
    if (pass >= 0)
      check_after_pass(name, n);
    if (pass >= 0 && name[n] == '=')
      (void)check_options(pass, name + n + 1);
    if (n == strlen(pipeline) && strncmp(name, pipeline, n) == 0 &&
        (name[n] == '=' || i + 1 < argc)) {
      const char *text = name[n] == '=' ? name + n + 1 : argv[i + 1];
      check_anchor(text);
      check_brackets(text);
      check_pipeline(text);
    }
  }
}
