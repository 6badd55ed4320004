// What each CPU and thread did when, and what happened. Where a pixel holds many spans it is
// divided by their shares, so that short states stay visible however far one looks from.
import { axisLabel, format } from './numbers.js';
import { el, hashOf, legendEntry, stateColour, theme, tip } from './dom.js';
import { ROW, Surface, fitText } from './surface.js';
import { INCIDENTS, makeRows, openRows } from './rows.js';

const STRIP = 13;
const AXIS = 24;
const NAMES = 190;
const INDENT = 12;
/** Marks that are so many pixels away from the pointer are under it. */
const NEAR = 4;
const IDLE = /sleep|stop|unknown|idle/;

/** Marks of incidents have the colour of their severity. */
const markColour = ({ name }) => theme[INCIDENTS.test(name)
  ? `severity-${name.replace(/.* /, '')}` : 'accent'];

/** A colour of the style sheet as a pixel of an ImageData, on a little-endian machine. */
function packed(colour, context) {
  context.fillStyle = colour;
  const rgb = parseInt(context.fillStyle.slice(1), 16);
  return (0xff000000 | (rgb & 0xff) << 16 | rgb & 0xff00 | rgb >> 16) >>> 0;
}

/** The first span that ends after a time. */
function firstAfter(ends, time) {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ends[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Timeline {
  /**
   * `changed` is called when another range or other threads are selected, `chosen` with the text of
   * a mark that is.
   */
  constructor(place, data, changed, chosen) {
    this.data = data;
    this.changed = changed;
    this.chosen = chosen;
    // Times of a log are the log's own; those of a recording count from its start.
    this.base = data.tracks.length ? 0 : data.start;
    this.from = 0;
    this.to = Math.max(1, data.length);
    this.range = null;
    this.tracks = null;
    this.strip = document.createElement('canvas');
    const heightOf = () => Math.max(160, innerHeight * 0.36);
    this.surface = new Surface(place, 'Timeline', heightOf,
      (...args) => this.paint(...args));
    this.tree = makeRows(data);
    this.marksOf = data.tracks.map(() => []);
    for (const lane of data.marks) {
      lane.track.forEach((track, i) => this.marksOf[track]?.push([lane, i]));
    }
    this.severalCommands = new Set(data.tracks.map(({ command }) => command)).size > 1;
    this.current = -1;
    this.rowsChanged();
    const { canvas } = this.surface;
    canvas.addEventListener('keydown', (event) => this.key(event));
    canvas.addEventListener('blur', () => this.walk(-1));
    canvas.addEventListener('pointerdown', (event) => this.press(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', (event) => this.release(event));
    canvas.addEventListener('pointercancel', () => { this.drag = null; });
    canvas.addEventListener('pointerleave', () => tip(null));
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
  }

  rowsChanged() {
    this.rows = openRows(this.tree);
    this.surface.contentHeight(AXIS + this.rows.length * ROW + 2);
  }

  toggle(row) {
    if (!row?.children) return;
    row.open = !row.open;
    this.rowsChanged();
  }

  /** Walks to a row: the arrow keys, for those who have no pointer. */
  walk(index) {
    this.current = index;
    const row = this.rows[index];
    this.surface.canvas.ariaLabel = row ? `${row.name} ${row.hint ?? ''}` : 'Timeline';
    if (row) this.surface.reveal(index * ROW, ROW + AXIS);
    this.surface.draw();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = this.rows[this.current];
    const last = this.rows.length - 1;
    if (event.key === 'ArrowDown') this.walk(Math.min(last, this.current + 1));
    else if (event.key === 'ArrowUp') this.walk(Math.max(0, this.current - 1));
    else if (event.key === 'ArrowRight' && row?.children && !row.open) this.toggle(row);
    else if (event.key === 'ArrowLeft' && row?.open) this.toggle(row);
    else if (event.key === 'Enter' && row) this.pick(row, event.shiftKey);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  get width() {
    return Math.max(1, this.surface.place.clientWidth - NAMES);
  }

  time(x) {
    return this.from + ((x - NAMES) / this.width) * (this.to - this.from);
  }

  x(time) {
    return NAMES + ((time - this.from) / (this.to - this.from)) * this.width;
  }

  view(from, to) {
    const all = Math.max(1, this.data.length);
    const span = Math.min(all, Math.max(100, to - from));
    this.from = Math.min(Math.max(0, from), all - span);
    this.to = this.from + span;
    this.surface.draw();
  }

  zoom(factor, x = NAMES + this.width / 2) {
    const at = this.time(x);
    this.view(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  pan(share) {
    const by = (this.to - this.from) * share;
    this.view(this.from + by, this.to + by);
  }

  fit() {
    if (this.range) {
      const [from, to] = this.range;
      this.view(from - (to - from) * 0.05, to + (to - from) * 0.05);
    } else {
      this.view(0, this.data.length);
    }
  }

  /** Selects a range [from, to], or everything with null. */
  select(range) {
    this.range = range;
    this.surface.draw();
    this.changed();
  }

  /** Shows only some threads (a set of indexes), or all with null. */
  only(tracks) {
    this.tracks = tracks?.size ? tracks : null;
    this.surface.draw();
    this.changed();
  }

  get filter() {
    const [from, to] = this.range ?? [0, Infinity];
    return { from, to, tracks: this.tracks };
  }

  /** Time in each state of a track; exact without a range, from what is drawn within one. */
  stateTimes(track) {
    if (!this.range && track.totals.length) return track.totals;
    const from = this.range ? this.range[0] : 0;
    const to = this.range ? this.range[1] : this.data.length;
    const sums = new Float64Array(this.data.states.length);
    const { starts, ends, states } = track;
    for (let i = firstAfter(ends, from); i < starts.length && starts[i] < to; i++) {
      sums[states[i]] += Math.min(to, ends[i]) - Math.max(from, starts[i]);
    }
    return sums;
  }

  rowAt(y) {
    const index = Math.floor((y - AXIS) / ROW);
    return y - this.surface.top >= AXIS ? this.rows[index] : undefined;
  }

  press(event) {
    if (event.button !== 0) return;
    const { x, y } = this.surface.at(event);
    if (x < NAMES) {
      const row = this.rowAt(y);
      const opens = row?.children && (x < (row.depth + 1) * INDENT + 6 || !row.tracks.length);
      if (opens) this.toggle(row);
      else if (row) this.pick(row, event.ctrlKey || event.metaKey);
      return;
    }
    this.surface.canvas.setPointerCapture(event.pointerId);
    this.drag = { x, from: this.from, to: this.to, pans: event.shiftKey };
  }

  /** Keeps only the threads of a row, or all when they were the only ones. */
  pick(row, adds) {
    if (!row.tracks.length) return;
    const had = row.tracks.every((i) => this.tracks?.has(i));
    const tracks = new Set(adds ? this.tracks : []);
    const undo = had && (adds || this.tracks.size === row.tracks.length);
    for (const i of row.tracks) tracks[undo ? 'delete' : 'add'](i);
    this.only(tracks);
  }

  move(event) {
    const { x, y } = this.surface.at(event);
    this.surface.canvas.style.cursor = x < NAMES ? 'pointer' : 'crosshair';
    if (!this.drag) {
      this.hover(x, y, event);
      return;
    }
    tip(null);
    if (this.drag.pans) {
      const by = ((this.drag.x - x) / this.width) * (this.to - this.from);
      this.view(this.drag.from + by, this.drag.to + by);
    } else if (Math.abs(x - this.drag.x) > 3) {
      const times = [this.time(this.drag.x), this.time(x)].sort((a, b) => a - b);
      this.select(times.map((t) => Math.min(this.data.length, Math.max(0, t))));
    }
  }

  release(event) {
    const { x, y } = this.surface.at(event);
    const clicked = this.drag && !this.drag.pans && Math.abs(x - this.drag.x) <= 3;
    this.drag = null;
    if (!clicked) return;
    const row = this.rowAt(y);
    const [mark] = row?.kind === 'marks' ? this.marksNear(row, x) : [];
    if (mark && INCIDENTS.test(mark[0].name)) this.chosen(mark[0].texts[mark[1]]);
    else this.select(null);
  }

  hover(x, y, event) {
    const row = this.rowAt(y);
    if (!row) {
      tip(null);
      return;
    }
    const lines = [[row.name, 'name']];
    if (row.hint) lines.push([row.hint, 'dim']);
    if (x < NAMES && row.tracks.length > 1) {
      this.statesOf(row.tracks).forEach((nanos, i) => {
        if (nanos > 0) lines.push([`${this.data.states[i]}  ${format('NANOS', nanos)}`, 'num']);
      });
    } else if (x >= NAMES) {
      lines.push(...this.spanAt(row, this.time(x)), ...this.marksAt(row, x));
      lines.push([`at ${format('TIMESTAMP', this.base + this.time(x))}`, 'dim num']);
    }
    tip(lines, event.clientX, event.clientY);
  }

  /** What a row did at a time. */
  spanAt(row, time) {
    const lane = row.kind === 'cpu' ? row.lanes.length === 1 && row.lanes[0]
      : row.tracks.length === 1 && this.data.tracks[row.tracks[0]];
    const i = lane ? firstAfter(lane.ends, time) : 0;
    if (!lane || !(lane.starts[i] <= time)) return [];
    const nanos = format('NANOS', lane.ends[i] - lane.starts[i]);
    if (lane.states) return [[`${this.data.states[lane.states[i]] ?? '?'}  ${nanos}`, 'num']];
    const ran = this.data.tracks[lane.track[i]]?.name ?? '?';
    const busy = Math.round((lane.busy[i] / (lane.ends[i] - lane.starts[i])) * 100);
    return [[busy < 100 ? `mostly ${ran}, busy ${busy} % of ${nanos}` : `${ran}  ${nanos}`, 'num']];
  }

  marksNear(row, x) {
    return this.marksIn(row, this.time(x - NEAR), this.time(x + NEAR));
  }

  /** The first marks near a place. */
  marksAt(row, x) {
    const found = [];
    let more = 0;
    for (const [lane, i] of this.marksNear(row, x)) {
      if (found.length === 12) {
        more++;
        continue;
      }
      const thread = row.kind === 'marks' ? this.data.tracks[lane.track[i]]?.name ?? '' : '';
      found.push([`${lane.name}  ${thread}`, ''], [lane.texts[i], 'dim']);
    }
    if (more) found.push([`… and ${more} more`, 'dim']);
    return found;
  }

  /** The marks of a row in a range, as [lane, number]. */
  * marksIn(row, from, to) {
    for (const lane of row.kind === 'marks' ? row.lanes : []) {
      for (let i = firstAfter(lane.time, from); i < lane.time.length && lane.time[i] < to; i++) {
        yield [lane, i];
      }
    }
    for (const track of row.children ? [] : row.tracks) {
      for (const mark of this.marksOf[track]) {
        const time = mark[0].time[mark[1]];
        if (time >= from && time < to) yield mark;
      }
    }
  }

  wheel(event) {
    const { x } = this.surface.at(event);
    if (x < NAMES) return;
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.pan((event.deltaX || event.deltaY) / 1000);
    } else {
      this.zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY)) / 400), x);
    }
  }

  paint(context, width, height, top) {
    const first = Math.max(0, Math.floor(top / ROW) - 1);
    const last = Math.min(this.rows.length, Math.ceil((top + height - AXIS) / ROW));
    const rows = this.rows.slice(first, Math.max(first, last));
    context.textBaseline = 'middle';
    context.direction = 'ltr';
    const high = this.drawStrips(rows);
    context.imageSmoothingEnabled = false;
    rows.forEach((row, i) => {
      const y = AXIS + (first + i) * ROW - top;
      const shown = !this.tracks || row.tracks.some((track) => this.tracks.has(track));
      context.globalAlpha = shown || !row.tracks.length ? 1 : 0.25;
      if (row.kind !== 'marks') {
        context.drawImage(this.strip, 0, i * high, this.strip.width, high,
          NAMES, y + (ROW - STRIP) / 2, this.width, STRIP);
      }
      this.paintMarks(context, row, y);
      context.globalAlpha = shown || !row.tracks.length ? 1 : 0.5;
      this.paintName(context, row, y, first + i === this.current);
    });
    context.globalAlpha = 1;
    this.paintRange(context, width, height);
    this.paintAxis(context, width);
  }

  paintName(context, row, y, isCurrent) {
    const x = 4 + row.depth * INDENT;
    context.font = theme['font-frame'];
    context.fillStyle = theme.dim;
    if (row.children) context.fillText(row.open ? '▾' : '▸', x, y + ROW / 2);
    context.fillStyle = row.kind === 'thread' || row.kind === 'group' ? theme.text : theme.dim;
    fitText(context, row.name, x + INDENT, y + ROW / 2, NAMES - x - INDENT - 8);
    if (isCurrent) {
      context.strokeStyle = theme.accent;
      context.strokeRect(1.5, y + 0.5, NAMES - 4, ROW - 1);
    }
  }

  paintMarks(context, row, y) {
    const counts = new Map();
    for (const [lane, i] of this.marksIn(row, this.from, this.to)) {
      const x = Math.round(this.x(lane.time[i]));
      counts.set(x, (counts.get(x) ?? 0) + 1);
    }
    const whole = row.kind === 'marks';
    context.fillStyle = whole ? markColour(row) : theme.text;
    let most = 1;
    for (const n of counts.values()) most = Math.max(most, n);
    for (const [x, n] of counts) {
      // Where many are drawn, heights tell where most are.
      const high = whole ? STRIP * (most < 2 ? 1 : 0.3 + (0.7 * Math.log(n)) / Math.log(most)) : 4;
      context.fillRect(x, whole ? y + ROW - 3 - high : y + 1, whole && most < 2 ? (INCIDENTS.test(row.name) ? 4 : 2) : 1, high);
    }
  }

  /** Fills `strip`, a row of it for each of these. */
  drawStrips(rows) {
    const ratio = devicePixelRatio || 1;
    const wide = Math.max(1, Math.round(this.width * ratio));
    const high = Math.round(STRIP * ratio);
    this.strip.width = wide;
    this.strip.height = Math.max(1, rows.length) * high;
    const context = this.strip.getContext('2d');
    const count = this.data.states.length;
    const states = this.data.states.map((name, i) => packed(stateColour(name, i), context));
    const lanes = [...Array(8).keys()].map((i) => packed(theme[`lane${i}`], context));
    const image = context.createImageData(wide, this.strip.height);
    const pixels = new Uint32Array(image.data.buffer);
    rows.forEach((row, i) => {
      const bottom = ((i + 1) * high - 1) * wide;
      if (row.kind === 'cpu') this.stackCpus(row.lanes, lanes, { pixels, bottom, wide, high });
      else if (row.kind !== 'marks') {
        this.stackStates(row.tracks, states, count, { pixels, bottom, wide, high });
      }
    });
    context.putImageData(image, 0, 0);
    return high;
  }

  /** In each column of pixels the shares of the states of some threads, stacked up. */
  stackStates(tracks, colours, count, { pixels, bottom, wide, high }) {
    const shares = new Float32Array(wide * count);
    for (const track of tracks) this.addSpans(this.data.tracks[track], count, wide, shares);
    // Several threads: as high as most of them were active at once; the idle ones fill the rest.
    let most = 1;
    for (let x = 0; tracks.length > 1 && x < wide; x++) {
      let sum = 0;
      for (let state = 0; state < count; state++) {
        if (!IDLE.test(this.data.states[state])) sum += shares[x * count + state];
      }
      most = Math.max(most, sum);
    }
    for (let x = 0; x < wide; x++) {
      let sum = 0;
      let line = 0;
      for (let state = 0; state < count; state++) {
        sum += shares[x * count + state] / most;
        // Rounded up: the first states, running, are seen however short.
        const end = Math.min(high, Math.ceil(sum * high - 0.01));
        for (; line < end; line++) pixels[bottom - line * wide + x] = colours[state];
      }
    }
  }

  /** In each column the part of the time in which CPUs were busy, in the colour of what ran. */
  stackCpus(lanes, colours, { pixels, bottom, wide, high }) {
    const busy = new Float32Array(wide);
    const most = new Float32Array(wide);
    const track = new Int32Array(wide).fill(-1);
    const scale = wide / (this.to - this.from);
    for (const { starts, ends, busy: nanos, track: tracks } of lanes) {
      for (let i = firstAfter(ends, this.from); i < starts.length && starts[i] < this.to; i++) {
        const x0 = Math.max(0, (starts[i] - this.from) * scale);
        const x1 = Math.min(wide, (ends[i] - this.from) * scale);
        const share = nanos[i] / (ends[i] - starts[i]);
        for (let x = Math.floor(x0); x < x1; x++) {
          const part = (Math.min(x1, x + 1) - Math.max(x0, x)) * share;
          busy[x] += part;
          if (part > most[x]) {
            most[x] = part;
            track[x] = tracks[i];
          }
        }
      }
    }
    for (let x = 0; x < wide; x++) {
      const { command, name } = this.data.tracks[track[x]] ?? {};
      const colour = colours[hashOf((this.severalCommands && command) || name || '')
        % colours.length];
      const end = Math.min(high, Math.ceil((busy[x] / lanes.length) * high - 0.01));
      for (let line = 0; line < end; line++) pixels[bottom - line * wide + x] = colour;
    }
  }

  addSpans({ starts, ends, states }, count, wide, shares) {
    const scale = wide / (this.to - this.from);
    for (let i = firstAfter(ends, this.from); i < starts.length && starts[i] < this.to; i++) {
      const state = states[i];
      if (state >= count) continue;
      const x0 = Math.max(0, (starts[i] - this.from) * scale);
      const x1 = Math.min(wide, (ends[i] - this.from) * scale);
      for (let x = Math.floor(x0); x < x1; x++) {
        shares[x * count + state] += Math.min(x1, x + 1) - Math.max(x0, x);
      }
    }
  }

  paintRange(context, width, height) {
    if (!this.range) return;
    const from = Math.max(NAMES, this.x(this.range[0]));
    const to = Math.max(NAMES, Math.min(width, this.x(this.range[1])));
    context.fillStyle = theme.shade;
    context.fillRect(NAMES, 0, from - NAMES, height);
    context.fillRect(to, 0, width - to, height);
    context.fillStyle = theme.accent;
    context.fillRect(from - 1, 0, 1, height);
    context.fillRect(to, 0, 1, height);
  }

  paintAxis(context, width) {
    context.fillStyle = theme.card;
    context.fillRect(0, 0, width, AXIS - 2);
    const rough = ((this.to - this.from) / this.width) * 110;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
    context.font = theme['font-axis'];
    const first = Math.ceil((this.base + this.from) / step) * step;
    for (let t = first; t <= this.base + this.to; t += step) {
      const x = Math.round(this.x(t - this.base));
      context.fillStyle = theme.line;
      context.fillRect(x, 4, 1, AXIS - 6);
      context.fillStyle = theme.dim;
      fitText(context, axisLabel(t, step), x + 5, AXIS / 2, width - x - 4);
    }
    if (!this.range) return;
    const [from, to] = this.range.map((t) => Math.min(width, Math.max(NAMES, this.x(t))));
    context.fillStyle = theme.accent;
    context.fillRect(from, AXIS - 4, to - from, 2);
  }

  /** The time in each state of some threads. */
  statesOf(tracks) {
    const sums = new Float64Array(this.data.states.length);
    for (const i of tracks) {
      this.stateTimes(this.data.tracks[i]).forEach((time, state) => { sums[state] += time; });
    }
    return sums;
  }

  /** The rows of the table that says the same in numbers; those of groups have rows below them. */
  table() {
    const columns = [{ name: 'thread', unit: 'TEXT' }, { name: 'pid', unit: 'ID' },
      { name: 'tid', unit: 'ID' }];
    columns.push(...this.data.states.map((name) => ({ name, unit: 'NANOS' })));
    const chosen = (row) => row.tracks.filter((i) => !this.tracks || this.tracks.has(i));
    const make = (rows) => rows.filter((row) => chosen(row).length).map((row) => {
      const { pid, tid } = row.children ? {} : this.data.tracks[row.tracks[0]];
      const cells = [row.name, pid, tid, ...this.statesOf(chosen(row))];
      if (row.children) Object.assign(cells, { group: row, children: make(row.children) });
      return cells;
    });
    return { columns, rows: make(this.tree) };
  }

  /** The time in each state of the selected threads; of all also those that have no row. */
  sums() {
    if (!this.range && !this.tracks && this.data.totals.length) return this.data.totals;
    return this.statesOf(this.tracks ?? this.data.tracks.keys());
  }

  /** The legend's entries; a range cuts spans that may have been joined for drawing. */
  legend() {
    const sums = this.sums();
    const about = this.range && this.data.tracks.some((track) => track.totals.length) ? '≈ ' : '';
    return this.data.states.map((name, i) => legendEntry(stateColour(name, i), name,
      el('b', null, about + format('NANOS', Math.round(sums[i])))));
  }
}
