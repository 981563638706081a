/* The first panel: what the plan costs, how good that is, what other choices cost. */

function tile(term, figure, ...rest) {
  return make('div', {class: 'tile'}, make('dt', null, term),
    make('dd', null, make('div', {class: 'figure'}, figure),
      ...rest.map((text) => make('div', {class: 'note'}, text))));
}

function proofText(f) {
  const {cost_seconds: cost, bound_seconds: bound, gap, stopped_by: stopped} = f.solution;
  const any = 'Proven: no plan that the planner offers' +
    (f.annotations ? ' with these annotations' : '');
  const proof = any + (cost <= bound ? ' costs less' : ' is below ' + secondsText(bound) +
    (gap === null ? '' : ' (gap ' + (100 * gap).toPrecision(2) + ' %)'));
  return proof + (stopped ? '; ' + (stopped === 'interrupt' ? 'an interrupt' : 'the time limit') +
    ' ended the search' : '');
}

function memoryNote({peak_bytes: peak, limit_bytes: limit, device_bytes: device,
  by_kind: kinds}) {
  if (limit !== null) return percentText(peak, limit) + ' of the limit of ' + bytesText(limit);
  if (device === null) return 'No memory limit was given';
  const given = kinds.argument + kinds.result;
  return peak <= device
    ? 'Fits: ' + percentText(peak, device) + ' of a device\'s ' + bytesText(device)
    : 'Does not fit: a device has ' + bytesText(device) + (given > device
      ? ', and arguments and results alone take ' + bytesText(given)
      : '. Plan with memory-limit=topology');
}

/* How long the run took whose times the page has, beside the model. */
function measuredNotes(modelled) {
  const run = runOf();
  if (!run) return [];
  return ['A run took ' + secondsText(run.measured_seconds) + ', ' +
    timesText(run.measured_seconds / modelled) + ' times that' +
    (run.processors && run.processors < plan.devices ? ' (' + plural(plan.devices, 'rank') +
      ' on ' + plural(run.processors, 'processor') + ')' : '') + ': see the timeline'];
}

/* With overlapped collectives, first the time that then is left. */
function timeTile(f) {
  const {seconds, overlapped_seconds: overlapped, collective_seconds: collectives} = f.step;
  const title = 'Time of a step, modelled', share = percentText(collectives, seconds);
  if (overlapped === null)
    return tile(title, secondsText(seconds), collectives > 0
      ? share + ' of the time is collectives. None of it is hidden: the plan was made without ' +
        'overlap' : 'No collectives', ...measuredNotes(seconds));
  return tile(title, secondsText(overlapped), secondsText(seconds) + ' one after the other, of ' +
    'which ' + share + ' is collectives; ' + secondsText(seconds - overlapped) +
    ' of communication hidden', ...measuredNotes(overlapped));
}

/* What a device sends by kind of collective, the kind that sends most first: "all_gather 64.1 KiB:
 * over dp 32.1 KiB, over tp 32.0 KiB". */
function sentNotes(f) {
  const kinds = new Map();
  for (const t of f.traffic) kinds.set(t.kind, [...(kinds.get(t.kind) || []), t]);
  const bytesOf = (list) => sum(list.map((t) => t.bytes_per_device));
  return [...kinds].sort((a, b) => bytesOf(b[1]) - bytesOf(a[1])).map(([kind, list]) =>
    kind + (list.length > 1 ? ' ' + bytesText(bytesOf(list)) + ': ' : ' ') +
    [...list].sort((a, b) => b.bytes_per_device - a.bytes_per_device).map((t) =>
      'over ' + t.axes + ' ' + bytesText(t.bytes_per_device)).join(', '));
}

/* Why the cost is not the time of a step. */
function costNotes(f) {
  const notes = [proofText(f)];
  if (f.step.overlapped_seconds !== null)
    notes.push('Without overlap, in which plans are compared');
  if (f.step.shared_seconds > 0)
    notes.push('A step takes ' + secondsText(f.step.shared_seconds) + ' less than that: a layout ' +
      'that several ops need was counted once per op, but is made only once');
  return notes;
}

function tiles(f) {
  const objective = plan.objective === 'time' ? secondsText(f.solution.cost_seconds)
    : secondsText(f.solution.cost_seconds) + ' (priced by bytes)';
  return make('dl', {class: 'tiles'},
    timeTile(f),
    tile('Cost that the planner minimizes', objective, ...costNotes(f)),
    tile('Memory peak of a device', bytesText(f.memory.peak_bytes), memoryNote(f.memory)),
    tile('Sent by a device in a step', bytesText(f.bytes_per_device),
      plural(sum(f.traffic.map((t) => t.count)), 'collective'), ...sentNotes(f)));
}

function timeTable(f) {
  const whole = f.step.seconds;
  const rows = [['compute', f.step.compute_seconds, '', '']].concat(
    f.traffic.map((t) => [t.kind + ' over ' + t.axes, t.modelled_seconds,
      bytesText(t.bytes_per_device), String(t.count)]),
    f.step.local_seconds > 0 ? [['slices and masks', f.step.local_seconds, '', '']] : [])
    .sort((a, b) => b[1] - a[1]);
  return table('Where the time of a step goes',
    ['part', 'time', 'share', '', 'sent', 'runs'], 'lrrlrr',
    rows.map(([what, seconds, sent, runs]) => {
      const cell = bar(seconds, whole);
      return [what, secondsText(seconds), percentText(seconds, whole), cell, sent, runs];
    }));
}

/* Ops of one kind, those that take most time first. */
const MAX_OPS = 8;
function computeTable({graph, step}) {
  const sums = new Map();
  graph.kind.forEach((number) => {
    const kind = graph.kinds[number], text = opText(kind);
    if (kind.op === 'shard.shard' || !(kind.modelled_seconds > 0)) return;
    const entry = sums.get(text) || {seconds: 0, n: 0};
    sums.set(text, {seconds: entry.seconds + kind.modelled_seconds, n: entry.n + 1});
  });
  const sorted = [...sums].sort((a, b) => b[1].seconds - a[1].seconds);
  const rest = sum(sorted.slice(MAX_OPS).map(([, {seconds}]) => seconds));
  const row = (what, seconds, n) => [named(what), n, secondsText(seconds),
    percentText(seconds, step.seconds), bar(seconds, step.seconds)];
  return table('What computes, ops of one kind together', ['op', 'ops', 'time', 'share', ''], 'lrrrl',
    sorted.slice(0, MAX_OPS).map(([what, {seconds, n}]) => row(what, seconds, 'x ' + n))
      .concat(rest > 0 ? [row('other ops', rest, '')] : []));
}

/* Different plans that were found as alternatives of collectives, the nearest first. */
function alternativesOf(f) {
  const found = new Map();
  f.collectives.forEach((c, i) => {
    if (!c.alternative) return;
    const a = c.alternative, key = JSON.stringify([placeText(a.annotation), a.annotation.sharding,
      a.annotation.factors]);
    if (!found.has(key)) found.set(key, {a, collectives: []});
    found.get(key).collectives.push(i);
  });
  return [...found.values()].sort((x, y) => x.a.extra_seconds - y.a.extra_seconds);
}

function annotationText({sharding, factors}) {
  return [chip(sharding), factors ? [' with tp.factors = ', code(factors)] : []].flat(2);
}

function alternativesTable(f) {
  const found = alternativesOf(f);
  if (!found.length)
    return make('p', {class: 'note'}, f.collectives.length
      ? 'No other plan was found or sought (report-alternatives).'
      : 'There are no collectives, so no other plan was sought.');
  const titles = ['the plan would cost', 'annotation that makes it', 'instead of', 'decides'];
  const sought = f.collectives.filter((c) => c.alternative ||
    (c.alternative_at === null && !notSought(c))).length;
  const grid = table('The best plans with another choice at ' + (sought === 1
    ? 'the collective that costs most' : 'one of the ' + sought + ' collectives that cost most') +
    ' (equal ones counted together), the cheapest first', titles, 'rlll', found.map(({a, collectives}) => [
      priceText(a),
      [named(placeText(a.annotation)), make('br'), ...annotationText(a.annotation)],
      chip(a.instead_of),
      linkTo('collective', collectives[0],
        f.collectives[collectives[0]].kind + ' over ' + f.collectives[collectives[0]].axes),
    ]));
  roving(grid, 'button');
  return grid;
}

/* What annotations cost: how much less the best plan without them would. */
const NOT_PRICED = 'not looked at';
function annotationPrice({saves_seconds: saves, bound_without_seconds: bound}, {solution}) {
  const whole = solution.cost_seconds;
  const priced = (seconds) => secondsText(seconds) + ' (' + percentText(seconds, whole) + ')';
  if (saves !== null) return priced(saves);
  if (bound === null) return NOT_PRICED;
  return bound >= whole ? 'nothing' : 'at most ' + priced(whole - bound);
}

/* "w1 (%arg1)", "params/layers/0/wq (%arg3) and 31 like it". */
const annotationPlace = (group) => placeText(group.annotation) +
  (group.count > 1 ? ' and ' + (group.count - 1) + ' like it' : '');

/* So many annotations of one bound have a row each. */
const TOGETHER = 6;

function annotationsTable(f) {
  const groups = f.annotation_groups;
  if (!groups.length)
    return make('p', {class: 'note'}, 'The program has no annotations: the planner chose every ' +
      'layout.');
  const all = [make('strong', null, 'all ' + f.annotations), '', annotationPrice(f.without_annotations, f)];
  const {saves_seconds: saved, bound_without_seconds: bound} = f.without_annotations;
  /* of these nothing is known but that all together cost no more */
  const isUnknown = (g) => g.saves_seconds === null && saved === null && bound !== null &&
    bound < f.solution.cost_seconds && g.bound_without_seconds === bound;
  const unknown = groups.length > 1 ? groups.filter(isUnknown) : [];
  /* many that were taken away together, to no avail, are one row: only one bound is known of them */
  const sameBound = new Map();
  const known = groups.filter((g) => !unknown.includes(g));
  const boundOf = (g) => (g.saves_seconds === null && g.bound_without_seconds !== null
    ? g.bound_without_seconds : g);
  const times = new Map();
  for (const g of known) times.set(boundOf(g), (times.get(boundOf(g)) || 0) + 1);
  for (const g of known) {
    const key = times.get(boundOf(g)) > TOGETHER ? boundOf(g) : g;
    if (!sameBound.has(key)) sameBound.set(key, []);
    sameBound.get(key).push(g);
  }
  const rows = [...sameBound.values()].map((same) => [same[0], [same.length > 1
    ? 'each of these ' + same.length + ': ' + same.map(annotationPlace).join('; ')
    : named(annotationPlace(same[0])), same.length > 1 ? '' : annotationText(same[0].annotation),
  annotationPrice(same[0], f)]])
    .sort(([a], [b]) => (b.saves_seconds || 0) - (a.saves_seconds || 0) ||
      (a.bound_without_seconds || 0) - (b.bound_without_seconds || 0));
  return table('How much less the plan would cost if the program did not have them. Those of ' +
    'equal layers are taken away together. "At most": no cheaper plan was found without them, ' +
    'and none costs less by more than that.', ['annotation', 'layout', 'costs'], 'llr',
  (groups.length > 1 ? [all] : []).concat(rows.map((row) => row[1]), unknown.length
    ? [['each ' + (rows.length ? 'of the others' : 'of them') + ': ' +
      unknown.map(annotationPlace).join('; '), '', 'no more than all']] : []));
}

/* What "dp:(2)4" means, if a plan cuts axes into parts. */
const partsNote = (f) => (f.traffic.some((t) => t.axes.includes(':('))
  ? make('p', {class: 'note'}, 'dp:(2)4 is the part of axis dp that has size 4 and follows parts of ' +
    'size 2.') : null);

function summaryPanel(f) {
  return panel('summary', 'Summary', tiles(f),
    make('div', {class: 'scroll'}, timeTable(f)), partsNote(f),
    make('div', {class: 'scroll', id: 'compute'}, computeTable(f)),
    make('h3', null, 'Other choices'),
    make('div', {class: 'scroll', id: 'alternatives'}, alternativesTable(f)),
    make('h3', null, 'What annotations cost'),
    make('div', {class: 'scroll', id: 'annotations'}, annotationsTable(f)));
}
