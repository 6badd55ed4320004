// A canvas as wide as its place that scrolls over content higher than itself. Only the part seen is
// drawn, at most once per frame, in the screen's own pixels.
import { el } from './dom.js';

/** Height of a row, in CSS pixels. */
export const ROW = 20;

export class Surface {
  /** `paint(context, width, height, top)` draws; `label` names it for those who do not see it. */
  constructor(place, label, maxHeight, paint) {
    this.canvas = el('canvas', { tabIndex: 0, role: 'img', ariaLabel: label });
    this.spacer = el('div', { className: 'spacer' }, this.canvas);
    this.place = place;
    this.maxHeight = maxHeight;
    this.paint = paint;
    this.context = this.canvas.getContext('2d');
    place.append(this.spacer);
    place.addEventListener('scroll', () => this.draw());
    new ResizeObserver(() => this.draw()).observe(place);
  }

  get top() {
    return this.place.scrollTop;
  }

  /** Sets how high the content is, in CSS pixels. */
  contentHeight(height) {
    const shown = Math.min(height, this.maxHeight());
    this.spacer.style.height = `${height}px`;
    this.place.style.height = `${shown}px`;
    this.draw();
  }

  /** Draws in the next frame. */
  draw() {
    this.pending ??= requestAnimationFrame(() => {
      this.pending = undefined;
      this.now();
    });
  }

  now() {
    const width = this.place.clientWidth;
    const height = this.place.clientHeight;
    const ratio = devicePixelRatio || 1;
    if (!width || !height) return;
    if (this.canvas.width !== Math.round(width * ratio)
      || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
    this.paint(this.context, width, height, this.top);
  }

  /** Where an event happened, in CSS pixels of the content. */
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top + this.top };
  }

  /** Scrolls so that a row from `y` on is seen. */
  reveal(y, height) {
    const { scrollTop, clientHeight } = this.place;
    if (y < scrollTop) this.place.scrollTop = y;
    if (y + height > scrollTop + clientHeight) this.place.scrollTop = y + height - clientHeight;
  }
}

const widths = new Map();

/** How wide text is; measuring is the slow part, so widths are kept. */
function widthOf(context, text) {
  const key = context.font + text;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > 50000) widths.clear();
    widths.set(key, width = context.measureText(text).width);
  }
  return width;
}

/** Draws text cut to a width; a name of Java loses its package first. */
export function fitText(context, text, x, y, room) {
  if (room < 12) return;
  let shown = text.length > 300 ? text.slice(0, 300) + '…' : text;
  if (widthOf(context, shown) > room) {
    shown = shown.replace(/^(?:[a-z_]\w*[./])+(?=[A-Z])/, '');
    const wide = widthOf(context, shown);
    if (wide > room) {
      let letters = Math.floor((room / wide) * shown.length);
      while (letters > 0 && widthOf(context, shown.slice(0, letters) + '…') > room) letters--;
      shown = letters > 1 ? shown.slice(0, letters) + '…' : '';
    }
  }
  if (shown) context.fillText(shown, x, y);
}
