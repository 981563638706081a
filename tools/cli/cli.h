/* What the command lines of the tools have in common: a table of options, help, messages and the line that says what is going on.
 * A program has one command line, so it defines one `cli_program`; called from the main thread. */
#ifndef TOOLS_CLI_CLI_H
#define TOOLS_CLI_CLI_H

#include <stdbool.h>

typedef struct cli_option {
  const char *name;     /* of --name; NULL: there is a letter alone */
  const char *argument; /* what its value is called; NULL: a flag */
  const char *help;     /* NULL: not listed */
  char letter;          /* of -l; 0: none */
} cli_option;

typedef struct cli_tool {
  const char *name;
  const char *before, *after; /* what --help prints around the list of options; `before` starts with the usage */
  const cli_option *options;  /* --help and --version come by themselves */
  int n_options;
} cli_tool;

extern const cli_tool cli_program;

enum { CLI_GO_ON = -1, CLI_DONE = 0, CLI_USAGE = 2 };

/* Calls `apply` for every option with its index and its value (NULL for a flag) until one does not return CLI_GO_ON.
 * Returns CLI_GO_ON, with the first argument that is no option in optind, or an exit code: a wrong usage has been said, or --help or
 * --version has been printed. */
int cli_options(int argc, char **argv, int (*apply)(int which, const char *value, void *data), void *data);

/* "TOOL: error: ...; see TOOL --help" on stderr. Returns CLI_USAGE. */
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "TOOL: error: ..." on stderr, in place of the line of `progress`. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line on stderr that says what is going on, on a terminal only; NULL wipes it. */
void progress(const char *what);

/* The whole text is a number in [low, high]. */
bool cli_number(const char *text, double low, double high, double *value);

#endif
