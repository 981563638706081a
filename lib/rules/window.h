/* Windows: operands that are read at other places than where the op's own points lie, with a dimension split over devices.
 *
 * A slice, a pad, a concat, a reversal, a convolution and a pooling read along a dimension a window around (or away from) each point. Where
 * that dimension is split, what a device reads lies partly on others: each device fetches the run of elements that its points read, by one
 * permute for every distance between reader and owner that occurs ("hops"). The same plan of hops gives the price and the code.
 *
 * With n shards, R = ceil(points / n) points and B = ceil(size / n) elements on each: device p computes the points [p R, (p + 1) R) and
 * reads the |stride| (R - 1) + extent elements from its least one on. Its buffer holds [p B, (p + 1) B).
 *
 * Source of the idea: halo exchange of partitioned convolutions (Xu et al., GSPMD, arXiv:2105.04663, section 3.5); the general shift by
 * several hops is ours. */
#ifndef TP_RULES_WINDOW_H
#define TP_RULES_WINDOW_H

#include "rules/rule.h"

/* Can every window that the strategy splits be fetched? Not where a dimension is split unevenly by several axes: its shards then do not follow
 * each other at one distance. */
bool tp__windows_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy);

/* Modelled time of the permutes of all windows under the strategy. */
tp_cost tp__window_cost(const tp_rule *rule, const tp_mesh *mesh, const tp_topology *topology, const tp_strategy *strategy);

#endif
