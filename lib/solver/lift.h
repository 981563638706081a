/* Messages for equal parts of a graph at once (lifted message passing: Singla and Domingos 2008;
 * for bounds of this kind Bui, Huynh and Riedel 2013).
 *
 * A deep program repeats its layers. Nodes that look alike as far as some edges can be seen get the
 * same messages, so that one of them stands for all. Any messages reparametrise the graph, and what
 * a class of equal nodes or edges costs at least is counted as often as it is there: the bound is
 * as certified as any, also at the borders, where what looks alike from near is not. */
#ifndef TP_LIB_SOLVER_LIFT_H
#define TP_LIB_SOLVER_LIFT_H

#include "solver/control.h"
#include "solver/wcsp.h"

/* Reparametrises `g`, which has a shelf and is reduced, by lifted messages; equal nodes and edges
 * share their new arrays, and the constant has grown to the bound. *lifted is false where that
 * gains nothing, or too little of the graph is repeated; costs are then as they were. Adds the
 * entries looked at to *work. When `control`, which may be NULL, says that the search is to end,
 * what was gained so far is kept. TP_NO_MEMORY. */
tp_status tp__lift(tp__wcsp *g, tp__control *control, int64_t *work, bool *lifted);

#endif
