/* Hashes bytes, for signatures and keys. Hosts of one byte order get equal hashes. */
#include "base/base.h"

#include <string.h>

/* One step of an FNV-1a-like hash over words instead of bytes, with a rotation so that high bits
 * take part. */
static uint64_t absorb(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash << 29 | hash >> 35;
}

uint64_t tprt__hash(uint64_t seed, const void *bytes, size_t n) {
  const unsigned char *at = bytes;
  uint64_t hash = seed ^ UINT64_C(0xcbf29ce484222325), word = 0;
  for (; n >= sizeof word; n -= sizeof word, at += sizeof word) {
    memcpy(&word, at, sizeof word);
    hash = absorb(hash, word);
  }
  if (n) {
    word = 0;
    memcpy(&word, at, n);
    hash = absorb(hash, word);
  }
  /* One multiply-shift round, so that high and low bits depend on all of them. */
  hash = (hash ^ (hash >> 32)) * UINT64_C(0xd6e8feb86659fd93);
  return hash ^ (hash >> 32);
}
