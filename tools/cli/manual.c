/* Prints the man page of a tool as roff, with the macros of man(7). */
#include "cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COLUMNS = 78, WORD = 40 /* characters that surely fit in a line */ };

static const char *const tools[] = {"shard-bench", "shard-opt", "shard-run", "shard-solve"};

/* Returns how roff writes a character; NULL: as itself. */
static const char *escape_of(char c) {
  static const struct {
    char from;
    const char *to;
  } escapes[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
                 {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
  for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
    if (escapes[i].from == c)
      return escapes[i].to;
  return NULL;
}

static int width_of(const char *text, size_t n) {
  int width = 0;
  for (; n > 0; n--, text++)
    width += escape_of(*text) ? (int)strlen(escape_of(*text)) : 1;
  return width;
}

/* Prints n characters such that roff shows them unchanged. */
static void print_escaped(const char *text, size_t n) {
  for (; n > 0; n--, text++) {
    const char *escape = escape_of(*text);
    if (escape)
      printf("%s", escape);
    else
      putchar(*text);
  }
}

/* Returns true if a word ends like a sentence. */
static bool ends_sentence(const char *word, size_t n) {
  while (n > 0 && strchr(")]\"'", word[n - 1]))
    n--;
  return n > 0 && strchr(".!?", word[n - 1]);
}

/* Prints a text in lines of source of at most COLUMNS columns, as roff wants: a line begins where a
 * sentence does, and none with a control character. A '\n' is the request, .br or .PP. */
static void print_text(const char *text, const char *request) {
  int at = 0;
  while (*text) {
    size_t n = strcspn(text, " \n");
    const char *next = text + n + strspn(text + n, " ");
    bool goes_on = *next && *next != '\n', is_end = ends_sentence(text, n);
    bool is_sentence = is_end && !islower((unsigned char)*next);
    int width = width_of(text, n);
    if (at > 0 && at + 1 + width > COLUMNS) {
      printf("\n");
      at = 0;
    }
    if (n > 0)
      printf("%s", at > 0 ? " " : *text == '.' ? "\\&" : "");
    print_escaped(text, n);
    at += n > 0 ? width + 1 : 0;
    /* otherwise roff would take an abbreviation at the end of a line for the end of a sentence */
    if (is_end && goes_on && !is_sentence)
      at += printf("\\&");
    if (at > 0 && (is_sentence || !goes_on)) {
      printf("\n");
      at = 0;
    }
    if (*next == '\n' && next[1])
      printf("%s\n", request);
    text = next + (*next == '\n');
  }
}

static void print_bold(const char *text) {
  printf("\\fB");
  print_escaped(text, strlen(text));
  printf("\\fR");
}

/* Returns the day that the page is printed on, or the one that SOURCE_DATE_EPOCH asks for, so that
 * builds can be reproduced. */
static const char *today(void) {
  static char day[32];
  const char *epoch = getenv("SOURCE_DATE_EPOCH");
  time_t seconds = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
  struct tm parts;
  if (!gmtime_r(&seconds, &parts) || strftime(day, sizeof day, "%Y-%m-%d", &parts) == 0)
    return "1970-01-01";
  return day;
}

static void print_head(const cli_tool *tool) {
  printf(".\\\" Printed by %s --help=man from the table of its options.\n.TH ", tool->name);
  for (const char *c = tool->name; *c; c++)
    putchar(toupper((unsigned char)*c));
  printf(" 1 %s \"tpshard " TP_VERSION "\" \"User Commands\"\n", today());
  printf(".nh\n.ad l\n.SH NAME\n"); /* names of options and passes stay whole */
  print_escaped(tool->name, strlen(tool->name));
  printf(" \\- ");
  print_text(tool->summary, ".br");
  printf(".SH SYNOPSIS\n");
  for (int i = 0; tool->usage[i]; i++) {
    printf("%s", i > 0 ? ".br\n" : "");
    print_bold(tool->name);
    printf(" ");
    print_escaped(tool->usage[i], strlen(tool->usage[i]));
    printf("\n");
  }
}

/* Prints what follows the name of an option: " VALUE", "=VALUE" or "[=VALUE]". */
static void print_argument(const char *argument) {
  size_t n_open = strspn(argument, "[="), n = strlen(argument) - n_open;
  bool closes = *argument == '[' && argument[n_open + n - 1] == ']';
  printf("%s%.*s\\fI", n_open > 0 ? "" : " ", (int)n_open, argument);
  for (size_t at = n_open, end = n_open + n - closes; at < end;) {
    size_t part = strcspn(argument + at, "|,") + 1;
    part = n < WORD || at + part > end ? end - at : part;
    print_escaped(argument + at, part);
    at += part;
    printf("%s", at < end ? "\\:" : ""); /* a line may end here */
  }
  printf("\\fR%s", closes ? "]" : "");
}

static void print_option(const cli_option *o) {
  printf(".TP\n");
  if (o->letter) {
    print_bold((char[]){'-', o->letter, 0});
    printf("%s", o->name ? ", " : "");
  }
  if (o->name) {
    printf("\\fB%s", o->is_part ? "" : "\\-\\-");
    print_escaped(o->name, strlen(o->name));
    printf("\\fR");
  }
  if (o->argument)
    print_argument(o->argument);
  printf("\n");
  print_text(*o->help ? o->help : "(not described)", ".br");
}

static void print_options(const cli_tool *tool) {
  const cli_option *o;
  bool in_parts = false;
  printf(".SH OPTIONS\n");
  for (int i = 0; (o = cli_option_at(tool, i)); i++) {
    if (!o->help)
      continue;
    if (in_parts != o->is_part)
      printf("%s\n", o->is_part ? ".RS" : ".RE");
    in_parts = o->is_part;
    if (o->name || o->letter) {
      print_option(o);
    } else {
      printf(".SS ");
      print_text(o->help, ".br");
    }
  }
}

static void print_environment(void) {
  static const struct {
    const char *name, *meaning;
  } rows[] = {
      {"COLUMNS", "The width of tables and help. Without it, that of the terminal; elsewhere, "
                  "tables have any width, and nothing is shortened."},
      {"NO_COLOR", "If it is not empty, there are no colors."},
      {"CLICOLOR_FORCE", "If it is not 0, there are colors elsewhere than on terminals, too."},
      {"CLICOLOR", "If it is 0, there are no colors."},
      {"TERM", "A terminal that is dumb has neither colors nor a progress line."},
  };
  printf(".SH ENVIRONMENT\n");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    printf(".TP\n");
    print_bold(rows[i].name);
    printf("\n");
    print_text(rows[i].meaning, ".br");
  }
}

static void print_ends(const cli_tool *tool) {
  if (tool->notes) {
    printf(".SH NOTES\n");
    print_text(tool->notes, ".PP");
  }
  print_environment();
  printf(".SH EXIT STATUS\n");
  for (const cli_exit *e = tool->exits; e->meaning; e++) {
    printf(".TP\n\\fB%d\\fR\n", e->code);
    print_text(e->meaning, ".br");
  }
  if (tool->examples[0])
    printf(".SH EXAMPLES\n.nf\n");
  for (int i = 0; tool->examples[i]; i++) {
    print_escaped(tool->examples[i], strlen(tool->examples[i]));
    printf("\n");
  }
  if (tool->examples[0])
    printf(".fi\n");
}

static void print_see_also(const cli_tool *tool) {
  bool is_first = true;
  printf(".SH SEE ALSO\n");
  for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
    if (strcmp(tools[i], tool->name) != 0) {
      printf("%s", is_first ? "" : ",\n");
      print_bold(tools[i]);
      printf("(1)");
      is_first = false;
    }
  printf("\n.PP\nThe page ");
  print_escaped(tool->page, strlen(tool->page));
  printf(" of the documentation,\n"
         "which is installed in share/doc/tpshard below the installation prefix.\n");
}

void cli_print_manual(const cli_tool *tool) {
  print_head(tool);
  printf(".SH DESCRIPTION\n");
  print_text(tool->description, ".PP");
  print_options(tool);
  print_ends(tool);
  print_see_also(tool);
}
