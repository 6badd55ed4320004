// The flame graph: width is weight, heaviest callee on the left, callers above (or below, flipped).
import { format, percent } from './numbers.js';
import { hashOf, theme, tip } from './dom.js';
import { ROW, Surface, fitText } from './surface.js';

const KINDS = ['user', 'kernel', 'jit', 'label'];
/** Frames narrower than this, in pixels, are drawn as one grey bar per caller. */
const NARROWEST = 0.6;

export class Flame {
  constructor(place, tree, changed) {
    this.tree = tree;
    this.changed = changed;
    this.focus = tree.root;
    this.selected = -1;
    this.flipped = false;
    this.pattern = null;
    this.boxes = [];
    this.surface = new Surface(place, 'Flame graph', () => Math.max(320, innerHeight * 0.7),
      (...args) => this.paint(...args));
    const { canvas } = this.surface;
    canvas.addEventListener('pointermove', (event) => this.hover(event));
    canvas.addEventListener('pointerleave', () => this.hover(null));
    canvas.addEventListener('click', (event) => {
      const node = this.nodeAt(event);
      if (node >= 0) this.zoom(node);
    });
    canvas.addEventListener('keydown', (event) => this.key(event));
    canvas.addEventListener('blur', () => this.select(-1));
  }

  /** Shows other weights of the same tree. */
  show(sums) {
    this.sums = sums;
    if (!sums.total[this.focus]) this.focus = this.tree.root;
    if (this.selected >= 0 && !sums.total[this.selected]) this.selected = -1;
    this.fit();
    this.changed();
  }

  fit() {
    this.rows = this.tree.depth[this.focus] + this.sums.height[this.focus] + 1;
    this.surface.contentHeight(this.rows * ROW + 1);
  }

  zoom(node) {
    this.focus = node;
    this.fit();
    this.changed();
  }

  flip() {
    this.flipped = !this.flipped;
    this.surface.reveal(this.y(this.tree.depth[this.focus]), ROW);
    this.surface.draw();
  }

  /** Marks the functions that match; null marks none. */
  search(pattern) {
    this.pattern = pattern;
    this.matches = pattern && this.tree.frames.map((frame) => pattern.test(frame.name));
    this.surface.draw();
    this.changed();
  }

  isMatch(node) {
    return Boolean(this.matches?.[this.tree.frame[node]]);
  }

  /** Weight of all chains through a function that matches, each chain once. */
  matched() {
    const { tree, sums } = this;
    const inside = new Uint8Array(tree.root + 1);
    let weight = 0;
    for (let i = 0; i < tree.root; i++) {
      if (!sums.total[i]) continue;
      if (inside[tree.parent[i]]) inside[i] = 1;
      else if (this.isMatch(i)) {
        inside[i] = 1;
        weight += sums.total[i];
      }
    }
    return weight;
  }

  describe(node) {
    const { tree, sums } = this;
    const total = sums.total[node];
    const share = percent(total / sums.total[tree.root]);
    const amount = format(sums.unit, total);
    const parts = [`${share}  ${amount}`];
    if (sums.self[node]) parts.push(`itself ${format(sums.unit, sums.self[node])}`);
    if (sums.mixed) parts.push(`off CPU ${percent(sums.part[node] / total)}`);
    parts.push(`${format('COUNT', sums.count[node])} samples`);
    return [[tree.name(node), 'name'], [tree.module(node), 'dim'], [parts.join(' · '), 'num']];
  }

  y(depth) {
    return (this.flipped ? this.rows - 1 - depth : depth) * ROW;
  }

  paint(context, width, height, top) {
    this.boxes.length = 0;
    if (!this.sums?.total[this.tree.root]) {
      context.fillStyle = theme.dim;
      context.font = theme['font-text'];
      context.fillText('Nothing was sampled here.', 8, 24);
      return;
    }
    context.textBaseline = 'middle';
    context.direction = 'ltr';
    const { tree, sums } = this;
    const view = { context, width, height, top };
    for (let at = this.focus; at !== tree.root;) {
      at = tree.parent[at];
      this.box(view, at, 0, width, true);
    }
    const scale = width / sums.total[this.focus];
    const todo = [[this.focus, 0]];
    while (todo.length) {
      const [node, x] = todo.pop();
      this.box(view, node, x, sums.total[node] * scale, false);
      let left = x;
      const end = tree.first[tree.slot(node) + 1];
      for (let k = tree.first[tree.slot(node)]; k < end; k++) {
        const kid = tree.kids[k];
        const wide = sums.total[kid] * scale;
        if (wide < NARROWEST) {
          this.remainder(view, node, left, x + sums.total[node] * scale - sums.self[node] * scale);
          break;
        }
        todo.push([kid, left]);
        left += wide;
      }
    }
  }

  remainder({ context, height, top }, node, from, to) {
    const y = this.y(this.tree.depth[node] + 1) - top;
    if (y <= -ROW || y >= height || to - from < 1) return;
    context.globalAlpha = this.pattern ? 0.25 : 1;
    context.fillStyle = theme.rest;
    context.fillRect(from, y, to - from - 0.5, ROW - 1);
    context.globalAlpha = 1;
  }

  box({ context, height, top }, node, x, wide, isCaller) {
    const y = this.y(this.tree.depth[node]) - top;
    if (y <= -ROW || y >= height) return;
    const hit = this.isMatch(node);
    const gap = wide > 12 ? 1 : wide > 2 ? 0.5 : 0;
    context.globalAlpha = (this.pattern && !hit) || isCaller ? 0.4 : 1;
    context.fillStyle = hit ? theme.match : this.colour(node);
    context.fillRect(x, y, Math.max(0.5, wide - gap), ROW - 1);
    const { sums } = this;
    if (sums.mixed && sums.part[node] && !hit) {
      // Narrow frames take the colour of their bigger part: stripes would say nothing.
      const share = sums.part[node] / sums.total[node];
      const off = (wide - gap) * (wide < 8 ? Math.round(share) : share);
      context.fillStyle = theme.off;
      context.fillRect(x + wide - gap - off, y, off, ROW - 1);
    }
    context.globalAlpha = (this.pattern && !hit) || isCaller ? 0.75 : 1;
    context.fillStyle = this.pattern && !hit || isCaller ? theme.text : theme['frame-text'];
    context.font = theme['font-frame'];
    fitText(context, this.tree.name(node), x + 5, y + ROW / 2, wide - 8);
    context.globalAlpha = 1;
    if (node === this.selected || node === this.hovered) {
      context.strokeStyle = theme.text;
      context.lineWidth = node === this.selected ? 2 : 1;
      context.strokeRect(x + 1, y + 1, Math.max(1, wide - gap - 2), ROW - 3);
    }
    this.boxes.push({ node, x, y: y + top, wide });
  }

  /** The kind's colour in one of three shades, so that neighbours differ. */
  colour(node) {
    return theme[`${KINDS[this.tree.kind(node)]}${hashOf(this.tree.name(node)) % 3}`];
  }

  nodeAt(event) {
    const { x, y } = this.surface.at(event);
    const box = this.boxes.find((b) => x >= b.x && x < b.x + b.wide && y >= b.y && y < b.y + ROW);
    return box ? box.node : -1;
  }

  hover(event) {
    const node = event ? this.nodeAt(event) : -1;
    tip(node >= 0 && this.describe(node), event?.clientX, event?.clientY);
    this.surface.canvas.style.cursor = node >= 0 ? 'pointer' : '';
    if (node !== this.hovered) {
      this.hovered = node;
      this.surface.draw();
    }
  }

  select(node) {
    this.selected = node;
    if (node >= 0) this.surface.reveal(this.y(this.tree.depth[node]), ROW);
    this.surface.draw();
    this.changed();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { tree, sums } = this;
    const at = this.selected < 0 ? this.focus : this.selected;
    const kids = tree.children(at, sums.total);
    const siblings = at === tree.root ? [at] : tree.children(tree.parent[at], sums.total);
    const place = siblings.indexOf(at);
    const up = this.flipped ? 'ArrowDown' : 'ArrowUp';
    const down = this.flipped ? 'ArrowUp' : 'ArrowDown';
    const to = {
      [up]: tree.parent[at],
      [down]: this.selected < 0 ? at : kids[0],
      ArrowLeft: siblings[place - 1],
      ArrowRight: siblings[place + 1],
    };
    if (event.key in to) this.select(to[event.key] >= 0 ? to[event.key] : at);
    else if (event.key === 'Enter') this.zoom(at);
    else if (event.key === 'Backspace') this.zoom(Math.max(0, tree.parent[this.focus]));
    else if (event.key === 'c') navigator.clipboard?.writeText(tree.chain(at).join('\n'));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
