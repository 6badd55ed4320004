// The document, in few words. Text only ever becomes text nodes.

export const $ = (id) => document.getElementById(id);

/** An element with properties and children; strings become text nodes. */
export function el(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** A legend's entry: a square of a colour and words. */
export function legendEntry(colour, ...words) {
  const square = el('i');
  square.style.background = colour;
  return el('li', null, square, ...words);
}

/** Shows lines beside the pointer: [[text, class]…]; nothing hides it. */
export function tip(lines, x, y) {
  const box = $('tip');
  box.hidden = !lines;
  if (!lines) return;
  box.replaceChildren(...lines.map(([text, kind]) => el('div', { className: kind ?? '' }, text)));
  const { offsetWidth: w, offsetHeight: h } = box;
  const left = x + 14 + w > innerWidth ? Math.max(4, x - w - 10) : x + 14;
  const top = y + 18 + h > innerHeight ? Math.max(4, y - h - 10) : y + 18;
  box.style.transform = `translate(${left}px, ${top}px)`;
}

const cache = new Map();

/** Colours and fonts of the style sheet, by name. */
export const theme = new Proxy(cache, {
  get(_, name) {
    if (!cache.has(name)) {
      const style = getComputedStyle(document.documentElement);
      cache.set(name, style.getPropertyValue(`--${name}`).trim());
    }
    return cache.get(name);
  },
});

/** Reads the style sheet anew: light has turned to dark. */
export const forgetTheme = () => cache.clear();

/** A number made of a name, for its colour. */
export function hashOf(name) {
  let hash = name.length;
  for (let i = 0; i < name.length && i < 24; i++) hash = (hash * 31 + name.charCodeAt(i)) | 0;
  return hash >>> 3;
}

/** The colour of a state by what its name speaks of. */
export function stateColour(name, index) {
  const known = [
    [/kernel|sys/i, 'state-kernel'],
    [/preempt/i, 'state-preempted'],
    [/runnable|ready|queue|for cpu/i, 'state-runnable'],
    [/run|user|cpu/i, 'state-running'],
    [/disk|i\/?o\b|uninterrupt/i, 'state-disk'],
    [/lock|futex|block/i, 'state-blocked'],
    [/sleep|wait|idle|poll/i, 'state-sleeping'],
    [/stop|trace|dead|zombie/i, 'state-stopped'],
    [/unknown/i, 'state-unknown'],
  ];
  const found = known.find(([pattern]) => pattern.test(name));
  return theme[found ? found[1] : `state-other${index % 3}`];
}
