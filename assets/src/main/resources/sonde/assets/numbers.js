// Numbers as sonde.view.NumberText writes them: three significant digits and a unit.

const TIME = ['ns', 'µs', 'ms', 's', 'min', 'h'];
const TIME_STEP = [1000, 1000, 1000, 60, 60];
const BYTES = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

function grouped(integer) {
  return String(integer).replace(/\B(?=(\d{3})+$)/g, ',');
}

function fixed(amount, decimals) {
  const factor = 10 ** decimals;
  const rounded = Math.round(Math.abs(amount) * factor);
  const sign = amount < 0 && rounded !== 0 ? '-' : '';
  const whole = grouped(Math.floor(rounded / factor));
  return sign + whole + (decimals ? '.' + String(rounded % factor).padStart(decimals, '0') : '');
}

function scaled(value, units, step) {
  let amount = Math.abs(value);
  let unit = 0;
  while (unit < units.length - 1 && amount >= (unit === 0 ? 1000 : 999.5)) {
    amount /= step(unit++);
  }
  const decimals = amount < 9.995 ? 2 : amount < 99.95 ? 1 : 0;
  const digits = unit === 0 ? grouped(Math.floor(amount)) : fixed(amount, decimals);
  return `${value < 0 ? '-' : ''}${digits} ${units[unit]}`;
}

/** A share of 1 in percent. */
export function percent(fraction) {
  return Number.isFinite(fraction) ? fixed(fraction * 100, 1) + ' %' : '-';
}

/** A value of a unit (the names of sonde.event.result.Unit). */
export function format(unit, value) {
  if (value === null || value === undefined) return '-';
  if (typeof value !== 'number') return String(value);
  switch (unit) {
    case 'NANOS': return scaled(value, TIME, (u) => TIME_STEP[u]);
    case 'BYTES': return scaled(value, BYTES, () => 1024);
    case 'SHARE': return percent(value);
    case 'COUNT': return (value < 0 ? '-' : '') + grouped(Math.abs(value));
    case 'ADDRESS': return '0x' + value.toString(16);
    case 'TIMESTAMP': {
      const micros = Math.floor(value / 1000);
      const amount = Math.abs(micros);
      const fraction = String(amount % 1e6).padStart(6, '0');
      return `${micros < 0 ? '-' : ''}${Math.floor(amount / 1e6)}.${fraction} s`;
    }
    default: return String(value);
  }
}

/** A time in seconds, as exact as a span of time asks for. */
export function secondsOf(nanos, span) {
  const decimals = Math.min(9, Math.max(0, Math.ceil(2 - Math.log10(Math.max(1, span) / 1e9))));
  return `${fixed(nanos / 1e9, decimals)} s`;
}

/** A time on an axis whose marks are `step` nanoseconds apart. */
export function axisLabel(nanos, step) {
  const [unit, name] = step >= 1e8 ? [1e9, 's'] : step >= 1e5 ? [1e6, 'ms']
    : step >= 100 ? [1e3, 'µs'] : [1, 'ns'];
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
  return `${fixed(nanos / unit, decimals)} ${name}`;
}
