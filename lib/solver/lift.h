/* Passes messages for all equal parts of a graph at once (lifted message passing: Singla and
 * Domingos 2008; for bounds of this kind Bui, Huynh and Riedel 2013).
 *
 * A deep program repeats its layers. Nodes whose surroundings are equal up to some distance get the
 * same messages, so one of them represents its class. Any messages reparametrize the graph, and the
 * minimum of a class of equal nodes or edges counts once per member. The bound is therefore
 * certified, also at the borders, where nodes of a class differ farther away. */
#ifndef TP_LIB_SOLVER_LIFT_H
#define TP_LIB_SOLVER_LIFT_H

#include "solver/control.h"
#include "solver/wcsp.h"

/* Reparametrizes `g`, which has a shelf and is reduced, by lifted messages. Equal nodes and edges
 * share their new arrays, and the constant rises to the bound. *lifted is false if that gains
 * nothing, or if too little of the graph repeats; the costs are then unchanged. Adds the entries
 * read to *work. If `control` (may be NULL) stops the search, the gain so far is kept.
 * TP_NO_MEMORY. */
tp_status tp__lift(tp__wcsp *g, tp__control *control, int64_t *work, bool *lifted);

#endif
