import { z } from 'zod';
import { traceOption } from '../codex-cli/trace.ts';

/** Options of this kind only, under the SDK's own names in the form of a configuration. */
export const options = z
  .object({
    /** Default: Codex's own for the model. */
    reasoning_effort: z
      .enum(['minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra', 'persistent'])
      .optional(),
    /** Default: `live` with an open network, else `disabled`. */
    web_search: z.enum(['disabled', 'cached', 'live']).optional(),
    /** Folders beside the workspace that it may write to. Absolute paths. */
    additional_directories: z.array(z.string()).optional(),
    /** The thread that the first turn resumes. Its files have to be in the home: `inherit: [.codex/sessions]`. */
    resume: z.string().optional(),
    /** Another Codex program than the one that the SDK brings. An absolute path. */
    codex_path: z.string().optional(),
    /** Codex reports its own spans to this OTLP/HTTP receiver, without prompts. Not together with `reuse_process`. */
    trace: traceOption.optional(),
    /** The process that has loaded the SDK stays for the further turns of a session. Default: false. */
    reuse_process: z.boolean().optional(),
  })
  .refine(({ trace, reuse_process }) => !(trace && reuse_process), {
    path: ['reuse_process'],
    message: 'cannot be set together with trace: a trace is of one process',
  });

export type CodexSdkOptions = z.infer<typeof options>;
