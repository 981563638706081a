// Wrong values of options.
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{strategy=fast})' 2>&1 | FileCheck %s --check-prefix=CHECK0
// CHECK0: error: {{.*}}strategy 'fast' is not known; use plan or follow
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{unknown-ops=skip})' 2>&1 | FileCheck %s --check-prefix=CHECK1
// CHECK1: error: {{.*}}unknown-ops 'skip' is not known; use refuse or replicate
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=abacus})' 2>&1 | FileCheck %s --check-prefix=CHECK2
// CHECK2: error: {{.*}}there is no topology 'abacus'
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-partition{topology=abacus})' 2>&1 | FileCheck %s --check-prefix=CHECK3
// CHECK3: error: {{.*}}there is no topology 'abacus'

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
