import type { DrivenAgent } from '../native-agent.ts';
import { facts, release } from './facts.ts';
import { launch } from './launch.ts';
import { createInventedMapper } from './stream.ts';

/** An agent that exists only to follow the recipe of CONTRIBUTING.md. */
export const invented: DrivenAgent = {
  kind: 'invented',
  facts,
  release,
  launch,
  stream: { open: () => createInventedMapper() },
};
