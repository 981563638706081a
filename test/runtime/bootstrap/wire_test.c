/* Tests the store's protocol without sockets: admission, and forged or modified messages. */
#include "bootstrap/frames.h"
#include "test/runtime/harness/long.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sodium.h>

static uint64_t draw(uint64_t *state) { /* splitmix64 */
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static void draw_bytes(uint64_t *state, unsigned char *bytes, size_t n) {
  for (size_t i = 0; i < n; i++)
    bytes[i] = (unsigned char)draw(state);
}

static tprt__identity identity(int32_t rank, int32_t n_ranks, const char *job,
                               unsigned char secret) {
  tprt__identity own = {.n_ranks = n_ranks, .rank = rank, .has_secret = secret != 0};
  memset(own.secret, secret, sizeof own.secret);
  tprt__job_digest(job, own.job);
  return own;
}

/* ---- A genuine client ---- */

typedef struct conversation {
  unsigned char hello[TPRT__HELLO_BYTES], challenge[TPRT__CHALLENGE_BYTES],
      proof[TPRT__PROOF_BYTES];
  tprt__session client, server;
  bool admitted;
} conversation;

static conversation converse(const tprt__identity *server, const tprt__identity *client) {
  conversation c = {.admitted = false};
  unsigned char none[TPRT__CHALLENGE_BYTES];
  tprt__challenge stated;
  tprt__handshake gate;
  tprt__handshake_start(&gate, server);
  tprt__hello_write(client, c.hello);
  assert_int_equal(tprt__handshake_wants(&gate), sizeof c.hello);
  assert_int_equal(tprt__handshake_step(&gate, c.hello, c.challenge), sizeof c.challenge);
  if (tprt__challenge_answer(client, c.hello, c.challenge, &stated, c.proof, &c.client) !=
      TPRT__ADMITTED)
    return c;
  assert_int_equal(tprt__handshake_wants(&gate), sizeof c.proof);
  assert_int_equal(tprt__handshake_step(&gate, c.proof, none), 0);
  c.admitted = gate.state == TPRT__HANDSHAKE_DONE && gate.rank == client->rank;
  tprt__handshake_session(&gate, &c.server);
  return c;
}

static tprt__frame frame_of(tprt__frame_kind kind, const char *key, const void *value, size_t n) {
  tprt__frame frame = {
      .kind = kind, .code = -3, .rank = 4, .number = -5, .n_value = n, .value = value};
  memcpy(frame.key, key, strlen(key));
  return frame;
}

static void test_conversation(void **state) {
  (void)state;
  for (int secret = 0; secret < 2; secret++) {
    const tprt__identity server = identity(0, 4, "job", (unsigned char)secret),
                         client = identity(3, 4, "job", (unsigned char)secret);
    conversation c = converse(&server, &client);
    unsigned char value[TPRT__MAX_VALUE], bytes[TPRT__MAX_FRAME];
    char key[TPRT__MAX_KEY + 1];
    assert_true(c.admitted);
    memset(key, 'k', sizeof key - 1);
    key[sizeof key - 1] = 0;
    for (size_t i = 0; i < sizeof value; i++)
      value[i] = (unsigned char)(i * 13);
    for (int turn = 0; turn < 6; turn++) {
      tprt__session *from = turn % 2 ? &c.server : &c.client,
                    *to = turn % 2 ? &c.client : &c.server;
      size_t n_value = turn < 2 ? 0 : turn < 4 ? 17 : sizeof value;
      tprt__frame sent = frame_of(TPRT__FRAME_SET, turn < 3 ? "" : key, value, n_value), got;
      size_t n = tprt__frame_write(from, &sent, bytes);
      assert_true(n <= sizeof bytes);
      assert_int_equal(tprt__frame_bytes(bytes), n);
      assert_true(tprt__frame_read(to, bytes, n, &got));
      assert_true(got.kind == sent.kind && got.code == -3 && got.rank == 4 && got.number == -5);
      assert_string_equal(got.key, sent.key);
      assert_int_equal(got.n_value, n_value);
      assert_memory_equal(got.value, value, n_value);
      assert_false(tprt__frame_read(to, bytes, n, &got));   /* replayed */
      assert_false(tprt__frame_read(from, bytes, n, &got)); /* reflected to its sender */
    }
  }
}

/* Every party that does not belong to the job gets the reason, the same on both sides. */
static void test_refusals(void **state) {
  (void)state;
  const tprt__identity server = identity(0, 4, "job", 1);
  const struct {
    tprt__identity client;
    tprt__refusal refusal;
  } rows[] = {{identity(1, 4, "job", 1), TPRT__ADMITTED},
              {identity(1, 5, "job", 1), TPRT__OTHER_JOB},
              {identity(1, 4, "jobs", 1), TPRT__OTHER_JOB},
              {identity(1, 4, "job", 2), TPRT__OTHER_SECRET},
              {identity(1, 4, "job", 0), TPRT__OTHER_SECRET}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    unsigned char hello[TPRT__HELLO_BYTES], challenge[TPRT__CHALLENGE_BYTES],
        proof[TPRT__PROOF_BYTES];
    tprt__challenge stated;
    tprt__session session;
    tprt__handshake gate;
    tprt__handshake_start(&gate, &server);
    tprt__hello_write(&rows[i].client, hello);
    assert_int_equal(tprt__handshake_step(&gate, hello, challenge), sizeof challenge);
    assert_int_equal(
        tprt__challenge_answer(&rows[i].client, hello, challenge, &stated, proof, &session),
        rows[i].refusal);
    assert_int_equal(stated.n_ranks, 4);
  }
  /* A rank number outside of the job gets no answer. */
  tprt__identity client = identity(4, 4, "job", 1);
  unsigned char hello[TPRT__HELLO_BYTES], challenge[TPRT__CHALLENGE_BYTES];
  tprt__handshake gate;
  tprt__handshake_start(&gate, &server);
  tprt__hello_write(&client, hello);
  assert_int_equal(tprt__handshake_step(&gate, hello, challenge), 0);
  assert_int_equal(gate.state, TPRT__HANDSHAKE_REFUSED);
  assert_int_equal(tprt__handshake_wants(&gate), 0);
}

/* The lengths in a head are checked against their limits, whatever the tag. */
static void test_heads(void **state) {
  (void)state;
  const struct {
    unsigned kind, n_key;
    uint32_t n_value;
    size_t bytes;
  } rows[] = {
      {1, 0, 0, 56},  {6, 127, 4096, 4279}, {0, 0, 0, 0},          {7, 0, 0, 0},
      {1, 128, 0, 0}, {1, 0, 4097, 0},      {1, 0, 0xffffffff, 0}, {1, 65535, 0xffffffff, 0},
      {257, 0, 0, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    unsigned char head[TPRT__HEAD_BYTES] = {
        (unsigned char)rows[i].kind, (unsigned char)(rows[i].kind >> 8),
        (unsigned char)rows[i].n_key, (unsigned char)(rows[i].n_key >> 8)};
    for (int b = 0; b < 4; b++)
      head[4 + b] = (unsigned char)(rows[i].n_value >> 8 * b);
    assert_int_equal(tprt__frame_bytes(head), rows[i].bytes);
  }
}

/* ---- Fuzzing ---- */

typedef struct fuzz {
  uint64_t seed, n_messages, n_admitted, n_genuine;
  tprt__identity server, client, stranger; /* the stranger knows everything except the secret */
  conversation recorded;                   /* a conversation it has recorded */
} fuzz;

/* Changes one to eight bits, so that the bytes differ. */
static void damage(fuzz *f, unsigned char *bytes, size_t n) {
  size_t first = draw(&f->seed) % (8 * n);
  bytes[first / 8] ^= (unsigned char)(1u << first % 8);
  for (uint64_t more = draw(&f->seed) % 8; more > 0; more--) {
    size_t bit = draw(&f->seed) % (8 * n);
    if (bit != first)
      bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
}

/* Connects to a server without the secret, or with messages that are damaged in transit. */
static void attack_server(fuzz *f, unsigned how) {
  unsigned char message[TPRT__HELLO_BYTES], answer[TPRT__CHALLENGE_BYTES];
  tprt__challenge stated;
  tprt__session session;
  tprt__handshake gate;
  tprt__handshake_start(&gate, &f->server);
  bool genuine = how & 1;
  tprt__hello_write(genuine ? &f->client : &f->stranger, message);
  if (how & 2)
    memcpy(message, f->recorded.hello, sizeof message);
  unsigned char hello[TPRT__HELLO_BYTES];
  memcpy(hello, message, sizeof hello);
  if (how & 4)
    damage(f, message, sizeof message);
  if (how % 64 == 0)
    draw_bytes(&f->seed, message, sizeof message);
  size_t n = tprt__handshake_step(&gate, message, answer);
  f->n_messages++;
  if (n == 0 || gate.state != TPRT__HANDSHAKE_PROOF)
    return;
  unsigned char proof[TPRT__PROOF_BYTES];
  draw_bytes(&f->seed, proof, sizeof proof);
  switch (how >> 3 & 3) {
  case 0: /* a proof that it can compute */
    (void)tprt__challenge_answer(genuine ? &f->client : &f->stranger, hello, answer, &stated, proof,
                                 &session);
    if (genuine && !(how & 6))
      damage(f, proof, sizeof proof);
    if (genuine && (how & 2) && !(how & 4))
      damage(f, proof, sizeof proof); /* the recorded hello is genuine */
    break;
  case 1: /* the server's own proof, reflected */
    memcpy(proof, answer + sizeof answer - sizeof proof, sizeof proof);
    break;
  case 2: /* a proof of another connection */
    memcpy(proof, f->recorded.proof, sizeof proof);
    break;
  default:
    break;
  }
  (void)tprt__handshake_step(&gate, proof, answer);
  f->n_messages++;
  f->n_admitted += gate.state == TPRT__HANDSHAKE_DONE;
}

/* A client connects to a party without the secret, or whose answer is damaged. */
static void attack_client(fuzz *f, unsigned how) {
  unsigned char hello[TPRT__HELLO_BYTES], challenge[TPRT__CHALLENGE_BYTES],
      proof[TPRT__PROOF_BYTES];
  tprt__challenge stated;
  tprt__session session;
  tprt__handshake gate;
  tprt__identity liar = f->server;
  memcpy(liar.secret, f->stranger.secret, sizeof liar.secret);
  tprt__handshake_start(&gate, how & 1 ? &liar : &f->server);
  tprt__hello_write(&f->client, hello);
  (void)tprt__handshake_step(&gate, hello, challenge);
  if (how & 2)
    memcpy(challenge, f->recorded.challenge, sizeof challenge);
  else if (!(how & 1))
    damage(f, challenge, sizeof challenge);
  f->n_messages++;
  f->n_admitted += tprt__challenge_answer(&f->client, hello, challenge, &stated, proof, &session) ==
                   TPRT__ADMITTED;
}

/* Frames that are forged, modified, replayed, dropped, truncated or reflected. */
static void attack_session(fuzz *f, unsigned how) {
  unsigned char value[64], bytes[TPRT__MAX_FRAME], other[TPRT__MAX_FRAME];
  tprt__session from = f->recorded.client, to = f->recorded.server;
  draw_bytes(&f->seed, value, sizeof value);
  tprt__frame sent = frame_of((tprt__frame_kind)(1 + how % 4), "key", value,
                              draw(&f->seed) % sizeof value),
              got;
  size_t n = tprt__frame_write(&from, &sent, bytes), at;
  switch (how >> 2 & 7) {
  case 0:
    damage(f, bytes, n);
    break;
  case 1: /* the next one first */
    n = tprt__frame_write(&from, &sent, bytes);
    break;
  case 2:
    assert_true(tprt__frame_read(&to, bytes, n, &got));
    break;
  case 3: /* of the other direction */
    from = f->recorded.server;
    n = tprt__frame_write(&from, &sent, bytes);
    break;
  case 4:
    n = draw(&f->seed) % n;
    break;
  case 5: /* a modified length, with that many bytes */
    memcpy(other, bytes, n);
    at = 2 + draw(&f->seed) % 6;
    other[at] ^= (unsigned char)(1 + draw(&f->seed) % 255);
    memcpy(bytes, other, TPRT__HEAD_BYTES);
    n = tprt__frame_bytes(bytes);
    break;
  case 6:
    draw_bytes(&f->seed, bytes, sizeof bytes);
    bytes[0] = (unsigned char)(1 + how % 5);
    bytes[1] = bytes[3] = bytes[6] = bytes[7] = 0;
    bytes[2] %= TPRT__MAX_KEY;
    bytes[5] %= 16;
    n = tprt__frame_bytes(bytes);
    assert_true(n > 0 && n <= sizeof bytes);
    break;
  default:
    draw_bytes(&f->seed, bytes, TPRT__HEAD_BYTES);
    n = tprt__frame_bytes(bytes);
    assert_true(n <= sizeof bytes);
    break;
  }
  f->n_messages++;
  f->n_admitted += tprt__frame_read(&to, bytes, n, &got);
}

/* TP_LONG=1 runs ten million messages, else a fraction. Genuine clients are always admitted. */
static void test_fuzz(void **state) {
  (void)state;
  uint64_t wanted = test_is_long() ? 10000000 : 200000;
  fuzz f = {.seed = 20260101};
  f.server = identity(0, 8, "job", 1);
  f.client = identity(5, 8, "job", 1);
  f.stranger = identity(5, 8, "job", 2);
  f.recorded = converse(&f.server, &f.client);
  assert_true(f.recorded.admitted);
  while (f.n_messages < wanted) {
    unsigned how = (unsigned)draw(&f.seed);
    attack_server(&f, how & 255);
    attack_client(&f, how >> 8 & 3);
    attack_session(&f, how >> 16 & 255);
    if (how % 128 == 0) {
      assert_true(converse(&f.server, &f.client).admitted);
      f.n_genuine++;
    }
  }
  print_message("%llu messages, %llu admissions; %llu genuine clients, all admitted\n",
                (unsigned long long)f.n_messages, (unsigned long long)f.n_admitted,
                (unsigned long long)f.n_genuine);
  assert_int_equal(f.n_admitted, 0);
  assert_true(f.n_genuine > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_conversation),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_heads),
      cmocka_unit_test(test_fuzz),
  };
  return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
