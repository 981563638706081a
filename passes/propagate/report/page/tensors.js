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
  const {name, updates} = f.results[number];
  const updated = updates === null ? '' : f.arguments[updates].name || f.arguments[updates].value;
  const own = name || (updated && 'new ' + updated);
  return 'result ' + number + (own ? ' (' + own + ')' : '');
}

function tensorsOf(f) {
  const entry = (e, kind, value, label) => ({...e, kind, value,
    label,
    bytes: elements(e.local_shape) * elementBytes(e.element),
    wholeBytes: elements(e.shape) * elementBytes(e.element)});
  return [
    ...f.arguments.map((e, i) => entry({...e, index: i}, e.role === 'param' ? 'weight' : 'argument',
      e.value, e.name || e.value)),
    ...f.results.map((e, i) => entry(e, 'result', 'result ' + i, resultText(f, i))),
  ].sort((a, b) => b.bytes - a.bytes);
}

/* The collectives that change the layout of an argument, or make a result. */
function collectivesOfTensor(f, tensor) {
  return f.collectives.map((c, i) => [c, i]).filter(([c]) => (tensor.kind === 'result'
    ? c.consumer.op === 'func.return' && 'result ' + c.consumer.operand === tensor.value
    : c.value === tensor.value));
}

function collectiveLinks(list, openCollective) {
  if (!list.length) return make('p', null, 'No collective changes its layout.');
  return make('div', null, make('p', null, plural(list.length, 'collective') + ':'),
    make('ul', null, list.slice(0, 20).map(([c, i]) => make('li', null,
      make('button', {class: 'inset', type: 'button', onclick: () => openCollective(i)},
        c.kind + ' over ' + c.axes + ': ' + bytesText(c.bytes_per_device) + ', ' +
        secondsText(c.modelled_seconds))))));
}

/* The ops that read an argument, which lead to the graph. */
function readerLinks(f, tensor, graph) {
  const readers = f.graph.operands.flatMap((makers, k) =>
    (makers.includes(-1 - tensor.index) ? [k] : []));
  if (!readers.length) return make('p', null, 'No op reads it.');
  return make('div', null, make('p', null, 'Read by ' + plural(readers.length, 'op') + ':'),
    make('ul', null, readers.slice(0, 20).map((k) => make('li', null,
      make('button', {class: 'inset', type: 'button', onclick: () => graph.show(k)},
        named(graph.describe(k)))))));
}

function tensorDetails(f, tensor, openCollective, graph) {
  const updates = tensor.updates === undefined || tensor.updates === null ? null
    : ['new value of', named(f.arguments[tensor.updates].name || f.arguments[tensor.updates].value)];
  return [
    make('h3', {class: 'full'}, named(tensor.label)),
    facts(['kind', tensor.kind + (tensor.role && tensor.role !== 'param'
      ? ' (' + tensor.role + ')' : '')],
    ['value', code(tensor.value)],
    ['tensor', shapeText(tensor.shape) + ' ' + tensor.element + ', ' +
      bytesText(tensor.wholeBytes)],
    ['on a device', shapeText(tensor.local_shape) + ', ' + bytesText(tensor.bytes) + ' (' +
      percentText(tensor.bytes, tensor.wholeBytes) + ')'],
    ['layout', chip(tensor.sharding)], updates),
    tensorPicture(tensor.sharding, tensor.shape, tensor.local_shape),
    collectiveLinks(collectivesOfTensor(f, tensor), openCollective),
    tensor.index === undefined ? null : readerLinks(f, tensor, graph),
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

function tensorsPanel(f, openCollective, graph) {
  const all = tensorsOf(f), details = make('div', {class: 'card', 'aria-live': 'polite'});
  const search = make('input', {type: 'search', id: 'tensor-search', oninput: list});
  const layouts = [...new Set(all.map((t) => t.sharding))];
  const layout = make('select', {id: 'tensor-layout', onchange: list}, option('', 'all layouts'),
    layouts.map((text) => option(text, text)));
  const kind = make('select', {id: 'tensor-kind', onchange: list}, option('', 'all kinds'),
    [...new Set(all.map((t) => t.kind))].map((text) => option(text, text + 's')));
  const titles = ['name', 'kind', 'tensor', 'on a device', 'part', 'layout'];
  const grid = table('', titles, 'lllrrl', []), more = make('div');
  const body = grid.querySelector('tbody'), caption = grid.querySelector('caption');

  function choose(tensor, row) {
    body.querySelectorAll('[aria-selected="true"]').forEach((r) =>
      r.setAttribute('aria-selected', 'false'));
    row.setAttribute('aria-selected', 'true');
    details.replaceChildren(...tensorDetails(f, tensor, openCollective, graph).filter(Boolean));
  }

  function list() {
    const text = search.value.toLowerCase();
    const found = all.filter((t) => (!layout.value || t.sharding === layout.value) &&
      (!kind.value || t.kind === kind.value) &&
      (t.label + ' ' + t.value).toLowerCase().includes(text));
    body.replaceChildren();
    caption.textContent = plural(found.length, 'tensor') + ', ' +
      bytesText(sum(found.map((t) => t.bytes))) + ' on a device';
    inPortions(found, 100, (some) => body.append(...some.map((tensor) => {
      const row = tensorRow(f, tensor, () => choose(tensor, row));
      return row;
    })), more);
    if (found.length) choose(found[0], body.firstChild);
    else details.replaceChildren(make('p', null, 'No tensor is like this.'));
  }

  list();
  return panel('tensors', 'Tensors',
    make('p', {class: 'note'}, 'Arguments, weights and results, the largest on a device first. ' +
      'Values inside the program are in the graph.'),
    make('div', {class: 'controls'}, make('label', null, 'name contains', search),
      make('label', null, 'layout', layout), make('label', null, 'kind', kind)),
    make('div', {class: 'columns'},
      make('div', null, make('div', {class: 'scroll', tabindex: 0, role: 'region',
        'aria-label': 'List of tensors'}, grid), more), details));
}
