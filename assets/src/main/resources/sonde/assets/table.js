// Tables that sort by a click on a heading.
import { format, percent } from './numbers.js';
import { el } from './dom.js';
import { drawCurve, isCurve } from './curve.js';

const FIRST_ROWS = 30;
/** Rows of each table where many follow each other. */
const FIRST_OF_MANY = 15;
const isText = (column) => column.unit === 'TEXT';

function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  if (typeof a === 'number' && typeof b === 'number') return b - a;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

/** The id of a heading; of a table it is told apart from that of a view. */
export function anchor(title, ofTable) {
  const id = title.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'untitled';
  return ofTable ? `table-${id}` : id;
}

function cell(column, value) {
  const text = format(column.unit, value);
  const shown = value instanceof Node ? value : text;
  if (isText(column)) return el('td', { className: 'text', title: text }, shown);
  const td = el('td', { className: 'num' }, text);
  if (column.unit === 'SHARE' && value > 0) {
    td.classList.add('share');
    td.style.setProperty('--share', percent(Math.min(1, value)).replace(' ', '').replace(',', ''));
  }
  return td;
}

/** A table's view; it keeps its order when it is shown again with other rows. */
export class SortedTable {
  constructor(place, sortBy = -1, limit = FIRST_ROWS) {
    this.place = place;
    this.sortBy = sortBy;
    this.sortDown = true;
    this.limit = limit;
    this.unfolded = new Set();
  }

  sorted(rows) {
    const by = this.sortBy;
    const turn = this.sortDown ? 1 : -1;
    return by < 0 ? rows : rows.slice().sort((a, b) => {
      const missing = (a[by] ?? null) === null || (b[by] ?? null) === null;
      return compare(a[by], b[by]) * (missing ? 1 : turn);
    });
  }

  /** Rows in order, each with its depth; those below a row only where it is unfolded. */
  flat(rows, depth = 0) {
    return this.sorted(rows).flatMap((row) => [[row, depth],
      ...(this.unfolded.has(row.group) ? this.flat(row.children, depth + 1) : [])]);
  }

  line(columns, row, depth) {
    const line = el('tr', null, ...columns.map((column, i) => cell(column, row[i])));
    line.firstChild.style.setProperty('--depth', depth);
    if (row.children) {
      const open = this.unfolded.has(row.group);
      const fold = el('button', { className: 'fold', ariaExpanded: open }, open ? '▾' : '▸');
      fold.ariaLabel = `${row[0]}: ${row.children.length} rows`;
      fold.onclick = () => {
        this.unfolded[open ? 'delete' : 'add'](row.group);
        this.show(this.table);
      };
      line.firstChild.prepend(fold);
    }
    return line;
  }

  show(table) {
    this.table = table;
    const { columns } = table;
    const rows = this.flat(table.rows);
    const heads = columns.map((column, i) => this.heading(column, i));
    const body = el('tbody', null, ...rows.slice(0, this.limit)
      .map(([row, depth]) => this.line(columns, row, depth)));
    const head = el('thead', null, el('tr', null, ...heads));
    const element = el('table', null, head, body);
    const focused = this.place.contains(document.activeElement) && document.activeElement.dataset.i;
    this.place.replaceChildren(el('div', { className: 'scroll' }, element));
    if (!rows.length) this.place.append(el('p', { className: 'status' }, 'None.'));
    if (rows.length > this.limit) {
      const more = el('button', { className: 'quiet more' },
        `Show all ${format('COUNT', rows.length)} rows`);
      more.onclick = () => { this.limit = Infinity; this.show(this.table); };
      this.place.append(more);
    }
    if (focused) this.place.querySelector(`[data-i="${focused}"]`)?.focus();
  }

  heading(column, i) {
    const sorted = i === this.sortBy;
    const down = isText(column) ? !this.sortDown : this.sortDown;
    const button = el('button', null, column.name,
      el('span', { ariaHidden: 'true' }, sorted ? (down ? ' ↓' : ' ↑') : ''));
    button.dataset.i = i;
    button.onclick = () => {
      this.sortDown = sorted ? !this.sortDown : true;
      this.sortBy = i;
      this.show(this.table);
    };
    const th = el('th', { className: isText(column) ? 'text' : 'num', scope: 'col' }, button);
    if (sorted) th.ariaSort = down ? 'descending' : 'ascending';
    return th;
  }
}

function histogram({ unit, buckets }) {
  const most = Math.max(1, ...buckets.map((bucket) => bucket[2]));
  return {
    columns: [{ name: 'from', unit }, { name: 'to', unit }, { name: 'count', unit: 'COUNT' },
      { name: 'of the fullest', unit: 'SHARE' }],
    rows: buckets.map(([from, to, count]) => [from, to, count, count / most]),
  };
}

/** Whether a section says nothing; a tree is then one line. */
export function isEmpty({ rows, buckets, text }) {
  return rows?.length === 0 || buckets?.length === 0
    || (text !== undefined && !text.trim().includes('\n'));
}

/**
 * A report's sections below each other; what is long is folded. `incidents` shows a section that
 * has such.
 */
export function showSections(place, sections, incidents) {
  const empty = sections.filter(isEmpty).map((section) => section.title);
  for (const section of sections) {
    if (isEmpty(section)) continue;
    const card = el('section', { className: 'card' });
    if (section.title) {
      card.id = anchor(section.title, true);
      const up = el('a', { className: 'up', href: '#index', title: 'to the index' }, '↑');
      card.append(el('h2', null, section.title, ' ', up));
    }
    for (const note of section.notes ?? []) card.append(el('p', null, note));
    const table = section.rows ? section : section.buckets && histogram(section);
    place.append(card);
    if (table) {
      const body = el('div');
      card.append(body);
      if (isCurve(section)) drawCurve(body, section);
      else if (section.incidents) incidents(body, section);
      else new SortedTable(body, -1, FIRST_OF_MANY).show({ columns: table.columns, rows: table.rows });
    }
    if (section.text) {
      const lines = section.text.split('\n').length - 1;
      card.append(el('details', null, el('summary', null, `${format('COUNT', lines)} lines`),
        el('pre', null, section.text)));
    }
    if (section.sections) showSections(place, section.sections, incidents);
  }
  if (empty.length) {
    place.append(el('p', { className: 'status' }, `Nothing in: ${empty.join(', ')}.`));
  }
}
