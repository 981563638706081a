/* Windows: operands that are read at other places than where the op's own points lie, with a
 * dimension split over devices.
 *
 * A slice, a pad, a concat, a reversal, a convolution and a pooling read along a dimension a window
 * around (or away from) each point. Where that dimension is split, what a device reads lies partly
 * on others: each device fetches the run of elements that its points read, piece by piece, each by
 * one permute (fetch.h). The same plan gives the price and the code.
 *
 * Source of the idea: halo exchange of partitioned convolutions (Xu et al., GSPMD,
 * arXiv:2105.04663, section 3.5); windows that lie anywhere, and the choice between two ways to cut
 * a run into pieces, are ours. */
#ifndef TP_RULES_WINDOW_H
#define TP_RULES_WINDOW_H

#include "rules/rule.h"

/* Can every window that the strategy splits be fetched? Not where positions are too large to count
 * with. */
bool tp__windows_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy);

/* Modelled time of the permutes of all windows under the strategy. */
tp_cost tp__window_cost(const tp_rule *rule, const tp_pricing *pricing,
                        const tp_strategy *strategy);

/* Bytes of the buffer from which a structured op reads operand i under the strategy: what a device
 * fetches for its windows, and what it pads. 0 where it reads the operand as it is. */
int64_t tp__window_bytes(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy,
                         int i);

/* Is dimension d of operand i read through a window that the strategy splits? */
bool tp__window_is_split(const tp_local *local, int i, int d);

/* Makes every operand with split windows (of a pad that is read in place, its operand) the run of
 * elements that this device's points read: along such a dimension it then has |stride| * (R - 1) +
 * extent elements, R being the points of one device, of which point j reads those from stride * j
 * on (stride < 0: from |stride| * (R - 1 - j) on). Elements outside of the dimension, and those
 * that only points in the padding read, are unspecified. Dimensions without a split window are as
 * they were. */
tp_status tp__fetch_windows(const tp_local *local);

/* The global index of the first element that tp__fetch_windows gives this device for operand i
 * along dimension d; may be negative. An index value in front of the op. */
MlirValue tp__window_start(const tp_local *local, int i, int d);

#endif
