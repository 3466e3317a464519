import { basename, dirname } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { z } from 'zod';
import type { ProjectState } from '../api.ts';
import { readConfigFile, saveConfigFile } from './config-file.ts';
import { type Jobs, openJobs } from './jobs.ts';
import { askOwnProgram } from './own-program.ts';
import { runArguments, selectionSchema } from './selection.ts';

/** The configuration that the page edits and runs, and the runs that it has started. */
export interface Workbench {
  state(): Promise<ProjectState>;
  /** Does what a request asks for; `undefined`: there is no such action. @throws WhetstoneError, z.ZodError */
  act(name: readonly string[], body: unknown): Promise<unknown>;
  /** Ends everything that was started from the page. */
  close(): Promise<void>;
}

const MOST_CHARACTERS = 1024 * 1024;
const draftSchema = z.strictObject({ text: z.string().max(MOST_CHARACTERS) });
const saveSchema = z.strictObject({ text: z.string().max(MOST_CHARACTERS), revision: z.string() });
const previewSchema = z.strictObject({ text: z.string().max(MOST_CHARACTERS), selection: selectionSchema });

/** `config`: the configuration file; `undefined`: there is none, so that the page only reads. */
export function openWorkbench(config: string | undefined): Workbench {
  const folder = config === undefined ? process.cwd() : dirname(config);
  const jobs = openJobs(folder);
  const closing = new AbortController();
  const ask = (args: readonly string[], input: string) =>
    askOwnProgram(args, { cwd: folder, input, signal: closing.signal });
  /** The commands see the text of the editor. Code is only read from its file. */
  const draft = (file: string) => (/\.[cm]?[jt]s$/.test(file) ? [] : ['--draft']);
  const required = () => {
    if (config !== undefined) return config;
    throw new WhetstoneError(
      'config-not-found',
      'There is no configuration here, so that nothing can be started.',
    );
  };

  return {
    state: async () => ({
      config: config === undefined ? null : await readConfigFile(config),
      name: config === undefined ? null : basename(config),
      jobs: jobs.list(),
    }),

    async act([subject = '', verb = '', ...rest], body) {
      if (subject === 'jobs') return actOnJobs(jobs, [verb, ...rest], body, required);
      if (subject !== 'config' || rest.length > 0) return undefined;
      const file = required();
      const named = `--config=${file}`;
      switch (verb) {
        case 'check':
          return ask(['validate-config', named, '--json', ...draft(file)], draftSchema.parse(body).text);
        case 'preflight': {
          const { text } = draftSchema.parse(body);
          return ask(
            ['validate-config', named, '--json', '--strict', '--check-agents', ...draft(file)],
            text,
          );
        }
        case 'preview': {
          const { text, selection } = previewSchema.parse(body);
          return ask(['run', ...runArguments(selection, file), '--dry-run', '--json', ...draft(file)], text);
        }
        case 'save': {
          const { text, revision } = saveSchema.parse(body);
          return saveConfigFile(file, text, revision);
        }
        default:
          return undefined;
      }
    },

    async close() {
      closing.abort();
      await jobs.close();
    },
  };
}

function actOnJobs(
  jobs: Jobs,
  [id, verb, ...more]: readonly string[],
  body: unknown,
  required: () => string,
): unknown {
  if (id === 'start' && verb === undefined) {
    return jobs.start(runArguments(selectionSchema.parse(body), required()));
  }
  return verb === 'stop' && more.length === 0 && id !== undefined ? jobs.stop(id) : undefined;
}
