/* Prints the help of a tool for a terminal, and chooses among the forms of the help. */
#include "cli.h"

#include <string.h>
#include <unistd.h>

enum { MOST = 100, LEAST = 40 };

/* Where texts end, and where the help of options begins. */
typedef struct page_width {
  int columns, left;
} page_width;

static page_width width_of_page(void) {
  int columns = cli_columns(STDOUT_FILENO, MOST);
  columns = columns < LEAST ? LEAST : columns > MOST ? MOST : columns;
  return (page_width){columns, columns < 80 ? 16 : columns < MOST ? 29 : 33};
}

/* Prints words from column `at` on, wrapped into lines that begin at column `indent`. A '\n' begins
 * a line, too. */
static void print_words(const char *text, int at, int indent) {
  const int columns = width_of_page().columns;
  bool is_first = true;
  while (*text) {
    int n = (int)strcspn(text, " \n");
    if (!is_first && at + 1 + n > columns) {
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

/* A row without a name is a heading; parts of a value stand deeper than options. */
static void print_option(const cli_option *o) {
  const int left = width_of_page().left;
  const char *argument = o->argument ? o->argument : "", *name = o->name ? o->name : "";
  bool joined = !*argument || strchr("=[", *argument);
  if (!o->name && !o->letter) {
    printf("\n%s%s:%s\n", cli_color(STDOUT_FILENO, CLI_BOLD), o->help,
           cli_color(STDOUT_FILENO, CLI_PLAIN));
    return;
  }
  int n = printf("%s", o->is_part ? "        " : "  ");
  if (o->letter)
    n += printf("-%c%s", o->letter, o->name ? ", " : "");
  n += printf("%s%s%s%s", o->name && !o->is_part ? "--" : "", name, joined ? "" : " ", argument);
  if (n < left)
    printf("%*s", left - n, "");
  else
    printf("\n%*s", left, "");
  print_words(o->help, left, left);
  printf("\n");
}

void cli_print_rows(const cli_option *rows, int n) {
  for (int i = 0; i < n; i++)
    if (rows[i].help)
      print_option(rows + i);
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
  const cli_option *o = cli_option_at(tool, 0);
  if (o->name || o->letter)
    printf("\n");
  for (int i = 0; (o = cli_option_at(tool, i)); i++)
    cli_print_rows(o, 1);
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
    {"zsh", cli_print_zsh},
};

void cli_buffer_output(void) {
  static char buffer[1 << 15];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
}

bool cli_print_form(const cli_tool *tool, const char *form) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (strcmp(forms[i].name, form ? form : "") == 0) {
      cli_buffer_output();
      forms[i].print(tool);
      return true;
    }
  return false;
}
