/* Edit distances between words, for suggestions. */
#include "base/closest.h"

#include <string.h>

enum { MAX_LENGTH = 64 };

/* Number of characters that must be inserted, removed or replaced to turn one word into the other
 * (R. Wagner and M. Fischer, The String-to-String Correction Problem, 1974). Two neighbors that
 * changed places count as two. Longer words than MAX_LENGTH count as unlike. */
static size_t distance(const char *a, const char *b) {
  size_t n = strlen(a), m = strlen(b), costs[MAX_LENGTH + 1];
  if (n > MAX_LENGTH || m > MAX_LENGTH)
    return MAX_LENGTH;
  for (size_t i = 0; i <= n; i++)
    costs[i] = i;
  for (size_t j = 1; j <= m; j++) {
    size_t diagonal = costs[0]; /* the cost for i - 1 and j - 1 */
    costs[0] = j;
    for (size_t i = 1; i <= n; i++) {
      size_t other = costs[i] < costs[i - 1] ? costs[i] + 1 : costs[i - 1] + 1;
      size_t same = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = costs[i];
      costs[i] = same < other ? same : other;
    }
  }
  return costs[n];
}

const char *tprt__closest_word(const char *word, const char *const *words, size_t n) {
  size_t best = strlen(word) / 3 + 2;
  const char *closest = NULL;
  for (size_t i = 0; i < n; i++) {
    size_t edits = words[i] ? distance(word, words[i]) : best;
    if (edits < best) {
      best = edits;
      closest = words[i];
    }
  }
  return closest;
}
