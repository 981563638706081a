// Wrong values of options.
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{strategy=fast})' 2>&1 | FileCheck %s --check-prefix=CHECK0
// CHECK0: error: {{.*}}strategy 'fast' is not known; use plan or follow
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{unknown-ops=skip})' 2>&1 | FileCheck %s --check-prefix=CHECK1
// CHECK1: error: {{.*}}unknown-ops 'skip' is not known; use refuse or replicate
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{overlap=maybe})' 2>&1 | FileCheck %s --check-prefix=OVERLAP
// OVERLAP: error: {{.*}}overlap 'maybe' is not known; use true or false
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=abacus})' 2>&1 | FileCheck %s --check-prefix=CHECK2
// CHECK2: error: {{.*}}there is no topology "abacus"; there are cpu, h100, {{.*}} and files
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-partition{topology=abacus})' 2>&1 | FileCheck %s --check-prefix=CHECK3
// CHECK3: error: {{.*}}there is no topology "abacus"; there are cpu, h100, {{.*}} and files
// The message of the loader, whole: file, line, key, what was expected.
// RUN: printf '{"schema": "tpshard.topology/1",\n "name": 7}' > %t.json
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=%t.json})' 2>&1 | FileCheck %s --check-prefix=CHECK4
// CHECK4: error: {{.*}}.json:2: name: expected a text, found a number
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=%t.none.json})' 2>&1 | FileCheck %s --check-prefix=CHECK5
// CHECK5: error: {{.*}}cannot open topology file "{{.*}}.none.json": No such file or directory
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=dp=1024,tp=65 topology=torus64k})' 2>&1 | FileCheck %s --check-prefix=CHECK6
// CHECK6: error: {{.*}}topology "torus64k" has 65536 devices, but the mesh has 66560; take a smaller mesh or a larger machine

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
