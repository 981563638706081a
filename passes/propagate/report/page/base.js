/* What all panels use: the document, elements, and numbers as text. Texts of the program become
 * text nodes and attributes only, never HTML. */

const plan = JSON.parse(document.getElementById('plan').textContent);
/* The times of a run of the plan; null if it was not run. */
const givenRun = JSON.parse(document.getElementById('run').textContent);
/* A run does not say which function it is of. */
const runOf = () => (plan.functions.length === 1 ? givenRun : null);

/* A text of the program as it is shown. Characters that are not seen become escapes: controls, marks
 * of direction, separators of lines, and what has no width but joiners. */
const UNSEEN = new RegExp('[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b\\u200e' +
  '\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]', 'g');
const visible = (text) => text.replace(UNSEEN,
  (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
const shownAs = (child) => (typeof child === 'string' ? visible(child) : child);
/* Attributes that are read by people. */
const TEXTS = ['title', 'aria-label', 'aria-valuetext'];

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (TEXTS.includes(name) && value) element.setAttribute(name, visible(value));
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity)
    .filter((child) => child !== null && child !== undefined).map(shownAs));
  return element;
}

/* make('p', {class: 'note'}, 'text', child, ...); attributes that begin with "on" are handlers. */
const make = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

/* A name of the program: isolated, because it may be written from right to left, and cut by the
 * style sheet when it is long. */
const named = (text) => make('bdi', {title: text.slice(0, 400)}, text);
const code = (text) => make('code', null, text);

function scaled(value, units, step, digits) {
  let unit = 0;
  while (unit + 1 < units.length && Math.abs(value) >= step) {
    value /= step;
    unit++;
  }
  return digits(value, unit) + ' ' + units[unit];
}

const bytesText = (bytes) =>
  scaled(bytes, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], 1024,
    (value, unit) => (unit ? value.toFixed(1) : String(value)));
const secondsText = (seconds) =>
  seconds === 0 ? '0 s'
    : scaled(seconds * 1e9, ['ns', 'us', 'ms', 's'], 1000, (value) =>
      (value < 9999.5 ? value.toPrecision(4) : String(Math.round(value))));
/* "12.3 %"; what is above 0 is not shown as 0. */
function percentText(part, whole) {
  if (!(whole > 0)) return '';
  const percent = (100 * part) / whole;
  return percent > 0 && percent < 0.05 ? '< 0.1 %' : percent.toFixed(1) + ' %';
}
/* "1.3", "13", "1,300" */
const timesText = (ratio) => (ratio < 10 ? ratio.toPrecision(2)
  : Math.round(ratio).toLocaleString('en'));
const plural = (n, what) => n.toLocaleString('en') + ' ' + what + (n === 1 ? '' : 's');
const sum = (list) => list.reduce((total, value) => total + value, 0);

/* "linalg.generic (mulf, addf)" */
const opText = (entry) => (entry.op || 'function') + (entry.body ? ' (' + entry.body + ')' : '');
/* [what a value is, its name in the program], once if both are the same, as in h and %h. */
const namesOf = ({description, value}) =>
  [value === '%' + description ? '' : description, value].filter(Boolean);
/* "gradient of wq (%12)", "%h", "all_gather of wq" */
function valueText(entry) {
  const [first, second] = namesOf(entry);
  return second ? first + ' (' + second + ')' : first || '';
}
/* "argument 2 (w1, %arg2)", "linalg.matmul at model.py:12 (gradient of w1, %7)" */
function placeText(entry) {
  const names = namesOf(entry).join(', ');
  const kind = entry.place || entry.kind;
  const place = entry.number === null ? opText(entry) + (entry.at ? ' at ' + entry.at : '')
    : kind + ' ' + entry.number;
  return place + (names ? ' (' + names + ')' : '');
}

/* cells: elements or texts; those whose column has align 'r' are numbers. */
function table(caption, titles, align, rows) {
  const cell = (tag, content, i) =>
    make(tag, {class: align[i] === 'r' ? 'number' : null, scope: tag === 'th' ? 'col' : null},
      content);
  return make('table', null, make('caption', null, caption),
    make('thead', null, make('tr', null, titles.map((title, i) => cell('th', title, i)))),
    make('tbody', null, rows.map((row) =>
      (row instanceof Element ? row : make('tr', null, row.map((c, i) => cell('td', c, i)))))));
}

/* A bar whose length is a share of the cell. */
function bar(part, whole) {
  const element = make('span', {class: 'bar', 'aria-hidden': 'true'});
  element.style.width = (whole > 0 ? (100 * part) / whole : 0) + '%';
  return element;
}

/* One Tab stop for the items of a list; the arrow keys, Home and End go from item to item, as the
 * ARIA Authoring Practices describe (roving tabindex). `items` selects them in the list; `moved` is
 * called for the item that a key leads to. Returns what is to be called when there are others. */
function roving(list, items, moved, keys = {ArrowDown: 1, ArrowUp: -1}) {
  let stop = null;
  const all = () => [...list.querySelectorAll(items)];

  function settle() {
    const found = all();
    for (const item of found) item.tabIndex = -1;
    stop = found.includes(stop) ? stop : found[0];
    if (stop) stop.tabIndex = 0;
  }

  list.addEventListener('focusin', (event) => {
    const item = event.target.closest(items);
    if (!item || item === stop) return;
    if (stop) stop.tabIndex = -1;
    stop = item;
    stop.tabIndex = 0;
  });
  list.addEventListener('keydown', (event) => {
    const found = all(), at = found.indexOf(event.target);
    const steps = {...keys, Home: -at, End: found.length - 1 - at};
    if (at < 0 || !(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const item = found[at + steps[event.key]];
    if (!item) return;
    item.focus();
    if (moved) moved(item);
  });
  settle();
  return settle;
}

/* A list of links to places; the first `most` of them. */
function linkList(links, most) {
  const list = make('ul', null, links.slice(0, most).map((link) => make('li', null, link)),
    links.length > most ? make('li', null, links.length - most + ' more') : null);
  roving(list, 'button');
  return list;
}

/* Escape clears it. */
const searchInput = (id, changed) => make('input', {type: 'search', id, oninput: changed,
  onkeydown: (event) => {
    if (event.key !== 'Escape' || !event.target.value) return;
    event.target.value = '';
    changed();
    event.preventDefault();
  }});

/* What scrolls if it is too large. It is a Tab stop only then, and if nothing in it is one. */
function scroller(attributes, label, content) {
  const element = make('div', {class: 'scroll', role: 'region', 'aria-label': label, ...attributes},
    content);
  new ResizeObserver(() => {
    const isCut = element.scrollHeight > element.clientHeight + 1 ||
      element.scrollWidth > element.clientWidth + 1;
    if (isCut && !element.querySelector('button')) element.tabIndex = 0;
    else element.removeAttribute('tabindex');
  }).observe(element);
  return element;
}

const facts = (...pairs) =>
  make('dl', {class: 'facts full'}, pairs.filter(Boolean).map(([term, content]) =>
    [make('dt', null, term), make('dd', null, content)]));

function option(value, text) {
  return make('option', {value}, text);
}

/* Shows the first rows of a long list, and a button for more. `append` gets the next entries. */
function inPortions(entries, portion, append, after) {
  let shown = 0;
  const button = make('button', {class: 'button', type: 'button', onclick: more});
  function more() {
    append(entries.slice(shown, shown + portion));
    shown = Math.min(entries.length, shown + portion);
    button.textContent = 'Show ' + Math.min(portion, entries.length - shown) + ' more of ' +
      entries.length;
    button.hidden = shown === entries.length;
  }
  more();
  after.replaceChildren(button);
}

function panel(id, title, ...children) {
  return make('section', {id, 'aria-labelledby': id + '-title'},
    make('h2', {id: id + '-title'}, title), ...children.flat());
}
