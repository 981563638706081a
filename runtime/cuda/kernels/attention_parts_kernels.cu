/* Attention of few rows with many columns, as in decoding: blocks share the columns of a row, and
 * another kernel combines their parts (Flash-Decoding: Dao et al. 2023). The kernels are those of
 * attention_kernels.cu but for what they store; apart from them, because that takes registers. */
#include "cuda/kernels/attention_mma.cuh"
#include "cuda/kernels/attention_rows.cuh"

#define KERNEL extern "C" __global__ void

#define ATTENTION_PARTS(name)                                                                      \
  KERNEL __launch_bounds__(ATTENTION_THREADS, 2)                                                   \
      tprt_attention_parts_##name(const __grid_constant__ attention_args args) {                   \
    attend<type_##name, true>(args);                                                               \
  }
ATTENTION_PARTS(f32)
ATTENTION_PARTS(f16)
ATTENTION_PARTS(bf16)

#define ATTENTION_PARTS_MMA(name, features)                                                        \
  KERNEL __launch_bounds__(ATTENTION_THREADS, 2)                                                   \
      tprt_attention_parts_##name##_##features(const __grid_constant__ attention_args args) {      \
    attend_mma<type_##name, features, true>(args);                                                 \
  }
#define ATTENTION_PARTS_MMA_ALL(name)                                                              \
  ATTENTION_PARTS_MMA(name, 64)                                                                    \
  ATTENTION_PARTS_MMA(name, 80)                                                                    \
  ATTENTION_PARTS_MMA(name, 96)                                                                    \
  ATTENTION_PARTS_MMA(name, 128)
ATTENTION_PARTS_MMA_ALL(f16)
ATTENTION_PARTS_MMA_ALL(bf16)

/* Each block makes a row of the result from its parts, in their order. */
template <typename type> TPRT_INLINE void combine(const attention_args &args) {
  uint32_t n_parts = args.n_parts;
  int64_t n_rows = count_rows(args), number = blockIdx.x;
  block_place p;
  p.n_rows = args.group.size * args.row.size;
  p.outer = (uint32_t)(number / p.n_rows);
  int64_t row = number % p.n_rows, f = threadIdx.x;
  float largest = -INFINITY, sum = 0, result = 0;
  bool keeps = false;
  for (uint32_t part = 0; part < n_parts; part++)
    largest = fmaxf(largest, partial_numbers(args, part, n_parts, number, n_rows)[0]);
  float from = finite_largest(largest);
  for (uint32_t part = 0; part < n_parts; part++) {
    const float *numbers = partial_numbers(args, part, n_parts, number, n_rows);
    float factor = rescaling(numbers[0], from, [](float x) { return expf(x); });
    sum += numbers[1] * factor;
    keeps |= numbers[2] != 0;
    if (f < args.value.size)
      result += partial_values(args, part, number, n_rows)[f] * factor;
  }
  if (f == 0)
    store_statistics(args, p, row, largest, sum);
  if (f >= args.value.size)
    return;
  int64_t at = find_row_offset(args, p, row, ATTENTION_OUT) + f * args.value.stride[ATTENTION_OUT];
  float made = result / divisor(args, sum, keeps);
  if (args.wide >> ATTENTION_OUT & 1)
    ((float *)args.out)[at] = made;
  else
    ((typename type::stored *)args.out)[at] = type::narrow(made);
}

#define COMBINE(name)                                                                              \
  KERNEL __launch_bounds__(ATTENTION_THREADS)                                                      \
      tprt_attention_combine_##name(const __grid_constant__ attention_args args) {                 \
    combine<type_##name>(args);                                                                    \
  }
COMBINE(f32)
COMBINE(f16)
COMBINE(bf16)
