/* Collects the options of shard-opt: a table of its own for the tp-* passes, and the help of MLIR's
 * opt driver, line by line, for the rest. */
#include "options.h"

#include "tp/passes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  MAX_GROUPS = 32,
  /* columns of the driver's help: a pass stands deeper than an option, its parts deeper still */
  OPTION_INDENT = 2,
  TITLE_INDENT = 4,
  PART_INDENT = 8,
  HELP_INDENT = 40, /* from here on a line continues the help above */
};

/* The rows below one heading. */
typedef struct group {
  char *title;
  cli_option *rows;
  int n, capacity;
} group;

typedef struct collection {
  group groups[MAX_GROUPS];
  int n;
  group *current, *top; /* where rows go; the last group that is not one of passes */
  bool skips;           /* the lines belong to an option that another table lists */
  bool failed;          /* memory ran out */
  cli_option *joined;   /* the rows of all groups */
} collection;

/* Adds a group; where there are too many, the last one grows. */
static group *add_group(collection *c, const char *title, size_t n, const char *end) {
  group *g = &c->groups[c->n < MAX_GROUPS ? c->n++ : MAX_GROUPS - 1];
  if (!g->title && asprintf(&g->title, "%.*s%s", (int)n, title, end) < 0) {
    g->title = NULL;
    c->failed = true;
  }
  return g;
}

static void add_row(collection *c, cli_option row) {
  group *g = c->current;
  if (g->n == g->capacity) {
    int capacity = 2 * g->capacity + 16;
    cli_option *rows = realloc(g->rows, (size_t)capacity * sizeof *rows);
    if (!rows) {
      c->failed = true;
      return;
    }
    g->rows = rows;
    g->capacity = capacity;
  }
  g->rows[g->n++] = row;
}

/* Copies a text of n characters. */
static const char *copy(collection *c, const char *text, size_t n) {
  char *made = strndup(text, n);
  c->failed |= !made;
  return made;
}

/* Appends to a text of a row, which is NULL or was made here, with `between` if it is not empty. */
static void append(collection *c, const char **text, const char *between, const char *more,
                   size_t n) {
  char *old = (char *)*text, *joined;
  bool is_empty = !old || !*old;
  if (asprintf(&joined, "%s%s%.*s", is_empty ? "" : old, is_empty ? "" : between, (int)n, more) < 0)
    joined = NULL;
  free(old);
  *text = joined;
  c->failed |= !joined;
}

/* ---- Passes and pipelines of this library ---- */

/* Adds the row of a pass, and with `full` its description and its options. */
static void add_pass(collection *c, int pass, bool full) {
  tp_pass_info info = tp_pass_get(pass);
  cli_option row = {.name = info.name,
                    .argument = full && info.n_options > 0 ? "[=OPTIONS]" : NULL};
  append(c, &row.help, "", info.summary, strlen(info.summary));
  if (full && info.description && *info.description)
    append(c, &row.help, ". ", info.description, strlen(info.description));
  add_row(c, row);
  for (int i = 0; full && i < info.n_options; i++) {
    tp_option_info option = tp_pass_option(pass, i);
    cli_option part = {.name = option.name, .is_part = true};
    append(c, &part.argument, "", "=", 1);
    append(c, &part.argument, "", option.values, strlen(option.values));
    append(c, &part.help, "", option.help, strlen(option.help));
    if (*option.default_value) {
      append(c, &part.help, " (default: ", option.default_value, strlen(option.default_value));
      append(c, &part.help, "", ")", 1);
    }
    add_row(c, part);
  }
}

static void add_passes(collection *c, const char *title, bool pipelines, bool full) {
  c->current = add_group(c, title, strlen(title), " of tpshard");
  for (int i = 0; i < tp_pass_count() && !c->failed; i++)
    if ((tp_pass_get(i).pipeline != NULL) == pipelines)
      add_pass(c, i, full);
}

const cli_option *opt_pass(const char *name, int *n) {
  static collection c;
  for (int i = 0; i < tp_pass_count(); i++)
    if (strcmp(tp_pass_get(i).name, name) == 0) {
      c.current = add_group(&c, "", 0, "");
      add_pass(&c, i, true);
      *n = c.current->n;
      return c.failed ? NULL : c.current->rows;
    }
  return NULL;
}

/* ---- The help of the driver ---- */

static bool is_own(const char *name, size_t n) {
  for (int i = 0; i < tp_pass_count(); i++) {
    const char *own = tp_pass_get(i).name;
    if (strlen(own) == n && strncmp(own, name, n) == 0)
      return true;
  }
  return false;
}

/* Returns true for options that are listed anyway: those of our passes, and the common ones. */
static bool is_listed(const char *name, size_t n) {
  cli_tool none = {0};
  const cli_option *o;
  for (int i = 0; (o = cli_option_at(&none, i)); i++)
    if (strlen(o->name) == n && strncmp(o->name, name, n) == 0)
      return true;
  return is_own(name, n);
}

/* Returns the help of a line "LEFT - HELP", and the length of LEFT. */
static const char *split(const char *text, size_t *n_left) {
  const char *help = strstr(text, " - ");
  *n_left = help ? (size_t)(help - text) : strlen(text);
  while (*n_left > 0 && text[*n_left - 1] == ' ')
    --*n_left;
  return help ? help + 3 + strspn(help + 3, " ") : "";
}

static cli_option *last_row(collection *c) {
  return c->current && c->current->n > 0 ? &c->current->rows[c->current->n - 1] : NULL;
}

/* Says that the pass above takes options: a part of its value comes next. */
static void note_part(collection *c) {
  cli_option *last = last_row(c);
  if (last && !last->is_part && !last->argument)
    last->argument = "[=OPTIONS]";
}

/* A line "--NAME=<VALUE> - HELP". */
static void add_option(collection *c, const char *text, size_t indent) {
  size_t n_left;
  const char *help = split(text, &n_left), *name = text + strspn(text, "-");
  size_t n_name = strcspn(name, "=[ "), n_argument = n_left - (size_t)(name - text) - n_name;
  const char *argument = name + n_name + strspn(name + n_name, " ");
  bool is_part = indent == PART_INDENT;
  if (indent == OPTION_INDENT)
    c->current = c->top;
  if (!is_part)
    c->skips = is_listed(name, n_name);
  if (c->skips || !c->current)
    return;
  if (is_part)
    note_part(c);
  cli_option row = {.is_part = is_part};
  if (n_name == 1 && !is_part)
    row.letter = *name;
  else
    row.name = copy(c, name, n_name);
  if (n_argument > 0 && is_part && *argument != '=')
    append(c, &row.argument, "", "=", 1);
  if (n_argument > 0)
    append(c, &row.argument, "", argument, (size_t)(text + n_left - argument));
  append(c, &row.help, "", help, strlen(help));
  add_row(c, row);
}

/* A line "=VALUE - HELP" below an option. */
static void add_choice(collection *c, const char *text) {
  cli_option *row = last_row(c);
  size_t n_left;
  const char *help = split(text, &n_left);
  if (!row || c->skips)
    return;
  append(c, &row->values, "|", text + 1, n_left - 1);
  append(c, &row->help, "\n", text, n_left);
  append(c, &row->help, ": ", help, strlen(help));
}

static void read_line(collection *c, const char *line) {
  size_t indent = strspn(line, " "), n = strlen(line + indent);
  const char *text = line + indent;
  bool is_title = n > 0 && text[n - 1] == ':';
  if (is_title && indent == 0) {
    c->top = c->current = add_group(c, text, n - 1, "");
  } else if (is_title && indent == TITLE_INDENT) {
    c->current = add_group(c, text, n - 1, " of MLIR");
  } else if (*text == '-' && indent <= PART_INDENT) {
    add_option(c, text, indent);
  } else if (*text == '=' && indent <= PART_INDENT) {
    add_choice(c, text);
  } else if (n > 0 && indent >= HELP_INDENT && last_row(c) && !c->skips) {
    append(c, &last_row(c)->help, " ", text, n);
  }
}

/* Reads the help of the driver, which ends the process that prints it. */
static bool read_help(collection *c) {
  int ends[2], status = 0;
  char *line = NULL;
  size_t size = 0;
  if (pipe(ends) != 0)
    return false;
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl("/proc/self/exe", cli_program.name, OPT_DRIVER_HELP, NULL);
    _exit(1);
  }
  close(ends[1]);
  FILE *stream = fdopen(ends[0], "r");
  while (child > 0 && stream && !c->failed && getline(&line, &size, stream) > 0) {
    line[strcspn(line, "\n")] = 0;
    read_line(c, line);
  }
  free(line);
  if (stream)
    fclose(stream);
  return child > 0 && waitpid(child, &status, 0) == child && status == 0 && !c->failed;
}

/* Puts the rows of all groups below each other, with their headings. */
static bool join(collection *c, cli_tool *tool) {
  static const cli_option all = {"help-all", NULL,
                                 .help = "print the options of all passes, of MLIR "
                                         "and of LLVM"};
  int n = 2, at = 0;
  for (int g = 0; g < c->n; g++)
    n += c->groups[g].n > 0 ? c->groups[g].n + 1 : 0;
  cli_option *rows = calloc((size_t)n, sizeof *rows);
  for (int g = 0; rows && g < c->n; g++) {
    const group *from = &c->groups[g];
    if (from->n == 0)
      continue;
    rows[at++].help = from->title;
    memcpy(rows + at, from->rows, (size_t)from->n * sizeof *rows);
    at += from->n;
  }
  if (rows) { /* --help and --version follow */
    rows[at++].help = "Common options";
    rows[at] = all;
  }
  tool->options = c->joined = rows;
  tool->n_options = n;
  return rows != NULL;
}

bool opt_options(cli_tool *tool) {
  static collection c; /* keeps the rows until the process ends */
  add_passes(&c, "Pipelines", true, true);
  add_passes(&c, "Passes", false, true);
  return read_help(&c) && join(&c, tool);
}

/* ---- The first page ---- */

static const cli_option *find_row(const collection *c, const char *name) {
  for (int g = 0; g < c->n; g++)
    for (int i = 0; i < c->groups[g].n; i++) {
      const cli_option *o = c->groups[g].rows + i;
      bool is_it = o->name ? strcmp(o->name, name) == 0 : *name == o->letter && name[1] == 0;
      if (is_it && !o->is_part)
        return o;
    }
  return NULL;
}

bool opt_page(cli_tool *tool) {
  static const char *const used_most[] = {"pass-pipeline",
                                          "o",
                                          "tp-explain",
                                          "split-input-file",
                                          "verify-diagnostics",
                                          "mlir-print-ir-before",
                                          "mlir-print-ir-after-all",
                                          "mlir-print-debuginfo",
                                          "mlir-timing",
                                          "mlir-pass-statistics",
                                          "emit-bytecode"};
  static const char title[] = "Options of the driver that are used most";
  static collection c, driver;
  add_passes(&c, "Pipelines", true, false);
  add_passes(&c, "Passes", false, false);
  c.current = add_group(&c, title, strlen(title), "");
  if (!read_help(&driver))
    return false;
  for (size_t i = 0; i < sizeof used_most / sizeof *used_most; i++) {
    const cli_option *row = find_row(&driver, used_most[i]);
    if (row)
      add_row(&c, *row);
  }
  return !c.failed && join(&c, tool);
}
