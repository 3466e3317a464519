import { WhetstoneError } from '@whetstone/errors';
import { suggestion } from '@whetstone/errors/did-you-mean';

/** What the value of an option has to be. */
export type Kind = { what: string; fits: (value: unknown) => boolean };

export const isCount = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

export const count: Kind = { what: 'a number of 0 or more', fits: isCount };

/** Refuses a field that does not exist, with the one that was probably meant, and a value of another type. */
export function refuseUnknown(
  owner: string,
  given: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, Kind>>,
): void {
  for (const [name, value] of Object.entries(given)) {
    const kind = Object.hasOwn(known, name) ? known[name] : undefined;
    if (!kind) {
      const hint = suggestion(name, Object.keys(known));
      throw new WhetstoneError('session-option-invalid', `${owner}.${name} does not exist.`, { hint });
    }
    if (value !== undefined && !kind.fits(value)) {
      const shown = typeof value === 'number' ? String(value) : JSON.stringify(value);
      throw new WhetstoneError(
        'session-option-invalid',
        `${owner}.${name} is ${shown}; it must be ${kind.what}.`,
      );
    }
  }
}
