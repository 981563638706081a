/* Names of the program as they are shown. A name may hold characters that ring a bell, move the
 * cursor, end a line or turn the rest of it around; they become escapes, as in JSON. */
#include "support/support.h"

#include <stdio.h>
#include <string.h>

/* Control characters, marks of direction, separators of lines, and what has no width. Joiners
 * (U+200C and U+200D) stay: scripts and emoji need them. */
static const struct {
  uint32_t first, last;
} unseen[] = {{0x0, 0x1f},      {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
              {0x180e, 0x180e}, {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},
              {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}};

static bool is_unseen(uint32_t c) {
  bool found = false;
  for (size_t i = 0; i < TP__COUNT(unseen); i++)
    found |= c >= unseen[i].first && c <= unseen[i].last;
  return found;
}

static bool continues(unsigned char byte) { return (byte & 0xc0) == 0x80; }

/* The character at `text`, of *n bytes of UTF-8. Bytes that are no UTF-8, and those of a character
 * of four, which is never unseen, count alone. */
static uint32_t character_at(const char *text, size_t *n) {
  const unsigned char *b = (const unsigned char *)text;
  *n = 1;
  if ((b[0] & 0xe0) == 0xc0 && continues(b[1])) {
    *n = 2;
    return (uint32_t)(b[0] & 0x1f) << 6 | (b[1] & 0x3f);
  }
  if ((b[0] & 0xf0) == 0xe0 && continues(b[1]) && continues(b[2])) {
    *n = 3;
    return (uint32_t)(b[0] & 0x0f) << 12 | (uint32_t)(b[1] & 0x3f) << 6 | (b[2] & 0x3f);
  }
  return b[0] < 0x80 ? b[0] : 'x';
}

size_t tp__visible(const char *text, const char *kept, size_t size, char *shown) {
  size_t length = 0, n;
  if (size > 0)
    *shown = '\0';
  for (; *text; text += n) {
    uint32_t c = character_at(text, &n);
    if (is_unseen(c) && !(n == 1 && strchr(kept, (int)c)))
      tp__text_printf(shown, size, &length, "\\u%04x", c);
    else
      tp__text_printf(shown, size, &length, "%.*s", (int)n, text);
  }
  return length;
}
