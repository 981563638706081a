/* Finds the line of a value in the text of a JSON document, because jansson does not record it. */
#include "support/json_line.h"

#include <string.h>

typedef struct scanner {
  const char *at, *end;
  int line;
} scanner;

static bool is_one_of(char c, const char *set) { return c != 0 && strchr(set, c); }

static void skip_space(scanner *s) {
  for (; s->at < s->end && is_one_of(*s->at, " \t\r\n"); s->at++)
    s->line += *s->at == '\n';
}

/* Skips the string that starts here. */
static void skip_string(scanner *s) {
  for (s->at++; s->at < s->end && *s->at != '"'; s->at++)
    s->at += *s->at == '\\' && s->at + 1 < s->end;
  s->at += s->at < s->end;
}

/* Skips the value that starts here. */
static void skip_value(scanner *s) {
  int depth = 0;
  do {
    skip_space(s);
    if (s->at >= s->end)
      return;
    char c = *s->at;
    if (c == '"') {
      skip_string(s);
    } else if (is_one_of(c, ",:[]{}")) {
      depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
      s->at++;
    } else {
      while (s->at < s->end && !is_one_of(*s->at, " \t\r\n,:[]{}"))
        s->at++;
    }
  } while (depth > 0);
}

/* Advances from the current `{` or `[` to the value of the step. False if it is missing. */
static bool enter(scanner *s, const tp__json_step *step) {
  char closing = step->key ? '}' : ']';
  for (int i = 0;; i++) {
    s->at++; /* the bracket or the comma */
    skip_space(s);
    if (s->at >= s->end || *s->at == closing)
      return false;
    bool here = !step->key && i == step->index;
    if (step->key) {
      const char *name = s->at + 1;
      skip_string(s);
      size_t length = (size_t)(s->at - name) - 1;
      here = length == strlen(step->key) && memcmp(name, step->key, length) == 0;
      skip_space(s);
      s->at++; /* the colon */
      skip_space(s);
    }
    if (here)
      return true;
    skip_value(s);
    skip_space(s);
    if (s->at >= s->end || *s->at != ',')
      return false;
  }
}

int tp__json_line(const char *text, size_t length, int n_steps, const tp__json_step *steps) {
  scanner s = {.at = text, .end = text + length, .line = 1};
  skip_space(&s);
  for (int i = 0; i < n_steps; i++) {
    int line = s.line;
    if (s.at >= s.end || *s.at != (steps[i].key ? '{' : '[') || !enter(&s, &steps[i]))
      return line;
  }
  return s.line;
}
