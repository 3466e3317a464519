import { parseJson } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { SdkStream } from '../../kit/sdk-stream.ts';
import { codexCli } from '../codex-cli/codex-cli.ts';
import { keptRollouts } from '../codex-cli/kept-rollouts.ts';
import type { CodexStream } from '../codex-cli/stream.ts';
import type { DrivenAgent } from '../native-agent.ts';
import { facts, release } from './facts.ts';
import { launch } from './launch.ts';
import { options } from './options.ts';

const KIND = 'codex-sdk';

/** Codex behind its TypeScript SDK, which starts `codex exec` for each turn. Its messages are those of Codex CLI. */
export const codexSdk: DrivenAgent = {
  kind: KIND,
  aliases: ['openai:codex-sdk', 'openai:codex'],
  facts,
  release,
  options,
  launch,
  stream: {
    open: (place, before = 'new') => {
      const earlier = before instanceof SdkStream ? before.inner : before;
      return new SdkStream(KIND, codexCli.kind, codexCli.stream.open(place, earlier));
    },
    answerIn: (mapper) => parseJson(((mapper as SdkStream).inner as CodexStream).facts.finalMessage ?? ''),
  },
  keptEvents: keptRollouts,
  ...present({ mcpLog: codexCli.mcpLog }),
};
