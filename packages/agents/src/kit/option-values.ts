import { checkSafePath } from '@whetstone/sandbox';
import { z } from 'zod';

/** The values that an option of a configuration can have. A key without a value (`title:`) counts as absent. */

/** `setTimeout` fires at once above 2^31 ms. */
const MAX_SECONDS = 2_147_483;

export const anyText = z.string().refine((value) => !value.includes('\0'), 'holds a NUL character');
export const text = anyText.refine((value) => value.trim() !== '', 'must not be empty');
export const name = anyText.trim().min(1, 'must not be empty');
export const count = z.preprocess(readWhole, z.int().min(0));
export const positiveCount = z.preprocess(readWhole, z.int().min(1));
export const seconds = z.preprocess(readWhole, z.int().min(1).max(MAX_SECONDS));
export const minutes = z.preprocess(
  readWhole,
  z
    .int()
    .min(1)
    .max(Math.floor(MAX_SECONDS / 60)),
);
export const command = z.union([text, z.array(anyText).min(1)]);
export const safePath = anyText.transform((value, context) => {
  const checked = checkSafePath(value);
  if (checked.kind === 'safe') return checked.path;
  context.addIssue({
    code: 'custom',
    message: `unsafe path: ${JSON.stringify(value)} ${checked.reason}`,
    params: { hint: 'write a plain relative path, such as docs/AGENTS.md' },
  });
  return z.NEVER;
});
export const variableName = anyText.regex(
  /^[A-Za-z_][A-Za-z0-9_]*$/,
  'is not the name of an environment variable',
);
export const httpUrl = z.url({ protocol: /^https?$/, error: 'is not an http(s) URL' });

/** In context-eval, a quoted whole number counts as a number. */
function readWhole(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
}
