import { SdkStream } from '../../kit/sdk-stream.ts';
import { claudeCode } from '../claude-code/claude-code.ts';
import type { DrivenAgent } from '../native-agent.ts';
import { facts, release } from './facts.ts';
import { launch } from './launch.ts';
import { options } from './options.ts';

const KIND = 'claude-agent-sdk';

/** Claude Code behind its TypeScript SDK. Its messages are those of Claude Code, and it asks the host about each call. */
export const claudeAgentSdk: DrivenAgent = {
  kind: KIND,
  aliases: ['anthropic:claude-agent-sdk', 'anthropic:claude-code'],
  facts,
  release,
  options,
  launch,
  stream: {
    open: (place, before) =>
      new SdkStream(
        KIND,
        claudeCode.kind,
        claudeCode.stream.open(place, before instanceof SdkStream ? before.inner : before),
      ),
  },
};
