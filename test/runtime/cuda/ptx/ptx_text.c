/* Tokenizer for PTX text. */
#define _GNU_SOURCE 1
#include "ptx_parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void ptx_refuse(ptx_parser *p, const char *format, ...) {
  int n = snprintf(p->error, PTX_TEXT, "line %d: ", p->line);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(p->error + n, PTX_TEXT - (size_t)n, format, arguments);
  va_end(arguments);
  longjmp(p->failed, 1);
}

void *ptx_grown(void *array, int n, size_t size) {
  if (n & (n - 1))
    return array;
  void *more = realloc(array, (size_t)(n ? 2 * n : 1) * size);
  if (!more)
    abort();
  return more;
}

char *ptx_copied(const char *text) {
  char *copy = strdup(text);
  if (!copy)
    abort();
  return copy;
}

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%' || c == '.';
}

static void skip_space(ptx_parser *p) {
  for (;;) {
    if (*p->at == '\n')
      p->line++, p->at++;
    else if (*p->at == ' ' || *p->at == '\t' || *p->at == '\r')
      p->at++;
    else if (p->at[0] == '/' && p->at[1] == '/')
      p->at += strcspn(p->at, "\n");
    else if (p->at[0] == '/' && p->at[1] == '*') {
      for (p->at += 2; *p->at && !(p->at[0] == '*' && p->at[1] == '/'); p->at++)
        p->line += *p->at == '\n';
      p->at += *p->at ? 2 : 0;
    } else
      return;
  }
}

/* Returns words, including the "::" of modifiers; strings; single characters. "" at the end. */
const char *ptx_next(ptx_parser *p) {
  skip_space(p);
  p->token_at = p->at;
  const char *end = p->at;
  if (*end == '"') {
    end += 1 + strcspn(end + 1, "\"\n");
    end += *end == '"';
  } else if (is_word(*end)) {
    while (is_word(*end) || (end[0] == ':' && end[1] == ':') ||
           (end[0] == ':' && end > p->at && end[-1] == ':'))
      end++;
  } else if (*end) {
    end++;
  }
  size_t n = (size_t)(end - p->at);
  if (n >= PTX_MOST_WORD)
    ptx_refuse(p, "a word of %zu characters", n);
  memcpy(p->token, p->at, n);
  p->token[n] = 0;
  p->at = end;
  return p->token;
}

bool ptx_is(const ptx_parser *p, const char *token) { return strcmp(p->token, token) == 0; }

bool ptx_peek(ptx_parser *p, char c) {
  skip_space(p);
  return *p->at == c;
}

bool ptx_accept(ptx_parser *p, char c) {
  if (!ptx_peek(p, c))
    return false;
  ptx_next(p);
  return true;
}

void ptx_expect(ptx_parser *p, char c) {
  ptx_next(p);
  if (p->token[0] != c || p->token[1])
    ptx_refuse(p, "'%c' expected, not '%s'", c, p->token);
}

bool ptx_number_of(const char *token, ptx_operand *o) {
  char *end;
  if (token[0] == '0' &&
      (token[1] == 'f' || token[1] == 'F' || token[1] == 'd' || token[1] == 'D')) {
    o->is_float = true;
    o->is_f64 = token[1] == 'd' || token[1] == 'D';
    o->bits = strtoull(token + 2, &end, 16);
  } else if (token[0] >= '0' && token[0] <= '9' && strchr(token, '.')) {
    double value = strtod(token, &end);
    o->is_float = o->is_f64 = true;
    memcpy(&o->bits, &value, sizeof value);
  } else if (token[0] >= '0' && token[0] <= '9') {
    o->bits = strtoull(token, &end, 0);
    end += *end == 'U';
  } else {
    return false;
  }
  o->kind = PTX_NUMBER;
  return *end == 0;
}

int64_t ptx_integer(ptx_parser *p) {
  bool negative = ptx_accept(p, '-');
  ptx_operand o = {0};
  ptx_next(p);
  if (!ptx_number_of(p->token, &o) || o.is_float)
    ptx_refuse(p, "a number expected, not '%s'", p->token);
  return negative ? -(int64_t)o.bits : (int64_t)o.bits;
}

int ptx_type_of(const char *token) {
  for (int t = 0; t < PTX_NO_TYPE && token[0] == '.'; t++)
    if (strcmp(token + 1, ptx_types[t].name) == 0)
      return t;
  return PTX_NO_TYPE;
}
