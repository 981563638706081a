/* Internal interface of the PTX machine. Text is parsed (ptx_text.c, ptx_variable.c, ptx_operand.c,
 * ptx_parse.c) to decoded instructions (ptx_decode.c), whose registers are packed
 * (ptx_registers.c). Host threads run CTAs (ptx_grid.c). Warps run each instruction for all active
 * threads at once (ptx_run.c), with the handler of its row in the tables of the files that
 * PTX_TABLES lists, and meet at barriers (ptx_barrier.c). Accesses to shared memory are checked
 * (ptx_shadow.c). */
#ifndef TPRT_TEST_CUDA_PTX_INSIDE_H
#define TPRT_TEST_CUDA_PTX_INSIDE_H

#include "ptx.h"

#include <string.h>

#include "base/half.h"

/* ---- Types and modifiers, as bits of sets ---- */

/* Name, bits of a value, interpretation. */
/* clang-format off */
#define PTX_TYPES(X)                                                                                                           \
  X(PRED, "pred", 1) X(B8, "b8", 8) X(B16, "b16", 16) X(B32, "b32", 32) X(B64, "b64", 64) X(U8, "u8", 8)                       \
  X(U16, "u16", 16) X(U32, "u32", 32) X(U64, "u64", 64) X(S8, "s8", 8) X(S16, "s16", 16) X(S32, "s32", 32)                     \
  X(S64, "s64", 64) X(F16, "f16", 16) X(BF16, "bf16", 16) X(F32, "f32", 32) X(F64, "f64", 64) X(F16X2, "f16x2", 32)            \
  X(BF16X2, "bf16x2", 32)
/* clang-format on */

typedef enum ptx_type {
#define MEMBER(constant, name, bits) PTX_##constant,
  PTX_TYPES(MEMBER)
#undef MEMBER
      PTX_NO_TYPE,
} ptx_type;
extern const struct ptx_type_row {
  const char *name;
  int bits;
} ptx_types[];

/* clang-format off */
#define PTX_MODIFIERS(X)                                                                                                       \
  X(RN, "rn") X(RZ, "rz") X(RM, "rm") X(RP, "rp") X(RNI, "rni") X(RZI, "rzi") X(RMI, "rmi") X(RPI, "rpi")                      \
  X(FTZ, "ftz") X(SAT, "sat") X(APPROX, "approx") X(FULL, "full") X(NANS, "NaN") X(LO, "lo") X(HI, "hi")                       \
  X(WIDE, "wide") X(WRAP, "wrap") X(CLAMP, "clamp") X(LEFT, "l") X(RIGHT, "r") X(GLOBAL, "global") X(SHARED, "shared")         \
  X(LOCAL, "local") X(PARAM, "param") X(CONST, "const") X(TO, "to") X(V2, "v2") X(V4, "v4") X(ACQUIRE, "acquire")              \
  X(RELEASE, "release") X(ACQ_REL, "acq_rel") X(RELAXED, "relaxed") X(VOLATILE, "volatile") X(WEAK, "weak")                    \
  X(SC, "sc") X(NC, "nc") X(CACHED, "cached") X(CTA, "cta") X(GPU, "gpu") X(SYS, "sys") X(UNI, "uni") X(SYNC, "sync")          \
  X(ALIGNED, "aligned") X(BFLY, "bfly") X(UP, "up") X(DOWN, "down") X(IDX, "idx") X(BALLOT, "ballot") X(ALL, "all")            \
  X(ANY, "any") X(ADD, "add") X(MIN, "min") X(MAX, "max") X(AND, "and") X(OR, "or") X(XOR, "xor") X(EXCH, "exch")              \
  X(CAS, "cas") X(WARP, "warp") X(RED, "red") X(ARRIVE, "arrive") X(POPC, "popc") X(INC, "inc") X(DEC, "dec")
/* clang-format on */

enum {
#define MEMBER(constant, name) PTX_NUMBER_##constant,
  PTX_MODIFIERS(MEMBER)
#undef MEMBER
};
/* PTX_M_FTZ, ... */
#define MEMBER(constant, name)                                                                     \
  static const uint64_t PTX_M_##constant = UINT64_C(1) << PTX_NUMBER_##constant;
PTX_MODIFIERS(MEMBER)
#undef MEMBER

typedef enum ptx_comparison {
  PTX_EQ,
  PTX_NE,
  PTX_LT,
  PTX_LE,
  PTX_GT,
  PTX_GE,
  PTX_NUM, /* neither is NaN */
  PTX_UNORDERED = 8,
} ptx_comparison;

/* ---- Instructions ---- */

enum { PTX_MOST_TO = 4, PTX_MOST_FROM = 12, PTX_MOST_LIST = 64, PTX_NONE = INT32_MIN };

/* Locations of values. Positive: the start of the warp's row, in 32-bit words. Negative,
 * complemented: a position in the kernel's constants. A row has a value for each thread of the
 * warp: 32 words, or 32 pairs of words for 64 bits. Before ptx_pack_registers: numbers of virtual
 * registers. */
typedef int32_t ptx_place;

typedef struct ptx_warp ptx_warp;
typedef struct ptx_instruction ptx_instruction;
typedef void ptx_handler(ptx_warp *warp, const ptx_instruction *i, uint32_t mask);

typedef enum ptx_kind {
  PTX_PLAIN,    /* independent per thread, cannot fail */
  PTX_MEMORY,   /* may fail; lets other threads proceed, if `yields` */
  PTX_TOGETHER, /* runs for all threads in the mask, its last operand, at once */
  PTX_BRANCH,   /* branch to `target` */
  PTX_CHOOSE,   /* branch to an entry of `table` */
  PTX_BARRIER,  /* barrier of the CTA: ptx_barrier.c */
  PTX_RESIZE,   /* setmaxnreg: may wait for registers */
  PTX_EXIT,
} ptx_kind;

/* The accumulators of a product of a warpgroup, which are operands and results. */
typedef struct ptx_list {
  int n;
  ptx_place of[PTX_MOST_LIST];
} ptx_list;

struct ptx_instruction {
  ptx_handler *run; /* for PLAIN, MEMORY and TOGETHER */
  uint64_t modifiers;
  uint8_t kind, n_to, n_from;
  /* ptx_type of the result; and of the converted or compared value, if different */
  uint8_t type, second_type;
  uint8_t comparison;    /* ptx_comparison of setp and set */
  uint32_t wide;         /* bits k: to[k] has 64 bits; bits 4 + k: from[k] has */
  uint8_t register_bits; /* declared width of to[0]: shorter results are extended */
  bool guard_not, from_p_not[2], yields;
  int32_t guard;              /* predicate, or PTX_NONE */
  int32_t to_p[2], from_p[2]; /* predicates, or PTX_NONE */
  ptx_place to[PTX_MOST_TO], from[PTX_MOST_FROM];
  int64_t offset;        /* of an address; the location in a separate memory space */
  int64_t second_offset; /* of from[1], where that is an address too */
  int32_t target; /* of a branch; before labels are resolved, the number of the label's name */
  const struct ptx_table *table;
  const ptx_list *accumulators; /* NULL: none */
  int line;
  const char *text; /* up to ';', in the module's text */
};

/* A row of the tables of operations. A name with a dot is the whole opcode. */
typedef struct ptx_operation {
  const char *name;
  const char *types;    /* names of types, e.g. "s32 u32"; "" for an operation without */
  uint64_t required;    /* modifiers that select the row */
  uint64_t allowed;     /* optional modifiers */
  const char *operands; /* one letter each, see ptx_decode.c */
  ptx_handler *run;
  ptx_kind kind;
} ptx_operation;

#define PTX_TABLES(X)                                                                              \
  X(integer)                                                                                       \
  X(float)                                                                                         \
  X(half) X(compare) X(move) X(convert) X(memory) X(async) X(matrix) X(warpgroup) X(warp)
#define MEMBER(name)                                                                               \
  extern const ptx_operation ptx_##name##_operations[];                                            \
  extern const int ptx_n_##name##_operations;
PTX_TABLES(MEMBER)
#undef MEMBER
#define PTX_TABLE(name, ...)                                                                       \
  const ptx_operation ptx_##name##_operations[] = {__VA_ARGS__};                                   \
  const int ptx_n_##name##_operations =                                                            \
      sizeof ptx_##name##_operations / sizeof *ptx_##name##_operations;

/* ---- Modules ---- */

typedef enum ptx_special {
/* clang-format off */
#define PTX_SPECIALS(X)                                                                                                        \
  X(TID_X, "%tid.x") X(TID_Y, "%tid.y") X(TID_Z, "%tid.z") X(NTID_X, "%ntid.x") X(NTID_Y, "%ntid.y")                           \
  X(NTID_Z, "%ntid.z") X(CTAID_X, "%ctaid.x") X(CTAID_Y, "%ctaid.y") X(CTAID_Z, "%ctaid.z") X(NCTAID_X, "%nctaid.x")           \
  X(NCTAID_Y, "%nctaid.y") X(NCTAID_Z, "%nctaid.z") X(LANEID, "%laneid") X(WARPID, "%warpid")                                  \
  X(LANEMASK_EQ, "%lanemask_eq") X(LANEMASK_LT, "%lanemask_lt") X(LANEMASK_LE, "%lanemask_le")                                 \
  X(LANEMASK_GT, "%lanemask_gt") X(LANEMASK_GE, "%lanemask_ge") X(DYNAMIC_SHARED_SIZE, "%dynamic_smem_size")
/* clang-format on */
#define MEMBER(constant, name) PTX_##constant,
  PTX_SPECIALS(MEMBER)
#undef MEMBER
      PTX_N_SPECIALS,
} ptx_special;

/* A name for memory. */
typedef enum ptx_space { PTX_GENERIC, PTX_GLOBAL, PTX_SHARED, PTX_LOCAL, PTX_PARAM } ptx_space;

/* Start of .extern .shared memory: behind what a kernel with such memory may have besides, and low
 * enough that descriptors of matrices, which have 18 bits of an address, reach all of it. It is no
 * multiple of more than the .align that a variable may ask for. */
enum { PTX_MOST_ALIGN = 128, PTX_DYNAMIC_SHARED = (16 << 10) + PTX_MOST_ALIGN };

/* Generic addresses of non-global memory: the space is in bits 56 and up, which host addresses do
 * not use. */
enum {
  PTX_WINDOW_SHIFT = 56,
  PTX_WINDOW_SHARED = 0x51,
  PTX_WINDOW_LOCAL = 0x52,
  PTX_WINDOW_PARAM = 0x53
};

typedef struct ptx_symbol {
  char *name;
  ptx_space space;
  uint64_t at; /* address in global memory; offset in other spaces */
  size_t bytes;
} ptx_symbol;

/* Targets of a brx.idx. */
typedef struct ptx_table {
  int32_t label, *targets;
  int n;
} ptx_table;

struct ptx_kernel {
  char *name;
  ptx_module *module;
  const char *unread; /* the text of its body until that is parsed; then NULL */
  int unread_line;
  char *wrong; /* what is wrong with the body; NULL: nothing */
  ptx_instruction *code;
  int n_code;
  int n_virtual;                     /* number of registers before packing */
  uint8_t *virtual_bits;             /* declared width of each */
  int n_predicates;                  /* number 0 is always false */
  ptx_place special[PTX_N_SPECIALS]; /* PTX_NONE: unused */
  uint32_t *constants;
  unsigned char *constant_wide; /* per row of 32 words: 1 and 2 are the halves of a 64-bit row */
  size_t n_constants;           /* in words */
  size_t n_words;               /* in the rows of a warp */
  struct ptx_table *tables;
  int n_tables;
  ptx_list **lists; /* those of instructions */
  int n_lists;
  /* Registers of products of warpgroups, first of those of 32 bits, have rows of their own. */
  ptx_place pinned_at;
  size_t n_pinned_words;
  ptx_symbol *symbols; /* shared and local variables */
  int n_symbols;
  ptx_symbol *parameters;
  int n_parameters;
  size_t parameter_bytes, local_bytes, shared_bytes;
  uint32_t most_threads, required[3];  /* .maxntid (all dimensions), .reqntid; 0: none */
  uint32_t least_ctas, most_registers; /* .minnctapersm, .maxnreg; 0: none */
};

struct ptx_module {
  char *text;
  ptx_kernel **kernels;
  int n_kernels;
  ptx_symbol *symbols; /* of the module */
  int n_symbols;
  size_t shared_bytes; /* size of the module's own variables, before those of kernels */
};

/* ---- Parsing ---- */

typedef enum ptx_operand_kind {
  PTX_REGISTER, /* virtual register */
  PTX_PREDICATE,
  PTX_NUMBER,
  PTX_SYMBOL,  /* address of memory: symbol + offset */
  PTX_NAME,    /* of a label */
  PTX_SINK,    /* _ */
  PTX_ADDRESS, /* [base + offset] */
  PTX_VECTOR,  /* {a, b, ...} */
} ptx_operand_kind;

typedef struct ptx_operand {
  ptx_operand_kind kind;
  bool negated;  /* !p */
  bool is_float; /* how a number is written; if true, `bits` are those of f32 or f64 */
  bool is_f64;
  int32_t number; /* of the register or predicate; ADDRESS: of the base, or PTX_NONE */
  int32_t paired; /* a|p: the predicate, or PTX_NONE */
  uint64_t bits;  /* of a number; offset of addresses and symbols */
  const ptx_symbol *symbol;
  int n_of_vector;
  struct ptx_operand *of_vector;
  char name[64];
} ptx_operand;

enum { PTX_MOST_OPERANDS = 8 };

/* A parsed instruction. */
typedef struct ptx_statement {
  char opcode[96];
  int n_operands;
  ptx_operand operands[PTX_MOST_OPERANDS];
} ptx_statement;

/* Sets type, modifiers, operands and handler of an instruction; false and `error` if the tables
 * lack it. Adds constants to the kernel. */
bool ptx_decode(ptx_kernel *kernel, const ptx_statement *statement, ptx_instruction *i,
                char error[PTX_TEXT]);

/* Assigns the same row to values that are never live at the same time, so that a warp's rows stay
 * in the cache. Locations become final. */
void ptx_pack_registers(ptx_kernel *kernel);

/* Adds a virtual register. */
int32_t ptx_new_register(ptx_kernel *kernel, int bits);

/* Returns the location of a constant, the same for all threads. */
ptx_place ptx_constant(ptx_kernel *kernel, uint64_t bits, bool wide);

/* Parses the body of a kernel whose module was opened, once. False and `error` if it is invalid.
 * Any thread. */
bool ptx_read_kernel(ptx_kernel *kernel, char error[PTX_TEXT]);

/* ---- Execution ---- */

enum {
  PTX_MOST_BARRIERS = 16,
  PTX_KNOWN_RANGES = 4,
  PTX_MOST_WARPS = PTX_MOST_THREADS / PTX_WARP,
  PTX_WORD = 4, /* bytes of shared memory that are mostly accessed together */
  PTX_UNIT = 16 /* bytes of shared memory that a product reads at once */
};

typedef enum ptx_state { PTX_RUNS, PTX_AT_BARRIER, PTX_AT_TOGETHER, PTX_AT_REGISTERS } ptx_state;

/* Threads of a warp at the same instruction. */
typedef struct ptx_group {
  int32_t at;
  uint32_t mask;
  ptx_state state;
  uint32_t barrier;
} ptx_group;

/* The last accesses to a byte or a word of shared memory: see ptx_shadow.c. */
typedef struct ptx_shadow {
  uint32_t writer, reader;          /* thread + 1; 0: none; reader also: several */
  uint32_t written, read;           /* clocks of their warps at those accesses */
  uint32_t written_warp, read_warp; /* epochs of their warps */
  uint32_t read_epoch;              /* of the CTA */
  uint32_t fenced;                  /* proxy fences of the writer's warp before the write */
} ptx_shadow;

/* Says for a word of shared memory which warps may read it again without a check. A warp may if its
 * reads come after the last write of the word, and several threads have read the word since then.
 * The mark ends with the next write of the word, and with the next barrier. */
typedef struct ptx_read_mark {
  uint32_t epoch; /* of the CTA */
  uint32_t warps;
} ptx_read_mark;

typedef struct ptx_cta ptx_cta;

/* A copy to shared memory that a thread has started and not yet waited for: see ptx_async.c. */
typedef struct ptx_copy {
  int lane;
  uint32_t group;            /* number of the thread's group, once it is committed */
  uint64_t to;               /* in shared memory */
  const unsigned char *from; /* NULL: zeros */
  uint32_t n_from;           /* bytes to copy; the rest of `bytes` becomes 0 */
  uint32_t bytes;
} ptx_copy;

/* A fence.proxy.async: the threads that executed it, and their warp's clock. */
typedef struct ptx_proxy_fence {
  uint32_t mask, clock;
} ptx_proxy_fence;

struct ptx_warp {
  ptx_cta *cta;
  const uint32_t *constants;
  uint32_t *rows;
  uint32_t *predicates;
  unsigned char *local;  /* of its threads, consecutively */
  uint32_t number, live; /* live: number of threads that have not ended */
  uint32_t epoch;        /* counts bar.warp.sync */
  int n_groups;
  int32_t after;                  /* position of threads that let others proceed first; -1: none */
  ptx_group groups[PTX_WARP + 1]; /* one extra during a split */
  ptx_copy *copies;
  int n_copies, copies_capacity;
  uint32_t n_committed[PTX_WARP]; /* groups of copies of each thread */
  /* Of each warp, what happens before the next access of this one: accesses up to this clock. A
   * warp's own clock counts its arrivals at barriers. */
  uint32_t clock[PTX_MOST_WARPS];
  uint32_t proxied[PTX_MOST_WARPS]; /* `clock` at the last proxy fence of the whole warp */
  ptx_proxy_fence *fences;
  int n_fences;
  uint32_t n_registers;          /* of each thread, as setmaxnreg sets it */
  struct ptx_products *products; /* see ptx_warpgroup.c; NULL: the kernel has none */
};

/* A barrier that threads have reached. */
typedef struct ptx_barrier {
  uint32_t arrived, expected; /* threads; expected 0: all of the CTA */
  bool reduces;
  uint32_t n_true;                /* predicates of the threads that have arrived */
  uint32_t clock[PTX_MOST_WARPS]; /* the latest of the threads that have arrived */
} ptx_barrier;

struct ptx_cta {
  const ptx_kernel *kernel;
  const ptx_launch *launch;
  uint32_t index[3], n_threads, n_warps, epoch;
  uint64_t n_rounds;
  const bool *stop; /* another CTA has failed */
  ptx_warp *warps;
  unsigned char *shared;
  ptx_shadow *words, *bytes; /* of each word or, where it is apart, of each byte */
  ptx_read_mark *marks;      /* of each word */
  bool *apart;               /* of each word: its bytes were accessed apart */
  size_t shared_bytes;       /* of `shared`: what the kernel declares, then what the launch adds */
  size_t dynamic_at;         /* where the latter begins */
  size_t n_words;            /* of `shared` */
  bool is_used;              /* another CTA has run with this memory */
  ptx_barrier barriers[PTX_MOST_BARRIERS];
  uint32_t n_registers; /* that warps have given back */
  /* If the kernel has products of warpgroups, for each unit of shared memory: the number of running
   * ones that read it; and of each warp, its clock when the last one that read it was waited
   * for. */
  uint16_t *n_reading;
  uint32_t *read_by;
  struct ptx_sequence *sequences; /* of the warpgroups: see ptx_warpgroup.c */
  const ptx_instruction *executing;
  struct {
    uint64_t begin, end;
  } known[PTX_KNOWN_RANGES]; /* cached allocations */
  int next_known;
  ptx_result result;
  char *error; /* PTX_TEXT bytes */
};

/* ---- ptx_barrier.c ---- */

/* Threads of `mask` reach a barrier. If they are the last ones, those that wait go on. `s`: the
 * group of those that wait; NULL: they only arrive. */
void ptx_reach_barrier(ptx_warp *w, const ptx_instruction *i, uint32_t mask, ptx_group *s);
/* Opens barriers of the whole CTA that all live threads have reached; true if there are any. */
bool ptx_open_barriers(ptx_cta *c);
/* Executes setmaxnreg; false if it has to wait. */
bool ptx_resize(ptx_warp *w, const ptx_instruction *i, uint32_t mask);
/* Lets warps try again that wait for registers; true if there are any for which there are
 * enough. */
bool ptx_find_registers(ptx_cta *c);
void ptx_begin_barriers(ptx_cta *c);

/* ---- ptx_warpgroup.c ---- */

void ptx_make_products(ptx_cta *c);
void ptx_free_products(ptx_cta *c);
void ptx_begin_products(ptx_cta *c);
/* Fails if warps of a group have not executed the same, or a product was not waited for. */
void ptx_end_products(ptx_cta *c);
/* Fails, and returns false, unless the mask has a bit for each thread that the warp has. */
bool ptx_has_all(ptx_warp *w, uint32_t mask);

/* Runs one CTA to its end or failure. The caller has set `index` and what ptx_grid.c allocates. */
void ptx_run_cta(ptx_cta *cta);

/* Returns true if an address is in a module variable, with its begin and end. */
bool ptx_in_module(const ptx_module *module, uint64_t address, uint64_t *begin, uint64_t *end);

/* Records a failure of the CTA; only the first one counts. lane < 0: no specific thread. */
void ptx_fail(ptx_warp *warp, int lane, ptx_result result, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static inline bool ptx_is_wide(const ptx_instruction *i, int bit) { return i->wide >> bit & 1; }

static inline const uint32_t *ptx_row(const ptx_warp *w, ptx_place place) {
  return place >= 0 ? w->rows + place : w->constants + ~place;
}

/* Rows of operands. */
static inline uint32_t *ptx_to32(ptx_warp *w, const ptx_instruction *i, int k) {
  return w->rows + i->to[k];
}
static inline uint64_t *ptx_to64(ptx_warp *w, const ptx_instruction *i, int k) {
  return (void *)(w->rows + i->to[k]);
}
static inline const uint32_t *ptx_from32(const ptx_warp *w, const ptx_instruction *i, int k) {
  return ptx_row(w, i->from[k]);
}
static inline const uint64_t *ptx_from64(const ptx_warp *w, const ptx_instruction *i, int k) {
  return (const void *)ptx_row(w, i->from[k]);
}

/* Returns predicate operand k as a mask of threads. */
static inline uint32_t ptx_predicate(const ptx_warp *w, const ptx_instruction *i, int k) {
  return i->from_p[k] == PTX_NONE
             ? 0
             : w->predicates[i->from_p[k]] ^ (i->from_p_not[k] ? UINT32_MAX : 0);
}

/* Reads a value of either width. */
static inline uint64_t ptx_read(const ptx_warp *w, const ptx_instruction *i, int k, int lane) {
  return ptx_is_wide(i, 4 + k) ? ptx_from64(w, i, k)[lane] : ptx_from32(w, i, k)[lane];
}
static inline void ptx_write(ptx_warp *w, const ptx_instruction *i, int k, int lane,
                             uint64_t value) {
  if (ptx_is_wide(i, k))
    ptx_to64(w, i, k)[lane] = value;
  else
    ptx_to32(w, i, k)[lane] = (uint32_t)value;
}

/* setp: the comparison is true for the threads of `holds`; with an operator it is combined with the
 * predicate operand. */
void ptx_set_predicates(ptx_warp *w, const ptx_instruction *i, uint32_t mask, uint32_t holds);
/* Compares two numbers. With a NaN, only comparisons with PTX_UNORDERED are true. */
bool ptx_compare(double a, double b, int comparison);

/* ptx_memory.c and ptx_shadow.c: return the memory of an access by a thread; NULL after a failure.
 * `new_bytes`: the data to write to shared memory, NULL for a read. */
unsigned char *ptx_reach_global(ptx_warp *w, int lane, uint64_t address, size_t bytes);
unsigned char *ptx_reach_shared(ptx_warp *w, int lane, uint64_t address, size_t bytes,
                                const unsigned char *new_bytes);
/* ptx_shadow.c: the same for reads of shared memory by all threads of a mask: sets `from` of each.
 * Returns false after a failure. */
bool ptx_read_shared(ptx_warp *w, uint32_t mask, const uint64_t address[PTX_WARP], size_t bytes,
                     const unsigned char *from[PTX_WARP]);

/* ptx_shadow.c: returns a unit of shared memory that a product of a warpgroup reads, and its
 * number; NULL after a failure. */
const unsigned char *ptx_reach_unit(ptx_warp *w, uint64_t address, size_t *number);

/* ptx_descriptor.c: reads a part of an operand of wgmma: n of its rows (or columns, of the right
 * operand), from `first` on, of `all` that it has. Each has PTX_DEPTH elements; to[k][i] becomes
 * element k of row first + i. Sets units to the numbers of the units that it read, and returns how
 * many; 0 after a failure. mn_major: memory has the transposed operand. */
enum { PTX_DEPTH = 16, PTX_OF_UNIT = PTX_UNIT / 2, PTX_MOST_ACROSS = 2 * PTX_MOST_LIST };
int ptx_read_matrix(ptx_warp *w, uint64_t descriptor, bool mn_major, uint32_t first, uint32_t n,
                    uint32_t all, int type, double (*to)[PTX_MOST_ACROSS], uint16_t *units);

/* Applies the rounding mode of the modifiers until ptx_round_nearest. */
void ptx_round_as(uint64_t modifiers);
void ptx_round_nearest(void);

/* Convert f16 and bf16 (PTX_F16 or PTX_BF16): exact to double; back with one rounding of the exact
 * value x + tail, where |tail| is small relative to x. */
static inline bool ptx_is_f16(int type) { return type == PTX_F16 || type == PTX_F16X2; }
static inline double ptx_of_half(int type, uint32_t bits) {
  return (double)(ptx_is_f16(type) ? f16_to_f32((uint16_t)bits) : bf16_to_f32((uint16_t)bits));
}
uint32_t ptx_to_half(int type, double x, double tail, uint64_t modifiers);

/* PTX_EACH_LANE(mask, l, statement): runs the statement for the threads of a mask; for all 32 in a
 * loop that vectorizes, because rows are identical or disjoint. */
#define PTX_EACH_LANE(mask, l, ...)                                                                \
  if ((mask) == UINT32_MAX) {                                                                      \
    _Pragma("omp simd") for (int l = 0; l < PTX_WARP; l++) __VA_ARGS__                             \
  } else {                                                                                         \
    for (uint32_t rest_ = (mask); rest_; rest_ &= rest_ - 1) {                                     \
      int l = __builtin_ctz(rest_);                                                                \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }

#endif
