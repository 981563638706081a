/* What less memory would cost, and what differs from an older plan. Shown if the report has it. */

const CURVE = {width: 900, height: 260, left: 90, right: 20, top: 16, bottom: 34};

/* Where no plan was found, up to `end`: a box with its label, in as many lines as it needs there, or
 * right of a narrow box, below the curve. */
function lostPart({limit_bytes: limit}, end) {
  const {height, left, top, bottom} = CURVE, letter = 6.7;
  const letters = Math.floor((end - left - 16) / letter), lines = [''];
  const words = ['no plan', 'was found', 'up to', bytesText(limit)];
  for (const word of words) {
    const longer = (lines.at(-1) + ' ' + word).trim();
    if (longer.length > letters && lines.at(-1)) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  const box = draw('rect', {class: 'lost', x: left, y: top, width: end - left,
    height: height - top - bottom});
  if (Math.max(...words.map((word) => word.length)) > letters)
    return [box, draw('text', {class: 'quiet', x: end + 6, y: height - bottom - 8},
      words.join(' '))];
  return [box, ...lines.map((line, i) =>
    draw('text', {class: 'quiet', x: left + 8, y: top + 16 + 14 * i}, line))];
}

/* From this plan to those that need less memory, then the limits within which none was found. */
const frontierRows = (f) => [...f.frontier].reverse();

/* The cost by the peak of plans within different limits. Below the smallest no plan was found.
 * `showPoint` is called for a point that is clicked. */
function frontierCurve(points, lost, showPoint) {
  const {width, height, left, right, top, bottom} = CURVE;
  const most = Math.max(...points.map((p) => p.peak_bytes)) * 1.04;
  const highest = Math.max(...points.map((p) => p.cost_seconds)) * 1.08;
  const lowest = Math.min(...points.map((p) => p.bound_seconds)) * 0.96;
  const x = (bytes) => left + (bytes / most) * (width - left - right);
  const y = (seconds) => top + ((highest - seconds) / (highest - lowest)) * (height - top - bottom);
  const picture = draw('svg', {viewBox: '0 0 ' + width + ' ' + height, role: 'img',
    'aria-label': 'Cost of a step by the memory of a device, for ' +
      plural(points.length, 'plan') + '; the table has the figures'});
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const seconds = lowest + share * (highest - lowest), bytes = share * most;
    picture.append(
      draw('line', {class: 'axis', x1: left, x2: width - right, y1: y(seconds), y2: y(seconds)}),
      draw('text', {class: 'quiet', x: left - 6, y: y(seconds) + 4, 'text-anchor': 'end'},
        secondsText(seconds)),
      draw('text', {class: 'quiet', x: x(bytes), y: height - 12,
        'text-anchor': share === 1 ? 'end' : 'middle'},
        bytesText(Math.round(bytes))));
  }
  if (lost) picture.append(...lostPart(lost, x(lost.limit_bytes)));
  picture.append(draw('path', {class: 'curve', d: points.map((p, i) =>
    (i ? 'H' + x(p.peak_bytes).toFixed(1) + 'V' : 'M' + x(p.peak_bytes).toFixed(1) + ' ') +
    y(p.cost_seconds).toFixed(1)).join('')}),
  ...points.map((p) => draw('circle', {class: p.limit_bytes === null ? 'point own' : 'point',
    cx: x(p.peak_bytes), cy: y(p.cost_seconds), r: 4.5, onclick: () => showPoint(p)},
  draw('title', null, bytesText(p.peak_bytes) + ': ' + secondsText(p.cost_seconds)))));
  return picture;
}

/* What a plan within a limit does otherwise than this one: in words, and on demand as a table. */
function frontierChanges({changes_from_this: text, against_this: difference}) {
  if (!difference || !difference.moves.length) return named(text);
  return make('div', null, named(text), make('details', null, make('summary', null,
    'All that moves more or less often'), movesTable(difference)));
}

function frontierTable(f) {
  const own = f.frontier.find((p) => p.limit_bytes === null);
  return table('Plans within memory limits', ['limit', 'peak', 'less memory', 'cost', 'more cost',
    'no plan costs less than', 'what differs from this plan'], 'rrrrrrl',
  frontierRows(f).map((p) => {
    const limit = p.limit_bytes === null ? 'this plan' : bytesText(p.limit_bytes);
    if (p.peak_bytes === null)
      return [limit, '', '', '', '', '', 'no plan was found; it is not proven that there is none'];
    const more = (now, before, whole) => (p === own ? '' : percentText(now - before, whole));
    return [limit, bytesText(p.peak_bytes),
      more(own.peak_bytes, p.peak_bytes, own.peak_bytes), secondsText(p.cost_seconds),
      more(p.cost_seconds, own.cost_seconds, own.cost_seconds), secondsText(p.bound_seconds),
      [frontierChanges(p), p.cut_short ? ' The time limit ended the search.' : '']];
  }));
}

function frontierPart(f) {
  if (!f.frontier.length) return [];
  const points = f.frontier.filter((p) => p.peak_bytes !== null)
    .sort((a, b) => a.peak_bytes - b.peak_bytes);
  const least = points[0].peak_bytes;
  const lost = f.frontier.filter((p) => p.peak_bytes === null && p.limit_bytes < least).at(-1);
  const grid = frontierTable(f);
  function showPoint(p) {
    const rows = [...grid.querySelectorAll('tbody')][0].children, at = frontierRows(f).indexOf(p);
    [...rows].forEach((row, i) => row.setAttribute('aria-selected', String(i === at)));
    rows[at].scrollIntoView({block: 'nearest'});
  }
  return [make('h3', null, 'If a device had less memory'),
    make('p', {class: 'note'}, 'A plan was sought within each of these limits; between two of them, ' +
      'the plan for the smaller one fits. To hold less, a plan moves a value again where it is ' +
      'needed, instead of keeping it: where all_gathers of a weight become more, it is gathered ' +
      'once more for the gradients.'),
    make('figure', null, frontierCurve(points, lost, showPoint)),
    scroller({id: 'frontier'}, 'Plans within memory limits', grid)];
}

/* ---- an older plan ---- */

const moreText = (before, now, text) => (now === before ? 'the same'
  : text(Math.abs(now - before)) + (now > before ? ' more' : ' less'));

/* A kind of collective, as a row of the table. */
const trafficRow = (t) => [t.kind + ' over ' + t.axes,
  t.count_before + ' in ' + secondsText(t.seconds_before),
  t.count + ' in ' + secondsText(t.modelled_seconds),
  [t.count === t.count_before ? '' : moreText(t.count_before, t.count, String),
    moreText(t.seconds_before, t.modelled_seconds, secondsText),
    t.bytes_before === t.bytes_per_device ? ''
      : moreText(t.bytes_before, t.bytes_per_device, bytesText)].filter(Boolean).join(', ')];

function sumsTable(a) {
  const row = (what, before, now, text) => [what, text(before), text(now),
    moreText(before, now, text)];
  return table('Before and now', ['', 'before', 'now', 'difference'], 'lrrr', [
    row('time of a step', a.seconds_before, a.seconds, secondsText),
    row('compute', a.compute_before, a.compute_seconds, secondsText),
    row('slices and masks', a.local_before, a.local_seconds, secondsText),
    row('memory peak of a device', a.peak_before, a.peak_bytes, bytesText),
    row('sent by a device', a.bytes_before, a.bytes_per_device, bytesText)]
    .concat(a.traffic.length ? a.traffic.map(trafficRow)
      : [['collectives', '', '', 'all the same']]));
}

/* The ops that one plan has more of, or on which it spends more time. */
function opsTable(a) {
  const rest = a.other_ops ? '; ' + a.other_ops + ' more are not listed' : '';
  return table('Ops of which the number or the time differs: ' + plural(a.ops.length, 'kind') + rest,
    ['op', 'makes', 'before', 'now', 'takes'], 'llrrr', a.ops.map((o) => [
      opText(o), named(o.of || '-'), String(o.count_before), String(o.count),
      moreText(o.seconds_before, o.modelled_seconds, secondsText)]));
}

function movesTable(a) {
  return table('What moves more often, or less often', ['collective', 'of', 'before', 'now', 'sends'],
    'llrrr', a.moves.map((m) => [m.kind + ' over ' + m.axes, named(m.of || '-'),
      String(m.count_before), String(m.count),
      moreText(m.bytes_before, m.bytes_per_device, bytesText)]));
}

function layoutsTable(a) {
  const rows = a.tensors.map((t) => [named(t.kind + ' ' + t.number + (t.name ? ' (' + t.name + ')'
    : '')), '', chip(t.before), chip(t.now)]).concat(a.values.map((v) => [named(valueText(v)),
    named(opText(v) + (v.at ? ' at ' + v.at : '')), chip(v.before), chip(v.now)]));
  const rest = a.other_values ? '; ' + a.other_values + ' more are not listed' : '';
  return table('Other layouts: ' + plural(a.tensors.length, 'argument or result') + ', ' +
    plural(a.values.length, 'value') + rest, ['tensor', 'made by', 'before', 'now'], 'llll', rows);
}

function againstPart(f) {
  const a = f.against;
  if (!a) return [];
  return [make('h3', null, 'Against the older plan'),
    make('p', {id: 'against-said'}, 'A step takes ' + moreText(a.seconds_before, a.seconds,
      secondsText).replace('the same', 'as long') + '.'),
    scroller({id: 'against'}, 'Before and now', sumsTable(a)),
    ...(a.moves.length ? [scroller({id: 'against-moves'}, 'What moves', movesTable(a))] : []),
    ...(a.ops.length ? [scroller({id: 'against-ops'}, 'Ops that differ', opsTable(a))] : []),
    a.tensors.length + a.values.length
      ? scroller({id: 'against-layouts'}, 'Other layouts', layoutsTable(a))
      : make('p', null, 'All layouts are the same.')];
}

function whatIfPanel(f) {
  const parts = [...frontierPart(f), ...againstPart(f)];
  return panel('what-if', 'What if', parts.length ? parts : make('p', {class: 'note'},
    'Plan with report-frontier=8 (shard-run --frontier 8) to see what less memory would cost, and ' +
    'with report-against=OLD.json (shard-run --plan-diff OLD.json) to compare with an older plan.'));
}
