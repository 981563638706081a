/* What a device holds over the program, and what the peak is made of. */

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

function memoryCurve(memory, held) {
  const width = 900, height = 240, left = 80, bottom = 24, top = 12;
  const most = Math.max(memory.peak_bytes, memory.limit_bytes || 0, 1) * 1.05;
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
  if (memory.limit_bytes !== null)
    picture.append(
      draw('line', {class: 'limit', x1: left, x2: width, y1: y(memory.limit_bytes),
        y2: y(memory.limit_bytes)}),
      draw('text', {x: left + 6, y: y(memory.limit_bytes) + 14},
        'limit ' + bytesText(memory.limit_bytes)));
  picture.append(draw('text', {class: 'quiet', x: left, y: height - 6}, 'first op'),
    draw('text', {class: 'quiet', x: width, y: height - 6, 'text-anchor': 'end'}, 'last op'));
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

function compositionTable({by_kind: kinds, peak_bytes: peak}) {
  const rows = Object.entries(kinds).filter(([, bytes]) => bytes > 0).sort((a, b) => b[1] - a[1]);
  return table('What the peak is made of', ['kind', 'bytes', 'share', ''], 'lrrl',
    rows.map(([kind, bytes]) => [KINDS[kind] || kind, bytesText(bytes), percentText(bytes, peak),
      bar(bytes, peak)]));
}

/* Entries of one kind, size and op are one row. */
function heldTable(memory) {
  const groups = new Map();
  for (const v of memory.values) {
    const key = [v.kind, v.bytes, v.op, v.body, withoutNumbers(v.name)].join('\0');
    if (!groups.has(key)) groups.set(key, {first: v, n: 0, bytes: 0});
    groups.get(key).n++;
    groups.get(key).bytes += v.bytes;
  }
  const rows = [...groups.values()].sort((a, b) => b.bytes - a.bytes).map(({first: v, n, bytes}) =>
    [bytesText(bytes), percentText(bytes, memory.peak_bytes), n > 1 ? 'x ' + n : '',
      KINDS[v.kind], named(namesOf(v).reverse().join(', ') || '-'),
      v.op ? named(opText(v) + ' at ' + v.at) : '']);
  if (memory.other_bytes > 0)
    rows.push([bytesText(memory.other_bytes), percentText(memory.other_bytes, memory.peak_bytes),
      '', 'smaller ones, not listed', '', '']);
  return table('What is held at the peak', ['bytes', 'share', 'equal', 'kind', 'value', 'made by'],
    'rrrlll', rows);
}

function memoryPanel(f, opAt) {
  const memory = f.memory, held = heldOverTime(memory), ops = held.length;
  const {picture, moveTo, numberAt} = memoryCurve(memory, held);
  const said = make('p', {'aria-live': 'polite', id: 'memory-at'});
  const slider = make('input', {type: 'range', id: 'memory-slider', min: 0, max: ops - 1, step: 1,
    'aria-label': 'Op whose memory is shown', oninput: () => show(Number(slider.value))});
  const peak = held.indexOf(memory.peak_bytes);

  function show(k) {
    slider.value = k;
    const text = bytesText(held[k]) + ' at op ' + (k + 1) + ' of ' + ops + ', ' +
      opAt(k) + (k === peak ? ' (the peak)' : '');
    slider.setAttribute('aria-valuetext', text);
    said.replaceChildren(named(text));
    moveTo(k);
  }

  picture.addEventListener('pointermove', (event) => show(numberAt(event)));
  if (ops) show(Math.max(0, peak));
  return panel('memory', 'Memory',
    make('p', {class: 'full'}, 'The peak is ', make('strong', null, bytesText(memory.peak_bytes)),
      ', first held at ', named(opText(memory) + (memory.at ? ' at ' + memory.at : '')), '. ',
      memoryNote(memory) + '.'),
    make('figure', {class: 'full'}, picture, slider, said),
    make('div', {class: 'columns'},
      make('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Held at the peak'},
        heldTable(memory)),
      make('div', {class: 'card'}, compositionTable(memory))));
}
