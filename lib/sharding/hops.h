/* Hops: how the devices of a group get the elements that they read along a dimension that is split
 * over the group.
 *
 * Layout. The devices hold a dimension of `size` elements in buffers of `buffer` elements, of which
 * the valid elements are a prefix. Each axis divides the size and rounds up, in whole units: 64
 * elements in units of 16 are 32, 32 and 0 on three devices, and 10 elements on 2x2 devices are 3,
 * 2, 3 and 2. The same axes split `points` points into parts of `part` points. Point j reads the
 * elements stride * j + offset + [0, extent) that are inside the dimension. A device reads one run
 * of elements, starting at the smallest index of its points. All runs have the same length:
 * |stride| * (part - 1) + extent.
 * In a cyclic reading the element behind the last one is the first one. The owners of a run then
 * continue the same way: behind the last device comes the first, numbered `devices`, then
 * `devices + 1`.
 *
 * Plan. A plan assembles the run from pieces. Piece k of a device comes from the buffer of device
 * `owner + k`, where `owner` depends on the reader (`by`):
 *   by distance  owner = reader + nearest. Pieces of neighbors are small, and the device's own
 *                piece needs no transfer. But a window that moves away from its reader (a reversal,
 *                a part of the dimension) has a different distance on each device.
 *   by start     owner = the device that holds the first element needed. This takes only as many
 *                pieces as one run has owners, but an owner may send to several readers.
 *   by gather    the single piece is the whole dimension. Used if the others move at least as much,
 *                or need too many pieces.
 *
 * Execution. Each piece is one permute of a slice of the buffer, the same slice on all devices; no
 * permute is needed if every device has its piece already. The pieces are copied into a workspace
 * in order, and later pieces overwrite the padding of earlier ones. The run is a part of the
 * workspace.
 *
 * Pure values, no allocation. Planning takes time proportional to the number of devices. */
#ifndef TP_LIB_SHARDING_HOPS_H
#define TP_LIB_SHARDING_HOPS_H

#include "tp/spec.h"

enum { TP__MAX_PIECES = 16 };

typedef enum tp__hops_by { TP__BY_DISTANCE, TP__BY_START, TP__BY_GATHER } tp__hops_by;

typedef struct tp__window_read {
  int n_axes; /* major to minor */
  int64_t axes[TP_MAX_AXES];
  int64_t size, points;
  int64_t unit; /* divides size; 0 means 1 */
  int64_t stride, offset, extent;
  /* Indices beyond the end continue at the start. Requires stride = extent = 1, points = size,
   * 0 <= offset < size, and a unit of 1. */
  bool cyclic;
} tp__window_read;

typedef struct tp__hop_piece {
  int64_t from, to; /* the slice of the buffer; empty: no device needs this piece */
  bool moves;       /* some device needs it from another one */
} tp__hop_piece;

typedef struct tp__hops {
  tp__window_read reading;
  int64_t devices, buffer, part, run; /* run: elements that each device gets */
  tp__hops_by by;
  int64_t nearest; /* for TP__BY_DISTANCE */
  int n_pieces;
  tp__hop_piece pieces[TP__MAX_PIECES];
  /* workspace: start, relative to the first element of a device's first owner, and length */
  int64_t low, length;
  int n_moving;  /* number of permutes or gathers */
  int64_t moved; /* elements along the dimension that a device sends */
} tp__hops;

/* The elements that device `p` needs. */
typedef struct tp__read_range {
  int64_t run; /* first element of the run; may be outside of the dimension */
  /* the elements that its points read; from == to: none; beyond the size in a cyclic reading */
  int64_t from, to;
  int64_t owner; /* of the first of them */
} tp__read_range;

/* Computes a plan. False if there are no points, if positions could overflow, or if a dimension in
 * units, or a cyclic one, would have to be gathered. */
bool tp__plan_hops(const tp__window_read *reading, tp__hops *hops);

tp__read_range tp__hops_needed(const tp__hops *hops, int64_t p);
/* Returns the device whose buffer provides piece k of device p; -1 if p does not need that piece.
 * Not for TP__BY_GATHER. */
int64_t tp__hops_source(const tp__hops *hops, const tp__read_range *needed, int64_t p, int k);
/* Returns the position of piece k of device p in the workspace. */
int64_t tp__hops_place(const tp__hops *hops, const tp__read_range *needed, int64_t p, int k);
/* Returns the start of the run of device p in the workspace; 0 for a device that needs nothing. */
int64_t tp__hops_offset(const tp__hops *hops, const tp__read_range *needed, int64_t p);

#endif
