/* Status codes, element types, reductions, operation kinds.
 *
 * NULL, in all headers of the runtime: an argument may be NULL where its comment says so; so may an
 * array of no elements, and the object of a call that releases it (tprt_..._destroy,
 * tprt_mem_free). Elsewhere NULL is an error. The call does nothing, returns TPRT_INVALID_ARGUMENT,
 * or -1, 0, NULL or "" if its result is not a status, and sets an error text that names the
 * function and the argument. Functions without a result do nothing. Exempt are the functions that
 * compiled programs call (tprt_abi_..., memrefCopy), which do not check this: only tprt_abi_enter,
 * whose status a program returns at once, and tprt_abi_check do. */
#ifndef TPRT_TYPES_H
#define TPRT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TPRT_API __attribute__((visibility("default")))
#else
#define TPRT_API
#endif

#define TPRT_VERSION_MAJOR 0
#define TPRT_VERSION_MINOR 1
#define TPRT_VERSION_PATCH 0
/* Version of the loaded library, "major.minor.patch". Static storage. */
TPRT_API const char *tprt_version(void);

/* ---- Status ---- */

/* Status codes, grouped by how the caller can react. The numbers are part of the ABI of compiled
 * programs. */
typedef enum tprt_status {
  TPRT_OK = 0,
  TPRT_IN_PROGRESS = 1,      /* not an error: ask again or wait */
  TPRT_INVALID_ARGUMENT = 2, /* fix the call; nothing was done */
  /* the object was aborted, or is not in the state that the call requires */
  TPRT_INVALID_STATE = 3,
  /* valid, but not supported by this backend, dtype or version; the text says which */
  TPRT_UNSUPPORTED = 4,
  TPRT_MISMATCH = 5, /* the ranks disagree about the operation or program; no data moved */
  TPRT_TIMEOUT = 6,  /* a peer did not arrive in time */
  /* a peer's process ended, or it destroyed its communicator; the text names the rank */
  TPRT_PEER_DEAD = 7,
  TPRT_ABORTED = 8,    /* some rank called tprt_comm_abort */
  TPRT_AUTH = 9,       /* a peer could not prove that it belongs to the job */
  TPRT_SYSTEM = 10,    /* a system call failed; the text contains its error */
  TPRT_DEVICE = 11,    /* an accelerator failed */
  TPRT_NO_MEMORY = 12, /* memory or a configured limit ran out */
  TPRT_INTERNAL = 13,  /* a bug in this library: please report */
  TPRT_PROGRAM = 14,   /* the program's own assertion failed on some rank */
} tprt_status;

/* Returns the name of the code in lower case, e.g. "invalid argument"; "unknown status" for other
 * numbers. Static storage. */
TPRT_API const char *tprt_status_name(tprt_status status);

/* Returns the text of the last failure on the calling thread, "" if there was none. Valid until the
 * thread's next tprt call. */
TPRT_API const char *tprt_last_error(void);

/* ---- Element types, reductions, operations. Zero is never a valid value; the numbers are ABI.
 * ---- */

typedef enum tprt_dtype {
  TPRT_F32 = 1,
  TPRT_F64 = 2,
  TPRT_F16 = 3,
  TPRT_BF16 = 4,
  TPRT_BOOL = 5, /* one byte, 0 or 1; the memory representation of i1 tensors */
  TPRT_I8 = 6,
  TPRT_I16 = 7,
  TPRT_I32 = 8,
  TPRT_I64 = 9,
  TPRT_U8 = 10,
  TPRT_U16 = 11,
  TPRT_U32 = 12,
  TPRT_U64 = 13,
  TPRT_C64 = 14, /* complex: real part, then imaginary part, each an f32 */
  TPRT_C128 = 15,
  TPRT_F8E4M3 = 16, /* OCP E4M3: no infinity; values beyond 448 become NaN */
  TPRT_F8E5M2 = 17, /* OCP E5M2: an f16 with 2 bits of mantissa */
  TPRT_N_DTYPES = 18,
} tprt_dtype;

typedef enum tprt_reduction {
  TPRT_NO_REDUCTION = 0, /* for operations that do not reduce */
  TPRT_SUM = 1,          /* integers wrap; not for bool (use bor for "any", bxor for parity) */
  TPRT_PRODUCT = 2,      /* integers wrap; bool: and */
  /* IEEE 754 minimum: NaN if any operand is NaN, -0 < +0; bool: false < true; not for complex */
  TPRT_MIN = 3,
  TPRT_MAX = 4,    /* IEEE 754 maximum */
  TPRT_MINNUM = 5, /* floats only: a number wins over a NaN */
  TPRT_MAXNUM = 6,
  TPRT_UMIN = 7, /* integers and bool, compared as unsigned */
  TPRT_UMAX = 8,
  TPRT_BAND = 9, /* integers and bool */
  TPRT_BOR = 10,
  TPRT_BXOR = 11,
  TPRT_AVG = 12, /* sum divided by the number of ranks; integers truncate; not for bool */
  /* sum of the inputs, each multiplied by its rank's `scalar`; not for bool */
  TPRT_PREMUL_SUM = 13,
  TPRT_N_REDUCTIONS = 14,
} tprt_reduction;

typedef enum tprt_op_kind {
  TPRT_OP_ALL_REDUCE = 1, /* recv = reduction of all sends; in place if send == recv */
  TPRT_OP_ALL_GATHER = 2, /* along dim: recv shape = shape with dim * n */
  /* along dim: recv shape = shape with dim / n, rank r keeps piece r; n divides dim */
  TPRT_OP_REDUCE_SCATTER = 3,
  /* split_dim / n, dim * n: piece r of split_dim goes to rank r, pieces are joined along dim */
  TPRT_OP_ALL_TO_ALL = 4,
  /* recv = send of the pair's source; zeros on ranks that are not a destination */
  TPRT_OP_PERMUTE = 5,
  /* recv = send of root; send is read on root only; in place if send == recv */
  TPRT_OP_BROADCAST = 6,
  TPRT_OP_BARRIER = 7, /* no data */
  /* all_reduce with the result on root only; recv is written on root only */
  TPRT_OP_REDUCE = 8,
  TPRT_OP_GATHER = 9, /* all_gather with the result on root only */
  /* along dim: rank r gets piece r of root's send; shape is the shape of root's send tensor */
  TPRT_OP_SCATTER = 10,
  /* Pieces of different lengths, packed or anywhere in memory: see tprt_op. */
  TPRT_OP_ALL_GATHER_V = 11,
  TPRT_OP_REDUCE_SCATTER_V = 12,
  TPRT_OP_ALL_TO_ALL_V = 13,
  TPRT_OP_GATHER_V = 14,
  TPRT_OP_SCATTER_V = 15,
  /* Point-to-point transfers. Only the two ranks take part, and the operation is not part of the
   * collective order. The k-th recv from a rank with a tag matches the k-th send of that rank with
   * that tag; dtype and number of elements must be equal. A send may wait for its recv, so put
   * exchanges in one batch. A rank can send to itself only within one batch. */
  TPRT_OP_SEND = 16,
  TPRT_OP_RECV = 17,
  TPRT_N_OP_KINDS = 18,
} tprt_op_kind;

/* Return printable names ("bf16", "maxnum", "all_reduce"); NULL for an invalid value. Static
 * storage. */
TPRT_API const char *tprt_dtype_name(tprt_dtype dtype);
TPRT_API const char *tprt_reduction_name(tprt_reduction reduction);
TPRT_API const char *tprt_op_kind_name(tprt_op_kind kind);
/* The inverse; 0 for an unknown name. */
TPRT_API tprt_dtype tprt_dtype_parse(const char *name);
TPRT_API tprt_reduction tprt_reduction_parse(const char *name);
/* For operations, 0 comes with an error text: the closest name, or, for an operation of another
 * library that tprt does not have (sparse reductions, those of NCCLX), what to use instead. */
TPRT_API tprt_op_kind tprt_op_kind_parse(const char *name);
/* Returns the bytes of one element; 0 for an invalid value. */
TPRT_API size_t tprt_dtype_size(tprt_dtype dtype);
/* Returns true if the reduction is defined for the type. */
TPRT_API bool tprt_reduction_supports(tprt_reduction reduction, tprt_dtype dtype);

/* Conversions; they round to nearest even, and a NaN becomes a quiet NaN. */
TPRT_API float tprt_f16_to_f32(uint16_t bits);
TPRT_API uint16_t tprt_f32_to_f16(float value);
TPRT_API float tprt_bf16_to_f32(uint16_t bits);
TPRT_API uint16_t tprt_f32_to_bf16(float value);
TPRT_API float tprt_f8e4m3_to_f32(uint8_t bits);
TPRT_API uint8_t tprt_f32_to_f8e4m3(float value);
TPRT_API float tprt_f8e5m2_to_f32(uint8_t bits);
TPRT_API uint8_t tprt_f32_to_f8e5m2(float value);

#ifdef __cplusplus
}
#endif
#endif
