/* Parses the values of options by the types of their rows. */
#include "cli.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

/* Reports "--NAME takes WHAT, not 'TEXT'". */
static int refuse(const cli_option *o, const char *what, const char *text) {
  cli_suggestion closest = {.text = ""};
  char written[128];
  snprintf(written, sizeof written, "-%c%s", o->letter, text);
  if (!o->name && cli_meant(written))
    return cli_usage("unknown option '%s'; write %s", written, cli_meant(written));
  if (cli_values(o))
    (void)cli_suggest_value(text, cli_values(o), &closest);
  return o->name ? cli_usage("--%s takes %s, not '%s'%s", o->name, what, text, closest.text)
                 : cli_usage("-%c takes %s, not '%s'%s", o->letter, what, text, closest.text);
}

static int refuse_name(const cli_option *o, const char *text) {
  char names[256], written[128];
  snprintf(written, sizeof written, "--%s=%s", o->name, text);
  if (cli_meant(written))
    return cli_usage("--%s takes %s, not '%s'; write %s", o->name, o->argument, text,
                     cli_meant(written));
  size_t length = 0;
  for (const char *at = o->argument; *at && length < sizeof names;) {
    size_t n = strcspn(at, "|");
    const char *between = at == o->argument ? "" : at[n] ? ", " : " or ";
    length +=
        (size_t)snprintf(names + length, sizeof names - length, "%s%.*s", between, (int)n, at);
    at += n + (at[n] != 0);
  }
  return refuse(o, names, text);
}

static int refuse_number(const cli_option *o, const char *text) {
  static const struct {
    const char *argument, *unit;
  } units[] = {{"SECONDS", "seconds"}, {"MS", "milliseconds"}};
  const char *unit = o->type == CLI_TYPE_INT ? "a whole number" : "a number";
  char what[128];
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(o->argument, units[i].argument) == 0)
      unit = units[i].unit;
  snprintf(what, sizeof what, "%s between %.16g and %.16g", unit, o->low, o->high);
  return refuse(o, what, text);
}

/* ---- values ---- */

/* Returns the index of a name in "a|b|c"; -1 if it is not there. */
static int find_name(const char *names, const char *name) {
  size_t length = strlen(name);
  for (int i = 0; *names; i++) {
    size_t n = strcspn(names, "|");
    if (n == length && strncmp(names, name, n) == 0)
      return i;
    names += n + (names[n] != 0);
  }
  return -1;
}

/* Stores an integer in a field of any size. */
static void store(const cli_option *o, int64_t value, void *field) {
  bool flag = value != 0;
  int small = (int)value;
  const void *from = o->size == sizeof flag    ? (const void *)&flag
                     : o->size == sizeof small ? (const void *)&small
                                               : (const void *)&value;
  memcpy(field, from, o->size);
}

static int parse_flag(const cli_option *o, const char *text, void *field) {
  (void)text;
  store(o, true, field);
  return CLI_GO_ON;
}

static int parse_text(const cli_option *o, const char *text, void *field) {
  if (text && !*text)
    return cli_usage("--%s: the value is empty; leave the option out, or give %s", o->name,
                     o->argument + (o->argument[0] == '='));
  memcpy(field, &text, sizeof text);
  return CLI_GO_ON;
}

static int parse_word(const cli_option *o, const char *text, void *field) {
  return find_name(o->argument, text) < 0 ? refuse_name(o, text) : parse_text(o, text, field);
}

static int parse_choice(const cli_option *o, const char *text, void *field) {
  int which = find_name(o->argument, text);
  if (which < 0)
    return refuse_name(o, text);
  store(o, o->first + which, field);
  return CLI_GO_ON;
}

static bool read_number(const cli_option *o, const char *text, double *value) {
  char *end;
  errno = 0;
  *value = strtod(text, &end);
  return end != text && *end == 0 && errno == 0 && *value >= o->low && *value <= o->high;
}

static int parse_int(const cli_option *o, const char *text, void *field) {
  double value;
  if (!read_number(o, text, &value) || value != (double)(int64_t)value)
    return refuse_number(o, text);
  store(o, (int64_t)value, field);
  return CLI_GO_ON;
}

static int parse_number(const cli_option *o, const char *text, void *field) {
  double value;
  if (!read_number(o, text, &value))
    return refuse_number(o, text);
  memcpy(field, &value, sizeof value);
  return CLI_GO_ON;
}

int cli_parse_value(const cli_option *o, const char *text, void *options) {
  static int (*const parsers[])(const cli_option *, const char *, void *) = {
      [CLI_TYPE_FLAG] = parse_flag, [CLI_TYPE_TEXT] = parse_text,
      [CLI_TYPE_WORD] = parse_word, [CLI_TYPE_CHOICE] = parse_choice,
      [CLI_TYPE_INT] = parse_int,   [CLI_TYPE_NUMBER] = parse_number,
  };
  if (text && strcmp(text, "=") == 0 && o->name)
    return cli_usage("--%s: '=' has no blanks around it: --%s=%s", o->name, o->name,
                     o->argument + (o->argument[0] == '='));
  if (o->type == CLI_TYPE_OTHER)
    return o->parse(o, text, options);
  return parsers[o->type](o, text, (char *)options + o->offset);
}
