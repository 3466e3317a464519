import { InvalidArgumentError } from 'commander';
import type { Gate } from '../report/gate.ts';

/** For an option that can be repeated. */
export function collect(value: string, values: string[]): string[] {
  return [...values, value];
}

/** A command of an option that can be repeated. The shell finds nothing wrong with an empty one. */
export function collectCommand(value: string, values: string[]): string[] {
  if (value.trim() === '') throw new InvalidArgumentError('It must not be empty.');
  return collect(value, values);
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
  const [, digits = '', percent] = /^\s*(.*?)\s*(%?)$/s.exec(value) ?? [];
  const number = percent === '%' ? Number(digits) / 100 : Number(digits);
  if (digits === '' || !(number >= 0 && number <= 1)) {
    throw new InvalidArgumentError('It must be a share from 0 to 1, or a percentage like 80%.');
  }
  return number;
}

/** A share of experiments. None shows a difference in all of them. */
export function power(value: string): number {
  const share = rate(value);
  if (share >= 0.5 && share <= 0.999) return share;
  throw new InvalidArgumentError('It must be a share from 0.5 to 0.999, or a percentage like 80%.');
}

/** `10pp` as 0.1. */
export function points(text: string): number {
  const [, number = ''] = /^\s*(\d+(?:\.\d+)?)\s*(?:pp)?\s*$/.exec(text) ?? [];
  const size = Number(number) / 100;
  if (number === '' || size <= 0 || size >= 1) {
    throw new InvalidArgumentError('It must be a number of points between 0 and 100, such as 10pp.');
  }
  return size;
}

/** Reads `delta > -5pp`. */
export function gate(text: string): Gate {
  const [, sign = '', number = '', unit] =
    /^\s*delta\s*>=?\s*([-−+]?)\s*(\d+(?:\.\d+)?)\s*(pp)?\s*$/.exec(text) ?? [];
  const size = Number(number) / 100;
  if (number === '' || (unit === undefined && size !== 0) || size >= 1) {
    throw new InvalidArgumentError(
      'It must be a bound such as "delta > -5pp" or "delta > 0", between -100pp and 100pp.',
    );
  }
  return { text: text.trim(), bound: sign === '-' || sign === '−' ? -size : size };
}
