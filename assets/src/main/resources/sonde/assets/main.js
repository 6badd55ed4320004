// Puts the page together: the selected range and threads filter every view below.
import { format, percent, secondsOf } from './numbers.js';
import { readData } from './data.js';
import { $, el, forgetTheme, legendEntry, theme, tip } from './dom.js';
import { Tree } from './tree.js';
import { Flame } from './flame.js';
import { Timeline } from './timeline.js';
import { SortedTable, anchor, isEmpty, showSections } from './table.js';
import { cardOf, filterIncidents, showIncidents, stepIncident } from './incidents.js';

const TITLES = { 'on-cpu': 'On CPU', 'off-cpu': 'Off CPU', 'page-faults': 'Page faults' };
const KIND_NAMES = [['user', 'user'], ['kernel', 'kernel'], ['jit', 'JIT'], ['label', 'label']];

class Page {
  constructor(data) {
    this.data = data;
    this.tree = new Tree(data.stacks);
    $('title').textContent = data.title;
    this.showNotes();
    this.views = this.makeViews();
    this.timeline = new Timeline($('timeline'), data, () => this.filterChanged(),
      (text) => this.goTo(cardOf(text)));
    this.flame = new Flame($('flame'), this.tree, () => this.flameChanged());
    this.flame.surface.canvas.setAttribute('aria-details', 'functions');
    this.timeline.surface.canvas.setAttribute('aria-details', 'threads-panel');
    this.functions = new SortedTable($('functions'), 2);
    this.threads = new SortedTable($('threads-panel'));
    showSections($('tables-panel'), data.sections, showIncidents);
    this.makeTabs();
    this.makeIndex();
    this.listen();
    this.filterChanged();
    const hasRows = this.timeline.tree.length > 0;
    $('timeline-card').hidden = !hasRows;
    this.open(hasRows || this.views.some(({ sets }) => sets) ? 0 : this.views.length - 1);
    this.follow();
  }

  /** Losses, the answer, the headline, and all other sentences folded to one line. */
  showNotes() {
    const { lost, notes, answer } = this.data;
    if (lost) {
      const more = el('a', { href: '#table-losses' }, 'Where?');
      $('lost').append(el('p', { role: 'alert' }, lost, ' ', more));
    }
    $('answer').append(...answer.map((sentence) => el('p', null, sentence)));
    $('notes').append(...notes.slice(0, 1).map((note) => el('p', { className: 'lead' }, note)));
    const rest = notes.slice(1);
    if (rest.length === 1) $('notes').append(el('p', null, rest[0]));
    if (rest.length < 2) return;
    const summary = el('summary', null, `${rest.length} notes: ${rest[0]}`);
    $('notes').append(el('details', null, summary, ...rest.map((note) => el('p', null, note))));
  }

  /** Links to every view and table. */
  makeIndex() {
    const link = (id, name) => el('a', { href: `#${id}` }, name);
    const tables = this.data.sections.filter((section) => section.title && !isEmpty(section));
    if (this.timeline.tree.length) $('index').append(link('timeline-card', 'Timeline'));
    const views = this.views.length > 1 ? this.views : [];
    $('index').append(...views.map((view) => link(anchor(view.name), view.name)),
      ...tables.map((section) => link(anchor(section.title, true), section.title)));
  }

  /** Goes where the address points: to a view, or to a table of the whole recording. */
  follow() {
    const id = location.hash.slice(1); // anchors have no letters that are escaped
    const view = this.views.findIndex(({ name }) => anchor(name) === id);
    const table = $(id)?.closest('#tables-panel');
    if (view >= 0) this.open(view);
    if (table) this.open(this.views.findIndex(({ panel }) => panel === 'tables-panel'));
    if (view >= 0) $('tabs').scrollIntoView();
    else $(id)?.scrollIntoView();
  }

  /** Goes to an incident's card. */
  goTo(id) {
    if (id && location.hash === `#${id}`) this.follow();
    else if (id) location.hash = id;
  }

  makeViews() {
    const sets = this.data.samples.filter((set) => set.time.length);
    const views = sets.map((set) => ({ name: TITLES[set.name] ?? set.name, sets: [set] }));
    const time = sets.filter((set) => set.unit === 'NANOS' && /^(on|off)-cpu$/.test(set.name));
    if (time.length === 2) {
      const after = Math.max(...time.map((set) => sets.indexOf(set))) + 1;
      views.splice(after, 0, { name: 'On and off CPU', sets: time });
    }
    const { tracks, sections } = this.data;
    const isLog = !tracks.length && sections.some(({ incidents }) => incidents);
    if (!tracks.length && sets.length) {
      // A heap: sums by stack, of no thread and no time.
      return [{ name: 'Summary', panel: 'tables-panel' }, ...views];
    }
    if (!isLog) views.push({ name: 'Threads', panel: 'threads-panel' });
    if (sections.length) {
      views.push({ name: isLog ? 'Incidents' : 'Whole recording', panel: 'tables-panel' });
    }
    return views;
  }

  makeTabs() {
    this.tabs = this.views.map((view, i) => {
      const tab = el('button', { id: `tab-${i}`, role: 'tab' }, view.name);
      tab.setAttribute('aria-controls', view.panel ?? 'flame-panel');
      tab.onclick = () => this.open(i);
      return tab;
    });
    $('tabs').append(...this.tabs);
    $('tabs').hidden = this.tabs.length < 2;
    $('tabs').onkeydown = (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      this.open((this.current + by + this.tabs.length) % this.tabs.length);
      this.tabs[this.current].focus();
    };
  }

  open(index) {
    this.current = index;
    this.tabs.forEach((tab, i) => {
      tab.setAttribute('aria-selected', i === index);
      tab.tabIndex = i === index ? 0 : -1;
    });
    const panel = this.views[index].panel ?? 'flame-panel';
    for (const id of ['flame-panel', 'threads-panel', 'tables-panel']) $(id).hidden = id !== panel;
    $(panel).setAttribute('aria-labelledby', `tab-${index}`);
    this.stale = true;
    this.refresh();
  }

  filterChanged() {
    const { range, tracks } = this.timeline;
    const words = [];
    if (range) {
      const [from, to] = range;
      const ends = range.map((time) => secondsOf(time, to - from));
      words.push(`${ends.join(' – ')} (${format('NANOS', Math.round(to - from))})`);
    }
    if (tracks) {
      words.push(tracks.size === 1 ? this.data.tracks[[...tracks][0]].name
        : `${tracks.size} threads`);
    }
    $('range').textContent = words.join(' · ');
    $('range-clear').hidden = !words.length;
    this.stale = true;
    this.pending ??= requestAnimationFrame(() => {
      this.pending = undefined;
      this.refresh();
    });
  }

  refresh() {
    if (!this.stale || this.current === undefined) return;
    this.stale = false;
    filterIncidents(this.timeline.range, this.data.start);
    $('states').replaceChildren(...this.timeline.legend());
    const view = this.views[this.current];
    if (view.sets) {
      const sums = this.tree.weigh(view.sets, this.timeline.filter);
      this.flame.show(sums);
      this.showKinds(sums);
      this.showFunctions();
    } else if (view.panel === 'threads-panel') {
      this.threads.show(this.timeline.table());
    }
  }

  showKinds(sums) {
    const seen = new Set(this.data.stacks.frames.map((frame) => frame.kind));
    const entries = KIND_NAMES.filter((_, kind) => seen.has(kind))
      .map(([colour, name]) => legendEntry(theme[`${colour}1`], name));
    if (sums.mixed) entries.push(legendEntry(theme.off, 'off CPU'));
    $('kinds').replaceChildren(...entries);
  }

  showFunctions() {
    const { sums, pattern } = this.flame;
    const { unit } = sums;
    const columns = [{ name: 'function', unit: 'TEXT' }, { name: 'module', unit: 'TEXT' },
      { name: 'itself', unit }, { name: 'of all', unit: 'SHARE' },
      { name: 'with callees', unit }, { name: 'of all ', unit: 'SHARE' },
      { name: 'samples', unit: 'COUNT' }];
    const rows = this.tree.functions(sums).filter((row) => !pattern || pattern.test(row[0]));
    this.functions.show({ columns, rows });
  }

  flameChanged() {
    const { flame, tree } = this;
    if (!flame.sums) return;
    $('reset').disabled = flame.focus === tree.root;
    const all = flame.sums.total[tree.root];
    const weight = flame.pattern ? flame.matched() : 0;
    $('matched').textContent = flame.pattern
      ? `matched ${percent(all ? weight / all : 0)}  ${format(flame.sums.unit, weight)}` : '';
    const shown = flame.selected >= 0 ? flame.selected : flame.focus;
    $('flame-status').textContent = all
      ? flame.describe(shown).map(([text]) => text).filter(Boolean).join('   ') : '';
  }

  search() {
    const text = $('search').value;
    let pattern = null;
    if (text) {
      try {
        pattern = new RegExp(text, 'i');
      } catch {
        pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
      }
    }
    this.flame.search(pattern);
    this.showFunctions();
  }

  listen() {
    $('search').oninput = () => this.search();
    $('reset').onclick = () => this.flame.zoom(this.tree.root);
    $('flip').onclick = () => {
      this.flame.flip();
      $('flip').setAttribute('aria-pressed', this.flame.flipped);
    };
    $('range-clear').onclick = () => this.clearFilter();
    $('help-open').onclick = () => $('help').showModal();
    addEventListener('keydown', (event) => this.key(event));
    addEventListener('hashchange', () => this.follow());
    addEventListener('scroll', () => tip(null), { passive: true });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      forgetTheme();
      this.stale = true;
      this.refresh();
      this.timeline.surface.draw();
    });
  }

  clearFilter() {
    this.timeline.tracks = null;
    this.timeline.select(null);
  }

  key(event) {
    const typing = event.target instanceof HTMLInputElement;
    const find = (event.ctrlKey || event.metaKey) && event.key === 'f';
    const searches = find || (event.key === '/' && !typing);
    if ($('help').open || (searches && !this.views[0].sets)) return;
    if (searches) {
      if (this.views[this.current].panel) this.open(0);
      $('search').focus();
      $('search').select();
    } else if (event.key === 'Escape') {
      this.escape();
    } else if (typing || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    } else if (!this.letter(event.key)) {
      return;
    }
    event.preventDefault();
  }

  /** Undoes one thing at a time. */
  escape() {
    if ($('search').value) {
      $('search').value = '';
      this.search();
    } else if (this.flame.focus !== this.tree.root) {
      this.flame.zoom(this.tree.root);
    } else {
      this.clearFilter();
    }
  }

  letter(key) {
    const { timeline } = this;
    const actions = {
      w: () => timeline.zoom(0.7),
      s: () => timeline.zoom(1 / 0.7),
      a: () => timeline.pan(-0.15),
      d: () => timeline.pan(0.15),
      f: () => timeline.fit(),
      r: () => timeline.select([timeline.from, timeline.to]),
      n: () => stepIncident(1),
      p: () => stepIncident(-1),
      '?': () => $('help').showModal(),
    };
    const action = actions[key.length === 1 ? key.toLowerCase() : key];
    const view = Number(key) - 1;
    if (action) action();
    else if (this.views[view]) this.open(view);
    return Boolean(action);
  }
}

try {
  const data = await readData($('data'));
  $('main').hidden = false;
  globalThis.sonde = new Page(data);
  $('loading').hidden = true;
} catch (error) {
  $('loading').textContent = `This page cannot be drawn: ${error.message}`;
  throw error;
}
