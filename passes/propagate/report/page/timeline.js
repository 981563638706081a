/* The timeline: one step in the model, op after op, with a lane for compute and one for the
 * collectives over each group of axes; above it the run, if the page has its times. */

const LINE = {width: 1200, left: 150, lane: 22, gap: 10, axis: 24};
const COMPUTE = 'compute', LOCAL = 'slices and masks';
const WORKS = [COMPUTE, LOCAL, 'all_gather', 'reduce_scatter', 'all_reduce', 'all_to_all',
  'permute'];
const workColour = (what) => [1, 7, 2, 3, 5, 4, 6][WORKS.indexOf(what)] ?? 8;
/* A collective stands out if its time in the run is so many times that in the model, or so many
 * times less. */
const FAR_OFF = 2;
/* Tracks have a scale each at first if one is more than so many times as long as another. */
const FAR_LONGER = 10;

/* What happens in a step, in program order: {k, what, lane, seconds, number} of op k; `number` is
 * that of the collective. Slices that run beside compute have a lane of their own. */
function worksOf(f, g) {
  const works = [], aside = f.step.overlapped_seconds === null ? COMPUTE : LOCAL;
  for (let k = 0; k < g.kind.length; k++) {
    const {modelled_seconds: seconds} = g.kinds[g.kind[k]];
    for (const number of g.collectivesAt.get(k) || []) {
      const c = f.collectives[number];
      works.push({k, number, what: c.kind, lane: c.axes, seconds: c.modelled_seconds});
    }
    if (seconds > 0)
      works.push(isChange(g, k) ? {k, what: LOCAL, lane: aside, seconds}
        : {k, what: COMPUTE, lane: COMPUTE, seconds});
  }
  return works;
}

/* By collective its time in the run; undefined for one that did not run as planned. Those of one
 * kind, axes and size are matched in program order. */
function measuredTimes(f, run) {
  const key = (c) => [c.kind, c.axes, c.count && c.bytes_per_device / c.count].join();
  const waiting = new Map();
  for (const c of run.collectives) {
    if (!waiting.has(key(c))) waiting.set(key(c), []);
    waiting.get(key(c)).push(c.measured_seconds);
  }
  return f.collectives.map((c) => (waiting.get(key(c)) || []).shift());
}

/* A track: works with the time of their start, and the length of all. `secondsOf` says how long a
 * work takes; `startOf`, when it starts. Without that they run one after the other. */
function trackOf(title, works, secondsOf, startOf) {
  const lanes = [...new Set([COMPUTE, ...works.map((w) => w.lane)])].map((name) =>
    ({name, works: [], starts: []}));
  let time = 0;
  const places = works.map((work) => {
    const start = startOf ? startOf(work) : time;
    time = start + secondsOf(work);
    return {start, end: time};
  });
  for (const lane of lanes) {
    lane.works = works.flatMap((w, i) => (w.lane === lane.name ? [i] : []))
      .sort((a, b) => places[a].start - places[b].start);
    lane.starts = lane.works.map((i) => places[i].start);
  }
  const length = places.reduce((most, {end}) => Math.max(most, end), 0);
  return {title, lanes, places, stretch: 1, length, lengthText: secondsText(length)};
}

/* ---- overlap ---- */

/* When ops start if changes of layout run beside compute. There are two streams, as in the planner:
 * one computes in program order, and an op waits for the changes that it reads. The other runs
 * changes whose values are there: the one that can start first, and of several that for the first
 * reader. What closes a loop waits for nothing. */
function overlappedStarts(works, g) {
  const n = g.kind.length, cost = new Float64Array(n), start = new Float64Array(n);
  const end = new Float64Array(n).fill(-1), waiting = new Set(), lastNested = new Map();
  const ready = new Float64Array(n), parents = new Map(g.nested);
  let computed = 0, changed = 0;
  for (const {k, seconds} of works) cost[k] += seconds;
  for (const [k, parent] of g.nested) lastNested.set(parent, k);
  const opOf = (k) => g.kinds[g.kind[k]].op;

  /* The value of op k is there. */
  function finish(k, time) {
    end[k] = time;
    for (const user of g.users[k]) if (isChange(g, user)) offer(user);
  }

  /* A change can run when all that it reads is there. */
  function offer(k) {
    if (end[k] >= 0 || waiting.has(k)) return;
    const makers = g.operands[k].filter((maker) => maker >= 0 && opOf(maker) !== 'shard.sharding');
    if (makers.some((maker) => end[maker] < 0)) return;
    ready[k] = Math.max(0, ...makers.map((maker) => end[maker]));
    if (cost[k] > 0) waiting.add(k);
    else finish(k, ready[k]);
  }

  function runNext() {
    let best = -1;
    const from = (k) => Math.max(ready[k], changed), reader = (k) => g.users[k][0] ?? n;
    for (const k of waiting)
      if (best < 0 || from(k) < from(best) ||
        (from(k) === from(best) && reader(k) < reader(best))) best = k;
    waiting.delete(best);
    start[best] = from(best);
    changed = start[best] + cost[best];
    finish(best, changed);
  }

  function compute(k) {
    if (opOf(k) !== 'scf.yield' && opOf(k) !== 'scf.condition')
      for (const maker of g.operands[k]) {
        if (maker < 0 || !isChange(g, maker)) continue;
        while (end[maker] < 0 && waiting.size) runNext();
        computed = Math.max(computed, end[maker]);
      }
    start[k] = computed;
    computed += cost[k];
    if (!lastNested.has(k)) finish(k, computed);
  }

  for (let k = 0; k < n; k++) if (isChange(g, k)) offer(k);
  for (let k = 0; k < n; k++) {
    if (!isChange(g, k)) compute(k);
    for (let p = parents.get(k); p !== undefined && lastNested.get(p) === k; p = parents.get(p))
      finish(p, computed);
  }
  while (waiting.size) runNext();
  return start;
}

/* The track of the model. */
function modelledTrack(f, works, g) {
  const secondsOf = (w) => w.seconds;
  if (f.step.overlapped_seconds === null) return trackOf('model', works, secondsOf);
  const next = overlappedStarts(works, g);
  return trackOf('model', works, secondsOf, ({k, seconds}) => (next[k] += seconds) - seconds);
}

/* Of a run only the sum of compute is known: it is given to ops by their time in the model. */
function measuredTrack(f, works, run) {
  const times = measuredTimes(f, run);
  const sent = (w) => times[w.number] ?? w.seconds;
  const collectives = works.filter((w) => w.number !== undefined);
  const computed = sum(works.filter((w) => w.number === undefined).map((w) => w.seconds));
  const rest = Math.max(0, run.measured_seconds - sum(collectives.map(sent)));
  const scale = computed > 0 ? rest / computed : 0;
  const track = trackOf('run', works, (w) => (w.number === undefined ? w.seconds * scale : sent(w)));
  const isLonger = track.length > run.measured_seconds * 1.001;
  return {...track, times, hidesCompute: rest === 0, lengthText: secondsText(run.measured_seconds) + (isLonger ? ' (' +
    track.lengthText + ' summed over the slowest rank of each collective)' : '')};
}

/* How long a run took beside the model, and what its track cannot show. */
function runNote(run, {length, times}, model) {
  const lost = times.filter((t) => t === undefined).length;
  const ratio = run.measured_seconds / model.length;
  return 'The run took ' + secondsText(run.measured_seconds) + ', ' + (ratio >= 1
    ? timesText(ratio) + ' times as long as the model. '
    : percentText(ratio, 1) + ' of the time in the model. ') +
    (run.processors && run.processors < plan.devices ? plural(plan.devices, 'rank') + ' shared ' +
      plural(run.processors, 'processor') + ', which the model does not count. ' : '') +
    (length > run.measured_seconds * 1.001 ? 'Its collectives, each on its slowest rank, took ' +
      secondsText(length) + ' together, more than the whole run, since ranks wait at different times; ' +
      'how long each of them computed is in the trace of the run (--trace). ' : '') +
    (lost ? plural(lost, 'collective') + ' did not run as planned and are drawn as modelled.' : '');
}

const isFarOff = (measured, modelled) => measured !== undefined &&
  (measured > FAR_OFF * modelled || measured * FAR_OFF < modelled);

/* The first entry of an ascending list that is above `value`. */
function firstAbove(list, value) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* Rectangles of a lane in this window, one path for each kind of work. Neighbors that are narrower
 * than a pixel are one rectangle, so there are never more than the picture is wide. */
function lanePaths(track, lane, works, sight, y, x) {
  const paths = new Map(), marked = [];
  let open = null;
  const close = () => {
    if (!open) return;
    const {what, from, to} = open;
    paths.set(what, (paths.get(what) || '') + 'M' + from.toFixed(1) + ' ' + y + 'H' +
      Math.max(to, from + 0.7).toFixed(1) + 'v' + (LINE.lane - 4) + 'H' + from.toFixed(1) + 'Z');
    open = null;
  };
  for (let i = Math.max(0, firstAbove(lane.starts, sight.from) - 1); i < lane.works.length; i++) {
    const number = lane.works[i], work = works[number], place = track.places[number];
    if (place.start > sight.to) break;
    if (place.end < sight.from) continue;
    const from = Math.max(LINE.left, x(place.start)), to = Math.min(LINE.width, x(place.end));
    if (open && from - open.to < 0.5 && open.what === work.what && (to - from < 1 || open.to - open.from < 1))
      open.to = Math.max(open.to, to);
    else {
      close();
      open = {what: work.what, from, to};
    }
    if (track.times && isFarOff(track.times[work.number], work.seconds) && to - from >= 2)
      marked.push('M' + from.toFixed(1) + ' ' + y + 'H' + to.toFixed(1));
  }
  close();
  return [...paths].map(([what, d]) => draw('path', {class: 'k' + workColour(what), d}))
    .concat(marked.length ? draw('path', {class: 'off', d: marked.join('')}) : []);
}

/* Round times for about `n` marks. */
function marksOf({from, to}, n) {
  const rough = (to - from) / n, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const marks = [];
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) marks.push(t);
  return marks;
}

function timeAxis(sight, x, top, height) {
  return marksOf(sight, 8).flatMap((t) => [
    draw('line', {class: 'axis', x1: x(t), x2: x(t), y1: top, y2: top + height}),
    draw('text', {class: 'quiet', x: Math.min(x(t), LINE.width - 30), y: top + height + 16,
      'text-anchor': 'middle'}, secondsText(t))]);
}

/* The window of time of a track. With a scale of its own it shows the same part of its length as
 * the longest track does of that. */
const ownSight = ({from, to}, track) => ({from: from / track.stretch, to: to / track.stretch});

/* The picture of tracks in a window of time. Returns {element, paint, at}; at(event) is what stands
 * under the pointer. */
function timelinePicture(tracks, works) {
  const element = draw('svg', {'aria-hidden': 'true'});
  let sight = null, hasOwn = false;
  const lanesHeight = (track) => LINE.gap + 16 + track.lanes.length * LINE.lane;
  const heightOf = (track) => lanesHeight(track) + (hasOwn ? LINE.axis : 0);

  function trackElements(track, top, chosen) {
    const own = ownSight(sight, track);
    const x = (t) => LINE.left + ((t - own.from) / (own.to - own.from)) *
      (LINE.width - LINE.left);
    const parts = hasOwn ? timeAxis(own, x, top, lanesHeight(track)) : [];
    parts.push(draw('text', {x: 0, y: top + 14, class: 'quiet'}, track.title + ': ' +
      track.lengthText));
    track.lanes.forEach((lane, i) => {
      const y = top + 20 + i * LINE.lane;
      parts.push(draw('text', {x: 8, y: y + 13}, lane.name.slice(0, 20)),
        ...lanePaths(track, lane, works, own, y, x));
      const place = works[chosen] && works[chosen].lane === lane.name && track.places[chosen];
      if (place && place.end >= own.from && place.start <= own.to)
        parts.push(draw('rect', {class: 'chosen', x: Math.max(LINE.left, x(place.start)) - 1,
          y: y - 1, width: Math.max(2, Math.min(LINE.width, x(place.end)) -
            Math.max(LINE.left, x(place.start))) + 1, height: LINE.lane - 2}));
    });
    return parts;
  }

  function paint(now, chosen) {
    sight = now;
    hasOwn = tracks.some((track) => track.stretch !== 1);
    let top = 0;
    const parts = tracks.map((track) => {
      const group = draw('g', {class: track.title}, trackElements(track, top, chosen));
      top += heightOf(track);
      return group;
    });
    const x = (t) => LINE.left + ((t - sight.from) / (sight.to - sight.from)) *
      (LINE.width - LINE.left);
    element.setAttribute('viewBox', '0 0 ' + LINE.width + ' ' + (hasOwn ? top : top + LINE.axis));
    element.replaceChildren(...(hasOwn ? [] : timeAxis(sight, x, 0, top)), ...parts);
  }

  function at(event) {
    const box = element.getBoundingClientRect(), scale = LINE.width / box.width;
    const px = (event.clientX - box.left) * scale, py = (event.clientY - box.top) * scale;
    const time = sight.from + ((px - LINE.left) / (LINE.width - LINE.left)) *
      (sight.to - sight.from);
    let top = 0;
    for (const track of tracks) {
      const lane = track.lanes[Math.floor((py - top - 20) / LINE.lane)];
      const own = time / track.stretch;
      const isOver = lane && py >= top + 20 && py <= top + heightOf(track);
      top += heightOf(track);
      if (!isOver) continue;
      const number = lane.works[firstAbove(lane.starts, own) - 1];
      return {time, number: number !== undefined && track.places[number].end >= own ? number
        : undefined};
    }
    return {time};
  }

  return {element, paint, at};
}

/* What each kind of collective takes in the model and in the run. */
function kindsTable(f, track) {
  const kinds = new Map();
  f.collectives.forEach((c, i) => {
    const key = c.kind + ' over ' + c.axes;
    if (!kinds.has(key)) kinds.set(key, {modelled: 0, measured: 0});
    kinds.get(key).modelled += c.modelled_seconds;
    kinds.get(key).measured += track.times[i] || 0;
  });
  return table('Collectives by kind', ['collective', 'modelled', 'measured on the slowest rank', 'times'],
    'lrrr', [...kinds].sort((a, b) => b[1].measured - a[1].measured).map(
      ([what, {modelled, measured}]) => [what, secondsText(modelled), secondsText(measured),
        modelled > 0 ? 'x ' + timesText(measured / modelled) : '']));
}

function differencesTable(f, track) {
  const rows = f.collectives.map((c, i) => ({c, i, measured: track.times[i]}))
    .filter(({measured}) => measured !== undefined)
    .sort((a, b) => Math.abs(b.measured - b.c.modelled_seconds) -
      Math.abs(a.measured - a.c.modelled_seconds)).slice(0, 12);
  return table('Collectives that differ most from the model',
    ['collective', 'of', 'where', 'modelled', 'measured', 'times'], 'lllrrr',
    rows.map(({c, i, measured}) => [linkTo('collective', i, c.kind + ' over ' + c.axes),
      named(whatMoves(f, c)), named(c.at || ''),
      secondsText(c.modelled_seconds), secondsText(measured),
      make('span', {class: isFarOff(measured, c.modelled_seconds) ? 'warn' : null},
        c.modelled_seconds > 0 ? 'x ' + timesText(measured / c.modelled_seconds) : '')]));
}

function workText(f, graph, tracks, works, number) {
  const work = works[number], c = f.collectives[work.number];
  const spans = tracks.map((track) => {
    const {start, end} = track.places[number];
    return track.title + ': ' + (track.hidesCompute && !c ? 'not known'
      : secondsText(end - start) + ' from ' + secondsText(start));
  });
  return (c ? c.kind + ' over ' + c.axes + ' of ' + whatMoves(f, c) + ', ' +
    bytesText(c.bytes_per_device) + (c.count > 1 ? ' in ' + c.count + ' runs' : '')
    : work.what + ': ' + graph.name(work.k)) + '; ' +
    spans.join('; ');
}

/* The tracks with what moves and zooms them. Returns {element, show, place}; show(i) chooses work
 * i. */
function timelineView(f, tracks, works, graph) {
  const length = Math.max(...tracks.map((t) => t.length)), {element, paint, at} =
    timelinePicture(tracks, works);
  const said = make('p', {'aria-live': 'polite', id: 'timeline-at', class: 'full'});
  let sight = {from: 0, to: length}, chosen = 0, waiting = false, held = null;

  /* Several events before the next frame are drawn once. */
  function repaint() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      paint(sight, chosen);
    });
  }

  function look(from, span) {
    span = Math.min(length, Math.max(span, length * 1e-6));
    from = Math.max(0, Math.min(length - span, from));
    sight = {from, to: from + span};
    repaint();
  }

  const span = () => sight.to - sight.from;
  const zoom = (by, around) => look(around - (around - sight.from) / by, span() / by);
  const middle = () => {
    const {start, end} = spanOf(chosen);
    return start < sight.to && end > sight.from ? Math.max(sight.from, Math.min(sight.to, start))
      : (sight.from + sight.to) / 2;
  };
  /* Where a work stands in the first track, in the time of the window. */
  const spanOf = (number) => {
    const {start, end} = tracks[0].places[number], {stretch} = tracks[0];
    return {start: start * stretch, end: end * stretch};
  };

  function choose(number, keepSight) {
    chosen = Math.max(0, Math.min(works.length - 1, number));
    const text = workText(f, graph, tracks, works, chosen);
    said.replaceChildren(named(text));
    view.setAttribute('aria-valuenow', chosen + 1);
    view.setAttribute('aria-valuetext', visible(text));
    const {start, end} = spanOf(chosen);
    if (!keepSight && (end < sight.from || start > sight.to))
      look(start - span() / 2, span());
    repaint();
  }

  const keys = {
    ArrowRight: () => choose(chosen + 1), ArrowLeft: () => choose(chosen - 1),
    ArrowUp: () => choose(chosen - 1), ArrowDown: () => choose(chosen + 1),
    Home: () => choose(0), End: () => choose(works.length - 1),
    PageUp: () => look(sight.from - span() / 2, span()),
    PageDown: () => look(sight.from + span() / 2, span()),
    '+': () => zoom(2, middle()), '-': () => zoom(0.5, middle()), '0': () => look(0, length),
    Enter: () => visit('op', works[chosen].k, view),
  };
  const view = make('div', {class: 'timeline', id: 'timeline-view', tabindex: 0, role: 'slider',
    'aria-label': 'Work of the step that is chosen', 'aria-valuemin': 1,
    'aria-valuemax': works.length,
    onkeydown: (event) => {
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      keys[event.key]();
      event.preventDefault();
    },
    onpointerdown: (event) => {
      held = {x: event.clientX, from: sight.from};
      view.setPointerCapture(event.pointerId);
    },
    onpointermove: (event) => {
      const part = (LINE.width - LINE.left) / LINE.width;
      if (held && event.buttons)
        look(held.from - ((event.clientX - held.x) / (view.clientWidth * part)) * span(), span());
      const {number} = at(event);
      if (number !== undefined) choose(number, true);
    },
    onpointerup: () => (held = null),
    onwheel: (event) => {
      if (!event.ctrlKey) return;
      zoom(event.deltaY < 0 ? 1.3 : 1 / 1.3, at(event).time);
      event.preventDefault();
    }}, element);
  const button = (text, key) => make('button', {class: 'button', type: 'button',
    onclick: () => keys[key]()}, text);
  const tools = make('div', {class: 'controls', role: 'toolbar', 'aria-label': 'Move and zoom'},
    button('Zoom in', '+'), button('Zoom out', '-'), button('Whole step', '0'),
    button('Earlier', 'PageUp'), button('Later', 'PageDown'), button('Show in the graph', 'Enter'));
  roving(tools, 'button', null, {ArrowRight: 1, ArrowLeft: -1});
  const own = make('input', {type: 'checkbox', id: 'timeline-own', onchange: scale});
  function scale() {
    for (const track of tracks) track.stretch = own.checked ? length / track.length : 1;
    look(0, length);
  }
  own.checked = length > FAR_LONGER * Math.min(...tracks.map((t) => t.length));
  scale();
  choose(0);
  paint(sight, chosen);
  return {element: make('div', null, tools, tracks.length > 1 ? make('div', {class: 'controls'},
    make('label', {class: 'inline'}, own, 'own scale for each track')) : null, view, said),
  place: () => ['work', chosen], show: (number) => {
    choose(number);
    reach(view);
  }};
}

/* Reads the report of a run that the user chooses; nothing leaves the page. */
function runChooser(use) {
  const said = make('span', {class: 'note', role: 'status', id: 'run-said'});
  const file = make('input', {type: 'file', id: 'run-file', accept: '.json,application/json',
    onchange: async () => {
      try {
        const run = JSON.parse(await file.files[0].text());
        if (!Array.isArray(run.collectives) || typeof run.measured_seconds !== 'number')
          throw new Error('it is no report of shard-run');
        use(run);
        said.textContent = '';
      } catch (error) {
        said.textContent = 'The file cannot be used: ' + error.message;
      }
    }});
  return make('div', {class: 'controls'},
    make('label', null, 'Compare with a run (shard-run --report=FILE.json)', file), said);
}

/* Returns {element, count, show, place, startOf}; show(i) chooses work i of `count`. */
function timelinePanel(f, graph) {
  const works = worksOf(f, graph.ops), body = make('div');
  const model = modelledTrack(f, works, graph.ops);
  let view = null;
  const used = WORKS.filter((what) => works.some((w) => w.what === what));

  function compare(run) {
    const tracks = [model];
    if (run) tracks.unshift(measuredTrack(f, works, run));
    view = works.length ? timelineView(f, tracks, works, graph) : null;
    body.replaceChildren(view ? view.element : make('p', null, 'Nothing in a step takes time.'),
    run ? make('p', {class: 'note', id: 'timeline-note'}, runNote(run, tracks[0], tracks[1])) : '',
    run && f.collectives.length ? scroller({id: 'timeline-kinds'}, 'Collectives by kind',
      kindsTable(f, tracks[0])) : '',
    run && f.collectives.length ? scroller({id: 'timeline-differences'},
      'Differences of collectives', differencesTable(f, tracks[0])) : '');
  }

  /* When op k runs, in the model; undefined for ops without time of their own beside others. */
  function startOf(k) {
    const i = works.findIndex((work) => work.k >= k);
    if (i >= 0 && works[i].k === k) return model.places[i].start;
    if (f.step.overlapped_seconds !== null) return undefined;
    return i < 0 ? model.length : model.places[i].start;
  }

  compare(runOf());
  const element = panel('timeline', 'Timeline',
    make('p', {class: 'note'}, (f.step.overlapped_seconds === null
      ? 'One step in program order, one work after the other; loops '
      : 'One step in two streams, as the planner overlaps them: changes of layout beside compute. ' +
        'Rings inside ops are drawn as compute. A run is drawn as one work after the other, ' +
        'because only durations are measured; loops ') +
      'with all their executions together. Arrow keys go from work to work, + and - zoom, 0 shows all, Page keys and ' +
      'dragging move, Enter leads to the graph. In the track of a run collectives take what was ' +
      'measured on the slowest rank; of compute only the sum is known, and ops share it as in ' +
      'the model. Collectives that take ' + FAR_OFF + ' times as long as in the model, or half ' +
      'as long, have a line above them.'),
    make('ul', {class: 'legend', 'aria-label': 'Kinds of work'}, used.map((what) =>
      make('li', null, make('span', {class: 'chip'}, make('span', {
        class: 'swatch c' + workColour(what), 'aria-hidden': 'true'}), what)))),
    body, runChooser(compare));
  return {element, count: works.length, show: (number) => view.show(number),
    place: () => view && view.place(), startOf};
}
