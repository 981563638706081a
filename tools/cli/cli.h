/* What the command lines of the tools have in common: a table of options, help, messages and the
 * line that says what is going on. A program has one command line, so it defines one `cli_program`;
 * called from the main thread. */
#ifndef TOOLS_CLI_CLI_H
#define TOOLS_CLI_CLI_H

#include <stdbool.h>
#include <stdio.h>

typedef struct cli_option {
  const char *name;     /* of --name; NULL: there is a letter alone */
  const char *argument; /* what its value is called; NULL: a flag */
  const char *help;     /* NULL: not listed */
  char letter;          /* of -l; 0: none */
} cli_option;

typedef struct cli_tool {
  const char *name;
  /* what --help prints around the list of options; `before` starts with the usage */
  const char *before, *after;
  const cli_option *options; /* --help and --version come by themselves */
  int n_options;
} cli_tool;

extern const cli_tool cli_program;

enum { CLI_GO_ON = -1, CLI_DONE = 0, CLI_USAGE = 2 };

/* Sees to it that standard descriptors which are closed are no files that the program opens. Then
 * calls `apply` for every option with its index and its value (NULL for a flag) until one does not
 * return CLI_GO_ON. Returns CLI_GO_ON, with the first argument that is no option in optind, or an
 * exit code: a wrong usage has been said, or --help or --version has been printed. */
int cli_options(int argc, char **argv, int (*apply)(int which, const char *value, void *data),
                void *data);

/* What a program returns in place of `code`: 1, with a message, where its standard output could not
 * be written. */
int cli_end(int code);

/* "TOOL: error: ...; see TOOL --help" on stderr. Returns CLI_USAGE. */
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "TOOL: error: ..." on stderr, in place of the line of `progress`. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line on stderr that says what is going on, on a terminal only; NULL wipes it. */
void progress(const char *what);
/* The same, with the line as it is. */
void cli_show(const char *line);

/* Prints whole lines on stderr in one write, in place of the line of `progress`: ranks share
 * stderr, and what is printed in parts mixes with the lines of others. More than PIPE_BUF bytes,
 * which a pipe may divide, are written in parts of whole lines. */
void cli_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for a text, in a handler of signals too. False when it could not be written. */
bool cli_write(const char *text, size_t n);

/* The whole text is a number in [low, high]. */
bool cli_number(const char *text, double low, double high, double *value);

/* A file that gets its name when it is complete; until then what had it stays. Only regular files
 * are replaced: a device, a pipe or a link is opened, and written as it is. */
typedef struct cli_file {
  FILE *stream;
  const char *path; /* the caller's, kept */
  char partial[4096];
} cli_file;

/* False with errno set. */
bool cli_file_open(cli_file *file, const char *path);
/* Keeps the file if `ok` and all was written, else removes what there is of it. Returns whether it
 * was kept; errno says why not. */
bool cli_file_close(cli_file *file, bool ok);

#endif
