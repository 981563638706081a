/* Prints the help of a tool for a terminal, and chooses among the forms of the help. */
#include "cli.h"

#include <string.h>

enum { COLUMNS = 100, LEFT = 33 /* column of the help of options */ };

/* Prints words from column `at` on, wrapped into lines that begin at column `indent`. A '\n' begins
 * a line, too. */
static void print_words(const char *text, int at, int indent) {
  bool is_first = true;
  while (*text) {
    int n = (int)strcspn(text, " \n");
    if (!is_first && at + 1 + n > COLUMNS) {
      printf("\n%*s", indent, "");
      at = indent;
      is_first = true;
    }
    at += printf("%s%.*s", is_first ? "" : " ", n, text);
    is_first = text[n] == '\n';
    if (is_first) {
      printf("\n%*s", indent, "");
      at = indent;
    }
    text += n + (text[n] != 0);
  }
}

static void print_paragraph(const char *text) {
  print_words(text, 0, 0);
  printf("\n");
}

static void print_option(const cli_option *o) {
  char left[64] = "";
  const char *argument = o->argument ? o->argument : "";
  if (o->letter)
    snprintf(left, sizeof left, "-%c%s", o->letter, o->name ? ", " : "");
  size_t n = strlen(left);
  snprintf(left + n, sizeof left - n, "%s%s%s%s", o->name ? "--" : "", o->name ? o->name : "",
           *argument && *argument != '[' ? " " : "", argument);
  if (printf("  %-*s", LEFT - 3, left) < LEFT)
    printf(" ");
  else
    printf("\n%*s", LEFT, "");
  print_words(o->help, LEFT, LEFT);
  printf("\n");
}

static void print_exits(const cli_tool *tool) {
  char text[1024];
  int n = snprintf(text, sizeof text, "Exit code:");
  for (const cli_exit *e = tool->exits; e->meaning && n < (int)sizeof text; e++)
    n += snprintf(text + n, sizeof text - (size_t)n, " %d %s%s", e->code, e->meaning,
                  e[1].meaning ? "," : ".");
  print_paragraph(text);
}

void cli_print_help(const cli_tool *tool) {
  for (int i = 0; tool->usage[i]; i++)
    printf("%s%s %s\n", i == 0 ? "usage: " : "       ", tool->name, tool->usage[i]);
  printf("\n");
  print_paragraph(tool->description);
  printf("\n");
  const cli_option *o;
  for (int i = 0; (o = cli_option_at(tool, i)); i++)
    if (o->help)
      print_option(o);
  if (tool->examples[0])
    printf("\nExamples:\n");
  for (int i = 0; tool->examples[i]; i++)
    printf("  %s\n", tool->examples[i]);
  printf("\n");
  if (tool->notes) {
    print_paragraph(tool->notes);
    printf("\n");
  }
  print_exits(tool);
}

const char *cli_values(const cli_option *o) {
  bool listed = o->argument && strchr(o->argument, '|') && !strchr("[=", o->argument[0]);
  return o->values || !listed ? o->values : o->argument;
}

static const struct {
  const char *name;
  void (*print)(const cli_tool *tool);
} forms[] = {
    {"", cli_print_help},
    {"man", cli_print_manual},
    {"bash", cli_print_completion},
};

bool cli_print_form(const cli_tool *tool, const char *form) {
  /* one buffer, so that cli_end sees a write error and reports its reason */
  static char buffer[1 << 15];
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (strcmp(forms[i].name, form ? form : "") == 0) {
      setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
      forms[i].print(tool);
      return true;
    }
  return false;
}
