/* Edit distances between words, for suggestions (R. Wagner and M. Fischer, The String-to-String
 * Correction Problem, 1974, with exchanges of neighbors). */
#include "support/support.h"

#include <ctype.h>
#include <string.h>

enum { MAX_LENGTH = 64, SHORT = 3 };

static int smallest(int a, int b) { return a < b ? a : b; }

/* Case and the choice between '_' and '-' do not distinguish words. */
static int fold(char c) { return c == '_' ? '-' : tolower((unsigned char)c); }

/* Characters inserted, removed, replaced, or exchanged with their neighbor. In words of up to
 * SHORT characters a replacement counts twice, because gpu and cpu are different words. Above
 * MAX_LENGTH characters the words count as unlike. */
static int edits(const char *a, size_t length_a, const char *b, size_t length_b) {
  if (length_a > MAX_LENGTH || length_b > MAX_LENGTH)
    return MAX_LENGTH;
  const int replacement = length_a <= SHORT ? 2 : 1;
  int rows[3][MAX_LENGTH + 1], *two_ago = rows[0], *last = rows[1], *row = rows[2];
  for (size_t j = 0; j <= length_b; j++)
    last[j] = (int)j;
  for (size_t i = 1; i <= length_a; i++) {
    row[0] = (int)i;
    for (size_t j = 1; j <= length_b; j++) {
      int differs = fold(a[i - 1]) != fold(b[j - 1]) ? replacement : 0;
      row[j] = smallest(smallest(last[j], row[j - 1]) + 1, last[j - 1] + differs);
      if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) && fold(a[i - 2]) == fold(b[j - 1]))
        row[j] = smallest(row[j], two_ago[j - 2] + 1);
    }
    int *next = two_ago;
    two_ago = last;
    last = row;
    row = next;
  }
  return last[length_b];
}

int tp__word_distance(const char *a, const char *b) { return edits(a, strlen(a), b, strlen(b)); }

const char *tp__closest_word(const char *word, size_t length, int n, const char *const *words) {
  /* at most a third of its characters, and one in a short word */
  int best = 1 + (length < 3 ? 1 : (int)length / 3);
  const char *closest = NULL;
  for (int i = 0; i < n; i++) {
    int distance = edits(word, length, words[i], strlen(words[i]));
    if (distance < best) {
      best = distance;
      closest = words[i];
    }
  }
  return closest;
}
