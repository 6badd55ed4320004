// Call chains as a tree of nodes and what they weigh under a filter.

/** The tree of all chains; node `root` stands above the outermost callers. */
export class Tree {
  constructor({ frames, parent, frame }) {
    const n = parent.length;
    this.frames = frames;
    this.root = n;
    this.parent = new Int32Array(n + 1);
    this.frame = new Int32Array(n + 1).fill(-1);
    this.depth = new Int32Array(n + 1);
    this.first = new Int32Array(n + 2);
    this.parent[n] = -1;
    const slot = (i) => (i === n ? 0 : i + 1);
    this.slot = slot;
    for (let i = 0; i < n; i++) {
      const up = parent[i] >= 0 && parent[i] < i ? parent[i] : n;
      this.parent[i] = up;
      this.frame[i] = frame[i] < frames.length ? frame[i] : -1;
      this.depth[i] = this.depth[up] + 1;
      this.first[slot(up) + 1]++;
    }
    for (let s = 0; s <= n; s++) this.first[s + 1] += this.first[s];
    this.kids = new Int32Array(n);
    const next = this.first.slice();
    for (let i = 0; i < n; i++) this.kids[next[slot(this.parent[i])]++] = i;
    this.repeats = this.findRepeats();
  }

  /** Which nodes stand below another one of the same frame: recursion must not count twice. */
  findRepeats() {
    const repeats = new Uint8Array(this.root);
    const open = new Int32Array(this.frames.length);
    const path = [];
    const todo = [this.root];
    while (todo.length) {
      const node = todo.pop();
      if (node < 0) {
        const left = path.pop();
        if (left >= 0) open[left]--;
        continue;
      }
      const frame = this.frame[node];
      if (frame >= 0 && open[frame]++ > 0) repeats[node] = 1;
      path.push(frame);
      todo.push(-1);
      const end = this.first[this.slot(node) + 1];
      for (let k = this.first[this.slot(node)]; k < end; k++) todo.push(this.kids[k]);
    }
    return repeats;
  }

  name(node) {
    return node === this.root ? 'all' : this.frames[this.frame[node]]?.name ?? '[unknown]';
  }

  module(node) {
    return this.frames[this.frame[node]]?.module ?? '';
  }

  kind(node) {
    return this.frames[this.frame[node]]?.kind ?? 3;
  }

  /** Names from the outermost caller to the node. */
  chain(node) {
    const names = [];
    for (let at = node; at !== this.root; at = this.parent[at]) names.push(this.name(at));
    return names.reverse();
  }

  /**
   * Adds up sets of samples in a range of time and on some tracks. `part` is the share of `total`
   * that comes from spans (off CPU), when there are sets of both kinds.
   */
  weigh(sets, filter) {
    const n = this.root + 1;
    const sums = {
      unit: sets[0].unit,
      mixed: sets.some((set) => set.spans) && sets.some((set) => !set.spans),
    };
    for (const key of ['total', 'self', 'part', 'count', 'height']) sums[key] = new Float64Array(n);
    for (const set of sets) this.addSelf(set, filter, sums);
    const { total, self, part, count, height } = sums;
    total.set(self);
    for (let i = this.root - 1; i >= 0; i--) {
      if (total[i] <= 0) continue;
      const up = this.parent[i];
      if (up === this.root) continue;
      total[up] += total[i];
      part[up] += part[i];
      count[up] += count[i];
      height[up] = Math.max(height[up], height[i] + 1);
    }
    for (let k = this.first[0]; k < this.first[1]; k++) {
      const i = this.kids[k];
      total[this.root] += total[i];
      part[this.root] += part[i];
      count[this.root] += count[i];
      height[this.root] = Math.max(height[this.root], height[i] + 1);
    }
    this.sortKids(total);
    return sums;
  }

  /** A range takes its share of what lasts. */
  addSelf({ time, track, node, weight, events, lasts, spans }, { from, to, tracks }, sums) {
    for (let i = 0; i < time.length && time[i] < to; i++) {
      if (tracks && !tracks.has(track[i])) continue;
      const inside = Math.min(to, time[i] + lasts[i]) - Math.max(from, time[i]);
      const share = inside < lasts[i] ? inside / lasts[i] : 1;
      const value = weight[i] * share;
      if (inside < 0 || value <= 0) continue;
      const at = node[i] < 0 || node[i] >= this.root ? this.root : node[i];
      sums.self[at] += value;
      sums.count[at] += Math.ceil(events[i] * share);
      if (spans) sums.part[at] += value;
    }
  }

  sortKids(total) {
    for (let s = 0; s <= this.root; s++) {
      const from = this.first[s];
      const to = this.first[s + 1];
      if (to - from > 1) this.kids.subarray(from, to).sort((a, b) => total[b] - total[a] || a - b);
    }
  }

  /** The children of a node that weigh something, heaviest first. */
  children(node, total) {
    const kids = [];
    const end = this.first[this.slot(node) + 1];
    for (let k = this.first[this.slot(node)]; k < end && total[this.kids[k]] > 0; k++) {
      kids.push(this.kids[k]);
    }
    return kids;
  }

  /**
   * The node whose own the weight of a node is: labels below code say why it waited and who ended
   * that.
   */
  place(node) {
    let at = node;
    while (at !== this.root && this.kind(at) === 3) {
      const up = this.parent[at];
      const isCause = this.kind(up) === 3 && !this.name(at).startsWith('[woken by ');
      if (up === this.root || isCause) break;
      at = up;
    }
    return at;
  }

  /** Rows [name, module, self, self share, total, total share, samples] of every function. */
  functions(sums) {
    const all = sums.total[this.root];
    const rows = new Map();
    for (let i = 0; i < this.root; i++) {
      if (sums.total[i] <= 0) continue;
      const frame = this.frame[this.place(i)];
      let row = rows.get(frame);
      if (!row) rows.set(frame, row = [this.name(this.place(i)), this.module(this.place(i)), 0, 0, 0, 0, 0]);
      row[2] += sums.self[i];
      if (!this.repeats[i] && this.place(i) === i) {
        row[4] += sums.total[i];
        row[6] += sums.count[i];
      }
    }
    for (const [frame, row] of rows) {
      row[3] = row[2] / all;
      row[5] = row[4] / all;
      if (!row[2] && this.frames[frame]?.kind === 3) rows.delete(frame);
    }
    return [...rows.values()];
  }
}
