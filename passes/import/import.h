/* Between the files of tp-import: what Shardy's attributes say, and the two dialects of
 * annotations. */
#ifndef TP_PASSES_IMPORT_H
#define TP_PASSES_IMPORT_H

#include "ir/annotation.h"
#include "passes/registry.h"

enum { TP_SDY_MAX_AXES = 32, TP_SDY_MAX_VALUES = 64 };
enum { TP_SDY_REPLICATED = -1, TP_SDY_UNREDUCED = -2 };

/* statistics */
enum {
  TP_IMPORT_SHARDINGS,
  TP_IMPORT_PRIORITIES,
  TP_IMPORT_CLOSED,
  TP_IMPORT_GROUPS,
  TP_IMPORT_FREE
};

/* One axis as Shardy spells it, "name" or "name":(pre)size. */
typedef struct tp_sdy_axis {
  MlirStringRef name;
  int64_t pre, size; /* 0: the whole axis */
  int place;         /* a dimension, TP_SDY_REPLICATED or TP_SDY_UNREDUCED */
} tp_sdy_axis;

typedef struct tp_sdy_sharding {
  MlirStringRef mesh; /* symbol */
  int rank;
  uint32_t open; /* bit d: dimension d has a "?" */
  bool has_priority;
  int n_axes;
  tp_sdy_axis axes[TP_SDY_MAX_AXES]; /* those of a dimension major to minor */
} tp_sdy_sharding;

typedef struct tp_sdy_mesh {
  int n;
  char names[TP_MAX_AXES][TP_MAX_AXIS_NAME];
  int64_t sizes[TP_MAX_AXES];
  int64_t n_devices;       /* entries of device_ids; 0: none are given */
  int64_t wrong, wrong_id; /* first entry that is not its own number; -1: none */
} tp_sdy_mesh;

/* Readers of opaque attributes. `what` ("argument 2") is for messages. */
tp_status tp__sdy_read_mesh(MlirOperation at, MlirAttribute attr, tp_sdy_mesh *mesh);
tp_status tp__sdy_read_sharding(MlirOperation at, const char *what, MlirAttribute attr,
                                tp_sdy_sharding *sharding);
/* #sdy.sharding_per_value: exactly n shardings, one for each of the op's `values` ("results"). */
tp_status tp__sdy_read_list(MlirOperation at, const char *what, MlirAttribute attr, int n,
                            const char *values, tp_sdy_sharding *shardings);
/* #sdy<manual_axes{"x", "y"}>. */
tp_status tp__sdy_read_manual_axes(MlirOperation at, MlirAttribute attr, int *n,
                                   MlirStringRef names[TP_MAX_AXES]);

/* The mesh of the module while it is imported: whole axes. */
typedef struct tp_importer {
  tp_pass *pass;
  tp_mesh mesh;
} tp_importer;

/* ---- Shardy ---- */
/* Turns the sdy.mesh ops into the module's grid; ops of empty meshes vanish later
 * (tp__sdy_finish). */
tp_status tp__sdy_import_mesh(tp_importer *im);
/* Turns the sdy.sharding of argument or result i, of type `type`, into *attr; null when there is
 * none or it says nothing. */
tp_status tp__sdy_boundary(tp_importer *im, MlirOperation func, bool is_arg, int i, MlirType type,
                           MlirAttribute *attr);
/* Turns the sdy.sharding of an op, and the sharding of an sdy op, into its tp.sharding. */
tp_status tp__sdy_import_op(tp_importer *im, MlirOperation op);
/* Replaces the sdy ops, whose tp.sharding is read on the refined mesh. */
tp_status tp__sdy_finish(tp_importer *im, const tp_mesh *refined);
/* A property of an unregistered op; older printers write them among the discardable attributes. */
MlirAttribute tp__sdy_property(MlirOperation op, const char *name);
/* The mesh of `s` is the module's, its axes exist and are used once, and it has `rank`
 * dimensions. */
tp_status tp__sdy_check_sharding(tp_importer *im, MlirOperation at, const char *what, int rank,
                                 const tp_sdy_sharding *s);

/* ---- sdy.manual_computation and sdy.named_computation ---- */
/* Verifies one, before anything is replaced. */
tp_status tp__sdy_check_computation(tp_importer *im, MlirOperation op);
/* Puts its body in its place: operands are sliced along the manual axes for it, what it returns is
 * gathered. */
tp_status tp__sdy_replace_computation(tp_importer *im, const tp_mesh *refined, MlirOperation op);
/* Is `op` in the body of a computation with manual axes? */
bool tp__sdy_is_manual(MlirOperation op);
/* Refuses an annotation in such a body that names an axis that is manual there. */
tp_status tp__sdy_check_free(tp_importer *im, MlirOperation op, const char *what,
                             const tp_sdy_sharding *s);

/* ---- upstream's shard dialect ---- */
/* A shard.shard whose layout only its shard.sharding says. */
bool tp__is_upstream_shard(MlirOperation op);
/* Annotates it for users, as an operand, or as what the defining op produces? */
bool tp__is_for_users(MlirOperation op);
/* The layout it states, as tp.sharding. */
tp_status tp__upstream_sharding(const tp_importer *im, MlirOperation op, MlirAttribute *attr);
/* The layout that shard.shard ops give argument or result i of `func`; null when none does. */
tp_status tp__upstream_boundary(const tp_importer *im, MlirOperation func, bool is_arg, int i,
                                MlirAttribute *attr);

#endif
