// Wrong values of options.
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{strategy=fast})' 2>&1 | FileCheck %s --check-prefix=CHECK0
// CHECK0: error: {{.*}}strategy 'fast' is not known; use plan or follow
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{unknown-ops=skip})' 2>&1 | FileCheck %s --check-prefix=CHECK1
// CHECK1: error: {{.*}}unknown-ops 'skip' is not known; use refuse or replicate
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{overlap=maybe})' 2>&1 | FileCheck %s --check-prefix=OVERLAP
// OVERLAP: error: {{.*}}overlap 'maybe' is not known; use true or false
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{overlap=})' 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: {{.*}}overlap '' is not known; use true or false
// Pipelines pass their options on to passes, which check them.
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-spmd{strategy=fast})' 2>&1 | FileCheck %s --check-prefix=CHECK0
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-spmd-to-runtime{fuse=never})' 2>&1 | FileCheck %s --check-prefix=FUSE
// FUSE: error: {{.*}}fuse 'never' is not known; use no, faster or always
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{speed=1})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-spmd{speed=1})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: no such option speed
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{objective=money})' 2>&1 | FileCheck %s --check-prefix=OBJECTIVE
// OBJECTIVE: error: {{.*}}objective 'money' is not known; use time or bytes
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate,tp-partition{objective=money})' 2>&1 | FileCheck %s --check-prefix=OBJECTIVE
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-spmd,tp-stage-collectives{objective=money})' 2>&1 | FileCheck %s --check-prefix=OBJECTIVE
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{objective=bytes overlap=true})' 2>&1 | FileCheck %s --check-prefix=NOTIME
// NOTIME: error: {{.*}}overlap and objective=bytes cannot be combined: overlap only affects time; use one of them
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{byte-flops=200})' 2>&1 | FileCheck %s --check-prefix=NOBYTES
// NOBYTES: error: {{.*}}byte-flops=200 has no effect with objective=time, which prices no bytes; give objective=bytes, or leave it out
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{effort=0})' 2>&1 | FileCheck %s --check-prefix=EFFORT
// EFFORT: error: {{.*}}effort '0' is not a number above 0 and up to 10000
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{effort=2x})' 2>&1 | FileCheck %s --check-prefix=EFFORTS
// EFFORTS: error: {{.*}}effort '2x' is not a number
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{gap=1%%})' 2>&1 | FileCheck %s --check-prefix=GAP
// GAP: error: {{.*}}gap '1%' is not a number from 0 to below 1
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{gap=nan})' 2>&1 | FileCheck %s --check-prefix=NOGAP
// NOGAP: error: {{.*}}gap 'nan' is not a number from 0 to below 1
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{time-limit=0})' 2>&1 | FileCheck %s --check-prefix=TIME
// TIME: error: {{.*}}time-limit '0' is not a number above 0 and up to 10000000
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{time-limit=1m})' 2>&1 | FileCheck %s --check-prefix=TIMES
// TIMES: error: {{.*}}time-limit '1m' is not a number above 0
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{time-limit=nan})' 2>&1 | FileCheck %s --check-prefix=NANTIME
// NANTIME: error: {{.*}}time-limit 'nan' is not a number above 0
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=abacus})' 2>&1 | FileCheck %s --check-prefix=CHECK2
// CHECK2: error: {{.*}}unknown topology "abacus"; known are cpu, h100, {{.*}} and files
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-partition{topology=abacus})' 2>&1 | FileCheck %s --check-prefix=CHECK3
// CHECK3: error: {{.*}}unknown topology "abacus"; known are cpu, h100, {{.*}} and files
// The message of the loader, whole: file, line, key, what was expected.
// RUN: printf '{"schema": "tpshard.topology/1",\n "name": 7}' > %t.json
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=%t.json})' 2>&1 | FileCheck %s --check-prefix=CHECK4
// CHECK4: error: {{.*}}.json:2: name: expected a text, found a number
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=%t.none.json})' 2>&1 | FileCheck %s --check-prefix=CHECK5
// CHECK5: error: {{.*}}cannot open topology file "{{.*}}.none.json": No such file or directory
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{mesh=dp=1024,tp=65 topology=torus64k})' 2>&1 | FileCheck %s --check-prefix=CHECK6
// CHECK6: error: {{.*}}topology "torus64k" has 65536 devices, but the mesh has 66560; use a smaller mesh or a larger topology
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=8gb})' 2>&1 | FileCheck %s --check-prefix=CHECK7
// CHECK7: error: {{.*}}invalid memory-limit '8gb': expected bytes with a unit (B, KB, MB, GB, TB, KiB, MiB, GiB, TiB), as in 80GB, or topology
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{memory-limit=-1})' 2>&1 | FileCheck %s --check-prefix=CHECK8
// CHECK8: error: {{.*}}invalid memory-limit '-1'
// RUN: grep -v memory_bytes %S/Inputs/fast_all_reduce.json >%t.bare.json
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{topology=%t.bare.json memory-limit=topology})' 2>&1 | FileCheck %s --check-prefix=CHECK9
// CHECK9: error: {{.*}}memory-limit=topology: topology 'fast_all_reduce' does not say how much memory a device has; add memory_bytes to it, or give a number of bytes
// RUN: not shard-opt %s --pass-pipeline='builtin.module(tp-propagate{overlap=true memory-limit=1GB})' 2>&1 | FileCheck %s --check-prefix=CHECK10
// CHECK10: error: {{.*}}overlap and memory-limit cannot be combined: changes of layout that run beside compute hold memory that is not planned; give one of them

shard.grid @mesh(shape = 2x4) {tp.axes = ["dp", "tp"]}
