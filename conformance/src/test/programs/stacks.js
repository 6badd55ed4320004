// Writes its call stack, innermost first, and asks for its parent in the same function.
const fs = require('fs');
const out = fs.openSync(process.argv[2], 'w');
Error.stackTraceLimit = 200;
Error.prepareStackTrace = (_, sites) => sites.map(site => site.getFunctionName() || '?');
let seed = 7;
function choose(ways) {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return ways[(seed >> 8) % ways.length];
}
function leaf() {
  const names = new Error().stack;
  fs.writeSync(out, names.join('\t') + '\n');
  return process.ppid;
}
class Kind {
  constructor(depth) { this.depth = depth; }
  method() { return step(this.depth); }
  static fixed(depth) { return step(depth); }
  get property() { return step(this.depth); }
}
function* generator(depth) { yield step(depth); }
function exceptional(depth) {
  try { throw new Error('x'); } catch (e) { return step(depth); }
}
function closure(depth) {
  const inner = function inner() { return step(depth); };
  return inner();
}
function step(depth) {
  if (depth <= 0) return leaf();
  const kind = new Kind(depth - 1);
  return choose([
    function direct() { return step(depth - 1); },
    function viaMethod() { return kind.method(); },
    function viaStatic() { return Kind.fixed(depth - 1); },
    function viaGetter() { return kind.property; },
    function viaGenerator() { return [...generator(depth - 1)]; },
    function viaMap() { return [depth - 1].map(function mapped(d) { return step(d); }); },
    function viaSort() { return [2, 1].sort(function compare() { step(depth - 1); return 0; }); },
    function viaException() { return exceptional(depth - 1); },
    function viaClosure() { return closure(depth - 1); },
    function viaApply() { return step.apply(null, [depth - 1]); },
  ])();
}
function main(i) {
  step(i % 11);
  if (i < 120) setTimeout(main, 0, i + 1); else fs.closeSync(out);
}
setTimeout(main, 0, 0);
