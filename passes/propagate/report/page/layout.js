/* Layouts: their texts, their colours, and which part of a tensor each device has. */

/* The mesh in whole axes, major to minor. The planner may cut an axis "dp" into "dp:(1)2" and
 * "dp:(2)2", which stand apart in the mesh of the document. */
const axes = new Map();
for (const {axis, size} of plan.mesh) {
  const name = axis.replace(/:\(\d+\)\d+$/, '');
  axes.set(name, (axes.get(name) || 1) * size);
}

/* The coordinates of a device, by axis. */
function coordinates(device) {
  const at = new Map();
  for (const [name, size] of [...axes].reverse()) {
    at.set(name, device % size);
    device = Math.floor(device / size);
  }
  return at;
}

/* "dp", or a part of it: "dp:(2)2" is the part of 2 devices behind a part of 2. */
function axisPart(text) {
  const part = /^(.*):\((\d+)\)(\d+)$/.exec(text);
  if (part && axes.has(part[1])) {
    const whole = axes.get(part[1]), before = Number(part[2]), size = Number(part[3]);
    return {name: part[1], size, stride: whole / (before * size)};
  }
  return axes.has(text) ? {name: text, size: axes.get(text), stride: 1} : null;
}

/* '[["dp"], []]' or '{dims = [["dp"], []], partial = {tp = "sum"}}' as {dims, partial}. Null for a
 * text that is neither. */
function parseLayout(text) {
  try {
    const full = /^\{.*?dims = (\[.*?\])(?:, [a-z_]+ = .*)?\}$/.exec(text);
    const dims = JSON.parse(full ? full[1] : text);
    const partial = /partial = \{([^}]*)\}/.exec(text);
    const sums = partial ? [...partial[1].matchAll(/"?([^",= ]+)"? = "([^"]*)"/g)] : [];
    return Array.isArray(dims) ? {dims, partial: sums.map((m) => [m[1], m[2]])} : null;
  } catch {
    return null;
  }
}

/* The part of dimension `size` that each of `parts` gives to the device at these coordinates: cut
 * axis by axis, major to minor, each into equal buffers. */
function partOf(size, parts, at) {
  let from = 0, end = size, buffer = size;
  for (const part of parts) {
    const index = Math.floor(at.get(part.name) / part.stride) % part.size;
    buffer = Math.ceil(buffer / part.size);
    from += index * buffer;
    end = Math.min(end, from + buffer);
  }
  return {from: Math.min(from, end), end, buffer};
}

/* The blocks of a tensor, those of equal position once: {key, dims: [{from, end}], devices}. Null if
 * the layout cannot be shown: axes that are not in the mesh, or cuts that fall on units. */
function blocksOf(layout, shape, localShape) {
  if (!layout || (layout.dims.length !== shape.length && layout.dims.length > 0)) return null;
  const parts = shape.map((_, d) => (layout.dims[d] || []).map(axisPart));
  if (parts.flat().includes(null)) return null;
  const blocks = new Map();
  for (let device = 0; device < plan.devices; device++) {
    const at = coordinates(device);
    const dims = shape.map((size, d) => partOf(size, parts[d], at));
    if (localShape && dims.some((dim, d) => dim.buffer !== localShape[d])) return null;
    const key = dims.map((dim) => dim.from + ':' + dim.end).join();
    if (!blocks.has(key)) blocks.set(key, {key, dims, devices: []});
    blocks.get(key).devices.push(device);
  }
  return [...blocks.values()];
}

/* "0-3, 6" */
function rangesText(numbers) {
  const runs = [];
  for (const n of numbers) {
    const last = runs[runs.length - 1];
    if (last && last[1] + 1 === n) last[1] = n;
    else runs.push([n, n]);
  }
  return runs.map(([a, b]) => (a === b ? '' + a : a + '-' + b)).join(', ');
}

/* Devices with their coordinates: "5 (dp 2, tp 1)", "4-7 (dp 1, tp 0-3)". Without these if the
 * devices are not all those of some coordinates along each axis. */
function devicesText(devices) {
  const at = devices.map(coordinates);
  const parts = [...axes.keys()].map((name) =>
    [name, [...new Set(at.map((place) => place.get(name)))].sort((a, b) => a - b)]);
  const isProduct = parts.reduce((n, [, list]) => n * list.length, 1) === devices.length;
  return rangesText(devices) + (isProduct && parts.length
    ? ' (' + parts.map(([name, list]) => name + ' ' + rangesText(list)).join(', ') + ')' : '');
}

/* What a layout does, in words. */
function layoutWords(layout) {
  if (!layout) return '';
  const split = layout.dims.map((names, d) =>
    (names.length ? 'dimension ' + d + ' over ' + names.join(', then ') : '')).filter(Boolean);
  const sums = layout.partial.map(([axis, how]) => 'each device has a part of a ' + how +
    ' over ' + axis);
  return [split.length ? 'splits ' + split.join('; ') : 'whole on every device', ...sums]
    .join('; ');
}

/* ---- colours ---- */

const colours = new Map();
/* A layout that splits nothing is grey, others have colours in the order of their first use; the
 * tenth and later share them. */
function colourOf(text) {
  if (!colours.has(text)) {
    const layout = parseLayout(text);
    const isWhole = !layout || (layout.dims.every((d) => !d.length) && !layout.partial.length);
    const used = [...colours.values()].filter((c) => c > 0).length;
    colours.set(text, isWhole ? 0 : 1 + (used % 9));
  }
  return colours.get(text);
}

const chip = (text) =>
  make('span', {class: 'chip'},
    make('span', {class: 'swatch c' + colourOf(text), 'aria-hidden': 'true'}), code(text));
