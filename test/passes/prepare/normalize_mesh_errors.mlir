// The option mesh= when it does not fit. The error stands at the module; every run fails with one.
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-normalize{mesh=dp=x})' 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-normalize{mesh=pp=2})' 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-normalize{mesh=2x0})' 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-normalize{mesh=2x4x})' 2>&1 | FileCheck %s --check-prefix=TRAILING
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-normalize{mesh=four})' 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-normalize{mesh=1x1x1x1x1x1x1x1x2})' 2>&1 | FileCheck %s --check-prefix=NINE
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-normalize{mesh=2x2x2})' 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-normalize{mesh=4294967296x4294967296})' 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-normalize{mesh=99999999999999999999})' 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: echo 'module {}' | not shard-opt --pass-pipeline='builtin.module(tp-normalize{mesh=4294967296x4294967296})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=HUGE
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-normalize{axis=2})' 2>&1 | FileCheck %s --check-prefix=OPTION

// SIZE: error: mesh 'dp=x': expected a size, which is at least 1, at 'x'; write
// AXIS: error: mesh 'pp=2': the program's grid @mesh has no axis "pp"
// ZERO: error: mesh '2x0': expected a size, which is at least 1, at '0'; write dp=2,tp=4, or 2x4, or one size, without spaces (at most 8 axes)
// TRAILING: error: mesh '2x4x': expected a size, which is at least 1, at the end; write
// WORD: error: mesh 'four': expected a size, which is at least 1, at 'four'; write
// NINE: error: mesh '1x1x1x1x1x1x1x1x2': expected the end at '2'; write dp=2,tp=4, or 2x4, or one size, without spaces (at most 8 axes)
// THREE: error: mesh '2x2x2' has 3 sizes, but the program's grid @mesh has 2 axes
// HUGE: error: mesh '{{.*}}' has more than 2147483647 devices
// OPTION: no such option axis
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
