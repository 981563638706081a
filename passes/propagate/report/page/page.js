/* Puts the panels of the chosen function on the page. */

const PANELS = [['summary', 'Summary'], ['tensors', 'Tensors'], ['collectives', 'Collectives'],
  ['timeline', 'Timeline'], ['memory', 'Memory'], ['mesh', 'Mesh'],
  ['what-if', 'What if'], ['graph', 'Graph']];

function showFunction(number) {
  const f = plan.functions[number], graph = graphPanel(f), tensors = tensorsPanel(f, graph);
  const collectives = collectivesPanel(f), timeline = timelinePanel(f, graph);
  const memory = memoryPanel(f, graph, timeline.startOf);
  Object.assign(shown, {number,
    places: {graph: graph.place, tensors: tensors.place, collectives: collectives.place,
      timeline: timeline.place, memory: memory.place},
    kinds: new Map([['op', {count: f.graph.kind.length, show: graph.show, leave: graph.leave}],
      ['argument', {count: f.arguments.length, show: (i) => tensors.show('argument', i)}],
      ['result', {count: f.results.length, show: (i) => tensors.show('result', i)}],
      ['collective', {count: f.collectives.length, show: collectives.show,
        leave: collectives.leave}],
      ['work', {count: timeline.count, show: timeline.show}],
      ['memory', {count: f.memory.over_time.length, show: memory.show}]])});
  document.getElementById('main').replaceChildren(summaryPanel(f), tensors.element,
    collectives.element, timeline.element, memory.element, meshPanel(f), whatIfPanel(f),
    graph.element);
  document.getElementById('title').replaceChildren('Plan of ', named(f.function));
  document.title = 'Plan of ' + visible(f.function);
  document.querySelectorAll('#functions button').forEach((button, i) =>
    (i === number ? button.setAttribute('aria-current', 'true')
      : button.removeAttribute('aria-current')));
}

document.getElementById('subtitle').textContent = visible(plural(plan.devices, 'device') + ', mesh ' +
  [...axes].map(([name, size]) => name + '=' + size).join(', ') + '; topology ' + plan.topology +
  ', strategy ' + plan.strategy + ', objective ' + plan.objective + '; tpshard ' + plan.version);
document.getElementById('panels').append(...PANELS.map(([id, title]) =>
  make('a', {href: '#' + id}, title)));
if (plan.functions.length > 1) {
  const buttons = document.getElementById('functions');
  buttons.hidden = false;
  buttons.append(...plan.functions.map((f, i) =>
    make('button', {type: 'button', onclick: () => showFunction(i)}, named(f.function))));
}
if (plan.functions.length) {
  showFunction(0);
  window.addEventListener('popstate', goBackTo);
  arrive(location.hash);
} else document.getElementById('main').append(make('p', null, 'No function was planned.'));
