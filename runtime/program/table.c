/* Reads program tables. Every word is checked before it is used, and no word is left unchecked, so
 * a truncated or corrupted table gives an error. */
#include "program/table.h"

#include <limits.h>
#include <string.h>

static const int64_t max_words = INT64_C(1) << 28;
static const int64_t max_bytes = INT64_C(1) << 46;

/* The members that each kind of site uses; all other words must be zero. */
// clang-format off
static const struct {
  tprt_op_kind op; /* 0: the site does not communicate */
  bool dim, split, root, extra;
} kinds[] = {
    /*                             op                      dim    split  root   extra */
    [TPRT_SITE_ALL_REDUCE]     = {TPRT_OP_ALL_REDUCE,     false, false, false, false},
    [TPRT_SITE_ALL_GATHER]     = {TPRT_OP_ALL_GATHER,     true,  false, false, false},
    [TPRT_SITE_REDUCE_SCATTER] = {TPRT_OP_REDUCE_SCATTER, true,  false, false, false},
    [TPRT_SITE_ALL_TO_ALL]     = {TPRT_OP_ALL_TO_ALL,     true,  true,  false, false},
    [TPRT_SITE_PERMUTE]        = {TPRT_OP_PERMUTE,        false, false, false, true},
    [TPRT_SITE_BROADCAST]      = {TPRT_OP_BROADCAST,      false, false, true,  false},
    [TPRT_SITE_CONTRACT]       = {0,                      false, false, false, true},
    /* a reduce-scatter unless the layout is TPRT_ROWS_WHOLE */
    [TPRT_SITE_FUSED_REDUCE]   = {TPRT_OP_ALL_REDUCE,     true,  false, false, true},
    [TPRT_SITE_FUSED_GATHER]   = {TPRT_OP_ALL_GATHER,     true,  false, false, true},
    [TPRT_SITE_FUSED_SOFTMAX]  = {TPRT_OP_ALL_GATHER,     false, false, false, true},
    [TPRT_SITE_FUSED_MATMUL]   = {0,                      false, false, false, true},
    [TPRT_SITE_FUSED_ATTENTION] = {0,                     false, false, false, true},
    [TPRT_SITE_FUSED_ATTENTION_GRADIENT] = {0,            false, false, false, true},
    [TPRT_SITE_ROUTE]          = {TPRT_OP_ALL_TO_ALL_V,   false, false, false, true},
    [TPRT_SITE_FUSED_CONTRACTIONS] = {0,                  false, false, false, true},
};
// clang-format on
enum { N_KINDS = sizeof kinds / sizeof *kinds };

tprt_status tprt__check_range(const char *what, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high)
    return TPRT_OK;
  return tprt__fail(TPRT_INVALID_ARGUMENT, "%s is %lld; it must be from %lld to %lld", what,
                    (long long)value, (long long)low, (long long)high);
}

tprt_status tprt__check_unused(const char *what, const int64_t *words, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    if (words[i])
      return tprt__fail(TPRT_INVALID_ARGUMENT, "%s: a word is unused and must be 0, not %lld", what,
                        (long long)words[i]);
  }
  return TPRT_OK;
}

tprt_status tprt__program_words(const int64_t *words, size_t *n_words) {
  const tprt_abi_header *header = (const void *)words;
  if (!words || header->magic != TPRT_ABI_MAGIC)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "this is not a program table");
  if (header->version != TPRT_ABI_VERSION) {
    return tprt__fail(TPRT_MISMATCH,
                      "the program has ABI version %lld, this library %d; compile it again",
                      (long long)header->version, TPRT_ABI_VERSION);
  }
  tprt_status status =
      tprt__check_range("number of words", header->n_words, TPRT_ABI_HEADER_WORDS, max_words);
  if (!status)
    *n_words = (size_t)header->n_words;
  return status;
}

/* Reads the header, and checks that the sites lie inside the table. */
static tprt_status read_header(const int64_t *words, size_t n_words, tprt__program *program) {
  const tprt_abi_header *header = (const void *)words;
  size_t stated;
  if (n_words < TPRT_ABI_HEADER_WORDS)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "a program of %zu words has no header", n_words);
  tprt_status status = tprt__program_words(words, &stated);
  if (!status && stated > n_words) {
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "the program states %zu words, but %zu are given",
                        stated, n_words);
  }
  if (!status)
    status = tprt__check_range("number of mesh axes", header->n_axes, 0, TPRT_MAX_AXES);
  if (status)
    return status;
  *program = (tprt__program){
      .table = words, .n_words = (int64_t)stated, .n_axes = (int)header->n_axes, .n_devices = 1};
  for (int i = 0; i < TPRT_MAX_AXES; i++) {
    int64_t size = header->sizes[i];
    status = tprt__check_range("size of a mesh axis", size, 1,
                               i < program->n_axes ? INT_MAX / program->n_devices : 1);
    if (status)
      return status;
    program->sizes[i] = size;
    program->n_devices *= size;
  }
  status = tprt__check_range("bytes of private memory", header->private_bytes, 0, max_bytes);
  if (!status)
    status =
        tprt__check_range("bytes of registered memory", header->registered_bytes, 0, max_bytes);
  int64_t room = program->n_words - TPRT_ABI_HEADER_WORDS;
  if (!status)
    status = tprt__check_range("number of sites", header->n_sites, 0, room / TPRT_SITE_WORDS);
  if (!status) {
    status = tprt__check_range("offset of the first site", header->first_site,
                               header->n_sites ? TPRT_ABI_HEADER_WORDS : 0,
                               program->n_words - header->n_sites * TPRT_SITE_WORDS);
  }
  if (!status)
    status = tprt__check_range("target of the program", header->target, TPRT_TARGET_HOST,
                               TPRT_TARGET_CUDA);
  if (!status)
    status = tprt__check_range("TF32 of the program", header->tf32, 0,
                               header->target == TPRT_TARGET_CUDA);
  if (!status)
    status = tprt__check_unused("program", header->reserved,
                                sizeof header->reserved / sizeof *header->reserved);
  program->private_bytes = (size_t)header->private_bytes;
  program->registered_bytes = (size_t)header->registered_bytes;
  program->n_sites = (int)header->n_sites;
  program->target = (tprt_target)header->target;
  program->tf32 = header->tf32;
  return status;
}

static tprt_status read_axes(const tprt__program *program, const tprt_abi_site *words,
                             tprt__site *site) {
  tprt_status status = tprt__check_range("number of axes", words->n_axes, 0,
                                         kinds[site->kind].op ? program->n_axes : 0);
  if (status)
    return status;
  site->n_axes = (int)words->n_axes;
  for (int i = 0; i < site->n_axes; i++) {
    status = tprt__check_range("axis", words->axes[i], 0, program->n_axes - 1);
    if (status)
      return status;
    site->axes[i] = (int32_t)words->axes[i];
    for (int j = 0; j < i; j++) {
      if (site->axes[j] == site->axes[i])
        return tprt__fail(TPRT_INVALID_ARGUMENT, "axis %d is named twice", site->axes[i]);
    }
  }
  return tprt__check_unused("axes", words->axes + site->n_axes, TPRT_MAX_AXES - site->n_axes);
}

static tprt_status read_extra(const tprt__program *program, const tprt_abi_site *words,
                              tprt__site *site, bool wanted) {
  if (!wanted)
    return tprt__check_unused("extra data", &words->extra, 2);
  tprt_status status = tprt__check_range("length of extra data", words->n_extra, 0,
                                         program->n_words - TPRT_ABI_HEADER_WORDS);
  if (status)
    return status;
  site->n_extra = words->n_extra;
  status = tprt__check_range("offset of extra data", words->extra,
                             site->n_extra ? TPRT_ABI_HEADER_WORDS : 0,
                             program->n_words - site->n_extra);
  if (!status)
    site->extra = program->table + words->extra;
  return status;
}

static tprt_status check_pairs(const tprt__program *program, const tprt__site *site) {
  if (site->n_extra % 2 || site->n_extra / 2 > program->n_devices) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "permute: %lld words are not pairs of %lld devices",
                      (long long)site->n_extra, (long long)program->n_devices);
  }
  for (int64_t i = 0; i < site->n_extra; i += 2) {
    int64_t group[2], rank;
    for (int end = 0; end < 2; end++) {
      tprt_status status =
          tprt__check_range("device of a pair", site->extra[i + end], 0, program->n_devices - 1);
      if (status)
        return status;
      tprt__site_position(program, site, site->extra[i + end], &group[end], &rank);
    }
    if (group[0] != group[1]) {
      return tprt__fail(TPRT_INVALID_ARGUMENT,
                        "permute: devices %lld and %lld are in different groups of the site's axes",
                        (long long)site->extra[i], (long long)site->extra[i + 1]);
    }
    for (int64_t j = 1; j < i; j += 2) {
      if (site->extra[j] == site->extra[i + 1]) {
        return tprt__fail(TPRT_INVALID_ARGUMENT,
                          "permute: device %lld is the destination of two pairs",
                          (long long)site->extra[j]);
      }
    }
  }
  return TPRT_OK;
}

/* Reads the tensor and the operation of a site into site->op. */
static tprt_status read_op(const tprt_abi_site *words, tprt__site *site) {
  tprt_op *op = &site->op;
  tprt_status status = tprt__check_range("dtype", words->dtype, 1, TPRT_N_DTYPES - 1);
  if (!status)
    status = tprt__check_range("reduction", words->reduction, 0, TPRT_N_REDUCTIONS - 1);
  if (!status)
    status = tprt__check_range("rank of the tensor", words->rank, 0, TPRT_MAX_RANK);
  if (!status)
    status = tprt__check_unused("shape", words->shape + words->rank, TPRT_MAX_RANK - words->rank);
  if (!status)
    status = tprt__check_range("dim", words->dim, 0, kinds[site->kind].dim ? TPRT_MAX_RANK : 0);
  if (!status)
    status = tprt__check_range("split dim", words->split_dim, 0,
                               kinds[site->kind].split ? TPRT_MAX_RANK : 0);
  if (!status)
    status = tprt__check_range("root", words->root, 0, kinds[site->kind].root ? INT_MAX : 0);
  if (status)
    return status;
  *op = (tprt_op){.size = sizeof *op,
                  .kind = kinds[site->kind].op,
                  .dtype = (tprt_dtype)words->dtype,
                  .reduction = (tprt_reduction)words->reduction,
                  .n_dims = (int32_t)words->rank,
                  .dim = (int32_t)words->dim,
                  .split_dim = (int32_t)words->split_dim,
                  .root = (int32_t)words->root};
  memcpy(op->shape, words->shape, (size_t)op->n_dims * sizeof *op->shape);
  return TPRT_OK;
}

static tprt_status read_site(const tprt__program *program, const tprt_abi_site *words,
                             tprt__site *site) {
  tprt_status status = tprt__check_range("kind", words->kind, 1, N_KINDS - 1);
  if (status)
    return status;
  site->kind = (tprt_site_kind)words->kind;
  site->tf32 = program->tf32;
  status = read_axes(program, words, site);
  if (!status)
    status = read_extra(program, words, site, kinds[site->kind].extra);
  if (!status && site->kind == TPRT_SITE_CONTRACT)
    return tprt__read_contraction(program, words, site);
  if (!status)
    status = read_op(words, site);
  if (status || tprt__site_is_fused(site->kind))
    return status ? status : tprt__read_fused(program, site);
  status = tprt__check_group(program, site);
  return status || site->kind != TPRT_SITE_PERMUTE ? status : check_pairs(program, site);
}

tprt_status tprt__program_read(const int64_t *words, size_t n_words, tprt__program *result) {
  tprt__program program;
  tprt_status status = read_header(words, n_words, &program);
  if (status)
    return status;
  program.sites = tprt__alloc((size_t)program.n_sites * sizeof *program.sites);
  if (!program.sites)
    return tprt__fail_memory((size_t)program.n_sites * sizeof *program.sites);
  const tprt_abi_header *header = (const void *)words;
  const tprt_abi_site *sites = (const void *)(words + header->first_site);
  for (int i = 0; i < program.n_sites; i++) {
    status = read_site(&program, &sites[i], &program.sites[i]);
    if (!status)
      continue;
    tprt__fail(status, "site %d of the program: %s", i, tprt_last_error());
    tprt__program_clear(&program);
    return status;
  }
  *result = program;
  return TPRT_OK;
}

void tprt__program_clear(tprt__program *program) {
  for (int i = 0; i < program->n_sites && program->sites; i++)
    tprt__free(program->sites[i].contraction);
  tprt__free(program->sites);
  program->sites = NULL;
}

tprt_status tprt_abi_check(const int64_t *program, size_t n_words) {
  TPRT__NEED(program);
  tprt__program read;
  tprt_status status = tprt__program_read(program, n_words, &read);
  if (!status)
    tprt__program_clear(&read);
  return status;
}

static bool whole_mesh(const tprt__site *site) {
  return site->kind == TPRT_SITE_PERMUTE && site->n_axes == 0;
}

int64_t tprt__site_group_size(const tprt__program *program, const tprt__site *site) {
  if (whole_mesh(site))
    return program->n_devices;
  int64_t size = 1;
  for (int i = 0; i < site->n_axes; i++)
    size *= program->sizes[site->axes[i]];
  return size;
}

void tprt__site_position(const tprt__program *program, const tprt__site *site, int64_t device,
                         int64_t *group, int64_t *rank) {
  int64_t coordinates[TPRT_MAX_AXES], rest = device;
  for (int i = program->n_axes - 1; i >= 0; i--) {
    coordinates[i] = rest % program->sizes[i];
    rest /= program->sizes[i];
  }
  *rank = whole_mesh(site) ? device : 0;
  for (int i = 0; i < site->n_axes; i++) {
    *rank = *rank * program->sizes[site->axes[i]] + coordinates[site->axes[i]];
    coordinates[site->axes[i]] = 0; /* the remaining coordinates identify the group */
  }
  *group = 0;
  for (int i = 0; i < program->n_axes && !whole_mesh(site); i++)
    *group = *group * program->sizes[i] + coordinates[i];
}

size_t tprt__site_pairs(const tprt__program *program, const tprt__site *site, int64_t group,
                        tprt_pair *pairs) {
  size_t n = 0;
  for (int64_t i = 0; i < site->n_extra; i += 2) {
    int64_t own, source, destination;
    tprt__site_position(program, site, site->extra[i], &own, &source);
    tprt__site_position(program, site, site->extra[i + 1], &own, &destination);
    if (own == group)
      pairs[n++] = (tprt_pair){(int32_t)source, (int32_t)destination};
  }
  return n;
}
