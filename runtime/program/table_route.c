/* Reads TPRT_SITE_ROUTE: an exchange of rows whose sizes are known at run time. */
#include "program/table.h"

#include <string.h>

/* `n_holders`: the ranks that divide the groups. */
static tprt_status check_words(const tprt_abi_route *words, int64_t n_holders, bool has_init) {
  const int64_t most = INT64_C(1) << 40;
  tprt_status status = tprt__check_range("form of a route", words->form, 0, TPRT_N_ROUTES - 1);
  if (!status)
    status = tprt__check_range("init of a route", has_init, words->form != TPRT_ROUTE_GATHER,
                               words->form != TPRT_ROUTE_GATHER);
  if (!status)
    status = tprt__check_range("side of a route", words->to_groups, 0, 1);
  if (!status)
    status = tprt__check_range("rows of blocks", words->block_rows, 0, most);
  if (!status)
    status = tprt__check_range("rows of groups", words->group_rows, 0, most);
  if (!status)
    status = tprt__check_range("number of groups", words->n_groups, 1, most);
  if (!status && words->n_groups % n_holders)
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "route: %lld ranks do not divide %lld groups",
                        (long long)n_holders, (long long)words->n_groups);
  const int64_t types[] = {words->position_type, words->group_type};
  for (int i = 0; i < 2 && !status; i++)
    if (types[i] != TPRT_I32 && types[i] != TPRT_I64)
      status = tprt__fail(TPRT_INVALID_ARGUMENT, "route: positions of type %lld; i32 or i64 only",
                          (long long)types[i]);
  return status;
}

tprt_status tprt__read_route(const tprt__program *program, tprt__site *site) {
  tprt_op *op = &site->op;
  tprt__route *route = &site->route;
  tprt_abi_route words;
  memcpy(&words, site->extra, sizeof words);
  int64_t n_ranks = tprt__site_group_size(program, site), elements = 1, n_parts = 1;
  tprt_status status = tprt__check_range("axes of parts of a route", words.part_axes, 0,
                                         (INT64_C(1) << site->n_axes) - 1);
  for (int i = 0; i < site->n_axes && !status; i++)
    n_parts *= words.part_axes >> i & 1 ? program->sizes[site->axes[i]] : 1;
  if (!status)
    status = check_words(&words, n_ranks / n_parts, tprt__site_has(site, TPRT_IN_INIT));
  if (!status)
    status = tprt__check_range("rank of the rows", op->n_dims, 1, TPRT_MAX_RANK);
  if (!status)
    status = tprt__check_range("reduction", op->reduction, 0, 0);
  for (int d = 1; d < op->n_dims && !status; d++)
    if (op->shape[d] < 0 || __builtin_mul_overflow(elements, op->shape[d], &elements) ||
        elements > INT64_C(1) << 40)
      status = tprt__fail(TPRT_INVALID_ARGUMENT, "route: rows of too many elements");
  if (status)
    return status;
  *route = (tprt__route){.form = (tprt_route_form)words.form,
                         .to_groups = words.to_groups,
                         .block_rows = words.block_rows,
                         .block = words.block_rows / n_ranks + (words.block_rows % n_ranks != 0),
                         .group_rows = words.group_rows,
                         .n_groups = words.n_groups,
                         .positions = (tprt_dtype)words.position_type,
                         .groups = (tprt_dtype)words.group_type,
                         .element = op->dtype,
                         .row_elements = elements,
                         .n_axes = site->n_axes,
                         .part_axes = words.part_axes};
  for (int i = 0; i < site->n_axes; i++)
    route->sizes[i] = program->sizes[site->axes[i]];
  int64_t sent = route->to_groups ? route->block : route->group_rows;
  if (op->shape[0] != sent)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "route: a tensor of %lld rows, but %lld are expected",
                      (long long)op->shape[0], (long long)sent);
  /* what is sent is known when the site runs */
  *op = (tprt_op){
      .size = sizeof *op, .kind = op->kind, .dtype = op->dtype, .n_dims = 1, .shape = {elements}};
  return tprt__check_group(program, site);
}
