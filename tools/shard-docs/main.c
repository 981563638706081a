/* shard-docs: generates the pages of docs/reference from the tables in the code, so that they
 * always agree with it.
 *
 *   shard-docs            lists the pages
 *   shard-docs PAGE       prints one */
#include "tp/env.h"
#include "tp/passes.h"
#include "tp/rules.h"
#include "tp/stablehlo.h"
#include "tprt/tprt.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Prints the text of a table cell, with bars escaped, since a bar would end the cell. */
static void print_escaped(const char *text) {
  for (; text && *text; text++)
    printf(*text == '|' ? "\\|" : "%c", *text);
}

static void print_cell(const char *text) {
  printf(" ");
  print_escaped(text);
  printf(" |");
}

static void print_code_cell(const char *text) {
  if (text && *text) {
    printf(" `");
    print_escaped(text);
    printf("`");
  }
  printf(" |");
}

/* ---- passes.md ---- */

static void print_options(int pass) {
  int n = tp_pass_get(pass).n_options;
  if (n == 0)
    return;
  printf("| option | values | default | meaning |\n|---|---|---|---|\n");
  for (int i = 0; i < n; i++) {
    tp_option_info option = tp_pass_option(pass, i);
    printf("|");
    print_code_cell(option.name);
    print_code_cell(option.values);
    print_code_cell(option.default_value);
    print_cell(option.help);
    printf("\n");
  }
  printf("\n");
}

/* Prints one pass per line: breaks after each comma outside braces and parentheses. */
static void print_pipeline(const char *text) {
  int depth = 0;
  printf("Runs, where `{*}` stands for the options above that the pass has:\n\n    ");
  for (; *text; text++) {
    depth += (*text == '{' || *text == '(') - (*text == '}' || *text == ')');
    printf(*text == ',' && depth == 0 ? ",\n    " : "%c", *text);
  }
  printf("\n\n");
}

static void print_sentence(const char *text) {
  size_t n = strlen(text);
  if (n > 0)
    printf("%s%s\n\n", text, text[n - 1] == '.' ? "" : ".");
}

static void print_pass(int i) {
  tp_pass_info pass = tp_pass_get(i);
  printf("### `%s`\n\n", pass.name);
  print_sentence(pass.summary);
  print_sentence(pass.description ? pass.description : "");
  print_options(i);
  if (pass.pipeline)
    print_pipeline(pass.pipeline);
}

static void print_section(const char *title, const char *text, bool pipelines) {
  printf("## %s\n\n%s\n\n", title, text);
  for (int i = 0; i < tp_pass_count(); i++)
    if ((tp_pass_get(i).pipeline != NULL) == pipelines)
      print_pass(i);
}

static void print_passes(void) {
  printf("All of them run on a `builtin.module`:\n\n"
         "    shard-opt model.mlir "
         "--pass-pipeline='builtin.module(tp-normalize{mesh=dp=2,tp=4})'\n\n"
         "Values of options: `a|b` is one of these words, `0..9` a number in this range, `0<..9` "
         "one above 0, `0..<9` one below 9; `BYTES` is a number with or without a unit (B, KB, MB, "
         "GB, TB, KiB, MiB, GiB, TiB), other words in capitals are texts.\n\n");
  print_section(
      "Passes",
      "What a pass requires of its input, establishes and breaks is part of its description.",
      false);
  print_section(
      "Pipelines",
      "A pipeline is a list of passes. Its options are options of its passes; defaults may "
      "differ.",
      true);
}

/* ---- rules.md ---- */

static void print_rules(void) {
  printf(
      "A rule says which dimensions of an op's operands and results are the same factor, and "
      "whether that factor may be split: in parallel, or\nwith partial results that a collective "
      "combines. If several families match an op, the first one is used. An op without a family is "
      "refused,\nor replicated with the option `unknown-ops=replicate`.\n\n| family | ops | what "
      "can be sharded | communication | tests |\n|---|---|---|---|---|\n");
  for (int i = 0; i < tp_family_count(); i++) {
    tp_family_info family = tp_family_get(i);
    printf("|");
    print_code_cell(family.name);
    print_cell(family.ops);
    print_cell(family.summary);
    print_cell(family.communication);
    printf(" [%s](../../%s) |\n", family.test, family.test);
  }
}

/* ---- stablehlo.md ---- */

static void print_stablehlo_ops(bool converted) {
  for (int i = 0; i < tp_stablehlo_count(); i++) {
    tp_stablehlo_info op = tp_stablehlo_get(i);
    if (op.is_converted != converted)
      continue;
    printf("|");
    print_code_cell(op.name);
    print_cell(op.becomes);
    printf(converted ? "\n" : op.can_stay ? " can stay |\n" : " |\n");
  }
}

static void print_stablehlo(void) {
  printf(
      "`tp-import-stablehlo` reads StableHLO and CHLO in generic form "
      "(`get_asm(print_generic_op_form=True)` of jaxlib's bindings).\nAll shapes must be static. "
      "Unsigned integers become integers without sign; the ops that read them keep their "
      "meaning.\n\n## Ops that are converted\n\n| op | becomes |\n|---|---|\n");
  print_stablehlo_ops(true);
  printf(
      "\n## Ops that are refused\n\nThe error names the op, where it is, and this reason. An op "
      "with a `tp.rule` is never refused: it stays, and\n`tp-export-stablehlo` writes it on local "
      "shapes; or whoever gave it the rule lowers it. With `unknown-ops=replicate`, ops "
      "marked\nwith \"can stay\" stay, too, and every device runs them on whole tensors; so do "
      "ops that are not listed here.\n\n| op | the error says that it | |\n|---|---|---|\n");
  print_stablehlo_ops(false);
}

/* ---- environment.md ---- */

static void print_launchers(void) {
  size_t n;
  const tprt_launcher *rows = tprt_launchers(&n);
  printf(
      "\n## Launchers\n\n`tprt_world_create(0, 0, ...)` takes rank and number of ranks from the "
      "first launcher whose two variables are set. A value that\nis malformed is an error that "
      "names its variable; set-user-id programs ignore all of these variables. The ranks meet "
      "at\n`TPRT_STORE`; else at `MASTER_ADDR` and `MASTER_PORT` (one more where "
      "`TORCHELASTIC_USE_AGENT_STORE` is `True`: torchrun's agent\nhas that port); else, when all "
      "of them run on one host, at a socket named after the job.\n\n| launcher | rank | ranks | "
      "rank on the host | ranks on the host | restart | job |\n|---|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < n; i++) {
    printf("| %s |", rows[i].name);
    print_code_cell(rows[i].rank);
    print_code_cell(rows[i].n_ranks);
    print_code_cell(rows[i].local_rank);
    if (rows[i].n_hosts)
      printf(" all, if `%s` is 1 |", rows[i].n_hosts);
    else
      print_code_cell(rows[i].local_ranks);
    print_code_cell(rows[i].epoch);
    printf(" `%s`%s%s%s |\n", rows[i].job[0], rows[i].job[1] ? ", `" : "",
           rows[i].job[1] ? rows[i].job[1] : "", rows[i].job[1] ? "`" : "");
  }
}

static void print_compiler_variables(void) {
  size_t n;
  const tp_env_var *rows = tp_env(&n);
  printf("Of a variable that does not exist, such as a misspelled one, there is a warning: of "
         "`TPSHARD_...`, and of `TP_...` if it is like\none of these, by the tools and the Python "
         "package; of `TPRT_...` when a world is created, by rank 0.\n\n## Compiler, tools and "
         "Python package\n\n| variable | meaning |\n|---|---|\n");
  for (size_t i = 0; i < n; i++)
    printf("| `%s` | %s |\n", rows[i].name, rows[i].help);
}

static void print_environment(void) {
  size_t n;
  const tprt_env_var *rows = tprt_env(&n);
  print_compiler_variables();
  printf("\n## Runtime\n\nThe variables that libtprt reads. A field set in a `tprt_config` takes "
         "precedence over "
         "the variable, and the variable over the default.\n\n| variable | type | default | "
         "meaning |\n|---|---|---|---|\n");
  for (size_t i = 0; i < n; i++) {
    printf("|");
    print_code_cell(rows[i].name);
    print_cell(rows[i].type);
    print_code_cell(rows[i].default_value);
    print_cell(rows[i].help);
    printf("\n");
  }
  print_launchers();
}

/* ---- backends.md ---- */

static void print_backends(void) {
  const char *name, *help, *summary;
  printf("The capabilities of the backends of libtprt. A backend refuses what it cannot do with "
         "`unsupported` and the reason; the conformance\ntests check both. A program queries them "
         "with `tprt_comm_capabilities`.\n\n| backend | |\n|---|---|\n");
  for (size_t b = 0; (name = tprt_backend_name(b)); b++) {
    tprt_backend_capabilities(b, &summary);
    printf("| `%s` | %s |\n", name, summary);
  }
  printf("\n| capability | meaning |");
  for (size_t b = 0; (name = tprt_backend_name(b)); b++)
    printf(" %s |", name);
  printf("\n|---|---|");
  for (size_t b = 0; tprt_backend_name(b); b++)
    printf("---|");
  for (int i = 0; (name = tprt_capability_name(i, &help)); i++) {
    printf("\n| %s | %s |", name, help);
    for (size_t b = 0; tprt_backend_name(b); b++)
      printf(" %s |", tprt_backend_capabilities(b, NULL) >> i & 1 ? "yes" : "");
  }
  printf("\n\nThe missing capabilities and the reasons; `shard-bench --capabilities` prints the "
         "same, and whether each backend works on this machine.\n\n| backend | missing | reason "
         "|\n|---|---|---|\n");
  for (size_t b = 0; tprt_backend_name(b); b++)
    for (int i = 0; (name = tprt_capability_name(i, NULL)); i++)
      if (tprt_backend_lack(b, i))
        printf("| `%s` | %s | %s |\n", tprt_backend_name(b), name, tprt_backend_lack(b, i));
}

static const struct {
  const char *name, *title;
  void (*print)(void);
} pages[] = {
    {"backends", "Backends of the runtime", print_backends},
    {"environment", "Environment variables", print_environment},
    {"passes", "Passes and pipelines", print_passes},
    {"rules", "Ops that can be sharded", print_rules},
    {"stablehlo", "StableHLO and CHLO", print_stablehlo},
};

static void print_page(const char *title, void (*print)(void)) {
  printf("# %s\n\n<!-- Printed by shard-docs from the tables that the code uses. Do not edit: run "
         "`./dev docs`. -->\n\n",
         title);
  print();
}

static bool run(int argc, char **argv) {
  bool listing = argc == 1;
  if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    printf("usage: shard-docs [PAGE]\n\nPrints a page of docs/reference as Markdown; without PAGE "
           "the names of the pages.\n");
    return true;
  }
  for (size_t i = 0; i < sizeof pages / sizeof *pages && argc <= 2; i++) {
    if (listing) {
      printf("%s\n", pages[i].name);
    } else if (strcmp(argv[1], pages[i].name) == 0) {
      print_page(pages[i].title, pages[i].print);
      return true;
    }
  }
  if (argc > 2)
    fprintf(stderr, "shard-docs: error: one page at a time; see shard-docs --help\n");
  else if (!listing)
    fprintf(stderr,
            "shard-docs: error: there is no page '%s'; without arguments shard-docs lists them\n",
            argv[1]);
  return listing;
}

int main(int argc, char **argv) {
  if (!run(argc, argv))
    return 2;
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "shard-docs: error: the output could not be written\n");
    return 1;
  }
  return 0;
}
