import { z } from 'zod';

/** Options of this kind only, under the SDK's own names in the form of a configuration. */
export const options = z.object({
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
  /** The process that has loaded the SDK stays for the further turns of a session. Default: false. */
  reuse_process: z.boolean().optional(),
});

export type CodexSdkOptions = z.infer<typeof options>;
