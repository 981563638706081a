/* What a device holds over the program, and of what that is made at any op. */

/* In the order of their numbers in `buffers`. */
const KINDS = {argument: 'arguments', result: 'results', value: 'values',
  steps: 'steps of layout changes', workspace: 'workspace of ops', constants: 'constants'};

/* The document says by how much each op changes the bytes. */
function heldOverTime(memory) {
  let held = 0;
  return memory.over_time.map((change) => (held += change));
}

/* The most bytes in each of at most `n` equal parts of the list, so that no peak is lost. */
function highest(list, n) {
  const parts = [], count = Math.min(n, list.length);
  for (let i = 0; i < count; i++) {
    const from = Math.floor((i * list.length) / count);
    const end = Math.floor(((i + 1) * list.length) / count);
    let most = 0;
    for (let k = from; k < end; k++) most = Math.max(most, list[k]);
    parts.push(most);
  }
  return parts;
}

/* The memory of a device is a line if it is at most so many times the peak: the curve would be flat
 * below a higher one. */
const MAX_ABOVE = 4;

/* `gradients`: the first op that makes one; Infinity: none does. */
function memoryCurve(memory, held, gradients) {
  const width = 900, height = 240, left = 80, bottom = 24, top = 12;
  const device = memory.device_bytes, lines = [];
  if (memory.limit_bytes !== null) lines.push([memory.limit_bytes, 'limit ']);
  if (device !== null && device <= MAX_ABOVE * memory.peak_bytes)
    lines.push([device, 'memory of a device ']);
  const most = Math.max(memory.peak_bytes, 1, ...lines.map(([bytes]) => bytes)) * 1.05;
  const parts = highest(held, width - left);
  const x = (i) => left + (i / parts.length) * (width - left);
  const y = (bytes) => top + (1 - bytes / most) * (height - top - bottom);
  const path = parts.map((bytes, i) => 'V' + y(bytes).toFixed(1) + 'H' + x(i + 1).toFixed(1));
  const picture = draw('svg', {viewBox: '0 0 ' + width + ' ' + height, role: 'img',
    'aria-label': 'Bytes held by a device over the program; the peak is ' +
      bytesText(memory.peak_bytes)});
  picture.append(draw('path', {class: 'held',
    d: 'M' + left + ' ' + (height - bottom) + path.join('') + 'V' + (height - bottom) + 'Z'}));
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const bytes = Math.round(memory.peak_bytes * share);
    picture.append(
      draw('line', {class: 'axis', x1: left, x2: width, y1: y(bytes), y2: y(bytes)}),
      draw('text', {class: 'quiet', x: left - 6, y: y(bytes) + 4, 'text-anchor': 'end'},
        bytesText(bytes)));
  }
  for (const [bytes, title] of lines)
    picture.append(
      draw('line', {class: 'limit', x1: left, x2: width, y1: y(bytes), y2: y(bytes)}),
      draw('text', {x: title === 'limit ' ? left + 6 : width - 6, y: y(bytes) + 14,
        'text-anchor': title === 'limit ' ? 'start' : 'end'}, title + bytesText(bytes)));
  if (device > MAX_ABOVE * memory.peak_bytes)
    picture.append(draw('text', {class: 'quiet', x: width - 6, y: top + 2, 'text-anchor': 'end'},
      'a device has ' + bytesText(device) + ', far above'));
  picture.append(draw('text', {class: 'quiet', x: left, y: height - 6}, 'first op (in program order, not by time)'),
    draw('text', {class: 'quiet', x: width, y: height - 6, 'text-anchor': 'end'}, 'last op'));
  if (gradients < held.length) {
    const at = left + (gradients / held.length) * (width - left);
    picture.append(draw('line', {class: 'axis', x1: at, x2: at, y1: top, y2: height - bottom}),
      draw('text', {class: 'quiet', x: at + 4, y: top + 28}, 'first gradient'));
  }
  const cursor = draw('line', {class: 'cursor', y1: top, y2: height - bottom});
  picture.append(cursor);
  const moveTo = (k) => {
    const at = left + ((k + 0.5) / held.length) * (width - left);
    cursor.setAttribute('x1', at);
    cursor.setAttribute('x2', at);
  };
  const numberAt = (event) => {
    const box = picture.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    const share = (at - left) / (width - left), last = held.length - 1;
    return Math.max(0, Math.min(last, Math.floor(share * (last + 1))));
  };
  return {picture, moveTo, numberAt};
}

/* ---- what is held at an op ---- */

/* The buffers of the document with the numbers of their ops, and of the results that they are. */
function buffersOf({buffers}) {
  const n = buffers.kind.length, from = new Int32Array(n), to = new Int32Array(n);
  const resultKind = Object.keys(KINDS).indexOf('result');
  let nth = 0;
  for (let i = 0, at = 0; i < n; i++) {
    from[i] = at += buffers.from[i];
    to[i] = at + buffers.to[i];
  }
  return {...buffers, from, to,
    result: buffers.kind.map((kind) => (kind === resultKind ? buffers.results[nth++] : -1))};
}

/* The buffers that are held while op k runs. They are in the order of their first op. */
function liveAt(buffers, k) {
  const live = [];
  for (let i = 0; i < buffers.from.length && buffers.from[i] <= k; i++)
    if (buffers.to[i] >= k) live.push(i);
  return live;
}

const bufferBytes = (buffers, i) => buffers.sizes[buffers.size[i]];
const bufferKind = (buffers, i) => Object.keys(KINDS)[buffers.kind[i]];

/* What a buffer holds. */
function bufferName(f, graph, buffers, i) {
  if (bufferKind(buffers, i) === 'constants') return 'constants of the program';
  return buffers.result[i] >= 0 ? resultText(f, buffers.result[i])
    : nameText(graph.ops, buffers.of[i]);
}

/* ---- what fills the memory, in words ---- */

/* The first op that makes a gradient; Infinity: none does. */
function firstGradient(g) {
  const k = g.description.findIndex((text) => /^gradient /.test(g.texts[text] || ''));
  return k < 0 ? Infinity : k;
}

/* "weights in another layout", "gradients", ...: what a buffer is for. `gradients`: the first op that
 * makes one. */
function purposeOf(f, graph, buffers, gradients, i) {
  const kind = bufferKind(buffers, i), of = buffers.of[i], g = graph.ops;
  if (kind === 'argument' && of < 0)
    return f.arguments[-1 - of].role === 'param' ? 'weights'
      : f.results.some((result) => result.updates === -1 - of) ? 'arguments with new values (states)'
        : 'other arguments';
  if (kind !== 'value' || of < 0) return KINDS[kind];
  const [source] = isChange(g, of) ? g.operands[of] : [of];
  if (source < 0 && f.arguments[-1 - source].role === 'param') return 'weights in another layout';
  if (/^(gradient|update) /.test(g.texts[g.description[of]] || '')) return 'gradients';
  return buffers.from[i] < gradients && buffers.to[i] >= gradients ? 'values kept for gradients'
    : 'other values';
}

/* Buffers of one part and size, made by ops of one kind, are one row. */
function bufferGroups(f, graph, buffers, live, partOf) {
  const groups = new Map();
  for (const i of live) {
    const of = buffers.of[i];
    const part = partOf.get(i), key = [part, buffers.size[i], of < 0
      ? withoutNumbers(bufferName(f, graph, buffers, i)) : graph.ops.kind[of]].join('\0');
    if (!groups.has(key)) groups.set(key, {members: [], bytes: 0, part});
    const group = groups.get(key);
    group.members.push(i);
    group.bytes += bufferBytes(buffers, i);
  }
  return [...groups.values()].sort((a, b) => b.bytes - a.bytes);
}

const MAX_HELD = 40, MAX_NAMED = 3;

/* "all_gather of wq, wk, wv, ..." */
function namesText(f, graph, buffers, members) {
  const names = members.slice(0, MAX_NAMED).map((i) => bufferName(f, graph, buffers, i));
  const [common] = /^((?!input)\w+( and \w+)* of |result )?/.exec(names[0]);
  return names.map((name, i) => (i && common && name.startsWith(common)
    ? name.slice(common.length) : name)).join(', ') + (members.length > MAX_NAMED ? ', ...' : '');
}

/* `partOf` says for each buffer of `live` what it is for. */
function heldTable(f, graph, buffers, live, held, partOf) {
  const groups = bufferGroups(f, graph, buffers, live, partOf);
  const rows = groups.slice(0, MAX_HELD).map(({members, bytes, part}) => {
    const i = members[0], of = buffers.of[i];
    const isMade = of >= 0 && bufferKind(buffers, i) !== 'constants';
    return [bytesText(bytes), percentText(bytes, held),
      members.length > 1 ? 'x ' + members.length : '', bytesText(bufferBytes(buffers, i)), part,
      named(namesText(f, graph, buffers, members)),
      isMade ? linkTo('op', of, named(graph.describe(of)))
        : of < 0 ? linkTo('argument', -1 - of, 'argument ' + (-1 - of)) : '',
      buffers.to[i] - buffers.from[i] + 1 === graph.ops.kind.length ? 'all the time'
        : 'ops ' + (buffers.from[i] + 1) + ' - ' + (buffers.to[i] + 1)];
  });
  if (groups.length > MAX_HELD) {
    const rest = sum(groups.slice(MAX_HELD).map((group) => group.bytes));
    rows.push([bytesText(rest), percentText(rest, held), '', '', 'smaller ones, not listed', '', '', '']);
  }
  const grid = table(plural(live.length, 'buffer') + ' held there',
    ['bytes', 'share', 'equal', 'each', 'part', 'value', 'made by', 'held'], 'rrrrllll', rows);
  roving(grid, 'button');
  return grid;
}

function compositionTable(partOf, buffers, live, held) {
  const sums = new Map();
  for (const i of live) {
    const part = partOf.get(i);
    sums.set(part, (sums.get(part) || 0) + bufferBytes(buffers, i));
  }
  return table('What it is made of', ['part', 'bytes', 'share', ''], 'lrrl',
    [...sums].sort((a, b) => b[1] - a[1]).map(([part, bytes]) => [part, bytesText(bytes),
      percentText(bytes, held), bar(bytes, held)]));
}

/* Returns {element, show, place}; show(k) shows what is held at op k, which starts at startOf(k). */
function memoryPanel(f, graph, startOf) {
  const memory = f.memory, held = heldOverTime(memory), ops = held.length;
  const buffers = buffersOf(memory), gradients = firstGradient(graph.ops);
  const {picture, moveTo, numberAt} = memoryCurve(memory, held, gradients);
  const said = make('p', {'aria-live': 'polite', id: 'memory-at'});
  const list = scroller({id: 'memory-held'}, 'Held at the op that is shown');
  const parts = make('div', {class: 'card'});
  const slider = make('input', {type: 'range', id: 'memory-slider', min: 0, max: ops - 1, step: 1,
    'aria-label': 'Op whose memory is shown', oninput: () => look(Number(slider.value))});
  const peak = held.indexOf(memory.peak_bytes);
  let seen = -1, waiting = false;

  /* Several moves before the next frame are listed once. */
  function listBuffers() {
    waiting = false;
    const live = liveAt(buffers, seen);
    const partOf = new Map(live.map((i) => [i, purposeOf(f, graph, buffers, gradients, i)]));
    list.replaceChildren(heldTable(f, graph, buffers, live, held[seen], partOf));
    parts.replaceChildren(compositionTable(partOf, buffers, live, held[seen]));
  }

  function look(k) {
    if (k === seen) return;
    slider.value = seen = k;
    const bytes = bytesText(held[k]) + ' at ', op = 'op ' + (k + 1) + ' of ' + ops;
    const start = startOf(k), place = graph.name(k), time = (start === undefined ? ''
      : ', ' + secondsText(start) + ' into the step') + (k === peak ? ' (the peak)' : '');
    slider.setAttribute('aria-valuetext', visible(bytes + op + ', ' + place + time));
    said.replaceChildren(bytes, linkTo('op', k, op), ', ', named(place), time);
    moveTo(k);
    if (!waiting) requestAnimationFrame(listBuffers);
    waiting = true;
  }

  picture.addEventListener('pointermove', (event) => look(numberAt(event)));
  if (ops) {
    look(Math.max(0, peak));
    listBuffers();
  }
  const element = panel('memory', 'Memory',
    make('p', {class: 'full'}, 'The peak is ', make('strong', null, bytesText(memory.peak_bytes)),
      ', first held at ', named((peak < 0 ? opText(memory) : graph.name(peak)) +
        (memory.at ? ' at ' + memory.at : '')), '. ',
      memoryNote(memory) + '.'),
    make('p', {class: 'note'}, 'Point at the curve, or move the slider with the arrow keys, to ' +
      'see what is held while an op runs. First the op of the peak is shown.'),
    make('figure', {class: 'full'}, picture, slider, said),
    make('button', {class: 'button', type: 'button', onclick: () => look(Math.max(0, peak))},
      'Show the peak'),
    parts, list);
  return {element, place: () => ops && ['memory', seen], show: (k) => {
    look(k);
    reach(slider);
  }};
}
