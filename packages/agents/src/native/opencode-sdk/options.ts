import { z } from 'zod';
import { httpUrl } from '../../kit/option-values.ts';

const agent = z.strictObject({
  description: z.string().optional(),
  prompt: z.string().optional(),
  /** Default: `all`. */
  mode: z.enum(['primary', 'subagent', 'all']).optional(),
  temperature: z.number().min(0).optional(),
  top_p: z.number().min(0).max(1).optional(),
  /** How many model calls it may make before it has to answer. */
  steps: z.int().positive().optional(),
  deny: z.array(z.string().min(1)).optional(),
});

/** Options of this kind only: those of the SDK, in the form of a configuration. */
export const options = z
  .object({
    /** The agent of OpenCode that answers, such as `plan`. Default: `build`. */
    agent: z.string().min(1).optional(),
    /**
     * Agents of OpenCode, by name: sub-agents, or one that `agent` names. They ask as its own do; `deny` has tools that they
     * cannot use. Not on a server of the user, which has its own.
     */
    agents: z.record(z.string().min(1), agent).optional(),
    /** The variant of the model, such as `high`. Default: none. */
    variant: z.string().min(1).optional(),
    /** A text behind OpenCode's own system prompt. */
    system: z.string().optional(),
    /** The session that the first turn resumes. Its files have to be in the home: `inherit: [.local/share/opencode]`. */
    resume: z.string().optional(),
    /** Each turn that resumes a session does so in a copy with an id of its own. Default: false. */
    fork_session: z.boolean().optional(),
    /**
     * The address of a server of OpenCode that the user has started, without a user or password. Those come from
     * `OPENCODE_SERVER_USERNAME` and `OPENCODE_SERVER_PASSWORD` in the agent's `env`. Default: Whetstone starts a server.
     */
    server_url: httpUrl.refine(hasNoLogin, 'has a password: set OPENCODE_SERVER_PASSWORD in env').optional(),
    /** How long that server may take for its first answers. Default: 30 seconds. */
    server_timeout_seconds: z.number().positive().max(86_400).optional(),
    /** A session that Whetstone made on that server stays there. Default: it is deleted at the end of the case. */
    keep_session: z.boolean().optional(),
    /** The server and the process that has loaded the SDK stay for the further turns of a session. Default: false. */
    reuse_process: z.boolean().optional(),
  })
  .refine(({ agents, server_url }) => !(agents && server_url !== undefined), {
    path: ['agents'],
    message: 'cannot be set together with server_url: a server of yours has its own agents',
  });

function hasNoLogin(url: string): boolean {
  const { username, password } = new URL(url);
  return username === '' && password === '';
}

export type OpencodeAgent = z.infer<typeof agent>;
export type OpencodeSdkOptions = z.infer<typeof options>;
