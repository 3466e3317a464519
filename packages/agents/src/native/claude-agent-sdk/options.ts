import { z } from 'zod';

const names = z.array(z.string().min(1));

/** Options of this kind only: those of the SDK, in the form of a configuration. */
export const options = z.object({
  /** Default: no limit. */
  max_turns: z.int().positive().optional(),
  /** US dollars of list price, as the SDK counts them. Default: no limit. */
  max_budget_usd: z.number().positive().optional(),
  /** Tokens that the model is told it has for the whole turn, so that it comes to an end. Default: it is told nothing. */
  task_budget_tokens: z.int().positive().optional(),
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
  /** How the model thinks: as it decides, not at all, or with so many tokens. Default: the SDK's for the model. */
  thinking: z
    .union([z.enum(['adaptive', 'disabled']), z.strictObject({ budget_tokens: z.int().positive() })])
    .optional(),
  /** Features of the API that are not for everyone yet, by their names. Default: none. */
  betas: names.optional(),
  fallback_model: z.string().optional(),
  /** A whole system prompt, or Claude Code's own with a text behind it. Default: the SDK's, which is nearly empty. */
  system_prompt: z
    .union([
      z.string(),
      z.strictObject({
        preset: z.literal('claude_code'),
        append: z.string().optional(),
        /** What differs from machine to machine moves from the prompt to the first message. Default: false. */
        exclude_dynamic_sections: z.boolean().optional(),
      }),
    ])
    .optional(),
  /** The built-in tools that the model sees. Default: all that the permissions leave. */
  tools: names.optional(),
  disallowed_tools: names.optional(),
  /** Settings of the repository that are read, without their hooks. Default: none. The case's own home is always read. */
  setting_sources: z.array(z.enum(['project', 'local'])).optional(),
  /** Sub-agents, by name. */
  agents: z
    .record(
      z.string(),
      z.object({
        description: z.string(),
        prompt: z.string(),
        tools: names.optional(),
        model: z.string().optional(),
      }),
    )
    .optional(),
  /** The one of these, or of Claude Code's own, that answers. Default: none, the main agent does. */
  agent: z.string().min(1).optional(),
  /** Folders beside the workspace that it may read. Absolute paths. */
  additional_directories: names.optional(),
  /** `plan`: it plans and changes nothing. Default: `default`. */
  permission_mode: z.enum(['default', 'plan']).optional(),
  /** What `plan` does, in place of Claude Code's own workflow. */
  plan_mode_instructions: z.string().optional(),
  /** Another Claude Code than the one that the SDK brings. An absolute path. */
  claude_path: z.string().min(1).optional(),
  /** The session that the first turn resumes. Its files have to be in the home: `inherit: [.claude/projects]`. */
  resume: z.string().optional(),
  /** Each turn that resumes a session does so in a copy with an id of its own. Default: false. */
  fork_session: z.boolean().optional(),
  /** The first turn resumes the newest session of the workspace. Default: false. */
  continue: z.boolean().optional(),
  /** Also the parts of messages, as they arrive. Default: false. */
  include_partial_messages: z.boolean().optional(),
  /** The process that has loaded the SDK stays for the further turns of a session. Default: false. */
  reuse_process: z.boolean().optional(),
});

export type ClaudeSdkOptions = z.infer<typeof options>;
