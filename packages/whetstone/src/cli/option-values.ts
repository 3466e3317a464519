import { InvalidArgumentError } from 'commander';

/** For an option that can be repeated. */
export function collect(value: string, values: string[]): string[] {
  return [...values, value];
}

export function positiveInteger(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(value);
}

export function positiveNumber(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !(number > 0 && Number.isFinite(number))) {
    throw new InvalidArgumentError('It must be a number over 0.');
  }
  return number;
}

export function portNumber(value: string): number {
  const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (!(port >= 0 && port <= 65_535)) throw new InvalidArgumentError('It must be a port from 0 to 65535.');
  return port;
}

export function rate(value: string): number {
  const number = value.endsWith('%') ? Number(value.slice(0, -1)) / 100 : Number(value);
  if (value.trim() === '' || !(number >= 0 && number <= 1)) {
    throw new InvalidArgumentError('It must be a share from 0 to 1, or a percentage like 80%.');
  }
  return number;
}
