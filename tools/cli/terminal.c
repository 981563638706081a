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
