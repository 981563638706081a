// The option mesh= binds sizes by name, in order, or the last axis.
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-normalize{mesh=dp=8})' | FileCheck %s --check-prefix=NAME
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-normalize{mesh=tp=2,dp=3})' | FileCheck %s --check-prefix=NAMES
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-normalize{mesh=4x2})' | FileCheck %s --check-prefix=ORDER
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-normalize{mesh=4,2})' | FileCheck %s --check-prefix=ORDER
// RUN: shard-opt %s --pass-pipeline='builtin.module(tp-normalize{mesh=8})' | FileCheck %s --check-prefix=LAST
// RUN: echo 'module {}' | shard-opt --pass-pipeline='builtin.module(tp-normalize{mesh=4})' | FileCheck %s --check-prefix=BARE1
// RUN: echo 'module {}' | shard-opt --pass-pipeline='builtin.module(tp-normalize{mesh=2x4})' | FileCheck %s --check-prefix=BARE2
// RUN: echo 'module {}' | shard-opt --pass-pipeline='builtin.module(tp-normalize{mesh=2x3x4})' | FileCheck %s --check-prefix=BARE3
// RUN: echo 'module {}' | shard-opt --pass-pipeline='builtin.module(tp-normalize{mesh=a=2,b=4})' | FileCheck %s --check-prefix=NAMED

// NAME: shard.grid @mesh(shape = 8x1) {tp.axes = ["dp", "tp"]}
// NAMES: shard.grid @mesh(shape = 3x2) {tp.axes = ["dp", "tp"]}
// ORDER: shard.grid @mesh(shape = 4x2) {tp.axes = ["dp", "tp"]}
// LAST: shard.grid @mesh(shape = 1x8) {tp.axes = ["dp", "tp"]}
// BARE1: shard.grid @mesh(shape = 4) {tp.axes = ["tp"]}
// BARE2: shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
// BARE3: shard.grid @mesh(shape = 2x3x4) {tp.axes = ["x", "y", "z"]}
// NAMED: shard.grid @mesh(shape = 2x4) {tp.axes = ["a", "b"]}
shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
