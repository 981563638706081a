/* The body of a function that returns a part of the page as SVG: what is seen of backgrounds, borders,
 * texts and pictures, at the same places. arguments: the selector of the part, and a description.
 *
 * Colours are names of the style sheet, so that the SVG has both schemes of the page. */
const [selector, description] = arguments;
const root = document.querySelector(selector), origin = root.getBoundingClientRect();
const MARGIN = 12, SANS = 'system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
const MONO = 'ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
const out = [], used = new Map();
let bottom = 0;

/* ---- colours ---- */

const names = new Map();
{
  const probe = document.body.appendChild(document.createElement('i'));
  for (const rule of document.styleSheets[0].cssRules[0].style)
    if (rule.startsWith('--') && rule !== '--mono') {
      probe.style.color = 'var(' + rule + ')';
      const colour = getComputedStyle(probe).color;
      if (!names.has(colour)) names.set(colour, rule.slice(2));
    }
  probe.remove();
}

const isClear = (colour) => colour === 'none' || /^rgba\(.* 0\)$/.test(colour);

/* The class that sets a property to a colour; "" if nothing is drawn. */
function paintClass(property, colour) {
  if (isClear(colour)) return '';
  const name = names.get(colour);
  if (!name) throw new Error('no variable of the style sheet is ' + colour);
  const made = property[0] + '-' + name;
  used.set(made, property + ':var(--' + name + ')');
  return made;
}

/* ---- elements ---- */

const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
  .replace(/"/g, '&quot;');
const number = (value) => String(Math.round(value * 10) / 10);
const X = (x) => number(x - origin.left + MARGIN), Y = (y) => number(y - origin.top + MARGIN);

const tag = (name, attributes) => name + Object.entries(attributes).filter(([, value]) => value !== '')
  .map(([key, value]) => ' ' + key + '="' + escaped(value) + '"').join('');

function write(name, attributes, text) {
  out.push('<' + tag(name, attributes) + (text === undefined ? '/>' : '>' + escaped(text) + '</' + name + '>'));
}

function clipped(box, clip) {
  const left = Math.max(box.left, clip.left), right = Math.min(box.right, clip.right);
  const top = Math.max(box.top, clip.top), end = Math.min(box.bottom, clip.bottom);
  return right - left > 0.5 && end - top > 0.5 ? {left, right, top, bottom: end} : null;
}

/* Background and borders. All borders of the page are equal at four sides, or only below. */
function writeBox(element, style, clip) {
  const box = clipped(element.getBoundingClientRect(), clip);
  if (!box) return;
  const around = parseFloat(style.borderTopWidth) > 0, below = parseFloat(style.borderBottomWidth) > 0;
  const fill = paintClass('fill', style.backgroundColor);
  const stroke = around ? paintClass('stroke', style.borderTopColor) : '';
  if (fill || stroke) {
    write('rect', {class: [fill || 'none', stroke].filter(Boolean).join(' '), x: X(box.left), y: Y(box.top),
      width: number(box.right - box.left), height: number(box.bottom - box.top),
      rx: style.borderTopLeftRadius === '0px' ? '' : number(parseFloat(style.borderTopLeftRadius))});
    bottom = Math.max(bottom, box.bottom);
  }
  if (below && !around && element !== root)
    write('path', {class: paintClass('stroke', style.borderBottomColor),
      d: 'M' + X(box.left) + ' ' + Y(box.bottom - 0.5) + 'H' + X(box.right)});
}

/* ---- texts ---- */

function rangeBox(node, from, to) {
  const range = document.createRange();
  range.setStart(node, from);
  range.setEnd(node, to);
  return range.getBoundingClientRect();
}

/* The lines of a text node: {from, to} of characters that stand beside each other. */
function linesOf(node) {
  const lines = [];
  for (const {0: word, index} of node.data.matchAll(/\S+/g))
    for (let i = index; i < index + word.length; i++) {
      const box = rangeBox(node, i, i + 1), last = lines[lines.length - 1];
      if (box.width === 0) continue;
      if (last && Math.abs(last.top - box.top) < 2) last.to = i + 1;
      else lines.push({from: i, to: i + 1, top: box.top});
    }
  return lines;
}

function writeText(node, style, clip) {
  for (const line of linesOf(node)) {
    let {from, to} = line, text = node.data.slice(from, to), box = rangeBox(node, from, to);
    if (box.bottom > clip.bottom + 1 || box.top < clip.top - 1 || box.left >= clip.right) continue;
    while (to > from && box.right > clip.right + 1) {
      box = rangeBox(node, from, --to);
      text = node.data.slice(from, to - 1) + '\u2026';
    }
    const size = parseFloat(style.fontSize), mono = style.fontFamily.includes('Mono');
    write('text', {class: [paintClass('fill', style.color), mono ? 'mono' : '',
      Number(style.fontWeight) >= 600 ? 'bold' : ''].filter(Boolean).join(' '), x: X(box.left),
    y: Y((box.top + box.bottom) / 2 + size * 0.35), 'font-size': number(size),
    textLength: number(box.right - box.left)}, text.replace(/\s+/g, ' '));
    bottom = Math.max(bottom, box.bottom);
  }
}

/* ---- pictures of the page ---- */

const KEPT = ['x', 'y', 'x1', 'x2', 'y1', 'y2', 'cx', 'cy', 'r', 'rx', 'width', 'height', 'd', 'text-anchor',
  'transform'];

function writeShape(shape) {
  const style = getComputedStyle(shape), isText = shape.tagName === 'text';
  const fill = shape.tagName === 'line' ? '' : paintClass('fill', style.fill) || 'none';
  const attributes = {class: [fill, paintClass('stroke', style.stroke),
    isText ? 'mono' : ''].filter(Boolean).join(' ')};
  for (const name of KEPT) if (shape.hasAttribute(name)) attributes[name] = shape.getAttribute(name);
  if (isText) attributes['font-size'] = number(parseFloat(style.fontSize));
  if (style.stroke !== 'none' && style.strokeWidth !== '1px')
    attributes['stroke-width'] = number(parseFloat(style.strokeWidth));
  if (style.strokeDasharray !== 'none') attributes['stroke-dasharray'] = style.strokeDasharray.replace(/px/g, '');
  for (const name of ['fillOpacity', 'strokeOpacity'])
    if (style[name] !== '1') attributes[name.replace('O', '-o')] = style[name];
  write(shape.tagName, attributes, isText ? shape.textContent : undefined);
}

function writePicture(svg, clip) {
  const box = clipped(svg.getBoundingClientRect(), clip), place = svg.getScreenCTM();
  if (!box) return;
  out.push('<' + tag('g', {transform: 'matrix(' + [place.a, 0, 0, place.d].map((n) => +n.toFixed(4)).join(' ') + ' ' +
    X(place.e) + ' ' + Y(place.f) + ')'}) + '>');
  for (const shape of svg.querySelectorAll('rect, line, path, circle, text')) writeShape(shape);
  out.push('</g>');
  bottom = Math.max(bottom, box.bottom);
}

/* ---- the part ---- */

function writeElement(element, clip) {
  const style = getComputedStyle(element);
  if (!element.checkVisibility({visibilityProperty: true})) return;
  if (element.tagName === 'svg') return writePicture(element, clip);
  if (style.display !== 'contents') writeBox(element, style, clip);
  let inside = clip;
  if (style.overflowX !== 'visible' && style.display !== 'inline')
    inside = clipped(element.getBoundingClientRect(), clip);
  for (const child of inside ? element.childNodes : [])
    if (child.nodeType === Node.TEXT_NODE) writeText(child, style, inside);
    else if (child.nodeType === Node.ELEMENT_NODE) writeElement(child, inside);
}

writeElement(root, {left: -1e6, right: 1e6, top: -1e6, bottom: 1e6});
const schemes = [...document.styleSheets[0].cssRules].slice(0, 2).map((rule) => rule.cssText);
const width = Math.ceil(origin.width + 2 * MARGIN), height = Math.ceil(bottom - origin.top + 2 * MARGIN);
const shown = new Set([...used.values()].map((rule) => /--([a-z0-9-]+)/.exec(rule)[1]).concat('back'));
const onlyUsed = (text) => text.replace(/\s*--([a-z0-9-]+): [^;]+;/g, (rule, name) => (shown.has(name) ? ' ' + rule.trim() : ''));
return ['<svg xmlns="http://www.w3.org/2000/svg" width="' + width + '" height="' + height + '" viewBox="0 0 ' + width + ' ' +
  height + '" role="img">', '<title>' + escaped(description) + '</title>', '<style>',
...schemes.map((text) => onlyUsed(text).replace(/\s+/g, ' ')),
'text { font-family: ' + SANS + '; }', '.mono { font-family: ' + MONO + '; }', '.bold { font-weight: 600; }',
'.none { fill: none; }', ...[...used].sort().map(([name, rule]) => '.' + name + '{' + rule + '}'), '</style>',
'<rect width="' + width + '" height="' + height + '" style="fill:var(--back)"/>', ...out, '</svg>', ''].join('\n');
