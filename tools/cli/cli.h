/* Command-line support shared by the tools: a table of options, help, man pages, completion,
 * messages and the progress line. A program has one command line, so it defines one `cli_program`.
 * Call these functions from the main thread. */
#ifndef TOOLS_CLI_CLI_H
#define TOOLS_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum cli_type {
  CLI_TYPE_FLAG,   /* no value; bool */
  CLI_TYPE_TEXT,   /* const char * */
  CLI_TYPE_WORD,   /* one of the names of `argument`; const char * */
  CLI_TYPE_CHOICE, /* one of the names of `argument`; bool, or an enumeration in their order */
  CLI_TYPE_INT,    /* a whole number; int or 64 bits */
  CLI_TYPE_NUMBER, /* double */
  CLI_TYPE_OTHER,  /* what `parse` takes */
} cli_type;

typedef struct cli_option cli_option;
struct cli_option {
  const char *name; /* the NAME of --NAME; NULL: only a letter */
  /* Name of its value in the help; NULL: a flag. "a|b" lists the possible values. A leading '='
   * means that the value follows without a blank; a leading '[', that it may be missing, too. */
  const char *argument;
  const char *help;   /* NULL: not listed; lines end with '\n' */
  char letter;        /* the letter of -l; 0: none */
  const char *values; /* "a|b", values for completion; NULL: those of `argument` */
  bool is_list;       /* the value is a list of `values` with commas in between */
  bool is_part;       /* not an option, but a part NAME=VALUE of the value of the option above */
  /* The field of the tool's options that the value is stored in: set by the macros below. */
  cli_type type;
  size_t offset, size;
  double low, high; /* range of a number */
  int first;        /* what the first name of a choice stands for */
  /* Parses a value of CLI_TYPE_OTHER into the tool's options. Returns CLI_GO_ON, or an exit code
   * after a message. */
  int (*parse)(const cli_option *option, const char *text, void *options);
  /* The option of pipelines that has the same values, if the tool passes them on; NULL: none. */
  const char *pipeline_option;
}; /* without name and letter: a heading, `help`, above the next rows */

/* Type and field of an option, as an initializer of its row: `field` of the struct `s`. */
#define CLI_FLAG(s, field) .type = CLI_TYPE_FLAG, CLI__FIELD_OF(s, field, bool)
#define CLI_TEXT(s, field) .type = CLI_TYPE_TEXT, CLI__FIELD_OF(s, field, const char *)
#define CLI_WORD(s, field) .type = CLI_TYPE_WORD, CLI__FIELD_OF(s, field, const char *)
#define CLI_CHOICE(s, field, first_value)                                                          \
  .type = CLI_TYPE_CHOICE, CLI__FIELD(s, field), .first = (first_value)
#define CLI_INT(s, field, from, to)                                                                \
  .type = CLI_TYPE_INT, CLI__FIELD(s, field), .low = (from), .high = (to)
#define CLI_NUMBER(s, field, from, to)                                                             \
  .type = CLI_TYPE_NUMBER, CLI__FIELD_OF(s, field, double), .low = (from), .high = (to)
#define CLI_OTHER(s, field, function)                                                              \
  .type = CLI_TYPE_OTHER, CLI__FIELD(s, field), .parse = (function)

#define CLI__FIELD(s, field) .offset = offsetof(s, field), .size = sizeof(((s *)0)->field)
#define CLI__FIELD_OF(s, field, c_type)                                                            \
  .offset = offsetof(s, field) + _Generic(((s *)0)->field, c_type: 0), .size = sizeof(c_type)

typedef struct cli_exit {
  int code;
  const char *meaning;
} cli_exit;

/* What a tool is and how it is called. --help, the man page and the bash completion are printed
 * from this table. Texts are paragraphs, separated by '\n'; they are wrapped when printed. */
typedef struct cli_tool {
  const char *name;
  const char *summary;       /* half a sentence: what the tool does */
  const char *usage[4];      /* command lines without the name of the tool */
  const char *description;   /* printed above the options */
  const cli_option *options; /* --help and --version are added automatically */
  int n_options;
  cli_option operand; /* only its values matter: what completion offers besides options */
  const char *examples[8];
  const char *notes; /* NULL: none */
  cli_exit exits[8]; /* ends at a row without meaning */
  const char *page;  /* the page of the documentation that says more */
} cli_tool;

extern const cli_tool cli_program;

enum { CLI_GO_ON = -1, CLI_DONE = 0, CLI_USAGE = 2 };

/* Parses the options into the fields of the struct `options`. First opens /dev/null for closed
 * standard descriptors, so that files of the program do not get their numbers. Returns CLI_GO_ON,
 * with the first non-option argument in optind, or an exit code: a usage error was reported, or
 * --help or --version was printed. */
int cli_options(int argc, char **argv, void *options);
/* Parses the value of one option (NULL for a flag). Returns CLI_GO_ON, or an exit code after a
 * message. */
int cli_parse_value(const cli_option *option, const char *text, void *options);

/* Returns the `i`-th option of a tool, the common ones last; NULL behind the end. */
const cli_option *cli_option_at(const cli_tool *tool, int i);
/* Returns the values that completion offers, "a|b"; NULL: none are known. */
const char *cli_values(const cli_option *option);

/* Print the help, the man page (roff) or the bash completion of a tool on standard output. */
void cli_print_help(const cli_tool *tool);
void cli_print_manual(const cli_tool *tool);
void cli_print_completion(const cli_tool *tool);
/* Prints the form of the help with that name: "man" or "bash"; NULL: text for a terminal. False if
 * there is no such form. */
bool cli_print_form(const cli_tool *tool, const char *form);

/* Returns the exit code for `code`: 1, with a message, if standard output could not be written. */
int cli_end(int code);

/* Prints "TOOL: error: ...; see TOOL --help" on stderr. Returns CLI_USAGE. */
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints "TOOL: error: ..." on stderr, in place of the line of `progress`. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Shows the current activity as a line on stderr, only on a terminal; NULL clears it. */
void progress(const char *what);
/* Like progress, but prints the line unchanged. */
void cli_show(const char *line);

/* Prints whole lines on stderr in one write, in place of the line of `progress`. Ranks share
 * stderr, so output in several writes would mix with the lines of other ranks. A pipe may split
 * more than PIPE_BUF bytes; longer texts are written in parts of whole lines. */
void cli_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Like cli_print, for a plain text; async-signal-safe. False if it could not be written. */
bool cli_write(const char *text, size_t n);

/* Returns the monotonic clock in seconds. */
double cli_seconds(void);
/* Returns the number of processors that this process may use. */
int cli_processors(void);

/* An output file that gets its name when it is complete; until then an existing file stays. Only
 * regular files are replaced this way: a device, a pipe or a link is opened and written
 * directly. */
typedef struct cli_file {
  FILE *stream;
  const char *path; /* borrowed from the caller */
  char partial[4096];
} cli_file;

/* Returns false with errno set on failure. */
bool cli_file_open(cli_file *file, const char *path);
/* Closes the file. Keeps it if `ok` and all writes succeeded, else removes the partial file.
 * Returns true if it was kept; otherwise errno gives the reason. */
bool cli_file_close(cli_file *file, bool ok);

/* True, with a message that says what it is and which command reads it, if a file or folder is no
 * program in MLIR. False for what may be one, and for what does not exist. */
bool cli_is_no_program(const char *path);

#endif
