// The rows of the timeline: CPUs, event marks, then threads, put together by command, process and
// name. A row is { kind, name, hint, tracks, children, open, depth }.

import { format } from './numbers.js';

/** So many processes of a command, or threads of a name, become one row that opens. */
const MANY = 3;
/** Rows that are open from the beginning, together. */
const OPEN_ROWS = 40;
const MANY_CPUS = 16;

/** The last part of a path. */
const short = (command) => command.replace(/^\/.*\//, '');

const bunch = (name, hint, children) => (
  { kind: 'group', name, hint, children, open: false, tracks: children.flatMap((c) => c.tracks) });

function by(items, key) {
  const groups = new Map();
  for (const item of items) {
    const of = key(item);
    if (groups.has(of)) groups.get(of).push(item);
    else groups.set(of, [item]);
  }
  return groups;
}

/** "worker-17 4711" is a "worker-*": threads of a pool differ in numbers. */
function pool({ name, tid }) {
  return name.slice(0, name.length - String(tid).length - 1).replace(/\d+/g, '*');
}

function threadsOf(data, tracks) {
  const rows = [];
  for (const [name, same] of by(tracks, (i) => pool(data.tracks[i]))) {
    const threads = same.map((i) => ({ kind: 'thread', name: data.tracks[i].name, tracks: [i] }));
    const many = same.length > MANY && same.length < tracks.length;
    rows.push(...many ? [bunch(`${name} ×${same.length}`, `${same.length} threads`, threads)]
      : threads);
  }
  return rows;
}

function processRow(data, command, pid, tracks) {
  const rows = threadsOf(data, tracks);
  if (rows.length === 1) return rows[0];
  return bunch(`${short(command)} ${pid} ×${tracks.length}`,
    `${command}, process ${pid}, ${tracks.length} threads`, rows);
}

function threadRows(data) {
  const known = [];
  const others = [];
  data.tracks.forEach((track, i) => (track.command && track.pid !== null ? known : others).push(i));
  const rows = [];
  for (const [command, tracks] of by(known, (i) => data.tracks[i].command)) {
    const processes = [...by(tracks, (i) => data.tracks[i].pid)]
      .map(([pid, of]) => processRow(data, command, pid, of));
    rows.push(...processes.length < MANY ? processes
      : [bunch(`${short(command)} ×${processes.length}`,
        `${command}, ${processes.length} processes`, processes)]);
  }
  const busy = ({ tracks }) => tracks.reduce((n, i) => n + (data.tracks[i].totals[0] ?? 0), 0);
  const sums = new Map(rows.map((row) => [row, busy(row)]));
  rows.sort((a, b) => sums.get(b) - sums.get(a));
  for (const i of others) rows.push({ kind: 'thread', name: data.tracks[i].name, tracks: [i] });
  return rows;
}

function cpuRows(data) {
  const rows = data.cpus.map((lane) => {
    const busy = lane.busy.reduce((sum, nanos) => sum + nanos, 0);
    const share = Math.round((busy / Math.max(1, data.length)) * 100);
    return { kind: 'cpu', name: `CPU ${lane.cpu}`, hint: `busy ${share} %`, lanes: [lane],
      tracks: [] };
  });
  if (rows.length <= MANY_CPUS) return rows;
  return [{ ...bunch(`CPUs ×${rows.length}`, 'what ran on each CPU', rows), kind: 'cpu',
    lanes: data.cpus }];
}

/** Lanes of incidents of a kernel's log, whose names end in the severity. */
export const INCIDENTS = /^(?:.* )?(?:security|fatal|error|warning|notice)$/;

function markRows(data) {
  const all = data.marks.map((lane) => ({ kind: 'marks', name: lane.name, lanes: [lane],
    hint: lane.count === 1 ? '1 event' : `${format('COUNT', lane.count)} events`, tracks: [] }));
  const incidents = all.filter(({ name }) => INCIDENTS.test(name));
  const rows = all.filter(({ name }) => !INCIDENTS.test(name));
  if (rows.length < MANY) return [...incidents, ...rows];
  return [...incidents, { ...bunch(`events ×${rows.length} types`, 'single events', rows), kind: 'marks',
    lanes: rows.flatMap(({ lanes }) => lanes) }];
}

/** All rows as a tree. */
export function makeRows(data) {
  const threads = threadRows(data);
  const rows = [...cpuRows(data), ...markRows(data), ...threads];
  let room = OPEN_ROWS - rows.length;
  if (threads.length === 1 && threads[0].children) {
    threads[0].open = true;
    room -= threads[0].children.length;
  }
  for (const row of threads) {
    if (row.children && !row.open && row.children.length <= room) {
      row.open = true;
      room -= row.children.length;
    }
  }
  return rows;
}

/** The rows that are seen, each with its depth. */
export function openRows(rows, depth = 0) {
  return rows.flatMap((row) => {
    row.depth = depth;
    return row.open ? [row, ...openRows(row.children, depth + 1)] : [row];
  });
}
