/** How far the clock of a varied run is ahead, in days. */
export const LATER_DAYS = 1000;

/** Puts the clock of every realm of a Node process ahead; Jest makes a realm for each test file. */
const MODULE = `
import vm from 'node:vm';
const ahead = ${LATER_DAYS} * 86400000;
const code = '(' + ((ahead) => {
  const Real = Date;
  const now = () => Real.now() + ahead;
  const Later = new Proxy(Real, {
    construct: (target, args, made) => Reflect.construct(target, args.length ? args : [now()], made === Later ? target : made),
    apply: () => new Real(now()).toString(),
    get: (target, key) => (key === 'now' ? now : target[key]),
  });
  Real.prototype.constructor = Later;
  globalThis.Date = Later;
}) + ')(' + ahead + ')';
(0, eval)(code);
const create = vm.createContext;
vm.createContext = (...args) => {
  const context = create(...args);
  vm.runInContext(code, context);
  return context;
};
`;

/** The environment of a Node program whose clock is ahead. */
export const laterNode = (): Record<string, string> => ({
  NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(MODULE).toString('base64')}`,
});
