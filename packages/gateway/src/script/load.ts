import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '@whetstone/errors';
import { z } from 'zod';
import { GatewayError } from '../gateway-error.ts';
import type { Script } from './script.ts';

const scriptModuleSchema = z.object({
  default: z.object({
    name: z.string().min(1),
    play: z.custom<Script['play']>((value) => typeof value === 'function'),
  }),
});

/**
 * Loads a script from a file: YAML (`.yaml`, `.yml`), or a module (`.ts`, `.mts`, `.js`, `.mjs`) whose default export
 * is a `Script`. A module is code that runs in this process.
 * @throws GatewayError `script-invalid` when the file cannot be read or is not a script.
 */
export async function loadScript(file: string): Promise<Script> {
  switch (extname(file)) {
    case '.yaml':
    case '.yml':
      return (await import('./yaml.ts')).parseYamlScript(await readScript(file), file);
    case '.ts':
    case '.mts':
    case '.js':
    case '.mjs':
      return importScript(file);
    default:
      throw invalid(file, 'A script must be a .yaml, .yml, .ts, .mts, .js or .mjs file.');
  }
}

async function readScript(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw invalid(file, `The script cannot be read: ${messageOf(error)}`, error);
  }
}

async function importScript(file: string): Promise<Script> {
  let module: unknown;
  try {
    module = await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    throw invalid(file, `The script cannot be loaded: ${messageOf(error)}`, error);
  }
  if (scriptModuleSchema.safeParse(module).success) return (module as { default: Script }).default;
  throw invalid(
    file,
    'The default export is not a script: write `export default defineScript({ name, play })`.',
  );
}

const invalid = (where: string, message: string, cause?: unknown): GatewayError =>
  new GatewayError('script-invalid', message, { where, cause });
