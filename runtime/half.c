/* f16 and bf16: the public conversions. */
#include "half.h"

#include "tprt/types.h"

float tprt_f16_to_f32(uint16_t bits) { return f16_to_f32(bits); }
uint16_t tprt_f32_to_f16(float value) { return f32_to_f16(value); }
float tprt_bf16_to_f32(uint16_t bits) { return bf16_to_f32(bits); }
uint16_t tprt_f32_to_bf16(float value) { return f32_to_bf16(value); }
