/* The protocol of the store, without sockets: what the two ends say to each other, byte by byte,
 * and who is admitted.
 *
 * A connection starts with a handshake of three messages of fixed length; numbers are
 * little-endian.
 *   client HELLO      magic 8, version 4, flags 4, rank 4, ranks 4, epoch 4, zero 4, job 32, nonce
 *     32
 *   server CHALLENGE  magic 8, version 4, status 4, ranks 4, epoch 4, flags 4, zero 4, nonce 32,
 *     proof 32
 *   client PROOF      proof 32 A proof is HMAC-SHA-256(secret, side | HELLO without its magic and
 *     nonce | both nonces). The server proves itself first: a client never answers somebody who
 *     does not know the secret. Without a secret the key is 32 zeros, and flags say so, so that a
 *     party with a secret never talks to one without.
 *
 * Then both send frames: head 24, key, value, tag 32. The tag is HMAC(key of this connection and
 * direction, number of the frame | frame), so frames can be neither changed, repeated nor
 * reordered. The head states the lengths of key and value, which are compared with their limits
 * before anything else is read. */
#ifndef TPRT_BOOTSTRAP_WIRE_H
#define TPRT_BOOTSTRAP_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  TPRT__WIRE_VERSION = 1,
  TPRT__KEY_BYTES = 32, /* of HMAC-SHA-256, of nonces, of tags */
  TPRT__HELLO_BYTES = 96,
  TPRT__CHALLENGE_BYTES = 96,
  TPRT__PROOF_BYTES = 32,
  TPRT__HEAD_BYTES = 24,
  TPRT__MAX_KEY = 127,
  TPRT__MAX_VALUE = 4096,
  TPRT__MAX_FRAME = TPRT__HEAD_BYTES + TPRT__MAX_KEY + TPRT__MAX_VALUE + TPRT__KEY_BYTES,
};

/* Who one is: a rank of a job, with what proves it. */
typedef struct tprt__identity {
  int32_t n_ranks, rank, epoch;
  bool has_secret;
  unsigned char secret[TPRT__KEY_BYTES];
  unsigned char job[32]; /* digest of its name */
} tprt__identity;

/* Makes the digest of a job's name. */
void tprt__job_digest(const char *name, unsigned char digest[32]);
/* Overwrites secrets in a way that no compiler leaves out. */
void tprt__wipe(void *memory, size_t bytes);

/* The keys and counters of an admitted connection, by direction as seen from this end. */
typedef struct tprt__session {
  unsigned char send_key[TPRT__KEY_BYTES], receive_key[TPRT__KEY_BYTES];
  uint64_t n_sent, n_received;
} tprt__session;

/* ---- The server's side of the handshake ---- */

typedef enum tprt__gate_state {
  TPRT__GATE_HELLO,
  TPRT__GATE_PROOF,
  TPRT__GATE_OPEN,
  TPRT__GATE_SHUT
} tprt__gate_state;

typedef struct tprt__gate {
  tprt__gate_state state;
  const tprt__identity *own;
  int32_t rank; /* of the client, as it says; proven when the gate is open */
  unsigned char hello[TPRT__HELLO_BYTES], nonce[TPRT__KEY_BYTES];
} tprt__gate;

void tprt__gate_start(tprt__gate *gate, const tprt__identity *own);
/* Bytes of the next message; 0 when none is expected any more. */
size_t tprt__gate_wants(const tprt__gate *gate);
/* Takes a message of so many bytes; returns the bytes of the answer. */
size_t tprt__gate_step(tprt__gate *gate, const unsigned char *message,
                       unsigned char answer[TPRT__CHALLENGE_BYTES]);
/* Of an open gate. */
void tprt__gate_session(const tprt__gate *gate, tprt__session *session);

/* ---- The client's side ---- */

/* What the client has to say when it does not get in. Numbers of tprt_status that matter here. */
typedef enum tprt__refusal {
  TPRT__ADMITTED = 0,
  TPRT__NO_STORE, /* something else answers there */
  TPRT__OTHER_VERSION,
  TPRT__OTHER_JOB,    /* or epoch, or number of ranks */
  TPRT__OTHER_SECRET, /* the server does not know it, or has none, or wants one */
} tprt__refusal;

typedef struct tprt__challenge {
  uint32_t version;
  int32_t n_ranks, epoch;
} tprt__challenge;

void tprt__hello_write(const tprt__identity *own, unsigned char hello[TPRT__HELLO_BYTES]);
/* Checks the server's answer; when it is right, writes the proof and the session's keys. */
tprt__refusal tprt__challenge_answer(const tprt__identity *own,
                                     const unsigned char hello[TPRT__HELLO_BYTES],
                                     const unsigned char challenge[TPRT__CHALLENGE_BYTES],
                                     tprt__challenge *stated,
                                     unsigned char proof[TPRT__PROOF_BYTES],
                                     tprt__session *session);

/* ---- Frames ---- */

typedef enum tprt__frame_kind {
  TPRT__FRAME_SET = 1,
  TPRT__FRAME_GET = 2,   /* number: how long to wait, ns */
  TPRT__FRAME_ADD = 3,   /* number: what to add */
  TPRT__FRAME_BYE = 4,   /* the client goes on purpose */
  TPRT__FRAME_REPLY = 5, /* code, rank of the culprit, number, value */
} tprt__frame_kind;

typedef struct tprt__frame {
  tprt__frame_kind kind;
  int32_t code, rank;
  int64_t number;
  char key[TPRT__MAX_KEY + 1];
  size_t n_value;
  const unsigned char *value; /* when read: into the buffer */
} tprt__frame;

/* Writes a frame, returns its bytes. `out` has room for TPRT__MAX_FRAME. */
size_t tprt__frame_write(tprt__session *session, const tprt__frame *frame, unsigned char *out);
/* Bytes of the frame with this head; 0: the head is none. */
size_t tprt__frame_bytes(const unsigned char head[TPRT__HEAD_BYTES]);
/* Reads a whole frame; false when it is not what the other end of the session wrote next. */
bool tprt__frame_read(tprt__session *session, const unsigned char *bytes, size_t n,
                      tprt__frame *frame);

#endif
