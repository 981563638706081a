/* The graph: one row for each op in program order, coloured by layout, with edges from the ops that
 * make values to those that read them at the left. Only rows in sight are drawn. */

const ROW = 24, LANE = 9, MAX_LANES = 14, MAX_SPAN = 80, AROUND = 12, MIN_ROWS = 10;

/* The graph of the document, and what is looked up in it: how deep an op is nested, who reads its
 * value or an argument, its collectives. */
function graphOf(f) {
  const g = {...f.graph, depth: new Int32Array(f.graph.kind.length),
    users: f.graph.kind.map(() => []), readers: f.arguments.map(() => []),
    collectivesAt: new Map(), sent: f.collectives, gradients: new Map(),
    argumentValues: f.arguments.map((a) => a.value),
    argumentNames: f.arguments.map((a) => a.description || a.value)};
  g.description.forEach((text, k) => {
    const [, of] = /^gradient of (.*)$/.exec(g.texts[text] || '') || [];
    if (of !== undefined && !isChange(g, k)) g.gradients.set(of, k);
  });
  for (const [k, parent] of g.nested) g.depth[k] = g.depth[parent] + 1;
  g.operands.forEach((makers, k) => {
    for (const maker of new Set(makers)) (g.users[maker] || g.readers[-1 - maker]).push(k);
  });
  g.collectives.forEach((k, i) =>
    g.collectivesAt.set(k, [...(g.collectivesAt.get(k) || []), i]));
  return g;
}

const graphOp = (g, k) =>
  ({...g.kinds[g.kind[k]], value: g.texts[g.value[k]], description: g.texts[g.description[k]],
    at: g.texts[g.at[k]]});

/* "tensor<4x16xf32>" as a shape; null for other types. */
function shapeOfType(type) {
  const match = /^tensor<((?:\d+x)*)/.exec(type);
  return match ? match[1].split('x').filter(Boolean).map(Number) : null;
}

const isFiller = (g, k) => g.kinds[g.kind[k]].filler;

const isChange = (g, k) => g.kinds[g.kind[k]].op === 'shard.shard';

/* What the value of an op is, or argument -1 - k; the op if it makes none. */
function labelOf(g, k) {
  if (k < 0) return g.argumentNames[-1 - k];
  return g.texts[g.description[k]] || opText(graphOp(g, k));
}

/* The same with the name in the program: "gradient of wq (%12)". */
const nameText = (g, k) => (k < 0 ? labelOf(g, k) : valueText(graphOp(g, k)) || labelOf(g, k));

/* ---- rows and edges ---- */

/* The list of ops as rows: {op}, or {sections} for equal layers, each a list of ops. */
function foldOps(g, ops) {
  const rows = [];
  let i = 0;
  for (const {first, last} of g.layers) {
    for (; i < ops.length && ops[i] < first[0]; i++) rows.push({op: ops[i]});
    const sections = first.map((_, s) => {
      const from = i, end = s + 1 < first.length ? first[s + 1] : last + 1;
      while (i < ops.length && ops[i] < end) i++;
      return ops.slice(from, i);
    });
    rows.push({sections});
  }
  for (; i < ops.length; i++) rows.push({op: ops[i]});
  return rows;
}

/* The rows that are visible while these layers are open, and the row of each op. `opened` says
 * which of the equal layers is shown. */
function rowsOf(folded, opened) {
  const rows = [], rowOf = [];
  for (const entry of folded) {
    const header = rows.length;
    rows.push(entry);
    if (entry.op !== undefined) rowOf[entry.op] = header;
    for (const section of entry.sections || []) for (const k of section) rowOf[k] = header;
    if (!opened.has(entry)) continue;
    for (const k of entry.sections[opened.get(entry)]) {
      rowOf[k] = rows.length;
      rows.push({op: k, inFold: true});
    }
  }
  return {rows, rowOf};
}

/* One edge from the row of each value to its last reader nearby; `taps` are all of these. Longer
 * ones are named in the details of an op. */
function edgesOf(g, rowOf, n) {
  const byMaker = new Map();
  g.operands.forEach((makers, k) => {
    for (const maker of makers) {
      const from = rowOf[maker], to = rowOf[k];
      if (from === undefined || to === undefined || to <= from || to - from > MAX_SPAN) continue;
      if (!byMaker.has(from)) byMaker.set(from, {from, to, taps: new Map()});
      const edge = byMaker.get(from);
      edge.to = Math.max(edge.to, to);
      const sent = g.collectivesAt.get(k) || [];
      edge.taps.set(to, Math.max(edge.taps.get(to) || 0, sent.length ? graphOp(g, k).bytes_per_device || 1 : 0));
    }
  });
  const free = new Array(MAX_LANES).fill(-1), edges = [];
  for (let row = 0; row < n; row++) {
    const edge = byMaker.get(row);
    if (!edge) continue;
    edge.lane = edge.to === row + 1 ? 0 : 1 + free.slice(1).findIndex((end) => end <= row);
    if (edge.lane === 0 && edge.to !== row + 1) continue;
    if (edge.lane) free[edge.lane] = edge.to;
    edges.push(edge);
  }
  return edges;
}

const edgeWidth = (bytes) => Math.min(7, 1.5 + Math.log2(1 + bytes / 1024) / 3);

/* The parts of an edge: down its lane, and into each reader. */
function edgePaths(edge, top, gutter, chosen) {
  const x = gutter - 4, lane = gutter - 8 - edge.lane * LANE;
  const y = (row) => row * ROW + ROW / 2 - top;
  const mark = edge.from === chosen ? ' chosen' : '';
  return [...edge.taps].map(([to, bytes]) => draw('path', {
    class: 'edge' + (bytes ? ' sends' : '') + (edge.from === chosen || to === chosen ? ' chosen'
      : mark),
    'stroke-width': bytes ? edgeWidth(bytes) : 1.2,
    d: 'M' + x + ' ' + y(edge.from) + 'H' + (lane + 4) + 'Q' + lane + ' ' + y(edge.from) + ' ' +
      lane + ' ' + (y(edge.from) + 4) + 'V' + (y(to) - 4) + 'Q' + lane + ' ' + y(to) + ' ' +
      (lane + 4) + ' ' + y(to) + 'H' + x}));
}

/* ---- details ---- */

/* The name of what operand i of op k is; values that the planner made have none. */
function operandName(g, k, i) {
  const maker = g.operands[k][i];
  return maker < 0 ? g.argumentValues[-1 - maker] : nameOf(g, maker);
}
const nameOf = (g, k) => g.texts[g.value[k]] || '%op' + k;

/* The op as IR. */
const lineText = (g, k) => g.kinds[g.kind[k]].line.map((part) => (part === null ? nameOf(g, k)
  : typeof part === 'number' ? operandName(g, k, part) : part)).join('');

/* Links to ops, and to arguments, which are negative. */
const opLinks = (g, list) => (list.length ? linkList(list.map((k) => (k < 0
  ? linkTo('argument', -1 - k, named(labelOf(g, k)))
  : linkTo('op', k, named(nameText(g, k))))), 12) : '-');

function opDetails(g, k, f) {
  const op = graphOp(g, k), {layout, type} = op, shape = shapeOfType(type);
  const sent = (g.collectivesAt.get(k) || []).map((i) => [f.collectives[i], i]);
  return [
    make('h3', {class: 'full'}, named(labelOf(g, k))),
    facts(['op', named(opText(op))], op.value ? ['value', code(op.value)] : null,
    type ? ['type', code(type)] : null, layout ? ['layout', chip(layout)] : null,
    layout ? ['on a device', bytesText(op.bytes_per_device)] : null,
    op.modelled_seconds ? ['computes for', secondsText(op.modelled_seconds)] : null,
    ['source line', named(op.at || '-')],
    ['IR', make('pre', {class: 'code', id: 'graph-line'}, lineText(g, k))],
    ['reads', opLinks(g, g.operands[k])],
    ['read by', opLinks(g, g.users[k])]),
    sent.length ? collectiveLinks(sent) : null,
    layout && shape ? tensorPicture(layout, shape, null) : null,
  ];
}

function collectivesIn(g, sections) {
  const first = sections[0][0], last = sections.at(-1).at(-1);
  return g.collectives.filter((k) => k >= first && k <= last).length;
}

/* "layer 8 of 32" */
const layerText = (number, sections) => 'layer ' + (number + 1) + ' of ' + sections.length;

function foldDetails(g, sections) {
  const first = sections[0][0], last = sections.at(-1).at(-1);
  return [make('h3', null, 'Equal layers x ' + sections.length),
    make('p', null, plural(sections.length, 'section') + ' of ' +
      plural(sections[0].length, 'op') + ' that differ only in names and places, from ' +
      graphOp(g, first).at + ' to ' + graphOp(g, last).at + ', with ' +
      plural(collectivesIn(g, sections), 'collective') +
      '. Open it with Enter or a click to see the first one.')];
}

/* ---- the panel ---- */

/* The ops whose value, name, kind or place contains a text, in program order. Texts are looked at
 * once, however many ops have them. */
function opsLike(g, text) {
  const has = (some) => (some + ' ' + visible(some)).toLowerCase().includes(text.toLowerCase());
  const texts = g.texts.map((some) => has(some || '')), kinds = g.kinds.map((kind) => has(opText(kind)));
  return [...g.kind.keys()].filter((k) => kinds[g.kind[k]] || texts[g.value[k]] ||
    texts[g.description[k]] || texts[g.at[k]]);
}

function rowContent(g, entry, f, opened) {
  if (entry.sections) {
    const {sections} = entry, n = collectivesIn(g, sections);
    return [make('span', {class: 'fold'},
      (opened.has(entry) ? '\u25be ' : '\u25b8 ') + 'x ' + sections.length),
      opened.get(entry) > 0 ? make('span', null, 'below: ' + layerText(opened.get(entry), sections))
        : null,
      make('span', null, plural(sections[0].length, 'op') + ' each' + (n ? ', ' : '')),
      n ? make('span', {class: 'sends'}, plural(n, 'collective')) : null];
  }
  const k = entry.op, op = graphOp(g, k), {layout} = op;
  const isNamed = op.value === '%' + op.description;
  const sent = (g.collectivesAt.get(k) || []).map((i) => f.collectives[i]);
  return [make('span', {class: 'swatch c' + colourOf(layout), 'aria-hidden': 'true'}),
    make('span', {class: 'code'}, op.value),
    sent.length || isNamed ? null : make('span', null, labelOf(g, k)),
    op.description && !sent.length && !isChange(g, k)
      ? make('span', {class: isNamed ? null : 'op'}, opText(op)) : null,
    sent.length ? make('span', {class: 'sends'}, sent.map((c) => c.kind + ' ' + c.axes + ' ' +
      bytesText(c.bytes_per_device)).join(', ')) : null,
    sent.length ? make('span', null, isChange(g, k) ? 'of ' + labelOf(g, g.operands[k][0])
      : 'in ' + labelOf(g, k)) : null,
    layout ? code(layout) : null, make('span', {class: 'at'}, named(shortPlace(g, op.at)))];
}

/* A place without its file, if that is the file of the first op that has one: ":107". */
function shortPlace(g, place) {
  const first = g.texts[g.at.find((at) => g.texts[at])] || '', file = first.replace(/:\d+$/, ':');
  return file.length > 1 && file !== first && place.startsWith(file) ? place.slice(file.length - 1)
    : place;
}

/* Returns {element, ops, show, leave, place, describe, name}: show(k) selects op k, leave() closes
 * the layers that show opened; describe(k) says which op it is, name(k) what it makes. */
function graphPanel(f) {
  const g = graphOf(f), opened = new Map();
  /* Layers that links opened, not the user. */
  const openedByLinks = new Set();
  const search = searchInput('graph-search', find), found = make('span', {'aria-live': 'polite'});
  let alike = [], at = 0;
  search.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !alike.length) return;
    at = (at + (event.shiftKey ? alike.length - 1 : 1)) % alike.length;
    showFound();
    event.preventDefault();
  });
  const fillers = make('input', {type: 'checkbox', id: 'graph-fillers', onchange: list});
  const layer = make('div', {class: 'sizer', role: 'presentation'});
  const view = make('div', {class: 'graph', id: 'graph-view', tabindex: 0, role: 'listbox',
    'aria-label': 'Ops in program order', onscroll: scrolled,
    onkeydown: onKey, onclick: onClick}, layer);
  const details = make('div', {class: 'card', id: 'graph-details', 'aria-live': 'polite',
    onkeydown: onDetailsKey});
  const picture = draw('svg', {'aria-hidden': 'true'});
  let folded, rows, rowOf, edges, gutter, chosen = 0;
  let drawn = {first: -1, last: -1, rows: new Map()};

  function list() {
    folded = foldOps(g, [...g.kind.keys()].filter((k) => fillers.checked || !isFiller(g, k)));
    opened.clear();
    openedByLinks.clear();
    arrange();
    choose(0);
  }

  function arrange() {
    ({rows, rowOf} = rowsOf(folded, opened));
    edges = edgesOf(g, rowOf, rows.length);
    gutter = 14 + LANE * (1 + Math.max(0, ...edges.slice(0, 20000).map((e) => e.lane)));
    layer.style.height = rows.length * ROW + 'px';
    view.style.height = 'min(36rem, ' + (Math.max(rows.length, MIN_ROWS) * ROW + 2) + 'px)';
  }

  function rowElement(number) {
    const entry = rows[number];
    const row = make('div', {class: 'row', role: 'option', id: 'graph-row-' + number,
      'data-row': number, 'aria-selected': String(number === chosen), 'aria-setsize': rows.length,
      'aria-posinset': number + 1}, rowContent(g, entry, f, opened));
    row.style.top = number * ROW + 'px';
    row.style.paddingLeft = gutter + (entry.sections ? 0 : g.depth[entry.op] * 16 +
      (entry.inFold ? 16 : 0)) + 'px';
    return row;
  }

  function drawEdges({first, last}) {
    const top = first * ROW, near = edges.filter((e) => e.to >= first && e.from < last);
    picture.style.top = top + 'px';
    picture.setAttribute('width', gutter);
    picture.setAttribute('height', (last - first) * ROW);
    picture.replaceChildren(...near.flatMap((e) => edgePaths(e, top, gutter, chosen)));
  }

  /* Draws the rows in sight and some around them. They change when AROUND rows have passed by, and
   * then only the new ones are made. */
  function scrolled() {
    const sight = Math.floor(view.scrollTop / (ROW * AROUND)) * AROUND;
    const first = Math.max(0, sight - AROUND);
    const last = Math.min(rows.length,
      sight + Math.ceil(view.clientHeight / ROW) + 2 * AROUND);
    if (first === drawn.first && last === drawn.last) return;
    for (const [number, row] of drawn.rows) {
      if (number >= first && number < last) continue;
      row.remove();
      drawn.rows.delete(number);
    }
    for (let number = first; number < last; number++) {
      if (drawn.rows.has(number)) continue;
      const row = rowElement(number);
      drawn.rows.set(number, row);
      layer.append(row);
    }
    Object.assign(drawn, {first, last});
    drawEdges(drawn);
  }

  function render() {
    for (const row of drawn.rows.values()) row.remove();
    drawn = {first: -1, last: -1, rows: new Map()};
    scrolled();
    view.setAttribute('aria-activedescendant', 'graph-row-' + chosen);
  }

  function describe() {
    const entry = rows[chosen];
    if (!entry) return;
    details.replaceChildren(...(entry.sections ? foldDetails(g, entry.sections)
      : opDetails(g, entry.op, f)).filter(Boolean));
  }

  function close() {
    details.replaceChildren(make('p', null, 'Choose an op to see what it reads and makes.'));
    reach(view);
  }

  function onDetailsKey(event) {
    if (event.key === 'Escape') close();
  }

  function choose(row) {
    chosen = Math.max(0, Math.min(rows.length - 1, row));
    const at = chosen * ROW;
    if (at < view.scrollTop || at > view.scrollTop + view.clientHeight - 2 * ROW)
      view.scrollTop = Math.max(0, at - view.clientHeight / 3);
    render();
    describe();
  }

  function flip(row) {
    openedByLinks.delete(rows[row]);
    if (!opened.delete(rows[row])) opened.set(rows[row], 0);
    arrange();
    choose(row);
  }

  function onKey(event) {
    const page = Math.floor(view.clientHeight / ROW) - 1;
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity,
      End: Infinity};
    if (event.key in steps) choose(chosen + steps[event.key]);
    else if (event.key === 'Escape') close();
    else if (event.key !== 'Enter' && event.key !== ' ') return;
    else if (rows[chosen].sections) flip(chosen);
    else describe();
    event.preventDefault();
  }

  function onClick(event) {
    const row = event.target.closest('.row');
    if (!row) return;
    const number = Number(row.dataset.row);
    if (rows[number].sections) flip(number);
    else choose(number);
  }

  /* The first op that the search finds; Enter goes on to the next. */
  function find() {
    alike = search.value ? opsLike(g, search.value) : [];
    at = 0;
    found.textContent = search.value && !alike.length ? 'none' : '';
    if (alike.length) showFound();
  }

  function showFound() {
    turnTo(alike[at]);
    found.textContent = (at + 1).toLocaleString('en') + ' of ' + plural(alike.length, 'op');
  }

  /* Opens the layer of an op if it is one of equal ones. */
  function turnTo(k) {
    if (isFiller(g, k) && !fillers.checked) {
      fillers.checked = true;
      list();
    }
    const run = folded.find(({sections}) => sections && k >= sections[0][0] &&
      k <= sections.at(-1).at(-1));
    if (run) {
      if (!opened.has(run)) openedByLinks.add(run);
      opened.set(run, run.sections.findIndex((section) => k <= section.at(-1)));
      arrange();
    }
    choose(rowOf[k]);
  }

  function show(k) {
    turnTo(k);
    reach(view);
  }

  /* Closes the layers that links opened. */
  function leave() {
    if (!openedByLinks.size) return;
    const {op, sections} = rows[chosen];
    for (const run of openedByLinks) opened.delete(run);
    openedByLinks.clear();
    arrange();
    choose(rowOf[sections ? sections[0][0] : op]);
  }

  layer.append(picture);
  list();
  new ResizeObserver(scrolled).observe(view);
  const used = [...new Set(g.kinds.map((kind) => kind.layout))].filter(Boolean);
  const element = panel('graph', 'Graph',
    make('p', {class: 'note'}, plural(g.kind.length, 'op') + ' in program order, from top to bottom, ' +
      'with lines from the ops that make values to those that read them at the left. Lines that ' +
      'communicate are wider the more they move. Equal layers are one row. Arrow keys move, Enter ' +
      'opens layers; in the search it goes to the next op found.'),
    make('ul', {class: 'legend', 'aria-label': 'Layouts'}, used.slice(0, 12).map((text) =>
      make('li', null, chip(text)))),
    make('p', {class: 'note'}, used.length > 12
      ? 'And ' + (used.length - 12) + ' more layouts. There are ten colours, which repeat.' : ''),
    make('div', {class: 'controls'}, make('label', null, 'value, name, op or place contains', search,
      found), make('label', {class: 'inline'}, fillers,
      'show constants, empty and filled tensors')),
    make('div', {class: 'columns'}, view, details));
  const place = () => rows[chosen] && rows[chosen].op !== undefined && ['op', rows[chosen].op];
  return {element, ops: g, show, leave, place, name: (k) => nameText(g, k), describe: (k) => {
    const op = graphOp(g, k);
    return opText(op) + (op.at ? ' at ' + op.at : '');
  }};
}
