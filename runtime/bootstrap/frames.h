/* The protocol of the store, without sockets: the messages of both sides, and the authentication.
 *
 * A connection starts with a handshake of three messages of fixed length. Fields are listed with
 * their length in bytes; numbers are little-endian.
 *   client HELLO      magic 8, version 4, flags 4, rank 4, ranks 4, epoch 4, zero 4, job 32,
 *                     nonce 32
 *   server CHALLENGE  magic 8, version 4, status 4, ranks 4, epoch 4, flags 4, zero 4,
 *                     nonce 32, proof 32
 *   client PROOF      proof 32
 * A proof is HMAC-SHA-256(secret, side | HELLO without its magic and nonce | both nonces). The
 * server proves itself first: a client never answers a server that does not know the secret.
 * Without a secret the key is 32 zeros and a flag says so, so that a party with a secret never
 * talks to one without.
 *
 * After the handshake both sides send frames: head 24, key, value, tag 32. The tag is HMAC(key of
 * this connection and direction, number of the frame | frame), so frames cannot be modified,
 * repeated or reordered. The head states the lengths of key and value, which are checked against
 * their limits before anything else is read. */
#ifndef TPRT_BOOTSTRAP_WIRE_H
#define TPRT_BOOTSTRAP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  TPRT__WIRE_VERSION = 2,
  TPRT__KEY_BYTES = 32, /* of HMAC-SHA-256 keys, nonces and tags */
  TPRT__HELLO_BYTES = 96,
  TPRT__CHALLENGE_BYTES = 96,
  TPRT__PROOF_BYTES = 32,
  TPRT__HEAD_BYTES = 24,
  TPRT__MAX_KEY = 127,
  TPRT__MAX_VALUE = 4096,
  TPRT__MAX_FRAME = TPRT__HEAD_BYTES + TPRT__MAX_KEY + TPRT__MAX_VALUE + TPRT__KEY_BYTES,
};

/* The identity of a party: a rank of a job, with the secret that proves it. */
typedef struct tprt__identity {
  int32_t n_ranks, rank, epoch; /* n_ranks 0: the ranks do not tell clients apart */
  bool has_secret;
  unsigned char secret[TPRT__KEY_BYTES];
  unsigned char job[32]; /* digest of the job's name */
} tprt__identity;

/* Computes the digest of a job's name. */
void tprt__job_digest(const char *name, unsigned char digest[32]);
/* Overwrites secrets with a write that the compiler cannot remove. */
void tprt__wipe(void *memory, size_t bytes);

/* Keys and counters of an admitted connection. Directions are as seen from this side. */
typedef struct tprt__session {
  unsigned char send_key[TPRT__KEY_BYTES], receive_key[TPRT__KEY_BYTES];
  uint64_t n_sent, n_received;
} tprt__session;

/* ---- handshake, server side ---- */

typedef enum tprt__handshake_state {
  TPRT__HANDSHAKE_HELLO,
  TPRT__HANDSHAKE_PROOF,
  TPRT__HANDSHAKE_DONE,
  TPRT__HANDSHAKE_REFUSED
} tprt__handshake_state;

typedef struct tprt__handshake {
  tprt__handshake_state state;
  const tprt__identity *own;
  int32_t rank; /* as stated by the client; proven when the gate is open */
  unsigned char hello[TPRT__HELLO_BYTES], nonce[TPRT__KEY_BYTES];
} tprt__handshake;

void tprt__handshake_start(tprt__handshake *gate, const tprt__identity *own);
/* Returns the length of the next message; 0 if none is expected any more. */
size_t tprt__handshake_wants(const tprt__handshake *gate);
/* Handles a message of that length. Returns the length of the answer. */
size_t tprt__handshake_step(tprt__handshake *gate, const unsigned char *message,
                            unsigned char answer[TPRT__CHALLENGE_BYTES]);
/* Derives the session of an open gate. */
void tprt__handshake_session(const tprt__handshake *gate, tprt__session *session);

/* ---- handshake, client side ---- */

/* Why the client is not admitted. Sent as the status of CHALLENGE. */
typedef enum tprt__refusal {
  TPRT__ADMITTED = 0,
  TPRT__NO_STORE, /* another service answers at the address */
  TPRT__OTHER_VERSION,
  TPRT__OTHER_JOB,    /* another job, epoch or number of ranks */
  TPRT__OTHER_SECRET, /* the server does not know the secret, has none, or requires one */
} tprt__refusal;

typedef struct tprt__challenge {
  uint32_t version;
  int32_t n_ranks, epoch;
} tprt__challenge;

void tprt__hello_write(const tprt__identity *own, unsigned char hello[TPRT__HELLO_BYTES]);
/* Checks the server's answer. If it is correct, writes the proof and the session's keys. */
tprt__refusal tprt__challenge_answer(const tprt__identity *own,
                                     const unsigned char hello[TPRT__HELLO_BYTES],
                                     const unsigned char challenge[TPRT__CHALLENGE_BYTES],
                                     tprt__challenge *stated,
                                     unsigned char proof[TPRT__PROOF_BYTES],
                                     tprt__session *session);

/* ---- frames ---- */

typedef enum tprt__frame_kind {
  TPRT__FRAME_SET = 1,
  TPRT__FRAME_GET = 2,   /* number: how long to wait, in ns */
  TPRT__FRAME_ADD = 3,   /* number: the summand */
  TPRT__FRAME_BYE = 4,   /* the client leaves on purpose */
  TPRT__FRAME_REPLY = 5, /* code, rank at fault, number, value */
  TPRT__FRAME_REMOVE = 6,
} tprt__frame_kind;

typedef struct tprt__frame {
  tprt__frame_kind kind;
  int32_t code, rank;
  int64_t number;
  char key[TPRT__MAX_KEY + 1];
  size_t n_value;
  const unsigned char *value; /* after reading: points into the buffer */
} tprt__frame;

/* Writes a frame and returns its length. `out` has a capacity of TPRT__MAX_FRAME bytes. */
size_t tprt__frame_write(tprt__session *session, const tprt__frame *frame, unsigned char *out);
/* Returns the length of the frame with this head; 0 if the head is invalid. */
size_t tprt__frame_bytes(const unsigned char head[TPRT__HEAD_BYTES]);
/* Reads a whole frame. Returns false unless it is the next frame that the other side of the session
 * sent. */
bool tprt__frame_read(tprt__session *session, const unsigned char *bytes, size_t n,
                      tprt__frame *frame);

#endif
