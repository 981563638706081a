/* Four ranks as a mesh of 2 x 2, axes "dp" and "tp": sums along one axis, and groups with names. */
#include "ranks.h"

static void *play(void *argument) {
  tprt_comm *world = argument;
  static const int64_t sizes[] = {2, 2};
  static const int32_t dp[] = {0}, tp[] = {1};
  int64_t at[2];
  expect(tprt_mesh_coordinates(2, sizes, tprt_comm_rank(world), at));

  /* The ranks that differ from this one in that axis only. Made once, borrowed from the world. */
  tprt_comm *along_dp, *along_tp;
  expect(tprt_comm_axes(world, 2, sizes, 1, dp, &along_dp));
  expect(tprt_comm_axes(world, 2, sizes, 1, tp, &along_tp));
  int mine = tprt_comm_rank(world), over_dp, over_tp;
  expect(tprt_all_reduce(along_dp, &mine, &over_dp, 1, TPRT_I32, TPRT_SUM, NULL, NULL));
  expect(tprt_all_reduce(along_tp, &mine, &over_tp, 1, TPRT_I32, TPRT_SUM, NULL, NULL));
  if (mine == 3)
    printf("rank 3 is at (%d, %d); sums: over dp %d, over tp %d\n", (int)at[0], (int)at[1], over_dp,
           over_tp);

  /* Any ranks, in any order; those that are not in the list get NULL and do not wait. */
  static const int ends[] = {3, 0};
  tprt_comm *group;
  expect(tprt_comm_named(world, "ends", ends, 2, &group));
  if (group && tprt_comm_rank(group) == 0)
    printf("rank 0 of \"%s\" is rank %d of the world\n", tprt_comm_name(group),
           tprt_comm_world_rank(group, 0));
  return NULL;
}

int main(void) {
  run_ranks(play);
  return 0;
}
