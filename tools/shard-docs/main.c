/* shard-docs: prints docs/reference/passes.md from the table of passes, so that the page cannot say something else. */
#include "tp/passes.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void print_options(const tp_pass_info *pass) {
  if (pass->n_options == 0)
    return;
  printf("| option | default | meaning |\n|---|---|---|\n");
  for (int i = 0; i < pass->n_options; i++) {
    const tp_option_row *row = pass->options + i;
    printf("| `%s` | ", row->name);
    printf(row->default_value[0] ? "`%s`" : "%s", row->default_value);
    printf(" | ");
    for (const char *c = row->help; *c; c++)
      printf(*c == '|' ? "\\|" : "%c", *c);
    printf(" |\n");
  }
  printf("\n");
}

static void print_pass(const tp_pass_info *pass) {
  size_t n = strlen(pass->summary);
  printf("### `%s`\n\n%s%s\n\n", pass->name, pass->summary, n > 0 && pass->summary[n - 1] == '.' ? "" : ".");
  if (pass->description && *pass->description)
    printf("%s\n\n", pass->description);
  print_options(pass);
  if (pass->pipeline)
    printf("Runs, where `{option}` stands for the option when it is given:\n\n    %s\n\n", pass->pipeline);
}

static void print_section(const char *title, const char *text, bool pipelines) {
  printf("## %s\n\n%s\n\n", title, text);
  for (int i = 0; i < tp_pass_count(); i++) {
    tp_pass_info pass = tp_pass_get(i);
    if ((pass.pipeline != NULL) == pipelines)
      print_pass(&pass);
  }
}

int main(void) {
  printf("# Passes and pipelines\n\n"
         "<!-- Printed by shard-docs from the tables that the code uses. Do not edit: run `./dev docs`. -->\n\n"
         "All of them run on a `builtin.module`:\n\n"
         "    shard-opt model.mlir --pass-pipeline='builtin.module(tp-normalize{mesh=dp=2,tp=4})'\n\n");
  print_section("Passes", "What a pass requires of its input, establishes and breaks is part of its description.", false);
  print_section("Pipelines", "A pipeline is a list of passes with options of its own.", true);
  return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
