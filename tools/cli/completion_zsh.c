/* Prints the completion of a tool for zsh: a function of specifications for _arguments. */
#include "completion.h"

#include <string.h>

enum { MAX_HELP = 100 };

/* Prints a text inside of single quotes, with `quoted` characters behind backslashes. */
static void print_quoted(const char *text, size_t n, const char *quoted) {
  for (; n > 0; n--, text++) {
    if (*text == '\'')
      printf("'\\''");
    else if (*text == '\n')
      printf("; ");
    else
      printf(strchr(quoted, *text) ? "\\%c" : "%c", *text);
  }
}

/* Prints the help in brackets, cut behind a word. */
static void print_help(const char *help) {
  size_t n = strlen(help);
  bool is_long = n > MAX_HELP;
  for (n = is_long ? MAX_HELP : n; is_long && n > 0 && help[n] != ' ';)
    n--;
  printf("[");
  print_quoted(help, n, "[]\\");
  printf("%s]", is_long ? " ..." : "");
}

static void print_values(const char *values) {
  const char *value;
  for (size_t n, i = 0; (value = cli_next_value(&values, &n)); i++) {
    printf("%s", i ? " " : "");
    print_quoted(value, n, ":\\");
  }
}

/* Prints what completes values of this kind. */
static void print_kind(const cli_option *o) {
  static const struct {
    const char *kind, *action;
  } actions[] = {{"path", "_files"},
                 {"folder", "_files -/"},
                 {"at_path", "{compset -P @; _files}"},
                 {"none", " "}};
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
    if (strcmp(actions[i].kind, cli_kind_of(o)) == 0)
      printf("%s", actions[i].action);
}

static void print_parts(const cli_tool *tool, int i) {
  const cli_option *part;
  printf(" compadd -S \"\" --");
  for (; (part = cli_option_at(tool, i + 1)) && part->is_part; i++) {
    printf(" ");
    print_quoted(part->name, strlen(part->name), ":\\");
    printf("%s", part->argument ? "=" : "");
  }
}

static void print_action(const cli_tool *tool, int i) {
  const cli_option *o = cli_option_at(tool, i);
  if (cli_has_parts(tool, i)) {
    print_parts(tool, i);
  } else if (!cli_values(o)) {
    print_kind(o);
  } else {
    printf(o->is_list ? "_values -s , value " : "(");
    print_values(cli_values(o));
    printf(o->is_list ? "" : ")");
  }
}

/* Prints the specification of one of the names of an option. */
static void print_specification(const cli_tool *tool, int i, bool is_letter) {
  const cli_option *o = cli_option_at(tool, i);
  bool has_value = o->argument && !(is_letter && cli_is_optional(o));
  bool is_joined = has_value && strchr("[=", o->argument[0]) != NULL;
  const char *name = has_value ? o->argument + strspn(o->argument, "[=") : "";
  printf(" \\\n    '*");
  if (is_letter)
    printf("-%c%s", o->letter, has_value ? "+" : "");
  else
    printf("--%s%s", o->name, is_joined ? "=-" : has_value ? "=" : "");
  print_help(o->help);
  if (has_value) {
    printf("%s", cli_is_optional(o) ? "::" : ":");
    print_quoted(name, strlen(name) - (cli_is_optional(o) && name[strlen(name) - 1] == ']'),
                 ":\\[]");
    printf(":");
    print_action(tool, i);
  }
  printf("'");
}

void cli_print_zsh(const cli_tool *tool) {
  const cli_option *o;
  const char *name = tool->name;
  printf("#compdef %s\n# Completion of %s for zsh. Printed by %s --help=zsh from the table of its "
         "options.\n_%s() {\n  _arguments -S",
         name, name, name, name);
  for (int i = 0; (o = cli_option_at(tool, i)); i++) {
    if (o->help && o->letter && !o->is_part)
      print_specification(tool, i, true);
    if (o->help && o->name && !o->is_part)
      print_specification(tool, i, false);
  }
  printf(" \\\n    '*:operand:%s", tool->operand.values ? "_values -s , operand " : "_files");
  if (tool->operand.values)
    print_values(tool->operand.values);
  printf("'\n}\n");
  /* compinit loads the file as the function; else it is sourced */
  printf("if [[ $funcstack[1] == _%s ]]; then _%s \"$@\"; else compdef _%s %s; fi\n", name, name,
         name, name);
}
