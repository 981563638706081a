/* Places on the page, and the ways between them. A place is a fragment of the address: "#op-12" is
 * op 12 of the first function, "#1.op-12" that of the second one. Links go from place to place, so
 * that Back returns to where one was: to that place, with the focus on the link that was used. */

/* The function that is shown: its number, the place that each panel shows by id of the panel, and
 * by kind of place what shows one: {count, show}, and `leave` if that opens something that Back is
 * to close. */
const shown = {number: -1, places: {}, kinds: new Map()};

/* The links that were used, by the id that their entry of the history has. */
const usedLinks = new Map();

const fragmentOf = (kind, number) =>
  '#' + (shown.number ? shown.number + '.' : '') + kind + '-' + number;

/* {functionNumber, kind, number}; null for other fragments, such as those of panels. */
function placeIn(fragment) {
  const match = /^#(?:(\d+)\.)?([a-z]+)-(\d+)$/.exec(fragment);
  return match && {functionNumber: Number(match[1] || 0), kind: match[2], number: Number(match[3])};
}

/* The place that the panel of this element shows, or the panel itself. */
function placeAround(element) {
  const section = element.closest('section');
  const place = section && shown.places[section.id] && shown.places[section.id]();
  return place ? fragmentOf(...place) : section && '#' + section.id;
}

/* Shows the place of this fragment. False if there is none. */
function arrive(fragment) {
  const place = placeIn(fragment);
  if (!place || place.functionNumber >= plan.functions.length) return false;
  if (place.functionNumber !== shown.number) showFunction(place.functionNumber);
  const kind = shown.kinds.get(place.kind);
  if (!kind || place.number >= kind.count) return false;
  kind.show(place.number);
  return true;
}

/* Goes to a place by a link. */
function visit(kind, number, link) {
  const id = performance.timeOrigin + '.' + usedLinks.size;
  usedLinks.set(id, link);
  history.replaceState({id}, '', placeAround(link));
  history.pushState(null, '', fragmentOf(kind, number));
  arrive(fragmentOf(kind, number));
}

function goBackTo({state}) {
  for (const {leave} of shown.kinds.values()) if (leave) leave();
  const link = state && usedLinks.get(state.id);
  const isThere = link && link.isConnected && placeAround(link) === location.hash;
  if (!isThere) arrive(location.hash);
  // the browser takes the focus away afterwards if the fragment is that of a panel
  if (link && link.isConnected) setTimeout(() => reach(link));
}

/* Moves the focus to an element, and scrolls if it is not in sight. */
function reach(element) {
  element.focus({preventScroll: true});
  const {top, bottom} = element.getBoundingClientRect();
  if (top < document.querySelector('header').offsetHeight || bottom > window.innerHeight)
    element.scrollIntoView({block: 'center'});
}

const linkTo = (kind, number, ...content) =>
  make('button', {class: 'inset', type: 'button',
    onclick: (event) => visit(kind, number, event.currentTarget)}, ...content);
