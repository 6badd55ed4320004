// Cards of a kernel log's incidents: the explanation, stacks with source, and the lines of the log.
import { el } from './dom.js';
import { format } from './numbers.js';
import { SortedTable } from './table.js';

/** Frames of a stack that are shown at once. */
const FIRST_FRAMES = 14;
const FIRST_STACKS = 3;

const fold = (title, ...content) => el('details', null, el('summary', null, title), ...content);
const block = (lines) => el('pre', null, lines.join('\n'));
/** The ids of cards by the labels of their incidents. */
const cardIds = new Map();
const badge = (severity) => el('span', { className: `severity ${severity}` }, severity);

/** A link to an incident's card, if it has one; as a cell of a table it sorts by its text. */
function incidentLink(label) {
  if (!cardIds.has(label)) return label;
  const link = el('a', { href: `#${cardIds.get(label)}` }, label);
  link.toString = () => label;
  return link;
}

/** The id of the card of a mark's text, which begins with the label; undefined for none. */
export const cardOf = (text) => cardIds.get(text.slice(0, text.indexOf('  ')));

function frameLine({ function: name, offset, module, place, reliable, blamed, source }) {
  const text = `${reliable ? '' : '? '}${name}${offset && `+${offset}`}${module && ` [${module}]`}`;
  const words = [el('code', null, text), place ? el('span', { className: 'dim' }, ` ${place}`) : ''];
  const line = source?.length ? fold('', block(source)) : el('div', null, ...words);
  if (source?.length) line.firstChild.append(...words);
  return el('li', { className: `${blamed ? 'blamed' : ''} ${reliable ? '' : 'unsure'}` }, line);
}

const listOf = (frames) => el('ol', { className: 'frames' }, ...frames.map(frameLine));

/** The frames of which the kernel's unwinder is sure; all frames on demand. */
function stackOf({ heading, frames }) {
  const sure = frames.filter(({ reliable }) => reliable);
  const first = (sure.length ? sure : frames).slice(0, FIRST_FRAMES);
  const part = el('div', null, el('h3', null, heading || 'Stack'), listOf(first));
  if (frames.length > first.length) {
    part.append(fold(`all ${frames.length} frames`, listOf(frames)));
  }
  return part;
}

function when({ line, seconds, context, panicked }) {
  const time = seconds === null ? '' : `, ${seconds.toFixed(6)} s after the boot`;
  const who = context ? `, printed by ${context}` : '';
  return `line ${line}${time}${who}${panicked ? '; the machine panicked' : ''}`;
}

function facts(incident) {
  const { details, damage, after, label } = incident;
  const rows = [['where', incident.where], ['who', incident.who], ['when', when(incident)],
    ['machine', incident.on], ...damage.map((text) => ['damaged', text]),
    ...details.map((text, i) => [i ? '' : 'details', text])];
  if (after) {
    const cause = label.replace(/#\d+$/, `#${after}`);
    rows.push(['after', el('span', null, incidentLink(cause), ' of this boot, and may follow from it')]);
  }
  return el('dl', { className: 'facts' }, ...rows.filter(([, value]) => value)
    .flatMap(([name, value]) => [el('dt', null, name), el('dd', null, value)]));
}

function card(incident) {
  const { label, severity, identity, what, stacks, code, source, means, next, lines } = incident;
  const up = el('a', { className: 'up', href: '#table-incidents', title: 'to the table' }, '↑');
  const box = el('section', { className: 'card incident', id: cardIds.get(label), tabIndex: -1 },
    el('h2', null, badge(severity), ` ${label}  ${identity} `, up));
  box.setAttribute('aria-label', `${label} ${identity}`);
  if (incident.time !== null) box.dataset.time = incident.time;
  if (what) box.append(el('p', { className: 'what' }, what));
  box.append(facts(incident));
  if (source.length) box.append(block(source));
  const shown = stacks.filter(({ frames }) => frames.length).map(stackOf);
  box.append(...shown.slice(0, FIRST_STACKS));
  const more = shown.slice(FIRST_STACKS);
  if (more.length) box.append(fold(`${more.length} more stacks`, ...more));
  if (code.length) {
    box.append(fold('Instructions around the fault', block(
      code.map(({ at, text, fault }) => `${fault ? '>' : ' '} ${at}  ${text}`))));
  }
  if (means) box.append(el('p', null, means));
  if (next.length) {
    box.append(el('h3', null, 'Next'),
      el('ul', { className: 'next' }, ...next.map((step) => el('li', null, step))));
  }
  box.append(fold(`${format('COUNT', lines.length)} lines of the log`, block(lines)));
  return box;
}

/** The table of a section's incidents, each with a link to its card, and the cards. */
export function showIncidents(place, section) {
  section.incidents.forEach(({ label }, i) => cardIds.set(label, `incident-${i + 1}`));
  const rows = section.rows.map(([label, ...rest]) => [incidentLink(label), ...rest]);
  new SortedTable(place, -1).show({ columns: section.columns, rows });
  place.closest('section').after(...section.incidents.map(card));
}

/** Goes to the next card, or to the one before; false where there is none. */
export function stepIncident(by) {
  const cards = [...document.querySelectorAll('.incident:not([hidden])')];
  if (!cards.length) return false;
  const at = cards.indexOf(document.activeElement.closest?.('.incident'));
  const next = cards[at < 0 ? (by > 0 ? 0 : cards.length - 1)
    : Math.min(cards.length - 1, Math.max(0, at + by))];
  next.focus({ preventScroll: true });
  next.scrollIntoView();
  return true;
}

/** Hides the cards of incidents that began outside a range of time. */
export function filterIncidents(range, start) {
  for (const box of document.querySelectorAll('.incident[data-time]')) {
    const time = Number(box.dataset.time) - start;
    box.hidden = Boolean(range) && !(time >= range[0] && time < range[1]);
  }
}
