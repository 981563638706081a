/* Public conversion functions for f16, bf16, f8e4m3 and f8e5m2. */
#include "base/half.h"
#include "base/float8.h"

#include "tprt/types.h"

float tprt_f16_to_f32(uint16_t bits) { return f16_to_f32(bits); }
uint16_t tprt_f32_to_f16(float value) { return f32_to_f16(value); }
float tprt_bf16_to_f32(uint16_t bits) { return bf16_to_f32(bits); }
uint16_t tprt_f32_to_bf16(float value) { return f32_to_bf16(value); }
float tprt_f8e4m3_to_f32(uint8_t bits) { return f8e4m3_to_f32(bits); }
uint8_t tprt_f32_to_f8e4m3(float value) { return f32_to_f8e4m3(value); }
float tprt_f8e5m2_to_f32(uint8_t bits) { return f8e5m2_to_f32(bits); }
uint8_t tprt_f32_to_f8e5m2(float value) { return f32_to_f8e5m2(value); }
