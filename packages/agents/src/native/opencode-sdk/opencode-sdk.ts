import { SdkStream } from '../../kit/sdk-stream.ts';
import type { DrivenAgent } from '../native-agent.ts';
import { opencodeCli } from '../opencode-cli/opencode-cli.ts';
import { attaches, facts, release } from './facts.ts';
import { launch } from './launch.ts';
import { options } from './options.ts';
import { OpencodeServerStream } from './stream.ts';

const KIND = 'opencode-sdk';

/** OpenCode behind its TypeScript SDK, on a server that the SDK starts, or on one of the user. It asks the host about each call. */
export const opencodeSdk: DrivenAgent = {
  kind: KIND,
  aliases: ['opencode:sdk', 'opencode'],
  facts,
  release,
  options,
  attaches,
  launch,
  stream: { open: (place) => new SdkStream(KIND, opencodeCli.kind, new OpencodeServerStream(place)) },
};
