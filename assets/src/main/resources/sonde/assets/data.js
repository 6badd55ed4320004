// Reads what sonde.view.PageContent wrote.

class Cursor {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
  }

  /** An unsigned LEB128 number of at most 53 bits. */
  next() {
    let byte = this.bytes[this.at++];
    let value = byte & 0x7f;
    for (let scale = 128; byte > 0x7f; scale *= 128) {
      byte = this.bytes[this.at++];
      value += (byte & 0x7f) * scale;
    }
    return value;
  }
}

function readTrack(cursor, track) {
  const n = track.spans;
  const [starts, ends] = [new Float64Array(n), new Float64Array(n)];
  const states = new Uint8Array(n);
  for (let i = 0, time = 0; i < n; i++) {
    starts[i] = time += cursor.next();
    ends[i] = time += cursor.next();
    states[i] = cursor.next();
  }
  return { ...track, starts, ends, states };
}

function readStacks(cursor, n) {
  const parent = new Int32Array(n);
  const frame = new Int32Array(n);
  for (let i = 0; i < n; i++) parent[i] = i - cursor.next();
  for (let i = 0; i < n; i++) frame[i] = cursor.next();
  return { parent, frame };
}

function readSamples(cursor, { name, unit, count, spans }) {
  const rows = { name, unit, spans, track: new Int32Array(count), node: new Int32Array(count) };
  for (const key of ['time', 'weight', 'events', 'lasts']) rows[key] = new Float64Array(count);
  for (let i = 0, last = 0; i < count; i++) {
    rows.time[i] = last += cursor.next();
    rows.track[i] = cursor.next() - 1;
    rows.node[i] = cursor.next() - 1;
    rows.weight[i] = cursor.next();
    rows.events[i] = cursor.next();
    if (spans) rows.lasts[i] = rows.weight[i] + cursor.next();
  }
  return rows;
}

function readCpu(cursor, { cpu, spans: n }) {
  const lane = { cpu, track: new Int32Array(n) };
  for (const key of ['starts', 'ends', 'busy']) lane[key] = new Float64Array(n);
  for (let i = 0, time = 0; i < n; i++) {
    lane.starts[i] = time += cursor.next();
    const length = cursor.next();
    lane.ends[i] = time += length;
    lane.busy[i] = length - cursor.next();
    lane.track[i] = cursor.next() - 1;
  }
  return lane;
}

function readMarks(cursor, lane) {
  const n = lane.texts.length;
  const marks = { ...lane, time: new Float64Array(n), track: new Int32Array(n) };
  for (let i = 0, time = 0; i < n; i++) {
    marks.time[i] = time += cursor.next();
    marks.track[i] = cursor.next() - 1;
  }
  return marks;
}

/** Page faults as a lane of marks; each says in which function it happened. */
function faultMarks({ stacks, samples }) {
  const set = samples.find(({ name }) => name === 'page-faults');
  if (!set?.time.length) return [];
  const texts = Array.from(set.node, (node) => stacks.frames[stacks.frame[node]]?.name ?? '');
  const count = set.events.reduce((sum, events) => sum + events, 0);
  return [{ name: 'page faults', count, texts, time: set.time, track: set.track }];
}

function unpackFrames(flat, modules) {
  const frames = [];
  for (let i = 0; i < flat.length; i += 3) {
    frames.push({ name: flat[i], module: modules[flat[i + 1]], kind: flat[i + 2] });
  }
  return frames;
}

/** The recording in an element's text. */
export async function readData(element) {
  const text = atob(element.textContent.trim());
  element.textContent = '';
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const size = new DataView(bytes.buffer).getUint32(0, true);
  const data = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  const cursor = new Cursor(bytes, 4 + size);
  data.tracks = data.tracks.map((track) => readTrack(cursor, track));
  data.stacks = readStacks(cursor, data.nodes);
  data.stacks.frames = unpackFrames(data.frames, data.modules);
  data.samples = data.samples.map((samples) => readSamples(cursor, samples));
  data.cpus = data.cpus.map((lane) => readCpu(cursor, lane));
  data.marks = [...data.marks.map((lane) => readMarks(cursor, lane)), ...faultMarks(data)];
  return data;
}
