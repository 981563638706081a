/* The mesh: its devices, the links along its axes, and what goes over them in a step. */

const MAX_CELLS = 256;

const speedText = (bytesPerSecond) => (bytesPerSecond / 1e9).toPrecision(3) + ' GB/s';

/* The line of a kind of collective over a part of the mesh, as the topology gives it. */
const lineOf = (part, kind) => part.lines.find((line) => line.kind === kind);

/* The axes of a group, "dp,tp:(1)2", without their parts. */
const axesOf = (text) => text.split(',').map((name) => name.replace(/:.*$/, ''));

/* What goes over the links of an axis in a step: collectives over several axes count for each. */
function trafficOf(f, axis) {
  const own = f.traffic.filter((t) => axesOf(t.axes).includes(axis));
  return {bytes: sum(own.map((t) => t.bytes_per_device)),
    seconds: sum(own.map((t) => t.modelled_seconds)), runs: sum(own.map((t) => t.count))};
}

/* Wider the more goes over them. */
const linkWidth = (bytes, most) => (bytes > 0 ? 1.5 + 4.5 * Math.sqrt(bytes / most) : 1);

/* The devices as rows along the last axis; rows that differ in the axis before it are below each
 * other, with a gap where another axis goes on. */
function meshPlaces() {
  const sizes = [...axes.values()], across = sizes.length ? sizes[sizes.length - 1] : 1;
  const columns = Math.min(across, 32), shown = Math.min(plan.devices, MAX_CELLS);
  const rows = Math.min(Math.ceil(plan.devices / across), Math.ceil(shown / columns));
  const down = sizes.length > 1 ? sizes[sizes.length - 2] : 1;
  const cell = {width: Math.max(26, Math.min(56, 560 / columns)), height: 26, gap: 22};
  const step = {x: cell.width + cell.gap, y: cell.height + cell.gap};
  const place = (row, column) => ({x: 120 + column * step.x,
    y: 30 + row * step.y + Math.floor(row / down) * 14});
  return {across, columns, rows, down, cell, place};
}

function meshPicture(f) {
  const names = [...axes.keys()], {across, columns, rows, down, cell, place} = meshPlaces();
  const traffic = names.map((name) => trafficOf(f, name).bytes), most = Math.max(1, ...traffic);
  const end = place(rows - 1, columns - 1), last = names.length - 1;
  const width = end.x + cell.width + 20, height = end.y + cell.height + 12;
  const picture = draw('svg', {viewBox: '0 0 ' + width + ' ' + height, width, height, role: 'img',
    'aria-label': 'Mesh of ' + plural(plan.devices, 'device') + ': ' +
      names.map((name) => name + '=' + axes.get(name)).join(', ')});
  const link = (axis, x1, y1, x2, y2) => draw('line', {class: 'link k' + (1 + (axis % 9)), x1, y1,
    x2, y2, 'stroke-width': linkWidth(traffic[axis], most)});
  for (let row = 0; row < rows; row++) {
    const at = coordinates(row * across), {y} = place(row, 0);
    picture.append(draw('text', {x: 0, y: y + 17, class: 'quiet'},
      names.slice(0, -1).map((name) => name + ' ' + at.get(name)).join(', ').slice(0, 16)));
    for (let column = 0; column < columns; column++) {
      const {x} = place(row, column), middle = x + cell.width / 2;
      if (column + 1 < columns)
        picture.append(link(last, x + cell.width, y + 13, place(row, column + 1).x, y + 13));
      if (row + 1 < rows && (row + 1) % down !== 0)
        picture.append(link(last - 1, middle, y + cell.height, middle, place(row + 1, column).y));
      picture.append(draw('rect', {class: 'device', x, y, width: cell.width, height: cell.height,
        rx: 4}, draw('title', null, 'device ' + devicesText([row * across + column]))), draw('text', {x: middle, y: y + 17, 'text-anchor': 'middle'},
        row * across + column));
    }
  }
  for (let column = 0; column < columns && names.length; column++) {
    const text = names[last] + ' ' + column, {x} = place(0, column);
    const isShort = text.length * 6.7 < cell.width + cell.gap; // of letters 6.7 wide
    picture.append(draw('text', {x: x + cell.width / 2, y: 20, class: 'quiet',
      'text-anchor': 'middle'}, isShort || column === 0 ? text : column));
  }
  const hidden = plan.devices - rows * columns;
  return make('figure', null, make('div', {class: 'scroll bare'}, picture),
    make('figcaption', {class: 'note'}, 'Lines are links between neighbors along the last two ' +
      'axes, wider the more a device sends over them. ' +
      (hidden > 0 ? plural(hidden, 'more device') + ' not drawn.' : '')));
}

function linksTable(f) {
  const names = [...axes.keys()];
  return table('Links', ['axis', 'devices', 'level of the network', 'latency', 'bandwidth',
    'sent by a device', 'runs', 'time'], 'lrrrrrrr', plan.mesh.map((part) => {
    const line = lineOf(part, 'all_gather'), name = part.axis.replace(/:.*$/, '');
    const {bytes, seconds, runs} = trafficOf(f, name);
    return [make('span', {class: 'chip'}, make('span', {class: 'swatch c' +
      (1 + (names.indexOf(name) % 9)), 'aria-hidden': 'true'}), part.axis), String(part.size),
      String(part.level), secondsText(line.latency_seconds), speedText(line.bytes_per_second),
      bytesText(bytes), String(runs), secondsText(seconds)];
  }));
}

function groupsTable(f) {
  const groups = new Map();
  for (const t of f.traffic) {
    if (!groups.has(t.axes)) groups.set(t.axes, []);
    groups.get(t.axes).push(t);
  }
  const rows = [...groups].map(([name, list]) => ({name, list,
    bytes: sum(list.map((t) => t.bytes_per_device)),
    seconds: sum(list.map((t) => t.modelled_seconds))})).sort((a, b) => b.bytes - a.bytes);
  return table('Collectives by the axes of their groups', ['axes', 'sent by a device', 'share', '',
    'time', 'rate', 'kinds'], 'lrrlrrl', rows.map(({name, list, bytes, seconds}) => [name,
    bytesText(bytes), percentText(bytes, f.bytes_per_device), bar(bytes, f.bytes_per_device),
    secondsText(seconds), seconds > 0 ? speedText(bytes / seconds) : '',
    list.map((t) => t.kind + (t.count > 1 ? ' x ' + t.count : '')).join(', ')]));
}

function meshPanel(f) {
  return panel('mesh', 'Mesh',
    make('p', {class: 'note'}, 'Latency and bandwidth are those of an all_gather in the model "' +
      plan.topology + '". A collective over several axes counts for each of them in the first ' +
      'table, and once in the second; the rates of other kinds may be higher.'),
    plan.mesh.length ? [meshPicture(f), scroller(null, 'Links', linksTable(f))]
      : make('p', null, 'One device.'),
    f.traffic.length ? scroller({id: 'mesh-groups'}, 'Groups', groupsTable(f))
      : make('p', null, 'No device sends anything.'));
}
