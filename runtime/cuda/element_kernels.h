/* Included once per type of element, which is named by ELEMENT. */
#include "cuda/element.h"

#include "cuda/row.h"

#include "cuda/entropy.h"
#include "cuda/reduce.h"

#undef EACH_ITEM
#undef LANE_VALUES
#undef ITEMS
#undef LANES
#undef NAMED
#undef PASTE
#undef PASTE_
#undef ELEMENT
