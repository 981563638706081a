/* Tests the PTX machine instruction by instruction. `ptx_test --print` prints the tested module, to
 * validate it with an assembler. */
#define _GNU_SOURCE 1
#include "ptx.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A test case. Its program has its operands in %d1, %d2, %d3 (64 bits), and their lower parts in
 * %r1, %r2, %r3 and %s1, %s2, %s3. Its result is in %d0, %r0, %s0 or %p0, as `result` says. */
typedef struct row {
  const char *program;
  char result;
  uint64_t a, b, c, expected;
} row;

#define F1 0x3f800000u /* f32: 1, 1.5, 2, -2, 3, infinity, NaN as operations return it */
#define F1H 0x3fc00000u
#define F2 0x40000000u
#define FM2 0xc0000000u
#define F3 0x40400000u
#define FINF 0x7f800000u
#define FNAN 0x7fffffffu
#define D1 0x3ff0000000000000u /* f64: 1, 2, 3 */
#define D2 0x4000000000000000u
#define D3 0x4008000000000000u
#define ALL64 UINT64_MAX

static const row integers[] = {
    {"add.s32 %r0, %r1, %r2;", 'r', 0x7fffffff, 1, 0, 0x80000000},
    {"add.s32 %r0, %r1, -5;", 'r', 3, 0, 0, 0xfffffffe},
    {"add.sat.s32 %r0, %r1, %r2;", 'r', 0x7fffffff, 1, 0, 0x7fffffff},
    {"sub.sat.s32 %r0, %r1, %r2;", 'r', 0x80000000, 1, 0, 0x80000000},
    {"add.s16 %s0, %s1, %s2;", 's', 0xffff, 2, 0, 1},
    {"add.u64 %d0, %d1, %d2;", 'd', ALL64, 2, 0, 1},
    {"sub.u32 %r0, %r1, %r2;", 'r', 3, 5, 0, 0xfffffffe},
    {"mul.lo.s32 %r0, %r1, %r2;", 'r', 0x10001, 0x10001, 0, 0x20001},
    {"mul.lo.u64 %d0, %d1, %d2;", 'd', 1ull << 33, 3, 0, 3ull << 33},
    {"mul.hi.u32 %r0, %r1, %r2;", 'r', 0xffffffff, 0xffffffff, 0, 0xfffffffe},
    {"mul.hi.s32 %r0, %r1, %r2;", 'r', 0xffffffff, 5, 0, 0xffffffff},
    {"mul.hi.u64 %d0, %d1, %d2;", 'd', ALL64, ALL64, 0, ALL64 - 1},
    {"mul.hi.s64 %d0, %d1, %d2;", 'd', ALL64, 5, 0, ALL64},
    {"mul.wide.u32 %d0, %r1, %r2;", 'd', 0xffffffff, 2, 0, 0x1fffffffe},
    {"mul.wide.s32 %d0, %r1, %r2;", 'd', 0xffffffff, 2, 0, ALL64 - 1},
    {"mul.wide.s16 %r0, %s1, %s2;", 'r', 0xffff, 3, 0, 0xfffffffd},
    {"mul.wide.u16 %r0, %s1, %s2;", 'r', 0xffff, 3, 0, 0x2fffd},
    {"mad.lo.s32 %r0, %r1, %r2, %r3;", 'r', 7, 6, 0xffffffff, 41},
    {"mad.wide.u32 %d0, %r1, %r2, %d3;", 'd', 0xffffffff, 2, 5, 0x200000003},
    {"mad.wide.s32 %d0, %r1, 8, %d3;", 'd', 0xffffffff, 0, 16, 8},
    {"div.s32 %r0, %r1, %r2;", 'r', 0xfffffff9, 2, 0, 0xfffffffd},
    {"div.s32 %r0, %r1, %r2;", 'r', 0x80000000, 0xffffffff, 0, 0x80000000},
    {"div.u32 %r0, %r1, %r2;", 'r', 0xfffffff9, 2, 0, 0x7ffffffc},
    {"div.u64 %d0, %d1, %d2;", 'd', ALL64, 16, 0, ALL64 >> 4},
    {"rem.s32 %r0, %r1, %r2;", 'r', 0xfffffff9, 4, 0, 0xfffffffd},
    {"rem.u32 %r0, %r1, 10;", 'r', 123, 0, 0, 3},
    {"rem.s64 %d0, %d1, %d2;", 'd', ALL64 - 6, 4, 0, ALL64 - 2},
    {"abs.s32 %r0, %r1;", 'r', 0xfffffffb, 0, 0, 5},
    {"neg.s64 %d0, %d1;", 'd', 5, 0, 0, ALL64 - 4},
    {"min.s32 %r0, %r1, %r2;", 'r', 0xffffffff, 1, 0, 0xffffffff},
    {"min.u32 %r0, %r1, %r2;", 'r', 0xffffffff, 1, 0, 1},
    {"max.s64 %d0, %d1, %d2;", 'd', ALL64, 1, 0, 1},
    {"max.u16 %s0, %s1, %s2;", 's', 0xffff, 1, 0, 0xffff},
    {"min.s16 %s0, %s1, %s2;", 's', 0xffff, 1, 0, 0xffff},
};

static const row bits[] = {
    {"and.b32 %r0, %r1, %r2;", 'r', 0xff00ff00, 0xf0f0f0f0, 0, 0xf000f000},
    {"or.b64 %d0, %d1, %d2;", 'd', 1ull << 40, 2, 0, 1ull << 40 | 2},
    {"xor.b16 %s0, %s1, %s2;", 's', 0xffff, 0xf0f0, 0, 0x0f0f},
    {"not.b32 %r0, %r1;", 'r', 0xff, 0, 0, 0xffffff00},
    {"not.b16 %s0, %s1;", 's', 0xff, 0, 0, 0xff00},
    {"cnot.b32 %r0, %r1;", 'r', 0, 0, 0, 1},
    {"shl.b32 %r0, %r1, %r2;", 'r', 1, 31, 0, 0x80000000},
    {"shl.b32 %r0, %r1, %r2;", 'r', 1, 32, 0, 0},
    {"shl.b64 %d0, %d1, %r2;", 'd', 1, 63, 0, 1ull << 63},
    {"shl.b16 %s0, %s1, %r2;", 's', 0xffff, 4, 0, 0xfff0},
    {"shr.u32 %r0, %r1, %r2;", 'r', 0x80000000, 31, 0, 1},
    {"shr.s32 %r0, %r1, %r2;", 'r', 0x80000000, 40, 0, 0xffffffff},
    {"shr.s64 %d0, %d1, 4;", 'd', 1ull << 63, 0, 0, 0xf8ull << 56},
    {"shr.u64 %d0, %d1, %r2;", 'd', ALL64, 64, 0, 0},
    {"shr.s16 %s0, %s1, %r2;", 's', 0x8000, 3, 0, 0xf000},
    {"popc.b64 %r0, %d1;", 'r', ALL64 >> 3, 0, 0, 61},
    {"clz.b32 %r0, %r1;", 'r', 0, 0, 0, 32},
    {"clz.b64 %r0, %d1;", 'r', 1, 0, 0, 63},
    {"brev.b32 %r0, %r1;", 'r', 0x00000005, 0, 0, 0xa0000000},
    {"brev.b64 %d0, %d1;", 'd', 5, 0, 0, 0xaull << 60},
    {"bfind.u32 %r0, %r1;", 'r', 0x00010000, 0, 0, 16},
    {"bfind.s32 %r0, %r1;", 'r', 0xffffff00, 0, 0, 7},
    {"bfind.u32 %r0, %r1;", 'r', 0, 0, 0, 0xffffffff},
    {"bfe.u32 %r0, %r1, %r2, %r3;", 'r', 0xabcd1234, 8, 12, 0xd12},
    {"bfe.s32 %r0, %r1, %r2, %r3;", 'r', 0x00000f00, 8, 4, 0xffffffff},
    {"bfe.s32 %r0, %r1, 28, 8;", 'r', 0x80000000, 0, 0, 0xfffffff8},
    {"bfe.u64 %d0, %d1, %r2, %r3;", 'd', 0xabull << 40, 40, 8, 0xab},
    {"bfi.b32 %r0, %r1, %r2, 4, 8;", 'r', 0xfab, 0xffffffff, 0, 0xfffffabf},
    {"prmt.b32 %r0, %r1, %r2, %r3;", 'r', 0x33221100, 0x77665544, 0x7531, 0x77553311},
    {"prmt.b32 %r0, %r1, %r2, 0x9988;", 'r', 0x000080ff, 0, 0, 0xffffffff},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0x96;", 'r', 0xff00ff00, 0xf0f0f0f0, 0xcccccccc, 0xc33cc33c},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0xea;", 'r', 0x0f, 0x3c, 0x80, 0x8c},
    {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", 'r', 0x80000000, 1, 33, 3},
    {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", 'r', 0x12345678, 0x9abcdef0, 32, 0x9abcdef0},
    {"shf.r.wrap.b32 %r0, %r1, %r2, %r3;", 'r', 0x12345678, 0x9abcdef0, 8, 0xf0123456},
};

static const row floats[] = {
    {"add.rn.f32 %r0, %r1, %r2;", 'r', F1, F2, 0, F3},
    {"add.f32 %r0, %r1, 0f40000000;", 'r', F1, 0, 0, F3},
    {"add.rn.f32 %r0, %r1, %r2;", 'r', F1, 0x33800000, 0, F1}, /* 1 + 2^-24 */
    {"add.rp.f32 %r0, %r1, %r2;", 'r', F1, 0x33800000, 0, 0x3f800001},
    {"add.rz.f32 %r0, %r1, %r2;", 'r', F1, 0x33ffffff, 0, F1},
    {"add.rm.f32 %r0, %r1, %r2;", 'r', F1, 0xb3800000, 0, 0x3f7fffff},
    {"add.sat.f32 %r0, %r1, %r2;", 'r', F1, F2, 0, F1},
    {"add.sat.f32 %r0, %r1, %r2;", 'r', FNAN, F2, 0, 0},
    {"add.ftz.f32 %r0, %r1, %r2;", 'r', 0x00000001, 0x80000001, 0, 0},
    /* a subnormal result */
    {"mul.ftz.f32 %r0, %r1, %r2;", 'r', 0x00800000, 0x3f000000, 0, 0},
    {"mul.f32 %r0, %r1, %r2;", 'r', 0x00800000, 0x3f000000, 0, 0x00400000},
    {"sub.f32 %r0, %r1, %r2;", 'r', FINF, FINF, 0, FNAN},
    /* 2^-46, exact */
    {"fma.rn.f32 %r0, %r1, %r2, %r3;", 'r', 0x3f800001, 0x3f800001, 0xbf800002, 0x28800000},
    {"fma.rm.f32 %r0, %r1, %r2, %r3;", 'r', F1, F1, 0x33000000, F1},
    {"fma.rp.f32 %r0, %r1, %r2, %r3;", 'r', F1, F1, 0x33000000, 0x3f800001},
    {"div.rn.f32 %r0, %r1, %r2;", 'r', F1, F3, 0, 0x3eaaaaab},
    {"div.full.f32 %r0, %r1, %r2;", 'r', F3, F2, 0, F1H},
    {"div.approx.ftz.f32 %r0, %r1, %r2;", 'r', F3, F2, 0, F1H},
    {"rcp.rn.f32 %r0, %r1;", 'r', F2, 0, 0, 0x3f000000},
    {"rcp.approx.ftz.f32 %r0, %r1;", 'r', 0x80000001, 0, 0, 0xff800000},
    {"sqrt.rn.f32 %r0, %r1;", 'r', F2, 0, 0, 0x3fb504f3},
    {"sqrt.rn.f32 %r0, %r1;", 'r', FM2, 0, 0, FNAN},
    {"rsqrt.approx.f32 %r0, %r1;", 'r', 0x40800000, 0, 0, 0x3f000000},
    {"ex2.approx.ftz.f32 %r0, %r1;", 'r', F3, 0, 0, 0x41000000},
    {"lg2.approx.f32 %r0, %r1;", 'r', 0x41000000, 0, 0, F3},
    {"sin.approx.f32 %r0, %r1;", 'r', 0, 0, 0, 0},
    {"cos.approx.f32 %r0, %r1;", 'r', 0, 0, 0, F1},
    {"tanh.approx.f32 %r0, %r1;", 'r', FINF, 0, 0, F1},
    {"min.f32 %r0, %r1, %r2;", 'r', 0, 0x80000000, 0, 0x80000000},
    {"min.f32 %r0, %r1, %r2;", 'r', FNAN, F2, 0, F2},
    {"max.f32 %r0, %r1, %r2;", 'r', F1, FNAN, 0, F1},
    {"max.NaN.f32 %r0, %r1, %r2;", 'r', F1, FNAN, 0, FNAN},
    {"neg.f32 %r0, %r1;", 'r', F2, 0, 0, FM2},
    {"abs.f32 %r0, %r1;", 'r', FM2, 0, 0, F2},
    {"abs.ftz.f32 %r0, %r1;", 'r', 0x80000001, 0, 0, 0},
    {"copysign.f32 %r0, %r1, %r2;", 'r', FM2, F1, 0, 0xbf800000},
    {"add.rn.f64 %d0, %d1, %d2;", 'd', D1, D2, 0, D3},
    {"mul.f64 %d0, %d1, 0d4000000000000000;", 'd', D1, 0, 0, D2},
    {"fma.rn.f64 %d0, %d1, %d2, %d3;", 'd', D1, D2, D1, D3},
    {"div.rn.f64 %d0, %d1, %d2;", 'd', D1, D3, 0, 0x3fd5555555555555},
    {"div.rp.f64 %d0, %d1, %d2;", 'd', D1, D3, 0, 0x3fd5555555555556},
    {"sqrt.rn.f64 %d0, %d1;", 'd', D2, 0, 0, 0x3ff6a09e667f3bcd},
    {"min.f64 %d0, %d1, %d2;", 'd', D1, D2, 0, D1},
    {"neg.f64 %d0, %d1;", 'd', D1, 0, 0, 0xbff0000000000000},
    {"abs.f64 %d0, %d1;", 'd', 0xbff0000000000000, 0, 0, D1},
};

static const row halves[] = {
    {"add.f16 %s0, %s1, %s2;", 's', 0x3c00, 0x4000, 0, 0x4200},
    /* 2048 + 1: ties to even */
    {"add.f16 %s0, %s1, %s2;", 's', 0x6800, 0x3c00, 0, 0x6800},
    {"fma.rn.f16 %s0, %s1, %s2, %s3;", 's', 0x3c01, 0x3c01, 0xbc02, 0x0010}, /* 2^-20, exact */
    {"mul.f16 %s0, %s1, %s2;", 's', 0x7bff, 0x4000, 0, 0x7c00},
    {"sub.f16 %s0, %s1, %s2;", 's', 0x7c00, 0x7c00, 0, 0x7fff},
    {"add.ftz.f16 %s0, %s1, %s2;", 's', 0x0001, 0x0001, 0, 0},
    {"add.sat.f16 %s0, %s1, %s2;", 's', 0x3c00, 0x3c00, 0, 0x3c00},
    {"add.bf16 %s0, %s1, %s2;", 's', 0x3f80, 0x4000, 0, 0x4040},
    /* 1 + 2^-7 times 1 + 2^-1 is halfway between two bf16 numbers; the tiny addend decides. */
    {"fma.rn.bf16 %s0, %s1, %s2, %s3;", 's', 0x3f81, 0x3fc0, 0x0001, 0x3fc2},
    {"fma.rn.bf16 %s0, %s1, %s2, %s3;", 's', 0x3f81, 0x3fc0, 0x8001, 0x3fc1},
    {"add.f16x2 %r0, %r1, %r2;", 'r', 0x40003c00, 0x3c004000, 0, 0x42004200},
    {"fma.rn.bf16x2 %r0, %r1, %r2, %r3;", 'r', 0x40003f80, 0x40003f80, 0x3f803f80, 0x40a04000},
    {"mul.bf16x2 %r0, %r1, %r2;", 'r', 0x40003f80, 0x40003f80, 0, 0x40803f80},
    {"min.f16 %s0, %s1, %s2;", 's', 0x7fff, 0x4000, 0, 0x4000},
    {"max.NaN.f16 %s0, %s1, %s2;", 's', 0x7fff, 0x4000, 0, 0x7fff},
    {"max.bf16x2 %r0, %r1, %r2;", 'r', 0x40003f80, 0x3f804000, 0, 0x40004000},
    {"neg.f16x2 %r0, %r1;", 'r', 0x3c00bc00, 0, 0, 0xbc003c00},
    {"abs.bf16 %s0, %s1;", 's', 0xbf80, 0, 0, 0x3f80},
    {"ex2.approx.f16 %s0, %s1;", 's', 0x4200, 0, 0, 0x4800},
    {"tanh.approx.f16x2 %r0, %r1;", 'r', 0x7c00fc00, 0, 0, 0x3c00bc00},
};

static const row conversions[] = {
    {"cvt.u64.u32 %d0, %r1;", 'd', 0xffffffff, 0, 0, 0xffffffff},
    {"cvt.s64.s32 %d0, %r1;", 'd', 0xffffffff, 0, 0, ALL64},
    {"cvt.u32.u64 %r0, %d1;", 'r', 0x123456789, 0, 0, 0x23456789},
    {"cvt.u32.u16 %r0, %s1;", 'r', 0xffff, 0, 0, 0xffff},
    {"cvt.s32.s16 %r0, %s1;", 'r', 0xffff, 0, 0, 0xffffffff},
    {"cvt.u16.u32 %s0, %r1;", 's', 0x12345, 0, 0, 0x2345},
    {"cvt.s32.s8 %r0, %r1;", 'r', 0x180, 0, 0, 0xffffff80},
    {"cvt.u32.u8 %r0, %r1;", 'r', 0x180, 0, 0, 0x80},
    {"cvt.s16.s8 %s0, %s1;", 's', 0x80, 0, 0, 0xff80},
    {"cvt.sat.s8.s32 %r0, %r1;", 'r', 1000, 0, 0, 127},
    {"cvt.sat.u8.s32 %r0, %r1;", 'r', 0xffffffff, 0, 0, 0},
    {"cvt.rn.f32.s32 %r0, %r1;", 'r', 0xffffffff, 0, 0, 0xbf800000},
    {"cvt.rn.f32.u32 %r0, %r1;", 'r', 0xffffffff, 0, 0, 0x4f800000},
    {"cvt.rz.f32.u32 %r0, %r1;", 'r', 0xffffffff, 0, 0, 0x4f7fffff},
    {"cvt.rn.f32.s64 %r0, %d1;", 'r', (1ull << 40) + 1, 0, 0, 0x53800000},
    {"cvt.rp.f32.u64 %r0, %d1;", 'r', (1ull << 63) + 1, 0, 0, 0x5f000001},
    {"cvt.rn.f64.u64 %d0, %d1;", 'd', ALL64, 0, 0, 0x43f0000000000000},
    {"cvt.rn.f16.s32 %s0, %r1;", 's', 2049, 0, 0, 0x6800},
    {"cvt.rn.f16.s64 %s0, %d1;", 's', 100000, 0, 0, 0x7c00},
    {"cvt.rzi.s32.f32 %r0, %r1;", 'r', 0xc0200000, 0, 0, 0xfffffffe}, /* -2.5 */
    {"cvt.rni.s32.f32 %r0, %r1;", 'r', 0xc0200000, 0, 0, 0xfffffffe},
    {"cvt.rmi.s32.f32 %r0, %r1;", 'r', 0xc0200000, 0, 0, 0xfffffffd},
    {"cvt.rpi.s32.f32 %r0, %r1;", 'r', 0x40200000, 0, 0, 3},
    {"cvt.rzi.u32.f32 %r0, %r1;", 'r', 0xc0200000, 0, 0, 0},
    {"cvt.rzi.s32.f32 %r0, %r1;", 'r', FINF, 0, 0, 0x7fffffff},
    {"cvt.rzi.s32.f32 %r0, %r1;", 'r', FNAN, 0, 0, 0},
    {"cvt.rzi.u64.f32 %d0, %r1;", 'd', FINF, 0, 0, ALL64},
    {"cvt.rzi.s64.f64 %d0, %d1;", 'd', D3, 0, 0, 3},
    {"cvt.rni.f32.f32 %r0, %r1;", 'r', 0x40200000, 0, 0, F2},
    {"cvt.rmi.f32.f32 %r0, %r1;", 'r', 0xc0200000, 0, 0, 0xc0400000},
    {"cvt.sat.f32.f32 %r0, %r1;", 'r', F3, 0, 0, F1},
    {"cvt.f64.f32 %d0, %r1;", 'd', F3, 0, 0, D3},
    {"cvt.rn.f32.f64 %r0, %d1;", 'r', 0x3fd5555555555555, 0, 0, 0x3eaaaaab},
    {"cvt.rz.f32.f64 %r0, %d1;", 'r', 0x3fd5555555555555, 0, 0, 0x3eaaaaaa},
    {"cvt.rn.f16.f32 %s0, %r1;", 's', 0x477ff000, 0, 0, 0x7c00},
    {"cvt.rz.f16.f32 %s0, %r1;", 's', 0x477ff000, 0, 0, 0x7bff},
    {"cvt.rn.f16.f32 %s0, %r1;", 's', 0x33800001, 0, 0, 1}, /* just above 2^-24 */
    {"cvt.f32.f16 %r0, %s1;", 'r', 0x0001, 0, 0, 0x33800000},
    {"cvt.rn.bf16.f32 %s0, %r1;", 's', 0x3f808000, 0, 0, 0x3f80},
    {"cvt.rn.bf16.f32 %s0, %r1;", 's', 0x3f818000, 0, 0, 0x3f82},
    {"cvt.rz.bf16.f32 %s0, %r1;", 's', 0x3f818000, 0, 0, 0x3f81},
    {"cvt.f32.bf16 %r0, %s1;", 'r', 0xffff, 0, 0, FNAN},
    /* slightly above halfway */
    {"cvt.rn.f16.f64 %s0, %d1;", 's', 0x3ff0020000000001, 0, 0, 0x3c01},
    {"cvt.rn.f16x2.f32 %r0, %r1, %r2;", 'r', F2, F1, 0, 0x40003c00},
    {"cvt.rn.bf16x2.f32 %r0, %r1, %r2;", 'r', F2, F1, 0, 0x40003f80},
};

static const row comparisons[] = {
    {"setp.lt.s32 %p0, %r1, %r2;", 'p', 0xffffffff, 0, 0, 1},
    {"setp.lt.u32 %p0, %r1, %r2;", 'p', 0xffffffff, 0, 0, 0},
    {"setp.hs.u32 %p0, %r1, %r2;", 'p', 5, 5, 0, 1},
    {"setp.ne.s64 %p0, %d1, %d2;", 'p', 1ull << 40, 0, 0, 1},
    {"setp.ge.u64 %p0, %d1, %d2;", 'p', ALL64, 0, 0, 1},
    {"setp.gt.s16 %p0, %s1, %s2;", 'p', 0xffff, 0, 0, 0},
    {"setp.le.s32 %p0, %r1, -1;", 'p', 0xfffffffe, 0, 0, 1},
    {"setp.eq.b16 %p0, %s1, 1;", 'p', 0x10001, 0, 0, 1},
    {"setp.lt.f32 %p0, %r1, %r2;", 'p', F1, F2, 0, 1},
    {"setp.lt.f32 %p0, %r1, %r2;", 'p', FNAN, F2, 0, 0},
    {"setp.ltu.f32 %p0, %r1, %r2;", 'p', FNAN, F2, 0, 1},
    {"setp.ne.f32 %p0, %r1, %r1;", 'p', FNAN, 0, 0, 0},
    {"setp.neu.f32 %p0, %r1, %r1;", 'p', FNAN, 0, 0, 1},
    {"setp.nan.f32 %p0, %r1, %r2;", 'p', F1, FNAN, 0, 1},
    {"setp.num.f32 %p0, %r1, %r2;", 'p', F1, F2, 0, 1},
    {"setp.eq.f32 %p0, %r1, 0f00000000;", 'p', 0x80000000, 0, 0, 1},
    {"setp.eq.ftz.f32 %p0, %r1, %r2;", 'p', 1, 0x80000002, 0, 1},
    {"setp.gt.f64 %p0, %d1, %d2;", 'p', D3, D2, 0, 1},
    {"setp.gt.f16 %p0, %s1, %s2;", 'p', 0x3c00, 0xbc00, 0, 1},
    {"setp.lt.bf16 %p0, %s1, %s2;", 'p', 0x3f80, 0x4000, 0, 1},
    {"setp.eq.u32 %p1, %r1, 1;\nsetp.eq.and.u32 %p0, %r2, 2, %p1;", 'p', 1, 2, 0, 1},
    {"setp.eq.u32 %p1, %r1, 1;\nsetp.eq.or.u32 %p0, %r2, 9, !%p1;", 'p', 1, 2, 0, 0},
    {"setp.eq.u32 %p1|%p0, %r1, 1;", 'p', 1, 0, 0, 0},
    {"setp.eq.u32 %p1, %r1, 1;\nsetp.eq.xor.u32 %p2|%p0, %r1, 1, %p1;", 'p', 1, 0, 0, 1},
    {"setp.eq.u32 %p1, %r1, 1;\nnot.pred %p2, %p1;\nor.pred %p0, %p2, %p1;", 'p', 7, 0, 0, 1},
    {"setp.eq.u32 %p1, %r1, 7;\nmov.pred %p2, 0;\nxor.pred %p0, %p2, %p1;", 'p', 7, 0, 0, 1},
    {"setp.eq.u32 %p1, %r1, 7;\nmov.pred %p2, -1;\nand.pred %p0, %p2, %p1;", 'p', 7, 0, 0, 1},
    {"setp.eq.u32 %p1, %r1, 1;\nselp.b32 %r0, %r2, %r3, %p1;", 'r', 1, 2, 3, 2},
    {"setp.eq.u32 %p1, %r1, 0;\nselp.f32 %r0, 0f3F800000, %r3, %p1;", 'r', 1, 2, F2, F2},
    {"setp.eq.u32 %p1, %r1, 0;\nselp.b64 %d0, %d2, %d3, %p1;", 'd', 0, ALL64, 3, ALL64},
    {"setp.eq.u32 %p1, %r1, 0;\nmov.u32 %r0, 1;\n@%p1 mov.u32 %r0, 2;\n@!%p1 add.u32 %r0, %r0, 5;",
     'r', 3, 0, 0, 6},
};

static const row moves[] = {
    {"mov.u32 %r0, -1;", 'r', 0, 0, 0, 0xffffffff},
    {"mov.f32 %r0, 0f3FC00000;", 'r', 0, 0, 0, F1H},
    {"mov.f64 %d0, 0d4008000000000000;", 'd', 0, 0, 0, D3},
    {"mov.b16 %s0, 0x3C00;", 's', 0, 0, 0, 0x3c00},
    {"mov.b64 %d0, {%r1, %r2};", 'd', 1, 2, 0, 0x200000001},
    {"mov.b64 {%r0, %r4}, %d1;", 'r', 0x200000001, 0, 0, 1},
    {"mov.b64 {%r4, %r0}, %d1;", 'r', 0x200000001, 0, 0, 2},
    {"mov.b32 %r0, {%s1, %s2};", 'r', 0x1111, 0x2222, 0, 0x22221111},
    {"min.s16 %s1, %s1, %s2; mov.b32 %r0, {%s1, %s2};", 'r', 0x8111, 0x2222, 0, 0x22228111},
    {"mov.b32 {%s4, %s0}, %r1;", 's', 0x22221111, 0, 0, 0x2222},
    {"mov.b32 {_, %s0}, %r1;", 's', 0x22221111, 0, 0, 0x2222},
    {"mov.b64 {%r0, _}, %d1;", 'r', 0x200000001, 0, 0, 1},
    {"mov.b64 %d0, {%s1, %s2, %s3, %s1};", 'd', 1, 2, 3, 0x0001000300020001},
    {"mov.u32 %r0, %ntid.x;", 'r', 0, 0, 0, 1},
    {"mov.u32 %r0, %lanemask_ge;", 'r', 0, 0, 0, 0xffffffff},
    {"{\n.reg .b32 inner;\nadd.u32 inner, %r1, 1;\nmov.u32 %r0, inner;\n}", 'r', 4, 0, 0, 5},
};

static const row memory[] = {
    {"ld.param.u64 %d0, [operand];", 'd', 77, 0, 0, 77},
    {"ld.param.u8 %r0, [operand+1];", 'r', 0x8180, 0, 0, 0x81},
    {"ld.param.s8 %r0, [operand+1];", 'r', 0x8180, 0, 0, 0xffffff81},
    {"ld.param.s16 %d0, [operand];", 'd', 0x8180, 0, 0, 0xffffffffffff8180},
    {"mov.b64 %d4, operand;\nld.param.u32 %r0, [%d4+4];", 'r', 5ull << 32, 0, 0, 5},
    {"ld.param.v2.u32 {%r4, %r0}, [operand];", 'r', 6ull << 32, 0, 0, 6},
    {"ld.param.v2.u16 {_, %s0}, [operand];", 's', 0x11223344, 0, 0, 0x1122},
    {"ld.param.v4.u8 {%s4, %s5, %s0, %s6}, [operand];", 's', 0x11223344, 0, 0, 0x22},
    {"st.local.u32 [depot+4], %r1;\nst.local.u16 [depot+4], %s2;\nld.local.u32 %r0, [depot+4];",
     'r', 0x12345678, 0xffff, 0, 0x1234ffff},
    {"mov.u64 %d4, depot;\ncvta.local.u64 %d5, %d4;\nst.u64 [%d5+8], %d1;\nld.local.v2.u32 {%r4, "
     "%r0}, [%d4+8];",
     'r', 9ull << 32, 0, 0, 9},
    {"st.shared.b8 [tile+3], %r1;\nst.shared.b8 [tile+2], %r2;\nld.shared.u16 %s0, [tile+2];", 's',
     0x112, 0x34, 0, 0x1234},
    {"mov.u32 %r4, tile;\nst.shared.v4.b32 [%r4+16], {%r1, %r2, %r3, %r1};\nld.shared.v2.b32 {%r5, "
     "%r0}, [%r4+24];",
     'r', 1, 2, 3, 1},
    {"mov.u64 %d4, tile;\ncvta.shared.u64 %d5, %d4;\nst.f32 [%d5], %r1;\ncvta.to.shared.u64 %d6, "
     "%d5;\nld.shared.u32 %r0, "
     "[%d6];",
     'r', 44, 0, 0, 44},
    {"ld.const.u32 %r0, [bytes];", 'r', 0, 0, 0, 0x04030201},
    {"mov.u64 %d4, numbers;\nld.global.nc.u32 %r0, [%d4+4];", 'r', 0, 0, 0, 20},
    {"ld.global.L1::no_allocate.L2::128B.u32 %r0, [numbers];", 'r', 0, 0, 0, 10},
    {"st.global.u32 [changing], %r1;\natom.global.add.u32 %r4, [changing], "
     "5;\nld.volatile.global.u32 %r0, [changing];",
     'r', 7, 0, 0, 12},
    {"st.global.u32 [changing], %r1;\natom.global.add.f32 %r0, [changing], "
     "0f3F800000;\nld.global.u32 %r0, [changing];",
     'r', F2, 0, 0, F3},
    {"st.global.u32 [changing], %r1;\natom.global.cas.b32 %r4, [changing], 7, 9;\nld.global.u32 "
     "%r0, [changing];",
     'r', 7, 0, 0, 9},
    {"st.global.u32 [changing], %r1;\natom.global.exch.b32 %r0, [changing], 9;", 'r', 8, 0, 0, 8},
    {"st.global.u32 [changing], %r1;\nred.global.max.s32 [changing], -1;\nld.global.u32 %r0, "
     "[changing];",
     'r', 0xfffffff0, 0, 0, 0xffffffff},
    {"st.global.u32 [changing], %r1;\nred.relaxed.sys.global.min.u32 [changing], 3;\nld.global.u32 "
     "%r0, [changing];",
     'r', 8, 0, 0, 3},
    {"st.shared.u64 [tile], %d1;\natom.shared.add.u64 %d4, [tile], 1;\nld.shared.u64 %d0, [tile];",
     'd', 0xffffffff, 0, 0, 0x100000000},
    {"st.release.sys.global.u32 [changing], "
     "%r1;\nfence.acq_rel.sys;\nmembar.gl;\nld.acquire.gpu.global.u32 %r0, [changing];",
     'r', 31, 0, 0, 31},
};

static const row ways[] = {
    {"mov.u32 %r0, 0;\n$A_@:\nadd.u32 %r0, %r0, %r1;\nadd.u32 %r2, %r2, -1;\nsetp.ne.u32 %p1, %r2, "
     "0;\n@%p1 bra $A_@;",
     'r', 3, 5, 0, 15},
    {"mov.u32 %r0, 1;\nbra.uni $B_@;\nmov.u32 %r0, 2;\n$B_@:", 'r', 0, 0, 0, 1},
    {"$T_@: .branchtargets $X_@, $Y_@, $Z_@;\nbrx.idx %r1, $T_@;\n$X_@:\nmov.u32 %r0, 10;\nbra "
     "$E_@;\n$Y_@:\nmov.u32 %r0, 20;\n"
     "bra $E_@;\n$Z_@:\nmov.u32 %r0, 30;\n$E_@:",
     'r', 1, 0, 0, 20},
};

static const struct {
  const char *name;
  const row *rows;
  int n;
} groups[] = {
#define GROUP(name) {#name, name, (int)(sizeof name / sizeof *name)}
    GROUP(integers),    GROUP(bits),  GROUP(floats), GROUP(halves), GROUP(conversions),
    GROUP(comparisons), GROUP(moves), GROUP(memory), GROUP(ways)};

/* ---- One module with all rows ---- */

static void print_row(FILE *out, int group, int n, const row *r) {
  static const struct {
    char result;
    const char *store;
  } stores[] = {{'d', "st.global.u64 [%d7], %d0;"},
                {'r', "cvt.u64.u32 %d0, %r0;\nst.global.u64 [%d7], %d0;"},
                {'s', "cvt.u64.u16 %d0, %s0;\nst.global.u64 [%d7], %d0;"},
                {'p', "selp.u64 %d0, 1, 0, %p0;\nst.global.u64 [%d7], %d0;"}};
  fprintf(out,
          ".visible .entry row_%d_%d(\n.param .u64 operand,\n.param .u64 second,\n.param .u64 "
          "third,\n.param .u64 result)\n{\n",
          group, n);
  fprintf(out, ".reg .pred %%p<8>;\n.reg .b16 %%s<8>;\n.reg .b32 %%r<8>;\n.reg .b64 %%d<8>;\n"
               ".local .align 16 .b8 depot[32];\n");
  for (int k = 1; k <= 3; k++)
    fprintf(out,
            "ld.param.u64 %%d%d, [%s];\ncvt.u32.u64 %%r%d, %%d%d;\ncvt.u16.u64 %%s%d, %%d%d;\n", k,
            k == 1   ? "operand"
            : k == 2 ? "second"
                     : "third",
            k, k, k, k);
  fprintf(out, "ld.param.u64 %%d7, [result];\ncvta.to.global.u64 %%d7, %%d7;\n");
  for (const char *at = r->program; *at; at++) { /* '@' within a name makes it unique to the row */
    if (*at == '@' && at > r->program && at[-1] == '_')
      fprintf(out, "%d_%d", group, n);
    else
      fputc(*at, out);
  }
  for (size_t k = 0; k < sizeof stores / sizeof *stores; k++)
    if (stores[k].result == r->result)
      fprintf(out, "\n%s\nret;\n}\n", stores[k].store);
}

static void print_module(FILE *out) {
  fprintf(out, ".version 8.0\n.target sm_90\n.address_size 64\n"
               ".shared .align 16 .b8 tile[64];\n.global .align 4 .u32 changing;\n"
               ".const .align 4 .b8 bytes[4] = {1, 2, 3, 4};\n.global .align 4 .u32 numbers[3] = "
               "{10, 20, 30};\n");
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
    for (int n = 0; n < groups[g].n; n++)
      print_row(out, (int)g, n, &groups[g].rows[n]);
}

static bool find(void *user, uint64_t address, uint64_t *begin, uint64_t *end) {
  *begin = (uint64_t)(uintptr_t)user;
  *end = *begin + sizeof(uint64_t);
  return address >= *begin && address < *end;
}

static void test_rows(void **state) {
  char *text, error[PTX_TEXT], name[64];
  size_t size;
  (void)state;
  FILE *out = open_memstream(&text, &size);
  print_module(out);
  fclose(out);
  ptx_module *module = ptx_load(text, error);
  if (!module)
    fail_msg("%s", error);
  int errors = 0, n_run = 0;
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
    for (int n = 0; n < groups[g].n; n++, n_run++) {
      const row *r = &groups[g].rows[n];
      uint64_t result = 0, parameters[4] = {r->a, r->b, r->c, (uint64_t)(uintptr_t)&result};
      const ptx_launch launch = {.grid = {1, 1, 1},
                                 .block = {1, 1, 1},
                                 .parameters = parameters,
                                 .memory = {find, &result},
                                 .most_rounds = 1000};
      snprintf(name, sizeof name, "row_%zu_%d", g, n);
      ptx_result got = ptx_run(ptx_find(module, name), &launch, error);
      if (got == PTX_OK && result == r->expected)
        continue;
      errors++;
      fprintf(stderr, "%s: `%s` of 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ": ", groups[g].name,
              r->program, r->a, r->b, r->c);
      if (got)
        fprintf(stderr, "%s\n", error);
      else
        fprintf(stderr, "0x%" PRIx64 ", expected 0x%" PRIx64 "\n", result, r->expected);
    }
  assert_int_equal(errors, 0);
  assert_true(n_run > 200);
  ptx_unload(module);
  free(text);
}

/* An opened module parses a kernel when it runs: what is wrong with one concerns no other. */
static void test_opened(void **state) {
  static const char text[] = ".version 7.8\n.target sm_80\n.address_size 64\n"
                             ".visible .entry wrong(.param .u64 to)\n{\n"
                             "  // a comment with {\n"
                             "  /* and\n one with { */ .reg .b32 %r<2>;\n"
                             "  { no.such %r1; }\n}\n"
                             ".visible .entry right(.param .u64 to)\n{\n"
                             "  .reg .b64 %rd<2>;\n  ld.param.u64 %rd1, [to];\n"
                             "  st.global.u64 [%rd1], 7;\n  ret;\n}\n";
  static const char why[] = "line 9: `no.such %r1`: '.such' is not supported";
  char error[PTX_TEXT] = "";
  uint64_t result = 0, parameter = (uint64_t)(uintptr_t)&result;
  const ptx_launch launch = {
      .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = &parameter, .memory = {find, &result}};
  (void)state;
  assert_null(ptx_load(text, error));
  assert_string_equal(error, why);
  ptx_module *module = ptx_open(text, error);
  assert_non_null(module);
  const ptx_kernel *right = ptx_find(module, "right"), *wrong = ptx_find(module, "wrong");
  assert_int_equal(ptx_n_parameters(wrong), 1);
  for (int turn = 0; turn < 2; turn++) {
    result = 0;
    assert_int_equal(ptx_run(right, &launch, error), PTX_OK);
    assert_int_equal(result, 7);
    error[0] = 0;
    assert_int_equal(ptx_run(wrong, &launch, error), PTX_BAD_LAUNCH);
    assert_string_equal(error, why);
  }
  ptx_unload(module);
  assert_null(ptx_open(".version 7.8\n.visible .entry open()\n{ // }\n", error));
  assert_string_equal(error, "line 4: '}' is missing");
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--print") == 0) {
    print_module(stdout);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_opened)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
