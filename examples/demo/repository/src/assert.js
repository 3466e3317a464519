/** Throws a TypeError that names the argument when `value` is not a string. */
export function assertString(value, name) {
  if (typeof value !== 'string') {
    throw new TypeError(`${name} must be a string, and is ${describe(value)}`);
  }
}

/** Throws a RangeError that names the argument when `value` is not a whole number of at least `least`. */
export function assertCount(value, name, least = 0) {
  if (!Number.isInteger(value) || value < least) {
    throw new RangeError(`${name} must be a whole number from ${least}, and is ${describe(value)}`);
  }
}

function describe(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : String(value);
}
