/* Suggestions for misspelled words. */
#ifndef TPRT_RUNTIME_CLOSEST_H
#define TPRT_RUNTIME_CLOSEST_H

#include <stddef.h>

/* Returns the word that differs least from `word`: by at most a third of its characters, and one.
 * NULL if there is none. Callers collect the words; NULL entries are skipped. */
const char *tprt__closest_word(const char *word, const char *const *words, size_t n);

#endif
