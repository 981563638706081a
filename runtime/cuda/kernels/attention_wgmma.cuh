/* Attention of 16-bit types on the tensor cores of sm_90 (wgmma, which other GPUs lack). Two groups
 * of four warps have 64 rows each. A third one fetches tiles of keys and values, two of each ahead;
 * it and the others meet at named barriers, so that one group's softmax runs while the tensor cores
 * work for the other (FlashAttention-3: Shah et al. 2024). In a group, the products of a tile's
 * scores and the next tile's keys run while it computes exponentials.
 *
 * wgmma has its right operand, and here the queries, in shared memory: rows of 64 elements, 128
 * bytes, in which the 16-byte pieces of row r are exchanged by their number xor r % 8 ("128-byte
 * swizzle"), so that neither fetches nor products meet in a bank. Its results lie in registers as
 * those of mma do (attention_mma.cuh): of 8 columns a thread has 2t and 2t + 1 of rows g and g + 8,
 * and 16 rows belong to a warp. */
#ifndef TPRT_RUNTIME_CUDA_ATTENTION_WGMMA_H
#define TPRT_RUNTIME_CUDA_ATTENTION_WGMMA_H

#include "cuda/kernels/attention_mma.cuh"

/* ---- instructions ---- */

TPRT_INLINE void begin_products(void) { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
TPRT_INLINE void end_products(void) {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/* Waits for all groups of products but the last `running`. */
template <int running> TPRT_INLINE void await_products(void) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(running) : "memory");
}
/* Keeps the compiler from moving uses of registers that products read or write across this
 * point. */
template <int n> TPRT_INLINE void settle(float (&x)[n]) {
  _Pragma("unroll") for (int i = 0; i < n; i++) asm volatile("" : "+f"(x[i])::"memory");
}

/* Shared memory that fetches have written becomes visible to products. */
TPRT_INLINE void publish_fetches(void) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
template <int running> TPRT_INLINE void await_fetch_groups(void) {
  asm volatile("cp.async.wait_group %0;" ::"n"(running) : "memory");
}

/* Moves registers between groups: all threads of a group call it. */
template <int n> TPRT_INLINE void take_registers(void) {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n));
}
template <int n> TPRT_INLINE void give_registers(void) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n));
}

/* Named barriers: `n` threads meet, of which those that arrive do not wait. */
TPRT_INLINE void meet(uint32_t barrier, uint32_t n) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(n) : "memory");
}
TPRT_INLINE void arrive(uint32_t barrier, uint32_t n) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(n) : "memory");
}

#define WGMMA_R32                                                                                  \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                         \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_R64                                                                                  \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                         \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "               \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "               \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_4(c, i) "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3])
#define WGMMA_16(c, i) WGMMA_4(c, i), WGMMA_4(c, i + 4), WGMMA_4(c, i + 8), WGMMA_4(c, i + 12)
#define WGMMA_32(c) WGMMA_16(c, 0), WGMMA_16(c, 16)
#define WGMMA_64(c) WGMMA_32(c), WGMMA_16(c, 32), WGMMA_16(c, 48)

/* c = a b (+ c if `adds`), with 64 rows of a in shared memory, b with 128 columns; and c += a b
 * with a in registers, where the rows of b in shared memory are those of the product. */
#define WGMMA(name)                                                                                \
  TPRT_INLINE void multiply_scores(type_##name, float (&c)[64], uint64_t a, uint64_t b,            \
                                   uint32_t adds) {                                                \
    asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, %66, 0;\n"                                \
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32." #name "." #name " {" WGMMA_R64     \
                 "}, %64, %65, adds, 1, 1, 0, 0;\n}\n"                                             \
                 : WGMMA_64(c)                                                                     \
                 : "l"(a), "l"(b), "r"(adds));                                                     \
  }                                                                                                \
  TPRT_INLINE void multiply_values(type_##name, float (&c)[64], const uint32_t (&a)[4],            \
                                   uint64_t b) {                                                   \
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." #name "." #name " {" WGMMA_R64     \
                 "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;\n"                                     \
                 : WGMMA_64(c)                                                                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                            \
  }                                                                                                \
  TPRT_INLINE void multiply_values(type_##name, float (&c)[32], const uint32_t (&a)[4],            \
                                   uint64_t b) {                                                   \
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." #name "." #name " {" WGMMA_R32      \
                 "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;\n"                                     \
                 : WGMMA_32(c)                                                                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                            \
  }
WGMMA(f16)
WGMMA(bf16)

/* ---- tiles in shared memory ---- */

enum {
  WGMMA_HALF = 64,     /* elements of a row of 128 bytes */
  WGMMA_ROW = 128,     /* bytes */
  WGMMA_UNIT = 16,     /* bytes, in which descriptors count */
  WGMMA_ROWS_8 = 1024, /* bytes of 8 rows */
  WGMMA_GROUP = 128,   /* threads */
};

/* Returns the descriptor by which wgmma finds a matrix in shared memory. The matrix begins at
 * `address`, and each 8 rows lie WGMMA_ROWS_8 bytes behind the 8 rows before them. `half` matters
 * for the values only, whose rows have two halves: it is the distance between the halves in bytes.
 * For other matrices it is WGMMA_UNIT, which wgmma ignores. */
TPRT_INLINE uint64_t describe_matrix(uint32_t address, uint32_t half) {
  const uint64_t swizzle_128 = 1ull << 62;
  return (address & 0x3ffff) >> 4 | (uint64_t)(half >> 4) << 16 |
         (uint64_t)(WGMMA_ROWS_8 >> 4) << 32 | swizzle_128;
}

/* Starts to copy 16 bytes to a shared address; with `is_inside` false it writes zeros. */
TPRT_INLINE void fetch_to(uint32_t to, const void *from, bool is_inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(is_inside ? 16 : 0)
               : "memory");
}

/* Starts to fetch rows, by the group, with zeros behind their end and behind row n: one half of all
 * rows after the other. `offset` gives the first element of a row. */
template <int FEATURES, int ROWS, typename offset_fn>
TPRT_INLINE void fetch_rows(uint32_t to, const uint16_t *from, int64_t n, int32_t n_features,
                            offset_fn offset) {
  enum { PIECES = FEATURES / MMA_VECTOR, OF_HALF = WGMMA_HALF / MMA_VECTOR };
  uint32_t thread = threadIdx.x % WGMMA_GROUP, piece = thread % PIECES, half = piece / OF_HALF;
  int32_t feature = (int32_t)(piece * MMA_VECTOR);
  for (uint32_t r = thread / PIECES; r < ROWS; r += WGMMA_GROUP / PIECES) {
    bool is_inside = r < n && feature < n_features;
    fetch_to(to + half * ROWS * WGMMA_ROW + r * WGMMA_ROW + (piece % OF_HALF ^ r % 8) * 16,
             is_inside ? from + offset(r) + feature : from, is_inside);
  }
}

/* ---- the order of the warps ---- */

/* By kind, tile % 2 and group. Barrier 0 is that of the whole block. */
enum { WGMMA_KEYS, WGMMA_VALUES };
TPRT_INLINE uint32_t filled(int kind, int32_t tile, uint32_t group) {
  return 1 + kind * 4 + tile % 2 * 2 + group;
}
TPRT_INLINE uint32_t emptied(int kind, int32_t tile) { return 9 + kind * 2 + tile % 2; }

/* Addresses in shared memory. */
template <int FEATURES> struct shared_tiles {
  enum {
    QUERY_BYTES = 2 * FEATURES * ATTENTION_WGMMA_ROWS,
    BYTES = 2 * FEATURES * ATTENTION_WGMMA_COLUMNS
  };
  uint32_t queries;
  TPRT_INLINE shared_tiles make(const void *memory) {
    return {(shared_address(memory) + WGMMA_ROWS_8 - 1) / WGMMA_ROWS_8 * WGMMA_ROWS_8};
  }
  __device__ __forceinline__ uint32_t of(int kind, int32_t tile) const {
    return queries + QUERY_BYTES + (kind * 2 + tile % 2) * BYTES;
  }
};

/* What of the columns is computed: in the first part those that some row sees, in the second the
 * others, unless they add nothing. */
TPRT_INLINE int32_t end_of_part(const block_place &p, int part) {
  return part == 0 ? p.n_visible : p.n_tiles;
}

/* True if the second part adds something to a row of the block. All threads call it. */
TPRT_INLINE bool needs_hidden(const block_place &p, int part, bool outweighs) {
  return part == 0 && p.n_visible < p.n_tiles && !__syncthreads_and(outweighs);
}

/* ---- the group that fetches ---- */

template <int FEATURES>
TPRT_INLINE void fetch_tiles(const attention_args &args, const block_place &p,
                             const shared_tiles<FEATURES> &tiles) {
  const uint16_t *from[] = {(const uint16_t *)args.k + p.base[ATTENTION_K],
                            (const uint16_t *)args.v + p.base[ATTENTION_V]};
  const int64_t stride[] = {args.column.stride[ATTENTION_K], args.column.stride[ATTENTION_V]};
  const int32_t n_features[] = {(int32_t)args.feature.size, (int32_t)args.value.size};
  fetch_rows<FEATURES, ATTENTION_WGMMA_ROWS>(
      tiles.queries, (const uint16_t *)args.q + p.base[ATTENTION_Q], p.n_rows - p.first,
      n_features[WGMMA_KEYS],
      [&](uint32_t r) { return row_offset(args, p.first + r, ATTENTION_Q); });
  int32_t begin = 0;
  for (int part = 0;; part++) {
    int32_t end = end_of_part(p, part);
    int last_kind = -1;
    int32_t last_tile = 0;
    for (int32_t t = begin; t < end; t++)
      _Pragma("unroll") for (int kind = 0; kind < 2; kind++) {
        if (t - begin >= 2)
          meet(emptied(kind, t), ATTENTION_WGMMA_THREADS);
        int64_t first = (int64_t)t * ATTENTION_WGMMA_COLUMNS;
        fetch_rows<FEATURES, ATTENTION_WGMMA_COLUMNS>(
            tiles.of(kind, t), from[kind] + first * stride[kind], args.column.size - first,
            n_features[kind], [&](uint32_t r) { return r * stride[kind]; });
        end_fetch_group();
        if (last_kind >= 0) { /* the tile before this one is there */
          await_fetch_groups<1>();
          publish_fetches();
          for (uint32_t g = 0; g < ATTENTION_WGMMA_GROUPS; g++)
            arrive(filled(last_kind, last_tile, g), 2 * WGMMA_GROUP);
        }
        last_kind = kind;
        last_tile = t;
      }
    if (last_kind >= 0) {
      await_fetch_groups<0>();
      publish_fetches();
      for (uint32_t g = 0; g < ATTENTION_WGMMA_GROUPS; g++)
        arrive(filled(last_kind, last_tile, g), 2 * WGMMA_GROUP);
    }
    begin = end;
    if (!needs_hidden(p, part, true))
      break;
  }
}

/* ---- the groups that compute ---- */

template <typename type, int FEATURES> struct group_state {
  const attention_args &args;
  const block_place &p;
  shared_tiles<FEATURES> tiles;
  uint32_t group;
  int64_t mask_at[2];
  int32_t last[2]; /* the last column that a row sees */
  bool is_row[2];
  float scale, hidden; /* times log2 e: exponentials are powers of 2 */
  float largest[2], sum[2], factor[2];
  float score[ATTENTION_WGMMA_COLUMNS / 2], result[FEATURES / 2];
  uint32_t weights[ATTENTION_WGMMA_COLUMNS / 16][4];

  enum { STEPS = FEATURES / 16 };

  /* Starts the products of the queries and a tile of keys. */
  __device__ __forceinline__ void start_scores(int32_t t) {
    meet(filled(WGMMA_KEYS, t, group), 2 * WGMMA_GROUP);
    begin_products();
    _Pragma("unroll") for (int s = 0; s < STEPS; s++) {
      uint32_t half = s / 4, at = s % 4 * 32;
      multiply_scores(
          type(), score,
          describe_matrix(tiles.queries + half * ATTENTION_WGMMA_ROWS * WGMMA_ROW +
                              group * 64 * WGMMA_ROW + at,
                          WGMMA_UNIT),
          describe_matrix(tiles.of(WGMMA_KEYS, t) + half * ATTENTION_WGMMA_COLUMNS * WGMMA_ROW + at,
                          WGMMA_UNIT),
          s > 0);
    }
    end_products();
  }

  /* Starts the products of the weights and a tile of values. */
  __device__ __forceinline__ void start_values(int32_t t) {
    meet(filled(WGMMA_VALUES, t, group), 2 * WGMMA_GROUP);
    begin_products();
    _Pragma("unroll") for (int s = 0; s < ATTENTION_WGMMA_COLUMNS / 16; s++)
        multiply_values(type(), result, weights[s],
                        describe_matrix(tiles.of(WGMMA_VALUES, t) + s * 2 * WGMMA_ROWS_8,
                                        ATTENTION_WGMMA_COLUMNS * WGMMA_ROW));
    end_products();
  }

  /* The tile has been read, and tile t + 2 of this part may take its place. */
  __device__ __forceinline__ void release(int kind, int32_t t, int32_t end) {
    if (t + 2 < end)
      arrive(emptied(kind, t), ATTENTION_WGMMA_THREADS);
  }

  /* Scales and masks the scores of a tile, and makes them exponentials. */
  __device__ __forceinline__ void soften(int32_t t) {
    int32_t first = t * ATTENTION_WGMMA_COLUMNS, end = first + ATTENTION_WGMMA_COLUMNS - 1,
            n = (int32_t)args.column.size;
    bool is_whole = end < n && args.mask_kind == ATTENTION_NO_MASK && end <= last[0] &&
                    end <= last[1] && is_row[0] && is_row[1];
    float by = fabsf(scale);
    if (!is_whole || scale < 0) {
      _Pragma("unroll") for (int i = 0; i < ATTENTION_WGMMA_COLUMNS / 2; i++) score[i] *= scale;
      by = 1;
    }
    if (!is_whole)
      _Pragma("unroll") for (int i = 0; i < ATTENTION_WGMMA_COLUMNS / 2; i++) {
        int h = i / 2 % 2;
        int32_t column = first + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
        score[i] = is_row[h] && column < n ? mask(score[i], h, column) : -INFINITY;
      }
    _Pragma("unroll") for (int h = 0; h < 2; h++) {
      float before = largest[h], here = -INFINITY;
      _Pragma("unroll") for (int i = 0; i < ATTENTION_WGMMA_COLUMNS / 4; i++) here =
          fmaxf(here, score[i / 2 * 4 + 2 * h + i % 2]);
      here = fmaxf(here, __shfl_xor_sync(0xffffffffu, here, 1));
      here = fmaxf(here, __shfl_xor_sync(0xffffffffu, here, 2));
      largest[h] = fmaxf(before, here * by);
      float from = finite_largest(largest[h]);
      factor[h] = power_of_2(before - from);
      sum[h] *= factor[h];
      _Pragma("unroll") for (int i = 0; i < ATTENTION_WGMMA_COLUMNS / 4; i++) {
        float &x = score[i / 2 * 4 + 2 * h + i % 2];
        x = power_of_2(fmaf(x, by, -from));
        sum[h] += x;
      }
    }
  }

  /* The largest negative numbers, by which programs hide scores, must not become -infinity: rows
   * without other scores would have no sum. */
  static __device__ __forceinline__ float times_log2_e(float x) {
    return x < -2e38f && x > -INFINITY ? -3e38f : x * 1.44269504f;
  }
  static __device__ __forceinline__ float add_mask(float x, float mask) {
    float sum = x + times_log2_e(mask);
    return mask > -INFINITY && x > -INFINITY ? fmaxf(sum, -3e38f) : sum;
  }

  __device__ __forceinline__ float mask(float x, int h, int32_t column) const {
    return mask_score<type>(args, x, hidden, mask_at[h], column, last[h], add_mask);
  }

  static __device__ __forceinline__ float power_of_2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  }

  /* As for the other kernels, but of scores times log2 e, of which the lowest are all -3e38. */
  __device__ __forceinline__ bool outweighs_hidden(int h) const {
    return hidden == -INFINITY || largest[h] - hidden > 110 * 1.44269504f;
  }

  /* Makes the exponentials the left operand of the products with values; no such product runs. */
  __device__ __forceinline__ void take_weights(void) {
    _Pragma("unroll") for (int i = 0; i < ATTENTION_WGMMA_COLUMNS / 4; i++) weights[i / 4][i % 4] =
        pack(type(), score[2 * i], score[2 * i + 1]);
  }
  __device__ __forceinline__ void rescale(void) {
    _Pragma("unroll") for (int i = 0; i < FEATURES / 2; i++) result[i] *= factor[i / 2 % 2];
  }

  __device__ __forceinline__ void attend(int32_t begin, int32_t end) {
    start_scores(begin);
    await_products<0>();
    settle(score);
    release(WGMMA_KEYS, begin, end);
    soften(begin);
    rescale();
    take_weights();
    _Pragma("unroll 1") for (int32_t t = begin; t < end - 1; t++) {
      start_scores(t + 1);
      start_values(t);
      await_products<1>();
      settle(score);
      release(WGMMA_KEYS, t + 1, end);
      soften(t + 1);
      await_products<0>();
      settle(result);
      release(WGMMA_VALUES, t, end);
      rescale();
      take_weights();
    }
    start_values(end - 1);
    await_products<0>();
    settle(result);
  }

  __device__ __forceinline__ void store(void) {
    int64_t first =
        p.first + group * 64 + threadIdx.x % WGMMA_GROUP / 32 * 16 + threadIdx.x % 32 / 4;
    _Pragma("unroll") for (int h = 0; h < 2; h++) {
      sum[h] += __shfl_xor_sync(0xffffffffu, sum[h], 1);
      sum[h] += __shfl_xor_sync(0xffffffffu, sum[h], 2);
      if (!is_row[h])
        continue;
      int64_t out = p.base[ATTENTION_OUT] + row_offset(args, first + 8 * h, ATTENTION_OUT);
      float by = 1 / sum[h];
      _Pragma("unroll") for (int i = 0; i < FEATURES / 8; i++) {
        int64_t f = i * 8 + threadIdx.x % 4 * 2, at = out + f;
        float low = result[4 * i + 2 * h] * by, high = result[4 * i + 2 * h + 1] * by;
        if (f >= args.value.size)
          continue;
        if (args.wide >> ATTENTION_OUT & 1)
          *(float2 *)((float *)args.out + at) = make_float2(low, high);
        else
          *(uint32_t *)((uint16_t *)args.out + at) = pack(type(), low, high);
      }
    }
  }
};

template <typename type, int FEATURES>
TPRT_INLINE void compute_rows(const attention_args &args, const block_place &p,
                              const shared_tiles<FEATURES> &tiles, uint32_t group) {
  const float log2_e = 1.44269504f;
  group_state<type, FEATURES> s = {args, p, tiles, group};
  s.scale = args.scale * log2_e;
  s.hidden = s.times_log2_e(args.hidden);
  for (int h = 0; h < 2; h++) {
    int64_t row =
        p.first + group * 64 + threadIdx.x % WGMMA_GROUP / 32 * 16 + threadIdx.x % 32 / 4 + 8 * h;
    s.last[h] = last_column(args, p, row);
    s.mask_at[h] = p.base[ATTENTION_MASK] + row_offset(args, row, ATTENTION_MASK);
    s.is_row[h] = row < p.n_rows;
    s.largest[h] = -INFINITY;
    s.sum[h] = 0;
  }
  _Pragma("unroll") for (int i = 0; i < FEATURES / 2; i++) s.result[i] = 0;
  int32_t begin = 0;
  for (int part = 0;; part++) {
    int32_t end = end_of_part(p, part);
    if (begin < end)
      s.attend(begin, end);
    begin = end;
    bool outweighs = true;
    for (int h = 0; h < 2; h++)
      outweighs &= !s.is_row[h] || s.outweighs_hidden(h);
    if (!needs_hidden(p, part, outweighs))
      break;
  }
  s.store();
}

/* ---- the kernel ---- */

/* FEATURES is 64 or 128, and neither queries nor values have more features. Features lie next to
 * each other. All addresses are multiples of 16 bytes, and so are the strides of other dimensions.
 */
template <typename type, int FEATURES> TPRT_INLINE void attend_wgmma(const attention_args &args) {
  extern __shared__ uint8_t memory[];
  shared_tiles<FEATURES> tiles = shared_tiles<FEATURES>::make(memory);
  block_place p = place_block(args, ATTENTION_WGMMA_ROWS, ATTENTION_WGMMA_COLUMNS);
  uint32_t group = __shfl_sync(0xffffffffu, threadIdx.x / WGMMA_GROUP, 0);
  if (group == ATTENTION_WGMMA_GROUPS) {
    give_registers<40>();
    fetch_tiles<FEATURES>(args, p, tiles);
  } else {
    take_registers<232>();
    compute_rows<type, FEATURES>(args, p, tiles, group);
  }
}

#endif
