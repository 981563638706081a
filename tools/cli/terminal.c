/* What a stream leads to: the width of a terminal, and whether it shows colors. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int cli_columns(int fd, int otherwise) {
  enum { FEWEST = 20, MOST = 10000 };
  const char *given = getenv("COLUMNS");
  char *end = NULL;
  long n = given && *given ? strtol(given, &end, 10) : 0;
  struct winsize size;
  if (end && *end == 0 && n >= FEWEST && n <= MOST)
    return (int)n;
  if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= FEWEST)
    return size.ws_col;
  return otherwise;
}

static bool is_set(const char *name) {
  const char *value = getenv(name);
  return value && *value;
}

bool cli_has_colors(int fd) {
  const char *force = getenv("CLICOLOR_FORCE"), *usual = getenv("CLICOLOR"), *kind = getenv("TERM");
  if (is_set("NO_COLOR"))
    return false;
  if (is_set("CLICOLOR_FORCE") && strcmp(force, "0") != 0)
    return true;
  if (usual && strcmp(usual, "0") == 0)
    return false;
  return isatty(fd) && kind && *kind && strcmp(kind, "dumb") != 0;
}

const char *cli_color(int fd, cli_style style) {
  static const char *const codes[] = {[CLI_PLAIN] = "\033[0m",       [CLI_BOLD] = "\033[1m",
                                      [CLI_RED] = "\033[0;1;31m",    [CLI_GREEN] = "\033[0;1;32m",
                                      [CLI_YELLOW] = "\033[0;1;33m", [CLI_MAGENTA] = "\033[0;1;35m",
                                      [CLI_CYAN] = "\033[0;1;36m"};
  return cli_has_colors(fd) ? codes[style] : "";
}

const char *cli_fit(const char *text, int width, char *out, size_t size) {
  int n = (int)strlen(text), head = (width - 3 + 1) / 2, tail = width - 3 - head;
  if (n <= width || width < 5)
    snprintf(out, size, "%s", text);
  else
    snprintf(out, size, "%.*s...%s", head, text, text + n - tail);
  return out;
}

/* Returns the columns of n characters: escape sequences have none. */
static int width_of(const char *text, size_t n) {
  int width = 0;
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '\033')
      while (i < n && text[i] != 'm')
        i++;
    else
      width++;
  }
  return width;
}

/* Prints a line of n characters; its words go on below those of the line, two columns deeper. */
static void print_line(FILE *file, const char *line, size_t n, int columns) {
  size_t indent = strspn(line, " ");
  int at = 0;
  for (size_t from = 0; from < n;) {
    size_t begin = from + strspn(line + from, " "), end = begin;
    while (end < n && line[end] != ' ')
      end++;
    end = end < n ? end : n;
    begin = begin < n ? begin : n;
    int width = width_of(line + from, end - from);
    if (columns > 0 && at > 0 && at + width > columns) {
      at = fprintf(file, "\n%*s", (int)indent + 2, "") - 1;
      from = begin;
      width = width_of(line + from, end - from);
    }
    fwrite(line + from, 1, end - from, file);
    at += width;
    from = end;
  }
}

void cli_print_wrapped(FILE *file, const char *text, int columns) {
  while (*text) {
    size_t n = strcspn(text, "\n");
    print_line(file, text, n, columns);
    if (text[n])
      fputc('\n', file);
    text += n + (text[n] != 0);
  }
}
