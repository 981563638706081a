/* Copies boxes between dense arrays. */
#include "tp/layout.h"

#include <string.h>

void tp_copy_box(const tp_box_copy *box, const void *from, void *to) {
  int64_t at[TP_MAX_RANK] = {0};
  int rank = box->rank;
  for (int d = 0; d < rank; d++)
    if (box->size[d] <= 0)
      return;
  size_t run = (size_t)((rank > 0 ? box->size[rank - 1] : 1) * box->element_size);
  for (;;) { /* iterates over rows of the last dimension */
    int64_t source = 0, target = 0;
    for (int d = 0; d < rank; d++) {
      source = source * box->from_shape[d] + box->from_at[d] + at[d];
      target = target * box->to_shape[d] + box->to_at[d] + at[d];
    }
    memcpy((char *)to + target * box->element_size, (const char *)from + source * box->element_size,
           run);
    int d = rank - 2;
    while (d >= 0 && ++at[d] == box->size[d])
      at[d--] = 0;
    if (d < 0)
      return;
  }
}
