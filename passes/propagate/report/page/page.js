/* Puts the panels of the chosen function on the page. */

const PANELS = [['summary', 'Summary'], ['tensors', 'Tensors'], ['collectives', 'Collectives'],
  ['timeline', 'Timeline'], ['memory', 'Memory'], ['mesh', 'Mesh'],
  ['what-if', 'What if'], ['graph', 'Graph']];

function showFunction(number) {
  const f = plan.functions[number];
  let collectives = null;
  const openCollective = (i) => collectives.open(i);
  const graph = graphPanel(f, openCollective);
  collectives = collectivesPanel(f, (i) => graph.show(f.graph.collectives[i]));
  document.getElementById('main').replaceChildren(summaryPanel(f, openCollective),
    tensorsPanel(f, openCollective, graph), collectives.element, timelinePanel(f, graph),
    memoryPanel(f, graph), meshPanel(f), whatIfPanel(f), graph.element);
  document.getElementById('title').replaceChildren('Plan of ', named(f.function));
  document.title = 'Plan of ' + f.function;
  document.querySelectorAll('#functions button').forEach((button, i) =>
    (i === number ? button.setAttribute('aria-current', 'true')
      : button.removeAttribute('aria-current')));
}

document.getElementById('subtitle').textContent = plural(plan.devices, 'device') + ', mesh ' +
  [...axes].map(([name, size]) => name + '=' + size).join(', ') + '; topology ' + plan.topology +
  ', strategy ' + plan.strategy + ', objective ' + plan.objective + '; tpshard ' + plan.version;
document.getElementById('panels').append(...PANELS.map(([id, title]) =>
  make('a', {href: '#' + id}, title)));
if (plan.functions.length > 1) {
  const buttons = document.getElementById('functions');
  buttons.hidden = false;
  buttons.append(...plan.functions.map((f, i) =>
    make('button', {type: 'button', onclick: () => showFunction(i)}, named(f.function))));
}
if (plan.functions.length) showFunction(0);
else document.getElementById('main').append(make('p', null, 'No function was planned.'));
