/** How far the clock of a varied run is ahead, in days. */
const LATER_DAYS = 1000;

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

/**
 * Defines `move_clock`, which puts the clock of a Python process ahead and returns whether it could. The types of `datetime` stay
 * what they are: C extensions use them. `time_machine` needs their methods as they are.
 */
export const LATER_PYTHON = `
def move_clock(seconds):
    import ctypes, datetime, gc, importlib.util, time
    if importlib.util.find_spec('time_machine'):
        return False
    real, real_ns, strftime, asctime = time.time, time.time_ns, time.strftime, time.asctime
    now = lambda: real() + seconds
    def usually_now(convert):
        return lambda at=None: convert(now() if at is None else at)
    def own(kind, **methods):
        known = gc.get_referents(kind.__dict__)[0]
        for name, method in methods.items():
            known[name] = classmethod(method)
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
    utc = datetime.timezone.utc
    own(datetime.date, today=lambda cls: cls.fromtimestamp(now()))
    own(
        datetime.datetime,
        now=lambda cls, tz=None: cls.fromtimestamp(now(), tz),
        utcnow=lambda cls: cls.fromtimestamp(now(), utc).replace(tzinfo=None),
    )
    time.time = now
    time.time_ns = lambda: real_ns() + seconds * 10**9
    for name in ('localtime', 'gmtime', 'ctime'):
        setattr(time, name, usually_now(getattr(time, name)))
    time.strftime = lambda form, at=None: strftime(form, time.localtime() if at is None else at)
    time.asctime = lambda at=None: asctime(time.localtime() if at is None else at)
    return datetime.datetime.now().timestamp() > real() + seconds / 2
`;

/** In seconds. */
export const LATER_SECONDS = LATER_DAYS * 86_400;
