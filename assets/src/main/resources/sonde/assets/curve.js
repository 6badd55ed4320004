// The memory of a program over time, its peak marked.
import { format } from './numbers.js';
import { el, tip } from './dom.js';

const CURVE_WIDTH = 1000;
const CURVE_HEIGHT = 200;
// A page names no address, not even that of a namespace.
const SVG = document.createRange().createContextualFragment('<svg></svg>').firstChild.namespaceURI;

function svg(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Whether a table is one: times, then bytes. */
export const isCurve = ({ title, rows }) => title === 'curve' && rows?.length > 0;

/** Draws a table of times and bytes; each row has the most since the row before. */
export function drawCurve(place, { columns, rows }) {
  const first = Math.min(0, rows[0][0]);
  const span = Math.max(1, rows[rows.length - 1][0] - first);
  const peak = rows.reduce((most, row) => (row[1] > most[1] ? row : most), rows[0]);
  const x = (row) => ((row[0] - first) / span) * CURVE_WIDTH;
  const y = (row) => CURVE_HEIGHT - (row[1] / Math.max(1, peak[1])) * (CURVE_HEIGHT - 14);
  let path = `M0 ${CURVE_HEIGHT}`;
  let last = 0;
  for (const row of rows) {
    path += `L${last.toFixed(1)} ${y(row).toFixed(1)}L${x(row).toFixed(1)} ${y(row).toFixed(1)}`;
    last = x(row);
  }
  path += `L${last.toFixed(1)} ${CURVE_HEIGHT}Z`;
  const words = `peak ${format('BYTES', peak[1])} at ${format(columns[0].unit, peak[0])}`;
  const right = x(peak) > CURVE_WIDTH / 2;
  const picture = svg('svg', {
    viewBox: `0 0 ${CURVE_WIDTH} ${CURVE_HEIGHT + 18}`, class: 'curve', role: 'img',
    'aria-label': `memory in use over time, ${words}`,
  },
  svg('path', { d: path, class: 'curve-area' }),
  svg('line', { x1: x(peak), x2: x(peak), y1: 0, y2: CURVE_HEIGHT, class: 'curve-peak' }),
  svg('text', { x: x(peak) + (right ? -6 : 6), y: 11, 'text-anchor': right ? 'end' : 'start' }, words),
  svg('text', { x: 0, y: CURVE_HEIGHT + 14 }, format(columns[0].unit, first)),
  svg('text', { x: CURVE_WIDTH, y: CURVE_HEIGHT + 14, 'text-anchor': 'end' },
    format(columns[0].unit, first + span)));
  picture.onpointermove = (event) => {
    const box = picture.getBoundingClientRect();
    const time = first + ((event.clientX - box.left) / box.width) * span;
    const row = rows.find((one) => one[0] >= time) ?? rows[rows.length - 1];
    tip(columns.map((column, i) => [`${column.name}: ${format(column.unit, row[i])}`]),
      event.clientX, event.clientY);
  };
  picture.onpointerleave = () => tip();
  place.append(el('div', { className: 'curve-box' }, picture));
}
