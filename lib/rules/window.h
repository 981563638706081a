/* Windows: operands that are read at positions other than those of the op's own points, along a
 * dimension that is split over devices.
 *
 * A slice, a pad, a concat, a reversal, a convolution and a pooling read a window of elements for
 * each point along a dimension. If the dimension is split, a device's elements are partly on other
 * devices. Each device fetches the run of elements that its points read, piece by piece, with one
 * permute per piece (halo_fetch.h). The same plan determines the cost and the code.
 *
 * Source of the idea: halo exchange of partitioned convolutions (Xu et al., GSPMD,
 * arXiv:2105.04663, section 3.5). Windows at arbitrary positions, and the choice between two ways
 * to cut a run into pieces, are additions of this library. */
#ifndef TP_RULES_WINDOW_H
#define TP_RULES_WINDOW_H

#include "rules/rule.h"

/* True if every window that the strategy splits can be fetched. False if positions would
 * overflow. */
bool tp__windows_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy);

/* Returns the modeled time of the permutes of all windows under the strategy. */
tp_cost tp__window_cost(const tp_rule *rule, const tp_pricing *pricing,
                        const tp_strategy *strategy);

/* Returns the size in bytes of the buffer from which a structured op reads operand i under the
 * strategy, which includes fetched and padded elements. 0 if the op reads the operand itself. */
int64_t tp__window_bytes(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy,
                         int i);

/* True if dimension d of operand i is read through a window that the strategy splits. */
bool tp__window_is_split(const tp_local *local, int i, int d);

/* Replaces every operand with split windows (for a pad that is read in place, the pad's operand) by
 * the run of elements that this device's points read. Along such a dimension, the run has |stride|
 * * (R - 1) + extent elements, where R is the number of points of one device. Point j reads from
 * stride * j on (for stride < 0: from |stride| * (R - 1 - j) on). Elements outside of the
 * dimension, and those that only points in the padding read, are unspecified. Dimensions without a
 * split window do not change. */
tp_status tp__halo_fetch_windows(const tp_local *local);

/* Builds the global index of the first element that tp__halo_fetch_windows gives this device for
 * operand i along dimension d, before the op. It may be negative. */
MlirValue tp__window_start(const tp_local *local, int i, int d);

#endif
