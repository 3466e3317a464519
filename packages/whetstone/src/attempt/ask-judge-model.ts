import { setTimeout as pause } from 'node:timers/promises';
import type { Lane } from '@whetstone/gateway';
import type { ClientProvider } from '@whetstone/loop';
import type { JudgeConfig } from '../config/config.ts';
import type { JudgePrompt } from '../eval/judge/judge-prompt.ts';
import { isSameModel } from '../eval/judge/same-model.ts';

/** How often a call is made when the provider fails in a way that may pass. */
const TRIES = 3;
const LONGEST_PAUSE_MS = 30_000;
/** How long one call may take, reasoning included. */
const CALL_MS = 10 * 60_000;
const PROVIDERS = ['openai', 'anthropic', 'google'];

/** One that can be asked: a model or an agent, reached through the lane of the judge. */
export type Judge = { name: string; ask(prompt: JudgePrompt, signal: AbortSignal): Promise<string> };

export async function openJudgeModel(
  model: NonNullable<JudgeConfig['model']>,
  { baseUrl, key }: Pick<Lane, 'baseUrl' | 'key'>,
): Promise<Judge> {
  const { Client, LlmError } = await import('@whetstone/loop');
  const isMade = typeof model === 'function';
  const made = isMade ? (model({ baseUrl, key }) as ReturnType<ClientProvider['languageModel']>) : undefined;
  if (isMade && typeof made?.doGenerate !== 'function') {
    throw new TypeError('the function `model` of the judge does not return a model of the AI SDK');
  }
  const client = new Client({
    providers: made
      ? { own: { languageModel: () => made } }
      : Object.fromEntries(PROVIDERS.map((name) => [name, { baseUrl, apiKey: key }])),
  });
  const called = made ? `own/${made.modelId}` : String(model);
  const name = made?.modelId ?? String(model);

  async function complete(prompt: JudgePrompt, signal: AbortSignal) {
    for (let tries = 1; ; tries += 1) {
      try {
        return await client.complete({
          model: called,
          prompt: [
            { role: 'system', content: prompt.instructions },
            { role: 'user', content: [{ type: 'text', text: prompt.question }] },
          ],
          responseFormat: { type: 'json', schema: prompt.schema, name: 'answer' },
          abortSignal: AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]),
        });
      } catch (error) {
        if (!(error instanceof LlmError) || !error.retryable || tries >= TRIES) throw error;
        const wait = error.retryAfterMs ?? 1000 * 2 ** (tries - 1);
        await pause(Math.min(wait, LONGEST_PAUSE_MS), undefined, { signal });
      }
    }
  }

  return {
    name,
    async ask(prompt, signal) {
      const { content, response } = await complete(prompt, signal);
      const answered = response?.modelId;
      if (answered !== undefined && !isSameModel(answered, name)) {
        throw new Error(
          `${answered} answered in place of ${name}, so that the judge is not the pinned model`,
        );
      }
      return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    },
  };
}
