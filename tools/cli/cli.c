/* Parses command lines with a table of options; prints usage errors and messages. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_OPTIONS = 64, FIRST = 256 /* above all letters */ };

enum { HELP, VERSION, N_COMMON };

static const cli_option common[N_COMMON] = {
    [HELP] = {"help", "[=man|bash|zsh]",
              "print this help; man: print the man page; bash, zsh: print the completion for that "
              "shell",
              .letter = 'h', .values = "man|bash|zsh"},
    [VERSION] = {.name = "version", .help = "print the version"},
};

/* Prints an error in one write, because several ranks may fail at once. */
static void print_error(const char *format, va_list args, const char *end) {
  char *text;
  if (vasprintf(&text, format, args) < 0)
    text = NULL;
  cli_print("%s: %serror:%s %s%s\n", cli_program.name, cli_color(STDERR_FILENO, CLI_RED),
            cli_color(STDERR_FILENO, CLI_PLAIN), text ? text : "memory ran out", end);
  free(text);
}

void complain(const char *format, ...) {
  va_list args;
  va_start(args, format);
  print_error(format, args, "");
  va_end(args);
}

void complain_of_write(const char *path) {
  const char *slash = strrchr(path, '/');
  bool lacks_folder = errno == ENOENT && slash;
  complain("cannot write '%s': %s%s%.*s%s", path, strerror(errno),
           lacks_folder ? "; make the folder '" : "", lacks_folder ? (int)(slash - path) : 0, path,
           lacks_folder ? "' first" : "");
}

void cli_warn_all(bool (*next)(size_t i, size_t size, char *warning)) {
  char warning[512];
  for (size_t i = 0; next(i, sizeof warning, warning); i++)
    cli_print("%s: warning: %s\n", cli_program.name, warning);
}

int cli_usage(const char *format, ...) {
  char see[80];
  va_list args;
  va_start(args, format);
  snprintf(see, sizeof see, "; see %s --help", cli_program.name);
  print_error(format, args, see);
  va_end(args);
  return CLI_USAGE;
}

int cli_end(int code) {
  progress(NULL);
  bool flushed = fflush(stdout) == 0;
  if (flushed && !ferror(stdout))
    return code;
  complain("the output could not be written: %s",
           flushed ? "an earlier part was lost" : strerror(errno));
  return code ? code : 1;
}

/* Opens /dev/null for closed standard descriptors. A program may be started without them; then the
 * next files it opens would get their numbers, and its output would go to those files. */
static void fill_standard_descriptors(void) {
  int fd;
  do
    fd = open("/dev/null", O_RDONLY); /* read-only, so that writes to standard output still fail */
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0)
    close(fd);
}

const cli_option *cli_option_at(const cli_tool *tool, int i) {
  int n = tool->n_options;
  return i < n ? &tool->options[i] : i < n + N_COMMON ? &common[i - n] : NULL;
}

const char *cli_meant(const char *written) {
  for (const cli_synonym *s = cli_program.synonyms; s->written; s++)
    if (strcmp(s->written, written) == 0)
      return s->meant;
  return NULL;
}

static const cli_option *option_at(int i) { return cli_option_at(&cli_program, i); }

/* Returns the has_arg of getopt_long. */
static int argument_of(const cli_option *o) {
  return !o->argument ? no_argument : o->argument[0] == '[' ? optional_argument : required_argument;
}

void cli_print_version(const cli_tool *tool) {
  printf("%s (tpshard) " TP_VERSION "\n", tool->name);
  if (tool->built_on)
    printf("%s\n", tool->built_on);
}

/* Reports a word that begins with "--" and that getopt_long does not take. */
static int refuse_long(const char *word) {
  const char *names[MAX_OPTIONS + N_COMMON], *name = word + 2;
  char list[256] = "";
  cli_suggestion closest;
  size_t length = strcspn(name, "="), used = 0;
  int n = 0, n_begun = 0;
  for (int i = 0; option_at(i); i++) {
    const cli_option *o = option_at(i);
    if (!o->name || !o->help)
      continue;
    if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
      return cli_usage("option '--%s' takes no value", o->name);
    if (strncmp(o->name, name, length) == 0 && used < sizeof list)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s--%s", n_begun++ ? ", " : "",
                               o->name);
    names[n++] = o->name;
  }
  if (cli_meant(word))
    return cli_usage("unknown option '%s'; write %s", word, cli_meant(word));
  if (cli_program.refuse_foreign && cli_program.refuse_foreign(word))
    return CLI_USAGE;
  if (n_begun > 1)
    return cli_usage("option '%s' may be one of %s", word, list);
  (void)cli_suggest(name, length, n, names, &closest);
  char *quoted = strchr(closest.text, '\'');
  return cli_usage("unknown option '%s'%.*s%s%s", word,
                   quoted ? (int)(quoted + 1 - closest.text) : 0, closest.text, quoted ? "--" : "",
                   quoted ? quoted + 1 : "");
}

/* Returns true if "NAME" or "NAME=VALUE" is the name of an option. */
static bool find_long(const char *name) {
  size_t length = strcspn(name, "=");
  for (int i = 0; option_at(i); i++) {
    const char *known = option_at(i)->name;
    if (known && strlen(known) == length && strncmp(known, name, length) == 0)
      return true;
  }
  return false;
}

static int refuse_option(char **argv) {
  const char *word = argv[optind - 1], *letters = argv[optind];
  bool is_letter = optopt > 0 && optopt < FIRST;
  /* getopt stands at a word until its last letter */
  if (is_letter && letters && letters[0] == '-' && find_long(letters + 1))
    return cli_usage("unknown option '%s' (did you mean '-%s'?)", letters, letters);
  if (is_letter)
    return cli_usage("unknown option '-%c'", optopt);
  return strncmp(word, "--", 2) == 0 ? refuse_long(word) : cli_usage("unknown option '%s'", word);
}

/* Returns the option index for a result of getopt_long. */
static int index_of(int code) {
  if (code >= FIRST)
    return code - FIRST;
  int i = 0;
  while (option_at(i)->letter != code)
    i++;
  return i;
}

/* Refuses operands that begin with a dash of typography, as word processors write it for "--".
 * Behind "--" they belong to another program. */
static int check_dashes(int argc, char **argv) {
  static const char *const dashes[] = {"\u2012", "\u2013", "\u2014", "\u2212"};
  enum { LENGTH = 3 };
  bool are_others = optind > 0 && strcmp(argv[optind - 1], "--") == 0;
  for (int i = optind; i < argc && !are_others; i++)
    for (size_t k = 0; k < sizeof dashes / sizeof *dashes; k++)
      if (strncmp(argv[i], dashes[k], LENGTH) == 0)
        return cli_usage("'%s' begins with a dash of typography; options begin with two hyphens: "
                         "--%s",
                         argv[i], argv[i] + LENGTH);
  return CLI_GO_ON;
}

int cli_options(int argc, char **argv, void *options) {
  fill_standard_descriptors();
  signal(SIGXFSZ, SIG_IGN);
  int n = cli_program.n_options;
  struct option table[MAX_OPTIONS + N_COMMON + 1] = {0};
  char letters[2 * MAX_OPTIONS + 2] = ":";
  if (n > MAX_OPTIONS)
    abort();
  for (int i = 0, at = 0, letter = 1; i < n + N_COMMON; i++) {
    const cli_option *o = option_at(i);
    if (o->name)
      table[at++] = (struct option){o->name, argument_of(o), NULL, FIRST + i};
    if (o->letter)
      letters[letter++] = o->letter;
    if (o->letter && argument_of(o) == required_argument)
      letters[letter++] = ':';
  }
  opterr = 0;
  for (int c; (c = getopt_long(argc, argv, letters, table, NULL)) != -1;) {
    if (c == '?')
      return refuse_option(argv);
    if (c == ':')
      return cli_usage("option '%s' needs a value", argv[optind - 1]);
    int which = index_of(c);
    if (which < n) {
      int code = cli_parse_value(option_at(which), optarg, options);
      if (code != CLI_GO_ON)
        return code;
    } else if (which == n + HELP) {
      return cli_print_form(&cli_program, optarg)
                 ? CLI_DONE
                 : cli_usage("--help takes man, bash or zsh, not '%s'", optarg);
    } else {
      cli_print_version(&cli_program);
      return CLI_DONE;
    }
  }
  return check_dashes(argc, argv);
}
