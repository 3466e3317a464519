import { z } from 'zod';
import { anyText, name, positiveCount, seconds } from '../../kit/option-values.ts';
import { traceOption } from '../codex-cli/trace.ts';

/** What a review looks at. The prompt is the instruction of `custom`. */
const review = z.union([
  z.enum(['uncommitted-changes', 'custom']),
  z.strictObject({ branch: name }),
  z.strictObject({ commit: name }),
]);

/** Text that a human would send while the agent works, after so many of its tool calls have ended. */
const steer = z.strictObject({ after_calls: positiveCount, text: anyText.min(1) });

const catalogues = ['models', 'skills', 'plugins', 'apps'] as const;

/** `options:` of `kind: codex-app-server`. */
export const options = z
  .object({
    collaboration_mode: z.enum(['default', 'plan']).exactOptional(),
    effort: name.exactOptional(),
    summary: z.enum(['auto', 'concise', 'detailed', 'none']).exactOptional(),
    service_tier: name.exactOptional(),
    base_instructions: anyText.exactOptional(),
    developer_instructions: anyText.exactOptional(),
    ephemeral: z.boolean().exactOptional(),
    resume: name.exactOptional(),
    fork: name.exactOptional(),
    cleanup: z.enum(['unsubscribe', 'archive', 'none']).exactOptional(),
    review: review.exactOptional(),
    steer: z.array(steer).min(1).exactOptional(),
    discover: z.array(z.enum(catalogues)).min(1).exactOptional(),
    reuse_server: z.boolean().exactOptional(),
    trace: traceOption.exactOptional(),
    startup_timeout_seconds: seconds.exactOptional(),
    request_timeout_seconds: seconds.exactOptional(),
  })
  .superRefine((given, context) => {
    for (const [one, other, why] of conflictsIn(given)) {
      context.addIssue({
        code: 'custom',
        path: [one],
        message: `cannot be set together with ${other}: ${why}`,
      });
    }
  });

export type AppServerOptions = z.infer<typeof options>;
export type Catalogue = (typeof catalogues)[number];
export type Review = z.infer<typeof review>;

function conflictsIn(given: AppServerOptions): [string, string, string][] {
  const conflicts: [boolean | undefined, string, string, string][] = [
    [given.ephemeral && given.cleanup === 'archive', 'cleanup', 'ephemeral', 'there is nothing to archive'],
    [Boolean(given.resume && given.fork), 'fork', 'resume', 'a turn has one thread'],
    [given.ephemeral && given.resume !== undefined, 'ephemeral', 'resume', 'a resumed thread is kept'],
    [Boolean(given.review && given.steer), 'steer', 'review', 'Codex takes no input during a review'],
    [
      Boolean(given.review && given.collaboration_mode),
      'collaboration_mode',
      'review',
      'a review has no mode',
    ],
    [given.reuse_server && given.trace !== undefined, 'reuse_server', 'trace', 'a trace is of one process'],
  ];
  return conflicts.flatMap(([isOne, one, other, why]) =>
    isOne ? [[one, other, why] as [string, string, string]] : [],
  );
}
