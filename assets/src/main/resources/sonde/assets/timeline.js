// What each thread did when. Where a pixel holds many spans it is divided by their shares, so that
// short states stay visible however far one looks from.
import { axisLabel, format } from './numbers.js';
import { el, legendEntry, stateColour, theme, tip } from './dom.js';
import { ROW, Surface, fitText } from './surface.js';

const STRIP = 13;
const AXIS = 24;
const NAMES = 168;

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
  /** `changed` is called when another range or other threads are selected. */
  constructor(place, data, changed) {
    this.data = data;
    this.changed = changed;
    this.from = 0;
    this.to = Math.max(1, data.length);
    this.range = null;
    this.tracks = null;
    this.strip = document.createElement('canvas');
    const heightOf = () => Math.max(160, innerHeight * 0.36);
    this.surface = new Surface(place, 'States of threads over time', heightOf,
      (...args) => this.paint(...args));
    this.surface.contentHeight(AXIS + data.tracks.length * ROW + 2);
    const { canvas } = this.surface;
    canvas.addEventListener('pointerdown', (event) => this.press(event));
    canvas.addEventListener('pointermove', (event) => this.move(event));
    canvas.addEventListener('pointerup', (event) => this.release(event));
    canvas.addEventListener('pointercancel', () => { this.drag = null; });
    canvas.addEventListener('pointerleave', () => tip(null));
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
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

  trackAt(y) {
    const index = Math.floor((y - AXIS) / ROW);
    return y - this.surface.top >= AXIS && index < this.data.tracks.length ? index : -1;
  }

  press(event) {
    if (event.button !== 0) return;
    const { x, y } = this.surface.at(event);
    if (x < NAMES) {
      const track = this.trackAt(y);
      if (track >= 0) this.pick(track, event.ctrlKey || event.metaKey);
      return;
    }
    this.surface.canvas.setPointerCapture(event.pointerId);
    this.drag = { x, from: this.from, to: this.to, pans: event.shiftKey };
  }

  pick(track, adds) {
    const tracks = new Set(adds ? this.tracks : []);
    if (this.tracks?.has(track) && (adds || this.tracks.size === 1)) tracks.delete(track);
    else tracks.add(track);
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
    const { x } = this.surface.at(event);
    if (this.drag && !this.drag.pans && Math.abs(x - this.drag.x) <= 3) this.select(null);
    this.drag = null;
  }

  hover(x, y, event) {
    const index = this.trackAt(y);
    const track = this.data.tracks[index];
    if (!track) {
      tip(null);
      return;
    }
    const lines = [[track.name, 'name']];
    const time = this.time(x);
    const i = firstAfter(track.ends, time);
    if (x >= NAMES && i < track.starts.length && track.starts[i] <= time) {
      const state = this.data.states[track.states[i]] ?? '?';
      lines.push([`${state}  ${format('NANOS', track.ends[i] - track.starts[i])}`, 'num']);
    }
    if (x >= NAMES) lines.push([`at ${format('TIMESTAMP', time)}`, 'dim num']);
    tip(lines, event.clientX, event.clientY);
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
    const last = Math.min(this.data.tracks.length, Math.ceil((top + height - AXIS) / ROW));
    context.textBaseline = 'middle';
    context.direction = 'ltr';
    const high = this.stackStates(first, last);
    context.imageSmoothingEnabled = false;
    for (let row = first; row < last; row++) {
      const y = AXIS + row * ROW - top;
      const shown = !this.tracks || this.tracks.has(row);
      context.globalAlpha = shown ? 1 : 0.25;
      context.drawImage(this.strip, 0, (row - first) * high, this.strip.width, high,
        NAMES, y + (ROW - STRIP) / 2, this.width, STRIP);
      context.globalAlpha = shown ? 1 : 0.5;
      context.fillStyle = theme.text;
      context.font = theme['font-frame'];
      fitText(context, this.data.tracks[row].name, 4, y + ROW / 2, NAMES - 12);
    }
    context.globalAlpha = 1;
    this.paintRange(context, width, height);
    this.paintAxis(context, width);
  }

  /** Fills `strip`: in each column of pixels of a row, the shares of the states stacked up. */
  stackStates(first, last) {
    const ratio = devicePixelRatio || 1;
    const wide = Math.max(1, Math.round(this.width * ratio));
    const high = Math.round(STRIP * ratio);
    this.strip.width = wide;
    this.strip.height = Math.max(1, last - first) * high;
    const context = this.strip.getContext('2d');
    const count = this.data.states.length;
    const colours = this.data.states.map((name, i) => packed(stateColour(name, i), context));
    const image = context.createImageData(wide, this.strip.height);
    const pixels = new Uint32Array(image.data.buffer);
    const shares = new Float32Array(wide * count);
    for (let row = first; row < last; row++) {
      shares.fill(0);
      this.addSpans(this.data.tracks[row], count, wide, shares);
      const bottom = ((row - first + 1) * high - 1) * wide;
      for (let x = 0; x < wide; x++) {
        let sum = 0;
        let line = 0;
        for (let state = 0; state < count; state++) {
          sum += shares[x * count + state];
          // Rounded up: the first states, running, are seen however short.
          const end = Math.min(high, Math.ceil(sum * high - 0.01));
          for (; line < end; line++) pixels[bottom - line * wide + x] = colours[state];
        }
      }
    }
    context.putImageData(image, 0, 0);
    return high;
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
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = Math.round(this.x(t));
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

  /** The rows of the table that says the same in numbers. */
  table() {
    const columns = [{ name: 'thread', unit: 'TEXT' }, { name: 'pid', unit: 'ID' },
      { name: 'tid', unit: 'ID' }];
    columns.push(...this.data.states.map((name) => ({ name, unit: 'NANOS' })));
    const rows = [];
    this.data.tracks.forEach((track, i) => {
      if (this.tracks && !this.tracks.has(i)) return;
      rows.push([track.name, track.pid, track.tid, ...this.stateTimes(track)]);
    });
    return { columns, rows };
  }

  /** The time in each state of the selected threads; of all also those that have no row. */
  sums() {
    if (!this.range && !this.tracks && this.data.totals.length) return this.data.totals;
    const sums = new Float64Array(this.data.states.length);
    this.data.tracks.forEach((track, i) => {
      if (this.tracks && !this.tracks.has(i)) return;
      this.stateTimes(track).forEach((time, state) => { sums[state] += time; });
    });
    return sums;
  }

  /** The legend's entries; a range cuts spans that may have been joined for drawing. */
  legend() {
    const sums = this.sums();
    const about = this.range && this.data.tracks.some((track) => track.totals.length) ? '≈ ' : '';
    return this.data.states.map((name, i) => legendEntry(stateColour(name, i), name,
      el('b', null, about + format('NANOS', Math.round(sums[i])))));
  }
}
