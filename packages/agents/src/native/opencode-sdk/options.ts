import { z } from 'zod';

/** Options of this kind only: those of the SDK, in the form of a configuration. */
export const options = z.object({
  /** The agent of OpenCode that answers, such as `plan`. Default: `build`. */
  agent: z.string().min(1).optional(),
  /** The variant of the model, such as `high`. Default: none. */
  variant: z.string().min(1).optional(),
  /** A text behind OpenCode's own system prompt. */
  system: z.string().optional(),
  /** The session that the first turn resumes. Its files have to be in the home: `inherit: [.local/share/opencode]`. */
  resume: z.string().optional(),
  /** Each turn that resumes a session does so in a copy with an id of its own. Default: false. */
  fork_session: z.boolean().optional(),
  /** The server and the process that has loaded the SDK stay for the further turns of a session. Default: false. */
  reuse_process: z.boolean().optional(),
});

export type OpencodeSdkOptions = z.infer<typeof options>;
