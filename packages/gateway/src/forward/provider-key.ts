import { exec } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { codeOf } from '@whetstone/errors';
import { GatewayError } from '../gateway-error.ts';

/** Where a real key is: in an environment variable, in a file, or in the standard output of a shell command. */
export type KeySource = { env: string } | { file: string } | { command: string };

const commandTimeoutMs = 30_000;

/**
 * Reads a key, without the white space around it. `environment`: where a variable is read.
 * @throws GatewayError `key-unavailable`. Its text never contains what was read.
 */
export async function readKey(source: KeySource, environment = process.env): Promise<string> {
  const key = (await keyText(source, environment)).trim();
  if (key === '') throw unavailable(source, 'it is empty');
  // A header cannot hold anything else.
  if (!/^[\x21-\x7e]+$/.test(key)) throw unavailable(source, 'it is not one word of printable ASCII');
  return key;
}

/** Reads each source once: several wires often have the key of one command, which may ask a person for it. */
export function oncePerSource(read: (source: KeySource) => Promise<string>): typeof read {
  const keys = new Map<string, Promise<string>>();
  return (source) => {
    const name = JSON.stringify(source);
    const key = keys.get(name) ?? read(source);
    keys.set(name, key);
    return key;
  };
}

async function keyText(source: KeySource, environment: NodeJS.ProcessEnv): Promise<string> {
  if ('env' in source) {
    const value = environment[source.env];
    if (value === undefined) throw unavailable(source, 'the variable is not set');
    return value;
  }
  try {
    if ('file' in source) return await readFile(source.file, 'utf8');
    return (await promisify(exec)(source.command, { timeout: commandTimeoutMs })).stdout;
  } catch (error) {
    // A command's error contains its output, so only how the command ended is reported.
    const code = codeOf(error) ?? 'killed';
    throw unavailable(
      source,
      'file' in source ? `the file cannot be read (${code})` : `it ended with ${code}`,
    );
  }
}

function unavailable(source: KeySource, reason: string): GatewayError {
  const [[kind = '', place = ''] = []] = Object.entries(source);
  return new GatewayError('key-unavailable', `The provider's key from ${kind} "${place}": ${reason}.`);
}
