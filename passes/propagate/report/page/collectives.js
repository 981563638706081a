/* The collectives with their causes. Those that differ in nothing but numbers (of values, lines,
 * parameters of the next layer) are one entry, as in the report as text. */

const withoutNumbers = (text) => text.replace(/\d+/g, '#');

function collectiveKey(c) {
  return [c.kind, c.axes, c.tensor, c.reduction, c.count, c.from, c.to, withoutNumbers(c.name),
    c.consumer.op, c.consumer.body, c.consumer.operand, withoutNumbers(c.cause.join('\n'))]
    .join('\0');
}

function collectiveGroups(f) {
  const groups = new Map();
  f.collectives.forEach((c, i) => {
    const key = collectiveKey(c);
    if (!groups.has(key)) groups.set(key, {first: c, members: [], bytes: 0, seconds: 0, runs: 0});
    const group = groups.get(key);
    group.members.push(i);
    group.bytes += c.bytes_per_device;
    group.seconds += c.modelled_seconds;
    group.runs += c.count;
    /* the facts shown are of the member whose alternative is known */
    if (!group.first.alternative && c.alternative) group.first = c;
  });
  return [...groups.values()];
}

/* The argument whose layout a collective changes; undefined for other values. */
const movedArgument = (f, c) => f.arguments[Number((/^%arg(\d+)$/.exec(c.value) || [])[1])];

/* The result of the function that each collective makes: its number, -1 for other values. */
function madeResults({graph, collectives}) {
  const end = graph.kind.findLastIndex((kind) => graph.kinds[kind].op === 'func.return');
  return collectives.map((_, i) => graph.operands[end].indexOf(graph.collectives[i]));
}
const madeBy = new Map();
for (const f of plan.functions)
  madeResults(f).forEach((result, i) => madeBy.set(f.collectives[i], result));

/* "weight wq (%arg1)", "mean after head (%7), result 3 (loss)". */
function whatMoves(f, c) {
  const argument = movedArgument(f, c), result = madeBy.get(c);
  return (argument && argument.role === 'param' ? 'weight ' : '') +
    [valueText(c) || 'rows of neighbors', result < 0 ? '' : resultText(f, result)]
      .filter(Boolean).join(', ');
}

/* What all of these texts have in common, with * for numbers in which they differ: "gradient of
 * l*_wq". The first one if they differ in more. */
function commonText(texts) {
  const parts = texts.map((text) => text.split(/(\d+)/)), [first] = parts;
  if (parts.some((list) => list.length !== first.length ||
    list.some((part, i) => i % 2 === 0 && part !== first[i]))) return texts[0];
  return first.map((part, i) => (parts.every((list) => list[i] === part) ? part : '*')).join('');
}

/* The alternative of a collective, or of an equal one at which it was found. */
const alternativeOf = (f, c) => c.alternative ||
  (c.alternative_at === null ? null : f.collectives[c.alternative_at].alternative);

/* True if no other choice was sought because other collectives cost more. */
const notSought = (c) => c.no_alternative !== null &&
  c.no_alternative.includes('report-alternatives');

/* What the cheapest plan with another choice costs more than this one: "3.2 us more", "0 to 17 ns
 * more" where a search that ended early knows only between what it lies. */
function priceText({extra_seconds: extra, cost_seconds: cost, bound_seconds: bound, exact}) {
  const least = Math.max(0, extra - (cost - bound)), most = exact ? '' : 'at most ';
  if (extra === 0) return 'the same';
  if (extra < 0) return secondsText(-extra) + ' less';
  if (secondsText(least) === secondsText(extra)) return most + secondsText(extra) + ' more';
  return (least < extra / 100 ? '0' : secondsText(least)) + ' to ' + secondsText(extra) + ' more';
}

/* The price of a plan in which the uses take the value as it is. */
const unmovedOf = (f, c) => c.unmoved ||
  (c.alternative_at === null ? null : f.collectives[c.alternative_at].unmoved);

/* What the plan would cost without this collective. */
function withoutIt(f, c) {
  const unmoved = unmovedOf(f, c);
  if (!unmoved) return null;
  return make('p', null, 'Without it, if ', c.consumers > 1 ? 'all uses take' : 'its use takes',
    ' the value as it is, ', chip(c.from), ', the cheapest plan costs ',
    make('strong', null, priceText({...unmoved, exact: false})), '; the value may move later.');
}

/* What the plan would cost if the decision behind a collective were another one. */
function otherChoice(f, c, alike) {
  const alternative = alternativeOf(f, c);
  if (!alternative)
    return make('p', null, (notSought(c) ? 'Not sought here: ' : 'None is known: ') +
      c.no_alternative + '.');
  const {annotation, instead_of: now} = alternative, price = priceText(alternative);
  return make('div', null,
    c.alternative ? null : make('p', null, 'It was looked for at an equal collective, that of ',
      linkTo('collective', c.alternative_at, named(whatMoves(f, f.collectives[c.alternative_at]))),
      '.'),
    make('p', null, 'The decision behind it is a layout. With another one, the cheapest plan costs ',
      make('strong', null, price.includes(' to ') ? 'between ' + price.replace(' to ', ' and ')
        : price), ', and is what this annotation makes:'),
    facts(['at', named(placeText(annotation))], ['annotation', annotationText(annotation)],
      ['instead of', chip(now)]),
    annotation.factors ? make('p', {class: 'note'}, 'tp.factors says which loop of the op an axis ' +
      'splits, by the loop\'s kind and number.') : null,
    make('p', {class: 'note'}, 'That plan may communicate in other places, and even move the ' +
      'same value.' + (alike > 1 ? ' The price is for one of these ' + alike + '.' : '')));
}

/* What the annotations among the causes cost. */
function pinnedBy(f, c) {
  return c.pinned_by.map((i) => f.annotation_groups[i]).map((group) => {
    const price = annotationPrice(group, f), place = annotationPlace(group);
    return make('p', null, 'The annotation of ', named(place), ' ', annotationText(group.annotation),
      price === NOT_PRICED ? ' is among the causes; what it costs was not looked at.'
        : [' costs ', make('strong', null, price), group.saves_seconds === null
        ? ': no cheaper plan was found without it.'
        : ': so much less would the best plan take without it.']);
  });
}

/* The prices of the choices that the text below explains, beside each other. */
function pricesOf(f, c, priced) {
  const unmoved = unmovedOf(f, priced), alternative = alternativeOf(f, priced);
  const costly = c.pinned_by.map((i) => f.annotation_groups[i]).find((g) => g.saves_seconds);
  return facts(['the value does not move', unmoved ? priceText({...unmoved, exact: false})
    : 'not known'],
  ['another layout (the next best plan)', alternative ? priceText(alternative) : 'not known'],
  costly ? ['without your annotation of ' + (costly.annotation.description ||
    placeText(costly.annotation)) + (costly.count > 1 ? ' and ' + (costly.count - 1) +
    ' like it' : ''), secondsText(costly.saves_seconds) + ' less'] : null);
}

/* What a search looks at, in lower case. */
function searched(f, c) {
  const text = [whatMoves(f, c), c.at, c.kind, c.axes, ...c.cause].join(' ');
  return (text + ' ' + visible(text)).toLowerCase();
}

function placesOf(f, group) {
  if (group.members.length < 2) return null;
  const shown = group.members.slice(0, 50).map((i) => [i, f.collectives[i]]);
  return make('details', {class: 'places'},
    make('summary', null, 'All ' + group.members.length + ' of them'),
    make('ul', null, shown.map(([i, c]) => make('li', null, linkTo('collective', i,
      named(whatMoves(f, c) + ' at ' + c.at))))),
    group.members.length > 50 ? make('p', null, group.members.length - 50 + ' more.') : null);
}

/* The facts are those of collective `number` of the group. */
function collectiveDetails(f, group, number) {
  const c = f.collectives[number], priced = alternativeOf(f, c) ? c : group.first, uses = plural(c.consumers, 'use');
  return make('div', null,
    facts(['moves', [named(whatMoves(f, c)), c.tensor ? [' as ', code(c.tensor)] : []].flat()],
      c.from === null ? null : ['from', chip(c.from)],
      c.to === null ? null : ['to', chip(c.to)],
      ['for', [opText(c.consumer) + (c.consumer.operand === null ? ''
        : ', operand ' + c.consumer.operand) + (c.consumers > 1 ? ' (' + uses + ')' : '')]],
      ['source line', named(c.location)],
      ['group', plural(c.group, 'device') + (c.reduction ? ', ' + c.reduction : '')],
      ['runs', c.count + (c.count_is_known ? '' : ' (assumed)') +
        (group.members.length > 1 ? ' each' : '')]),
    make('h3', null, 'Why'),
    make('ol', {class: 'causes full'}, c.cause.map((fact) => make('li', null, named(fact)))),
    ...pinnedBy(f, c),
    make('h3', null, 'Other choices'), pricesOf(f, c, priced), withoutIt(f, priced),
    otherChoice(f, priced, group.members.length), placesOf(f, group),
    make('button', {class: 'button', type: 'button',
      onclick: (event) => visit('op', f.graph.collectives[number],
        event.currentTarget)}, 'Show in the graph'));
}

/* The price of another choice, for one of `times` equal collectives. */
function choiceCell(c, alternative, unmoved, times) {
  if (!alternative) return notSought(c) ? 'not sought' : '-';
  const price = priceText(alternative);
  const notes = [unmoved && unmoved.extra_seconds > 0
    ? 'if it does not move: ' + priceText({...unmoved, exact: false}) : '',
  times > 1 && price !== 'the same' ? 'for one of the ' + times : ''].filter(Boolean);
  return [price, ...notes.map((text) => [make('br'), make('span', {class: 'note'}, text)])];
}

function collectiveCells(f, group, toggle) {
  const c = group.first, times = group.members.length;
  const why = c.cause[0] || '', alternative = alternativeOf(f, c);
  const costly = c.pinned_by.map((i) => f.annotation_groups[i]).find((g) => g.saves_seconds);
  const what = commonText(group.members.map((i) => whatMoves(f, f.collectives[i])));
  return [
    make('td', null, toggle),
    make('td', null, named(what), make('br'),
      make('span', {class: 'note'}, named(c.at || ''))),
    make('td', null, c.axes),
    make('td', {class: 'number'}, times > 1 ? 'x ' + times : ''),
    make('td', {class: 'number'}, bytesText(group.bytes)),
    make('td', {class: 'number'}, secondsText(group.seconds), times > 1 ? [make('br'),
      make('span', {class: 'note'}, secondsText(c.modelled_seconds) + ' each')] : []),
    make('td', {class: 'number'}, percentText(group.seconds, f.step.seconds)),
    make('td', {class: 'number'}, choiceCell(c, alternative, unmovedOf(f, c), times)),
    make('td', {class: 'why'}, named(why), costly ? [make('br'), make('span', {class: 'note'},
      secondsText(costly.saves_seconds) + ' less without the ' + (costly.count > 1
        ? costly.count + ' annotations like that of ' : 'annotation of ') +
        (costly.annotation.description || placeText(costly.annotation)))] : null),
  ];
}

const ORDERS = {
  time: ['time', (a, b) => b.seconds - a.seconds],
  bytes: ['bytes', (a, b) => b.bytes - a.bytes],
  each: ['time of one', (a, b) => b.first.modelled_seconds - a.first.modelled_seconds],
  program: ['program order', (a, b) => a.members[0] - b.members[0]],
};

/* So many rows are listed at a time. They do not scroll in a box: opened ones are long. */
const PORTION = 40;

/* Returns {element, show, leave, place}; show(i) opens the entry of collective i, leave() closes
 * those that show opened. */
function collectivesPanel(f) {
  const groups = collectiveGroups(f);
  const search = searchInput('collective-search', list);
  const kind = make('select', {id: 'collective-kind', onchange: list}, option('', 'all kinds'),
    [...new Set(groups.map((g) => g.first.kind))].map((text) => option(text, text)));
  const order = make('select', {id: 'collective-order', onchange: list},
    Object.entries(ORDERS).map(([key, [text]]) => option(key, text)));
  const titles = ['kind', 'where', 'axes', 'equal', 'sent', 'time', 'of step', 'other choice', 'why'];
  const grid = table('', titles, 'lllrrrrrl', []), more = make('div');
  const nothing = make('p', {class: 'note', role: 'status', hidden: true});
  const body = grid.querySelector('tbody'), caption = grid.querySelector('caption');
  const settle = roving(grid, 'button[aria-expanded]');
  const flips = new Map(), fills = new Map();
  /* The ids of buttons whose rows were opened by links, not by the user. */
  const openedByLinks = new Set();
  let latest = null;

  /* `shown`: the collective whose facts its row shows first. */
  function rowsOf(group, shown) {
    const number = groups.indexOf(group), id = 'collective-row-' + number;
    const toggle = make('button', {class: 'inset', type: 'button', id: id + '-button',
      'aria-expanded': 'false', 'aria-controls': id,
      onclick: () => {
        if (below.hidden) visit('collective', shown, toggle);
        else flip();
        openedByLinks.delete(toggle.id);
      }}, group.first.kind);
    const details = make('td', {colspan: titles.length}), below =
      make('tr', {class: 'more', id, hidden: true}, details);
    function flip() {
      below.hidden = !below.hidden;
      openedByLinks.delete(toggle.id);
      toggle.setAttribute('aria-expanded', String(!below.hidden));
      latest = below.hidden ? null : group.members[0];
      if (!details.firstChild) fillIn(shown);
    }
    function fillIn(member) {
      details.replaceChildren(collectiveDetails(f, group, member));
    }
    flips.set(toggle.id, flip);
    fills.set(toggle.id, fillIn);
    /* Escape closes the details. */
    function onKey(event) {
      if (event.key !== 'Escape' || below.hidden) return;
      flip();
      reach(toggle);
    }
    toggle.addEventListener('keydown', onKey);
    below.addEventListener('keydown', onKey);
    return [make('tr', null, collectiveCells(f, group, toggle)), below];
  }

  function list() {
    const text = search.value.toLowerCase();
    const isFound = (i) => searched(f, f.collectives[i]).includes(text);
    const found = groups.filter((g) => (!kind.value || g.first.kind === kind.value) &&
      g.members.some(isFound)).sort(ORDERS[order.value][1]);
    body.replaceChildren();
    nothing.hidden = found.length > 0;
    nothing.textContent = 'No collective has \u201c' + search.value + '\u201d in its value, place, ' +
      'axes or cause' + (kind.value ? ', of kind ' + kind.value : '') + '.';
    caption.textContent = plural(sum(found.map((g) => g.members.length)), 'collective') + ' in ' +
      plural(found.length, 'row') + ', ' + bytesText(sum(found.map((g) => g.bytes))) + ', ' +
      secondsText(sum(found.map((g) => g.seconds)));
    inPortions(found, PORTION, (some) => {
      body.append(...some.flatMap((group) => {
        const first = f.collectives.indexOf(group.first);
        return rowsOf(group, isFound(first) ? first : group.members.find(isFound));
      }));
      settle();
    }, more);
  }

  function show(i) {
    const number = groups.findIndex((g) => g.members.includes(i));
    const id = 'collective-row-' + number + '-button';
    if (!document.getElementById(id)) {
      search.value = kind.value = '';
      list();
    }
    while (!document.getElementById(id)) more.firstChild.click();
    const button = document.getElementById(id);
    if (button.getAttribute('aria-expanded') === 'false') {
      flips.get(id)();
      openedByLinks.add(id);
    }
    if (latest !== i) fills.get(id)(i);
    latest = i;
    reach(button);
  }

  /* Closes what links opened. */
  function leave() {
    for (const id of [...openedByLinks]) if (document.getElementById(id)) flips.get(id)();
    openedByLinks.clear();
  }

  list();
  const element = panel('collectives', 'Collectives',
    make('p', {class: 'note'}, 'Those that differ in nothing but numbers are one row. Choose one ' +
      'for its causes, its place in the source and the price of another choice.'),
    partsNote(f),
    make('div', {class: 'controls'}, make('label', null, 'value, place, axes or cause contains', search),
      make('label', null, 'kind', kind), make('label', null, 'order by', order)),
    groups.length ? scroller(null, 'List of collectives', grid)
      : make('p', null, 'The plan has no collectives.'),
    groups.length ? nothing : null, more);
  return {element, show, leave, place: () => latest !== null && ['collective', latest]};
}
