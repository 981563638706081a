/* The arguments and results: who holds how much of them, and where. */

/* Bytes of an element by its name: f32, bf16, i1, f8E4M3FN, complex<f32>, index. */
function elementBytes(element) {
  const bits = /(\d+)/.exec(element);
  const one = bits ? Math.ceil(Number(bits[1]) / 8) : 8;
  return element.startsWith('complex') ? 2 * one : one;
}

const shapeText = (shape) => (shape.length ? shape.join(' x ') : 'scalar');
const elements = (shape) => shape.reduce((product, size) => product * size, 1);

/* "result 3 (loss)", "result 4 (new wq)" if it is the new value of an argument. */
function resultText(f, number) {
  const {description} = f.results[number];
  return 'result ' + number + (description ? ' (' + description + ')' : '');
}

function tensorsOf(f) {
  const entry = (e, place, index, kind, value, label) => ({...e, place, index, kind, value, label,
    bytes: elements(e.local_shape) * elementBytes(e.element),
    wholeBytes: elements(e.shape) * elementBytes(e.element)});
  const all = [
    ...f.arguments.map((e, i) => entry(e, 'argument', i, e.role === 'param' ? 'weight' : 'argument',
      e.value, e.description || e.value)),
    ...f.results.map((e, i) => entry(e, 'result', i, 'result', 'result ' + i, resultText(f, i))),
  ].sort((a, b) => b.bytes - a.bytes);
  const times = new Map();
  for (const {label} of all) times.set(label, (times.get(label) || 0) + 1);
  return all.map((tensor) => (times.get(tensor.label) > 1 && tensor.label !== tensor.value
    ? {...tensor, label: tensor.label + ' (' + tensor.value + ')'} : tensor));
}

/* The collectives that change the layout of an argument, or make a result. */
function collectivesOfTensor(f, tensor) {
  return f.collectives.map((c, i) => [c, i]).filter(([c]) => (tensor.kind === 'result'
    ? c.consumer.op === 'func.return' && 'result ' + c.consumer.operand === tensor.value
    : c.value === tensor.value));
}

/* The collectives of its gradient: "gradient of wq", "gradient of wq before the transpose". */
function gradientCollectives(f, {place, description}) {
  const text = 'gradient of ' + description;
  return place !== 'argument' || !description ? [] : f.collectives.map((c, i) => [c, i])
    .filter(([c]) => c.description === text || c.description.startsWith(text + ' before '));
}

function collectiveLinks(list, of = '') {
  if (!list.length) return make('p', null, 'No collective changes its layout.');
  return make('div', null, make('p', null, plural(list.length, 'collective') + of + ':'),
    linkList(list.map(([c, i]) => linkTo('collective', i, c.kind + ' over ' + c.axes + ': ' +
      bytesText(c.bytes_per_device) + ', ' + secondsText(c.modelled_seconds))), 20));
}

/* The ops that read an argument, which lead to the graph. */
function readerLinks(tensor, graph) {
  const readers = graph.ops.readers[tensor.index];
  if (!readers.length) return make('p', null, 'No op reads it.');
  return make('div', null, make('p', null, 'Read by ' + plural(readers.length, 'op') + ':'),
    linkList(readers.map((k) => linkTo('op', k, named(graph.name(k)))), 20));
}

/* The gradient of an argument as it arrives there: "%12, [["tp"], []]"; null if none is known. */
function gradientFact(tensor, {ops}) {
  const k = tensor.place === 'argument' && tensor.description
    ? ops.gradients.get(tensor.description) : undefined;
  if (k === undefined) return null;
  const {value, layout} = graphOp(ops, k);
  return ['its gradient', [linkTo('op', k, value || 'in the graph'), ' ', layout ? chip(layout) : '']];
}

/* The annotation of an argument or result, and what it costs. */
function annotationFact(f, tensor) {
  const group = f.annotation_groups.find(({annotation, numbers}) =>
    annotation.place === tensor.place && numbers.includes(tensor.index));
  if (!group) return ['layout chosen by', 'the planner'];
  const price = annotationPrice(group, f);
  return ['layout given by', ['an annotation of the program', group.count > 1
    ? ' (as are ' + (group.count - 1) + ' like it)' : '', price === NOT_PRICED
    ? '; what it costs was not looked at' : ', which costs ' + price]];
}

/* An argument as the program has it. */
const argumentLine = ({value, type, attributes}) =>
  value + ': ' + type + (attributes ? ' ' + attributes : '');

function tensorDetails(f, tensor, graph) {
  const isArgument = tensor.place === 'argument', gradients = gradientCollectives(f, tensor);
  const updates = isArgument || tensor.updates === null ? null
    : ['new value of', linkTo('argument', tensor.updates, named(labelOf(graph.ops,
      -1 - tensor.updates)))];
  return [
    make('h3', {class: 'full'}, named(tensor.label)),
    facts(['kind', tensor.kind + (tensor.role && tensor.role !== 'param'
      ? ' (' + tensor.role + ')' : '')],
    ['value', code(tensor.value)],
    isArgument ? ['type', code(tensor.type)] : null,
    ['tensor', shapeText(tensor.shape) + ' ' + tensor.element + ', ' +
      bytesText(tensor.wholeBytes)],
    ['on a device', shapeText(tensor.local_shape) + ', ' + bytesText(tensor.bytes) + ' (' +
      percentText(tensor.bytes, tensor.wholeBytes) + ')'],
    ['layout', chip(tensor.sharding)], annotationFact(f, tensor), updates, gradientFact(tensor, graph),
    isArgument ? ['source line', named(tensor.location === 'unknown' ? '-' : tensor.location)]
      : null,
    isArgument ? ['IR as planned', make('pre', {class: 'code', id: 'tensor-line'}, argumentLine(tensor))]
      : null),
    tensorPicture(tensor.sharding, tensor.shape, tensor.local_shape),
    collectiveLinks(collectivesOfTensor(f, tensor)),
    gradients.length ? collectiveLinks(gradients, ' of its gradient') : null,
    isArgument ? readerLinks(tensor, graph) : null,
  ];
}

function tensorRow(f, tensor, choose) {
  return make('tr', {'aria-selected': 'false'},
    make('td', null, make('button', {class: 'inset', type: 'button', onclick: choose},
      named(tensor.label))),
    make('td', null, tensor.kind),
    make('td', null, shapeText(tensor.shape) + ' ' + tensor.element),
    make('td', {class: 'number'}, bytesText(tensor.bytes)),
    make('td', {class: 'number'}, percentText(tensor.bytes, tensor.wholeBytes)),
    make('td', null, chip(tensor.sharding)));
}

/* Returns {element, show, place}; show('argument', i) shows the details of argument i. */
function tensorsPanel(f, graph) {
  const all = tensorsOf(f), rows = new Map();
  const details = make('div', {class: 'card', 'aria-live': 'polite', onkeydown: onDetailsKey});
  const search = searchInput('tensor-search', list);
  const layouts = [...new Set(all.map((t) => t.sharding))];
  const layout = make('select', {id: 'tensor-layout', onchange: list}, option('', 'all layouts'),
    layouts.map((text) => option(text, text)));
  const kind = make('select', {id: 'tensor-kind', onchange: list}, option('', 'all kinds'),
    [...new Set(all.map((t) => t.kind))].map((text) => option(text, text + 's')));
  const titles = ['name', 'kind', 'tensor', 'on a device', 'part', 'layout'];
  const grid = table('', titles, 'lllrrl', []), more = make('div');
  const body = grid.querySelector('tbody'), caption = grid.querySelector('caption');
  const settle = roving(grid, 'tbody button', (button) => button.click());
  let chosen = null;

  function mark(tensor) {
    if (rows.has(chosen)) rows.get(chosen).setAttribute('aria-selected', 'false');
    chosen = tensor;
    if (rows.has(chosen)) rows.get(chosen).setAttribute('aria-selected', 'true');
  }

  function choose(tensor) {
    if (tensor === chosen && details.querySelector('h3')) return;
    mark(tensor);
    details.replaceChildren(...tensorDetails(f, tensor, graph).filter(Boolean));
  }

  function close() {
    const row = rows.get(chosen);
    mark(null);
    details.replaceChildren(make('p', null, 'Choose a tensor to see where its parts are.'));
    if (row) reach(row.querySelector('button'));
  }

  function onDetailsKey(event) {
    if (event.key === 'Escape') close();
  }

  function list() {
    const text = search.value.toLowerCase();
    const found = all.filter((t) => (!layout.value || t.sharding === layout.value) &&
      (!kind.value || t.kind === kind.value) &&
      (t.label + ' ' + t.value + ' ' + visible(t.label)).toLowerCase().includes(text));
    body.replaceChildren();
    rows.clear();
    caption.textContent = plural(found.length, 'tensor') + ', ' +
      bytesText(sum(found.map((t) => t.bytes))) + ' on a device';
    inPortions(found, 100, (some) => {
      for (const tensor of some) rows.set(tensor, tensorRow(f, tensor, () => choose(tensor)));
      body.append(...some.map((tensor) => rows.get(tensor)));
      settle();
    }, more);
    if (found.length) choose(found[0]);
    else {
      mark(null);
      details.replaceChildren(make('p', null, 'No argument and no result is like this. ' +
        'The search of the graph finds values inside the program.'));
    }
  }

  function show(place, index) {
    const tensor = all.find((t) => t.place === place && t.index === index);
    if (!rows.has(tensor)) {
      search.value = layout.value = kind.value = '';
      list();
    }
    while (!rows.has(tensor)) more.firstChild.click();
    reach(rows.get(tensor).querySelector('button'));
    choose(tensor);
  }

  list();
  grid.setAttribute('role', 'grid');
  const element = panel('tensors', 'Tensors',
    make('p', {class: 'note'}, 'Arguments, weights and results, the largest on a device first. ' +
      'Values inside the program are in the graph.'),
    make('div', {class: 'controls'}, make('label', null, 'name contains', search),
      make('label', null, 'layout', layout), make('label', null, 'kind', kind)),
    make('div', {class: 'columns'},
      make('div', null, scroller(null, 'List of tensors', grid), more), details));
  return {element, show, place: () => chosen && [chosen.place, chosen.index]};
}
