import { type ErrorEntry, harness, usage } from './error-entry.ts';

/** Codes of `@whetstone/gateway`. */
export const gatewayErrors = {
  'cassette-unreadable': usage(
    'A recording of model calls is missing, or one of its lines cannot be read.',
    'Record one first: `whetstone gateway --mode record --cassette FILE`.',
  ),
  'cassette-unwritable': usage(
    'A recording of model calls cannot be written.',
    'Name a new file in an existing folder: recording never overwrites a file.',
  ),
  'endpoint-invalid': usage(
    'An endpoint that a gateway should allow has a form that no request could have.',
    'Write the path below the base URL, with a method before it if you want only that one: `/v1/embeddings`, `GET /files/*`.',
  ),
  'exchanges-unwritable': usage(
    'The file with the requests and replies of model calls cannot be written.',
    'Check that its disk has room, or keep no bodies: `keep_exchanges: false` below `gateway` in the configuration.',
  ),
  'gateway-closed': harness(
    'A lane was asked for after the gateway was closed.',
    'Open lanes before you close the gateway.',
  ),
  'gateway-listen-failed': usage(
    'The gateway cannot listen on the address, most often because the port is in use.',
    'Choose another --port, or leave it out to take a free one.',
  ),
  'key-unavailable': usage(
    'The key of a model provider could not be read from where it should be.',
    'Set the variable, or name another one: `key_env` in the configuration, or `--key-env` of `whetstone gateway`.',
  ),
  'ledger-unwritable': usage(
    'The ledger of model calls cannot be written.',
    'Check that the folder of the ledger exists and that its disk has room.',
  ),
  'script-invalid': usage(
    'A script of model answers cannot be read, or is not a script.',
    'Give a YAML file of steps, or a module whose default export is defineScript(…).',
  ),
  'upstream-invalid': usage(
    'A model provider, its base URL or the source of its key is not valid.',
    'Name a known provider, and give its base URL with http:// or https://.',
  ),
} as const satisfies Record<string, ErrorEntry>;
