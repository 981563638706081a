/* Pictures of the blocks of a tensor. */

/* The two dimensions that are drawn, down and across: split ones first. */
function drawnDimensions(blocks, shape) {
  const pieces = shape.map((_, d) => new Set(blocks.map((b) => b.dims[d].from)).size);
  const order = shape.map((_, d) => d).sort((a, b) => pieces[b] - pieces[a] || b - a);
  return {drawn: order.slice(0, 2).sort((a, b) => a - b),
    others: order.slice(2).filter((d) => pieces[d] > 1)};
}

function blockCell(block, [down, across], shape, place, isPartial) {
  const span = (d, length) => {
    if (d === undefined) return [0, length];
    const {from, end} = block.dims[d], size = shape[d] || 1;
    return [(from / size) * length, ((end - from) / size) * length];
  };
  const [y, height] = span(down, place.height), [x, width] = span(across, place.width);
  const colour = place.colour;
  const text = rangesText(block.devices), room = Math.floor((width - 6) / 6.7);
  const where = block.dims.map((dim) => dim.from + ':' + dim.end).join(', ');
  return draw('g', null, draw('title', null, '[' + where + '] on devices ' + devicesText(block.devices)),
    draw('rect', {class: 'cell k' + colour, x: place.x + x, y: place.y + y, width, height,
      'stroke-dasharray': isPartial ? '4 3' : null}),
    height > 13 && room > 0
      ? draw('text', {x: place.x + x + width / 2, y: place.y + y + height / 2 + 4,
        'text-anchor': 'middle'},
      text.length <= room ? text : text.slice(0, Math.max(0, room - 2)) + '..')
      : null);
}

/* One drawing for each position in the split dimensions that are not drawn. */
function slicesOf(blocks, others) {
  const slices = new Map();
  for (const block of blocks) {
    const key = others.map((d) => 'dimension ' + d + ' = ' + block.dims[d].from + ':' +
      block.dims[d].end).join(', ');
    if (!slices.has(key)) slices.set(key, []);
    slices.get(key).push(block);
  }
  return slices;
}

const isEmpty = (block) => block.dims.some((dim) => dim.end <= dim.from);

/* "the 32 x 32 values in 8 different blocks of 8 x 16" */
function blocksText(blocks, shape) {
  if (!shape.length) return 'the value';
  const values = 'the ' + shape.join(' x ') + ' values in ';
  if (blocks.length === 1) return values + 'one block';
  const sizes = shape.map((_, d) => blocks.map(({dims}) => dims[d].end - dims[d].from));
  const isUneven = sizes.some((list) => Math.min(...list) < Math.max(...list));
  return values + plural(blocks.length, 'different block') + ' of ' + (isUneven ? 'up to ' : '') +
    sizes.map((list) => Math.max(...list)).join(' x ');
}

function blockTable(blocks, shape) {
  const rows = blocks.slice(0, 64).map((block) => [devicesText(block.devices),
    isEmpty(block) ? 'padding only'
      : code('[' + block.dims.map((dim) => dim.from + ':' + dim.end).join(', ') + ']')]);
  const rest = blocks.length - rows.length;
  return make('details', null, make('summary', null, 'Which device has what'),
    table(blocksText(blocks, shape) +
      (rest > 0 ? '; ' + rest + ' not listed' : ''), ['devices', 'elements'], 'll', rows));
}

/* The picture of a tensor whose layout has this text. localShape may be null. */
function tensorPicture(text, shape, localShape) {
  const layout = parseLayout(text), blocks = blocksOf(layout, shape, localShape);
  const words = make('p', null, 'It is ' + (layoutWords(layout) || text) + '.');
  words.textContent = words.textContent.replace('It is splits', 'It splits');
  if (!blocks)
    return make('div', null, words, make('p', {class: 'note'},
      'Not drawn: it is cut in units of several elements.'));
  const full = blocks.filter((block) => !isEmpty(block));
  const {drawn, others} = drawnDimensions(full.length ? full : blocks, shape);
  const [down, across] = drawn.length > 1 ? drawn : [undefined, drawn[0]];
  const slices = slicesOf(full, others), figures = [];
  for (const [title, own] of [...slices].slice(0, 8)) {
    const width = 340, height = down === undefined ? 44 : 180;
    const picture = draw('svg', {width: width + 60, height: height + 24, role: 'img',
      'aria-label': 'Devices by block of the tensor' + (title ? ', ' + title : '')});
    const place = {x: 52, y: 18, width, height, colour: colourOf(text)};
    picture.append(...own.slice(0, 4096).map((block) =>
      blockCell(block, [down, across], shape, place, layout.partial.length > 0)));
    if (across !== undefined)
      picture.append(draw('text', {x: 52, y: 12, class: 'quiet'},
        'dimension ' + across + ': ' + shape[across]));
    if (down !== undefined)
      picture.append(draw('text', {x: 12, y: 18 + height, class: 'quiet',
        transform: 'rotate(-90 12 ' + (18 + height) + ')'}, 'dimension ' + down + ': ' +
        shape[down]));
    figures.push(make('figure', null, picture,
      title ? make('figcaption', {class: 'note'}, title) : null));
  }
  const idle = blocks.filter(isEmpty).flatMap((block) => block.devices).sort((a, b) => a - b);
  return make('div', null, words, ...figures,
    slices.size > 8 ? make('p', {class: 'note'}, slices.size - 8 + ' more slices not drawn.') : null,
    idle.length ? make('p', {class: 'warn'}, 'Uneven: devices ' + devicesText(idle) +
      ' hold padding only.') : null,
    blockTable(blocks, shape));
}
