/* The command line: one table of options. */
#include "solve.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct option_row {
  const char *name, *argument, *help;
} option_row;

enum { OPT_TIME_LIMIT, OPT_GAP, OPT_THREADS, OPT_FORMAT, OPT_OUT, OPT_HELP, OPT_VERSION, N_OPTIONS };

static const option_row rows[N_OPTIONS] = {
    [OPT_TIME_LIMIT] = {"time-limit", "SECONDS", "end the search after that time, the reading of the file included"},
    [OPT_GAP] = {"gap", "G", "end it at (cost - bound) / bound <= G, e.g. 0.001 (default: 0)"},
    [OPT_THREADS] = {"threads", "N", "threads to use; the answer is the same for any number (default: 1)"},
    [OPT_FORMAT] = {"format", "text|json|contest", "what is printed (default: text)"},
    [OPT_OUT] = {"out", "FILE", "write the assignment, [x0, x1, ...], to a file"},
    [OPT_HELP] = {"help", NULL, "print this"},
    [OPT_VERSION] = {"version", NULL, "print the version"},
};

static const char *const formats[] = {[FORMAT_TEXT] = "text", [FORMAT_JSON] = "json", [FORMAT_CONTEST] = "contest"};

void complain(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("shard-solve: error: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
}

static void print_help(void) {
  fputs("usage: shard-solve PROBLEM.json[.gz] [options]\n\n"
        "Chooses a strategy for every node of a problem file of the IOPDDL contest, such that the cost is least and memory\n"
        "stays below the limit at all times. Prints the cost, a certified lower bound, the gap between them and the time.\n\n",
        stdout);
  for (int i = 0; i < N_OPTIONS; i++) {
    char left[64];
    snprintf(left, sizeof left, "--%s%s%s", rows[i].name, rows[i].argument ? " " : "",
             rows[i].argument ? rows[i].argument : "");
    printf("  %-28s %s\n", left, rows[i].help);
  }
  fputs("\n--format contest prints the assignment as the last line, [] if there is none. Ctrl-C ends the search with the best\n"
        "assignment so far. Without --time-limit the effort is counted in work, so every run gives the same answer.\n\n"
        "Exit code: 0 an assignment was found, 1 failure, 2 wrong usage, 3 it is proven that none exists, 4 none was found.\n",
        stdout);
}

static int usage(const char *format, const char *a, const char *b) {
  fputs("shard-solve: error: ", stderr);
  fprintf(stderr, format, a, b);
  fputs("; see shard-solve --help\n", stderr);
  return EXIT_USAGE;
}

static bool parse_number(const char *text, double low, double high, double *value) {
  char *end;
  errno = 0;
  *value = strtod(text, &end);
  return end != text && *end == 0 && errno == 0 && *value >= low && *value <= high;
}

/* One option; -1 to go on. */
static int apply(int which, const char *text, options *o) {
  double number = 0;
  switch (which) {
  case OPT_TIME_LIMIT:
    if (!parse_number(text, 1e-3, 1e7, &o->time_limit))
      return usage("--time-limit takes seconds between 0.001 and 10000000, not '%s'%s", text, "");
    return -1;
  case OPT_GAP:
    if (!parse_number(text, 0, 1, &o->gap))
      return usage("--gap takes a number between 0 and 1, not '%s'%s", text, "");
    return -1;
  case OPT_THREADS:
    if (!parse_number(text, 1, 256, &number) || number != (int)number)
      return usage("--threads takes a whole number between 1 and 256, not '%s'%s", text, "");
    o->threads = (int)number;
    return -1;
  case OPT_FORMAT:
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
      if (strcmp(text, formats[i]) == 0) {
        o->format = (report_format)i;
        return -1;
      }
    return usage("--format takes text, json or contest, not '%s'%s", text, "");
  case OPT_OUT:
    o->out = text;
    return -1;
  case OPT_HELP:
    print_help();
    return EXIT_SOLVED;
  default:
    puts("shard-solve (tpshard) " TP_VERSION);
    return EXIT_SOLVED;
  }
}

int cli_parse(int argc, char **argv, options *o) {
  *o = (options){.threads = 1};
  struct option table[N_OPTIONS + 1] = {0};
  for (int i = 0; i < N_OPTIONS; i++)
    table[i] = (struct option){rows[i].name, rows[i].argument ? required_argument : no_argument, NULL, 256 + i};
  opterr = 0;
  for (int c; (c = getopt_long(argc, argv, ":", table, NULL)) != -1;) {
    if (c == '?')
      return usage("unknown option '%s'%s", argv[optind - 1], "");
    if (c == ':')
      return usage("option '%s' needs a value%s", argv[optind - 1], "");
    int code = apply(c - 256, optarg, o);
    if (code >= 0)
      return code;
  }
  if (optind == argc)
    return usage("no problem file is given%s%s", "", "");
  if (optind + 1 < argc)
    return usage("more than one problem file is given: '%s' and '%s'", argv[optind], argv[optind + 1]);
  o->file = argv[optind];
  return -1;
}
