/* The handshake and the frames. Depends only on libsodium, not on the rest of the runtime, so that
 * it can be tested in isolation. */
#include "bootstrap/frames.h"

#include <sodium.h>
#include <string.h>

_Static_assert(TPRT__KEY_BYTES == crypto_auth_hmacsha256_KEYBYTES, "length of the key");
_Static_assert(TPRT__KEY_BYTES == crypto_auth_hmacsha256_BYTES, "length of a tag");
_Static_assert(sizeof((tprt__identity *)0)->job == crypto_hash_sha256_BYTES, "length of a digest");

static const uint64_t magic = UINT64_C(0x3172747374727074); /* "tprtstr1" */

/* Byte offsets of the fields of HELLO, CHALLENGE and the head of a frame. */
enum {
  H_MAGIC,
  H_VERSION = 8,
  H_FLAGS = 12,
  H_RANK = 16,
  H_RANKS = 20,
  H_EPOCH = 24,
  H_ZERO = 28,
  H_JOB = 32,
  H_NONCE = 64
};
enum {
  C_MAGIC,
  C_VERSION = 8,
  C_STATUS = 12,
  C_RANKS = 16,
  C_EPOCH = 20,
  C_FLAGS = 24,
  C_ZERO = 28,
  C_NONCE = 32,
  C_PROOF = 64
};
enum { F_KIND, F_N_KEY = 2, F_N_VALUE = 4, F_CODE = 8, F_RANK = 12, F_NUMBER = 16 };
enum { FLAG_SECRET = 1 };

static void put(unsigned char *at, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    at[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t take(const unsigned char *at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; i++)
    value |= (uint64_t)at[i] << 8 * i;
  return value;
}

void tprt__job_digest(const char *name, unsigned char digest[32]) {
  crypto_hash_sha256(digest, (const unsigned char *)name, strlen(name));
}

void tprt__wipe(void *memory, size_t bytes) { sodium_memzero(memory, bytes); }

/* Computes the HMAC over the handshake, for one use, which a label of 8 bytes identifies. */
static void derive(const tprt__identity *own, const char *label, const unsigned char *hello,
                   const unsigned char *nonce, unsigned char out[TPRT__KEY_BYTES]) {
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, own->secret, TPRT__KEY_BYTES);
  crypto_auth_hmacsha256_update(&state, (const unsigned char *)label, 8);
  /* includes the client's nonce */
  crypto_auth_hmacsha256_update(&state, hello + H_VERSION, TPRT__HELLO_BYTES - H_VERSION);
  crypto_auth_hmacsha256_update(&state, nonce, TPRT__KEY_BYTES);
  crypto_auth_hmacsha256_final(&state, out);
  sodium_memzero(&state, sizeof state);
}

/* ---- server ---- */

void tprt__handshake_start(tprt__handshake *gate, const tprt__identity *own) {
  *gate = (tprt__handshake){.state = TPRT__HANDSHAKE_HELLO, .own = own, .rank = -1};
}

size_t tprt__handshake_wants(const tprt__handshake *gate) {
  static const size_t wants[] = {[TPRT__HANDSHAKE_HELLO] = TPRT__HELLO_BYTES,
                                 [TPRT__HANDSHAKE_PROOF] = TPRT__PROOF_BYTES,
                                 [TPRT__HANDSHAKE_DONE] = 0,
                                 [TPRT__HANDSHAKE_REFUSED] = 0};
  return wants[gate->state];
}

/* Checks the client's HELLO before the proof. A refusal is sent to the client, so that the error
 * can name both sides. */
static tprt__refusal judge(const tprt__identity *own, const unsigned char *hello) {
  if (take(hello + H_VERSION, 4) != TPRT__WIRE_VERSION)
    return TPRT__OTHER_VERSION;
  if (take(hello + H_FLAGS, 4) != (own->has_secret ? FLAG_SECRET : 0))
    return TPRT__OTHER_SECRET;
  if (take(hello + H_RANKS, 4) != (uint32_t)own->n_ranks ||
      take(hello + H_EPOCH, 4) != (uint32_t)own->epoch ||
      memcmp(hello + H_JOB, own->job, sizeof own->job) != 0)
    return TPRT__OTHER_JOB;
  return TPRT__ADMITTED;
}

static size_t challenge(tprt__handshake *gate, unsigned char *answer) {
  const tprt__identity *own = gate->own;
  tprt__refusal refusal = judge(own, gate->hello);
  uint64_t rank = take(gate->hello + H_RANK, 4);
  if (take(gate->hello + H_MAGIC, 8) != magic || take(gate->hello + H_ZERO, 4) ||
      (own->n_ranks ? rank >= (uint32_t)own->n_ranks : rank != 1)) {
    gate->state = TPRT__HANDSHAKE_REFUSED; /* no rank of any job sends this */
    return 0;
  }
  gate->rank = (int32_t)rank;
  gate->state = refusal ? TPRT__HANDSHAKE_REFUSED : TPRT__HANDSHAKE_PROOF;
  randombytes_buf(gate->nonce, sizeof gate->nonce);
  memset(answer, 0, TPRT__CHALLENGE_BYTES);
  put(answer + C_MAGIC, magic, 8);
  put(answer + C_VERSION, TPRT__WIRE_VERSION, 4);
  put(answer + C_STATUS, refusal, 4);
  put(answer + C_RANKS, (uint32_t)own->n_ranks, 4);
  put(answer + C_EPOCH, (uint32_t)own->epoch, 4);
  put(answer + C_FLAGS, own->has_secret ? FLAG_SECRET : 0, 4);
  memcpy(answer + C_NONCE, gate->nonce, sizeof gate->nonce);
  if (!refusal)
    derive(own, "server  ", gate->hello, gate->nonce, answer + C_PROOF);
  return TPRT__CHALLENGE_BYTES;
}

size_t tprt__handshake_step(tprt__handshake *gate, const unsigned char *message,
                            unsigned char answer[TPRT__CHALLENGE_BYTES]) {
  if (gate->state == TPRT__HANDSHAKE_HELLO) {
    memcpy(gate->hello, message, TPRT__HELLO_BYTES);
    return challenge(gate, answer);
  }
  if (gate->state != TPRT__HANDSHAKE_PROOF)
    return 0;
  unsigned char expected[TPRT__PROOF_BYTES];
  derive(gate->own, "client  ", gate->hello, gate->nonce, expected);
  gate->state = sodium_memcmp(expected, message, sizeof expected) == 0 ? TPRT__HANDSHAKE_DONE
                                                                       : TPRT__HANDSHAKE_REFUSED;
  sodium_memzero(expected, sizeof expected);
  return 0;
}

void tprt__handshake_session(const tprt__handshake *gate, tprt__session *session) {
  *session = (tprt__session){.n_sent = 0};
  derive(gate->own, "toclient", gate->hello, gate->nonce, session->send_key);
  derive(gate->own, "toserver", gate->hello, gate->nonce, session->receive_key);
}

/* ---- client ---- */

void tprt__hello_write(const tprt__identity *own, unsigned char hello[TPRT__HELLO_BYTES]) {
  memset(hello, 0, TPRT__HELLO_BYTES);
  put(hello + H_MAGIC, magic, 8);
  put(hello + H_VERSION, TPRT__WIRE_VERSION, 4);
  put(hello + H_FLAGS, own->has_secret ? FLAG_SECRET : 0, 4);
  put(hello + H_RANK, (uint32_t)own->rank, 4);
  put(hello + H_RANKS, (uint32_t)own->n_ranks, 4);
  put(hello + H_EPOCH, (uint32_t)own->epoch, 4);
  memcpy(hello + H_JOB, own->job, sizeof own->job);
  randombytes_buf(hello + H_NONCE, TPRT__KEY_BYTES);
}

tprt__refusal
tprt__challenge_answer(const tprt__identity *own, const unsigned char hello[TPRT__HELLO_BYTES],
                       const unsigned char answer[TPRT__CHALLENGE_BYTES], tprt__challenge *stated,
                       unsigned char proof[TPRT__PROOF_BYTES], tprt__session *session) {
  if (take(answer + C_MAGIC, 8) != magic)
    return TPRT__NO_STORE;
  *stated = (tprt__challenge){.version = (uint32_t)take(answer + C_VERSION, 4),
                              .n_ranks = (int32_t)take(answer + C_RANKS, 4),
                              .epoch = (int32_t)take(answer + C_EPOCH, 4)};
  if (stated->version != TPRT__WIRE_VERSION)
    return TPRT__OTHER_VERSION;
  if (take(answer + C_FLAGS, 4) != (own->has_secret ? FLAG_SECRET : 0))
    return TPRT__OTHER_SECRET;
  uint64_t refusal = take(answer + C_STATUS, 4);
  if (refusal)
    return refusal <= TPRT__OTHER_SECRET ? (tprt__refusal)refusal : TPRT__NO_STORE;
  if (stated->n_ranks != own->n_ranks || stated->epoch != own->epoch)
    return TPRT__OTHER_JOB;
  if (take(answer + C_ZERO, 4))
    return TPRT__NO_STORE;
  unsigned char expected[TPRT__KEY_BYTES];
  derive(own, "server  ", hello, answer + C_NONCE, expected);
  if (sodium_memcmp(expected, answer + C_PROOF, sizeof expected) != 0)
    return TPRT__OTHER_SECRET;
  derive(own, "client  ", hello, answer + C_NONCE, proof);
  *session = (tprt__session){.n_sent = 0};
  derive(own, "toserver", hello, answer + C_NONCE, session->send_key);
  derive(own, "toclient", hello, answer + C_NONCE, session->receive_key);
  return TPRT__ADMITTED;
}

/* ---- frames ---- */

static void seal(const unsigned char key[TPRT__KEY_BYTES], uint64_t number,
                 const unsigned char *bytes, size_t n, unsigned char tag[TPRT__KEY_BYTES]) {
  crypto_auth_hmacsha256_state state;
  unsigned char count[8];
  put(count, number, sizeof count);
  crypto_auth_hmacsha256_init(&state, key, TPRT__KEY_BYTES);
  crypto_auth_hmacsha256_update(&state, count, sizeof count);
  crypto_auth_hmacsha256_update(&state, bytes, n);
  crypto_auth_hmacsha256_final(&state, tag);
}

size_t tprt__frame_write(tprt__session *session, const tprt__frame *frame, unsigned char *out) {
  size_t n_key = strlen(frame->key), n = TPRT__HEAD_BYTES;
  put(out + F_KIND, frame->kind, 2);
  put(out + F_N_KEY, n_key, 2);
  put(out + F_N_VALUE, frame->n_value, 4);
  put(out + F_CODE, (uint32_t)frame->code, 4);
  put(out + F_RANK, (uint32_t)frame->rank, 4);
  put(out + F_NUMBER, (uint64_t)frame->number, 8);
  memcpy(out + n, frame->key, n_key);
  n += n_key;
  if (frame->n_value)
    memcpy(out + n, frame->value, frame->n_value);
  n += frame->n_value;
  seal(session->send_key, session->n_sent++, out, n, out + n);
  return n + TPRT__KEY_BYTES;
}

size_t tprt__frame_bytes(const unsigned char head[TPRT__HEAD_BYTES]) {
  uint64_t kind = take(head + F_KIND, 2), n_key = take(head + F_N_KEY, 2),
           n_value = take(head + F_N_VALUE, 4);
  if (kind < TPRT__FRAME_SET || kind > TPRT__FRAME_REMOVE || n_key > TPRT__MAX_KEY ||
      n_value > TPRT__MAX_VALUE)
    return 0;
  return (size_t)(TPRT__HEAD_BYTES + n_key + n_value + TPRT__KEY_BYTES);
}

bool tprt__frame_read(tprt__session *session, const unsigned char *bytes, size_t n,
                      tprt__frame *frame) {
  if (n < TPRT__HEAD_BYTES || tprt__frame_bytes(bytes) != n)
    return false;
  unsigned char tag[TPRT__KEY_BYTES];
  seal(session->receive_key, session->n_received, bytes, n - sizeof tag, tag);
  if (sodium_memcmp(tag, bytes + n - sizeof tag, sizeof tag) != 0)
    return false;
  size_t n_key = (size_t)take(bytes + F_N_KEY, 2);
  if (memchr(bytes + TPRT__HEAD_BYTES, 0, n_key))
    return false;
  session->n_received++;
  *frame = (tprt__frame){.kind = (tprt__frame_kind)take(bytes + F_KIND, 2),
                         .code = (int32_t)take(bytes + F_CODE, 4),
                         .rank = (int32_t)take(bytes + F_RANK, 4),
                         .number = (int64_t)take(bytes + F_NUMBER, 8),
                         .n_value = (size_t)take(bytes + F_N_VALUE, 4),
                         .value = bytes + TPRT__HEAD_BYTES + n_key};
  memcpy(frame->key, bytes + TPRT__HEAD_BYTES, n_key);
  return true;
}
