/* Command-line support shared by the tools: a table of options, help, man pages, completion,
 * messages and the progress line. A program has one command line, so it defines one `cli_program`.
 * Call these functions from the main thread. */
#ifndef TOOLS_CLI_CLI_H
#define TOOLS_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

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

/* What users write of other tools, and what they mean: "--gpu", "--target=gpu". */
typedef struct cli_synonym {
  const char *written, *meant;
} cli_synonym;

/* What a tool is and how it is called. --help, the man page and the completions are printed
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
  const char *notes;       /* NULL: none */
  cli_synonym synonyms[4]; /* ends at a row without text */
  /* Reports an unknown option "--WORD" that other tools have, and returns true; NULL: none is
   * known. */
  bool (*refuse_foreign)(const char *word);
  cli_exit exits[8];    /* ends at a row without meaning */
  const char *page;     /* the page of the documentation that says more */
  const char *built_on; /* libraries with versions of their own, for --version; NULL: none */
} cli_tool;

extern const cli_tool cli_program;

enum { CLI_GO_ON = -1, CLI_DONE = 0, CLI_USAGE = 2 };

/* Parses the options into the fields of the struct `options`. First opens /dev/null for closed
 * standard descriptors, so that files of the program do not get their numbers, and ignores SIGXFSZ,
 * so that a limit of the size of files is an error of a write. Returns CLI_GO_ON,
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

/* Print the help, the man page (roff) or the completions of a tool on standard output. */
void cli_print_help(const cli_tool *tool);
/* Prints the rows of options alone, as the help does. */
void cli_print_rows(const cli_option *rows, int n);
void cli_print_manual(const cli_tool *tool);
void cli_print_completion(const cli_tool *tool);
void cli_print_zsh(const cli_tool *tool);
/* Prints the form of the help with that name: "man", "bash" or "zsh"; NULL: text for a terminal.
 * False if there is no such form. */
bool cli_print_form(const cli_tool *tool, const char *form);
/* Buffers all of standard output until cli_end, which then reports why a write failed. Call it
 * before anything is printed. */
void cli_buffer_output(void);
/* Prints the version of the tool, and of what it is built on. */
void cli_print_version(const cli_tool *tool);

/* Returns the exit code for `code`: 1, with a message, if standard output could not be written. */
int cli_end(int code);

/* Prints "TOOL: error: ...; see TOOL --help" on stderr. Returns CLI_USAGE. */
int cli_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints "TOOL: error: ..." on stderr, in place of the line of `progress`. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Complains that `path` could not be written, with the reason in errno. */
void complain_of_write(const char *path);

/* Prints the warnings that `next` writes for i = 0, 1, ... until it returns false, as
 * "TOOL: warning: ..." on stderr. */
void cli_warn_all(bool (*next)(size_t i, size_t size, char *warning));

/* ---- The progress line: on stderr, on a terminal, of what takes over a second ---- */

/* An activity begins; NULL: none. */
void progress(const char *what);
/* What is known of the activity: a text ("": none), and seconds until it ends; negative: unknown.
 * `is_most`: it may end earlier. */
void progress_detail(const char *detail, double left, bool is_most);
/* Reports that `done` of the `all` steps of the activity are done. The time left is estimated as if
 * all steps took equally long. */
void progress_steps(int done, int all);
/* True if there is such a line: stderr is a terminal that can erase it. */
bool cli_shows_progress(void);
/* Removes the line for half a second, in which others may write to stderr. */
void progress_hide(void);
/* Removes the line for good. Async-signal-safe. */
void cli_silence(void);

/* Shows how far a pass is (tp/watch.h), and lets Ctrl-C end the search of tp-propagate if that is
 * `soft`. True if the search shall end. */
bool cli_watch(const char *pass, const char *phase, double cost, double bound, double left,
               bool soft);

/* ---- Ctrl-C ---- */

/* From now on the signal `number` ends the process with code 128 + number, after the processes that
 * it started, and without partial files; at_end (NULL: none) is called last, and must be
 * async-signal-safe. */
void cli_interrupt_catch(int number, void (*at_end)(void));
/* The same, also while an activity is `soft`, and unless the signal is ignored, as by nohup. */
void cli_interrupt_end_by(int number);
/* While an activity is `soft`, the first signal only asks it to end early; the next one ends the
 * process. */
void cli_interrupt_soft(bool soft);
bool cli_interrupt_asked(void);

/* Records what must not be left behind when a signal ends this process. `runs`: the child has
 * started; false: it has been waited for. A negative pid is a process group. `is_partial`: the file
 * is incomplete; false: it is complete, or gone. The path is borrowed. */
void cli_leftover_child(pid_t pid, bool runs);
void cli_leftover_file(const char *path, bool is_partial);
/* Ends those processes and removes those files. Async-signal-safe. */
void cli_leftovers_end(void);

/* Lets this process, a rank, end when the launcher that started it has ended, such as one that was
 * killed. The arguments are those of tprt_launch; a launcher that is not known to be the parent is
 * not watched. */
void cli_end_with_launcher(const char *launcher, const char *job, const char *store);

/* ---- Output to stderr ---- */

/* Prints whole lines on stderr in one write, in place of the line of `progress`. Ranks share
 * stderr, so output in several writes would mix with the lines of other ranks. A pipe may split
 * more than PIPE_BUF bytes; longer texts are written in parts of whole lines. */
void cli_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Like cli_print, for a plain text; async-signal-safe. False if it could not be written. */
bool cli_write(const char *text, size_t n);

/* ---- Terminals ---- */

/* Returns the width of output to `fd`: that of the variable COLUMNS, else of the terminal; without
 * both, `otherwise`. */
int cli_columns(int fd, int otherwise);

typedef enum cli_style {
  CLI_PLAIN, /* ends the others */
  CLI_BOLD,
  CLI_RED,
  CLI_GREEN,
  CLI_YELLOW,
  CLI_MAGENTA,
  CLI_CYAN,
} cli_style;

/* True if output to `fd` may have colors: it is a terminal that has them. NO_COLOR turns them off
 * everywhere, else CLICOLOR_FORCE turns them on. */
bool cli_has_colors(int fd);
/* Returns the escape sequence that starts a style; "" without colors. */
const char *cli_color(int fd, cli_style style);

/* Shortens a name in the middle to `width` columns: "all_re...atter". Returns `out`. */
const char *cli_fit(const char *text, int width, char *out, size_t size);
/* Prints lines; those that are longer than `columns` (0: none) go on below, two columns deeper. */
void cli_print_wrapped(FILE *file, const char *text, int columns);

/* ---- Suggestions ---- */

typedef struct cli_suggestion {
  char text[128];
} cli_suggestion;

/* Writes " (did you mean 'NAME'?)" to `out`, with the one of n names that is closest to the first
 * `length` characters of `word`; "" if none is close. Returns the text. */
const char *cli_suggest(const char *word, size_t length, int n, const char *const *names,
                        cli_suggestion *out);
/* The same for the names of "a|b|c". */
const char *cli_suggest_value(const char *word, const char *values, cli_suggestion *out);

/* Returns what the tool calls "--NAME" or "--NAME=VALUE"; NULL: it has no synonym. */
const char *cli_meant(const char *written);
/* Writes to `out` what may be wrong with the path of a file that does not exist: the name in its
 * folder that is closest, or that there is no such folder; "" if neither is known. Returns the
 * text. */
const char *cli_suggest_file(const char *path, cli_suggestion *out);

/* Returns the monotonic clock in seconds. */
double cli_seconds(void);
/* Returns the number of processors that this process may use. */
int cli_processors(void);

/* An output file that gets its name when it is complete; until then an existing file stays. Until
 * then it has a name, `partial`, that no other process uses. Only
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

/* Finds the program that the user means by *path. A file of jax.export is replaced by a file with
 * its MLIR, which is removed at exit (jax_export.c); a process reads at most one. Returns false
 * after a message if the path is surely no program, such as an array or a folder: what it is, and
 * which command reads it. Returns true if it may be a program, or does not exist. */
bool cli_find_program(const char **path);

#define CLI_JAX_EXPORT ".jaxexport" /* how names of files of jax.export end */

/* Makes MLIR of a file of jax.export. Returns the path of a file with it, which stays valid; NULL
 * after a message. */
const char *cli_read_jax_export(const char *path);

#endif
