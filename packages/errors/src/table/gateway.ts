import type { ErrorEntry } from './error-entry.ts';

/** Codes of `@whetstone/gateway`. */
export const gatewayErrors = {
  'cassette-unreadable': {
    class: 'usage',
    meaning: 'A recording of model calls is missing, or one of its lines cannot be read.',
    fix: 'Record one first: `whetstone gateway --mode record --cassette FILE`.',
  },
  'cassette-unwritable': {
    class: 'usage',
    meaning: 'A recording of model calls cannot be written.',
    fix: 'Name a new file in an existing folder: recording never overwrites a file.',
  },
  'gateway-closed': {
    class: 'harness',
    meaning: 'A lane was asked for after the gateway was closed.',
    fix: 'Open lanes before you close the gateway.',
  },
  'gateway-listen-failed': {
    class: 'usage',
    meaning: 'The gateway cannot listen on the address, most often because the port is in use.',
    fix: 'Choose another --port, or leave it out to take a free one.',
  },
  'key-unavailable': {
    class: 'usage',
    meaning: 'The key of a model provider could not be read from where it should be.',
    fix: 'Set the variable, or name another source: `--key-env PROVIDER=VARIABLE`.',
  },
  'ledger-unwritable': {
    class: 'usage',
    meaning: 'The ledger of model calls cannot be written.',
    fix: 'Check that the folder of the ledger exists and that its disk has room.',
  },
  'script-invalid': {
    class: 'usage',
    meaning: 'A script of model answers cannot be read, or is not a script.',
    fix: 'Give a YAML file of steps, or a module whose default export is defineScript(…).',
  },
  'upstream-invalid': {
    class: 'usage',
    meaning: 'A model provider, its base URL or the source of its key is not valid.',
    fix: 'Name a known provider, and give its base URL with http:// or https://.',
  },
} as const satisfies Record<string, ErrorEntry>;
