/* Shared by the files of tp-import: parsed Shardy attributes, and the importers of both
 * dialects. */
#ifndef TP_PASSES_IMPORT_H
#define TP_PASSES_IMPORT_H

#include "ir/annotation.h"
#include "passes/registry.h"

enum { TP_SDY_MAX_AXES = 32, TP_SDY_MAX_VALUES = 64 };
enum { TP_SDY_REPLICATED = -1, TP_SDY_UNREDUCED = -2 };

/* indices of statistics */
enum {
  TP_IMPORT_SHARDINGS,
  TP_IMPORT_PRIORITIES,
  TP_IMPORT_CLOSED,
  TP_IMPORT_GROUPS,
  TP_IMPORT_FREE,
  TP_IMPORT_RULES
};

/* One axis in Shardy's syntax, "name" or "name":(pre)size. */
typedef struct tp_sdy_axis {
  MlirStringRef name;
  int64_t pre, size; /* 0: the whole axis */
  int place;         /* a dimension number, TP_SDY_REPLICATED or TP_SDY_UNREDUCED */
} tp_sdy_axis;

typedef struct tp_sdy_sharding {
  MlirStringRef mesh; /* symbol */
  int rank;
  uint32_t open; /* bit d: dimension d has a "?" */
  bool has_priority;
  int n_axes;
  tp_sdy_axis axes[TP_SDY_MAX_AXES]; /* axes of one dimension are ordered major to minor */
} tp_sdy_sharding;

typedef struct tp_sdy_mesh {
  int n;
  char names[TP_MAX_AXES][TP_MAX_AXIS_NAME];
  int64_t sizes[TP_MAX_AXES];
  int64_t n_devices;       /* number of entries of device_ids; 0: not given */
  int64_t wrong, wrong_id; /* first entry that differs from its index, and its value; -1: none */
} tp_sdy_mesh;

enum { TP_SDY_MAX_FACTORS = 64, TP_SDY_MAX_JOINED = 8 };

/* The factors of the dimensions of a value, major to minor. */
typedef struct tp_sdy_rule_value {
  int rank;
  uint8_t n[TP_MAX_RANK];
  uint8_t factors[TP_MAX_RANK][TP_SDY_MAX_JOINED];
} tp_sdy_rule_value;

/* A #sdy.op_sharding_rule. Its sets have a bit for each factor. */
typedef struct tp_sdy_rule {
  int n_operands, n_results;
  tp_sdy_rule_value values[TP_SDY_MAX_VALUES]; /* operands, then results */
  int64_t sizes[TP_SDY_MAX_FACTORS];           /* 0: not stated */
  uint64_t reduction, need_replication, permutation, blocked_propagation;
} tp_sdy_rule;

/* Parsers of opaque attributes. `what` ("argument 2") is used in messages. */
tp_status tp__sdy_read_mesh(MlirOperation at, MlirAttribute attr, tp_sdy_mesh *mesh);
tp_status tp__sdy_read_sharding(MlirOperation at, const char *what, MlirAttribute attr,
                                tp_sdy_sharding *sharding);
/* Reads #sdy.sharding_per_value: exactly n shardings, one for each of the op's `values`
 * ("results"). */
tp_status tp__sdy_read_list(MlirOperation at, const char *what, MlirAttribute attr, int n,
                            const char *values, tp_sdy_sharding *shardings);
tp_status tp__sdy_read_rule(MlirOperation at, const char *what, MlirAttribute attr,
                            tp_sdy_rule *rule);
/* Reads #sdy<manual_axes{"x", "y"}>. */
tp_status tp__sdy_read_manual_axes(MlirOperation at, MlirAttribute attr, int *n,
                                   MlirStringRef names[TP_MAX_AXES]);

/* The state of the import, with the mesh of the module without sub-axes. */
typedef struct tp_importer {
  tp_pass *pass;
  tp_mesh mesh;
} tp_importer;

/* ---- Shardy ---- */
/* Turns the sdy.mesh ops into the module's grid. tp__sdy_finish erases the ops of empty meshes. */
tp_status tp__sdy_import_mesh(tp_importer *im);
/* Converts the sdy.sharding of argument or result i, of type `type`, to *attr; null if there is
 * none or if it has no effect. */
tp_status tp__sdy_boundary(tp_importer *im, MlirOperation func, bool is_arg, int i, MlirType type,
                           MlirAttribute *attr);
/* Converts the sdy.sharding of an op, or the sharding of an sdy op, to its tp.sharding. */
tp_status tp__sdy_import_op(tp_importer *im, MlirOperation op);
/* Replaces the sdy ops; their tp.sharding is read on the refined mesh. */
tp_status tp__sdy_finish(tp_importer *im, const tp_mesh *refined);
/* Checks that the mesh of `s` is the module's, that its axes exist and are used once, and that it
 * has `rank` dimensions. */
tp_status tp__sdy_check_sharding(tp_importer *im, MlirOperation at, const char *what, int rank,
                                 const tp_sdy_sharding *s);

/* Converts the sdy.sharding_rule of a custom call to its tp.rule (import_rule.c). */
tp_status tp__sdy_import_rule(tp_importer *im, MlirOperation op);

/* ---- sdy.manual_computation and sdy.named_computation ---- */
/* Verifies a computation before anything is replaced. */
tp_status tp__sdy_check_computation(tp_importer *im, MlirOperation op);
/* Replaces a computation by its body: operands are sliced along the manual axes, and returned
 * values are gathered. */
tp_status tp__sdy_replace_computation(tp_importer *im, const tp_mesh *refined, MlirOperation op);
/* True if `op` is in the body of a computation with manual axes. */
bool tp__sdy_is_manual(MlirOperation op);
/* Rejects an annotation in such a body that names an axis that is manual there. */
tp_status tp__sdy_check_free(tp_importer *im, MlirOperation op, const char *what,
                             const tp_sdy_sharding *s);

/* ---- upstream's shard dialect ---- */
/* True for a shard.shard whose layout is given only by its shard.sharding. */
bool tp__is_upstream_shard(MlirOperation op);
/* True if it annotates the value for its users, as an operand; else for its producer. */
bool tp__is_for_users(MlirOperation op);
/* Converts its layout to tp.sharding. */
tp_status tp__upstream_sharding(const tp_importer *im, MlirOperation op, MlirAttribute *attr);
/* The layout that shard.shard ops give argument or result i of `func`; null if there is none. */
tp_status tp__upstream_boundary(const tp_importer *im, MlirOperation func, bool is_arg, int i,
                                MlirAttribute *attr);

#endif
