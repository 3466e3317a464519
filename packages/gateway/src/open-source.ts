import type { LaneAddress } from './cassette/lane-names.ts';
import { recordSource } from './cassette/record-source.ts';
import { replaySource } from './cassette/replay-source.ts';
import { type ForwardPlace, forwardSource } from './forward/forward-source.ts';
import type { LaneMode } from './lane-mode.ts';
import { scriptSource } from './script/script-source.ts';
import type { Source } from './source.ts';

/** What a source needs to know about its lane. */
export type SourcePlace = { owner: string } & ForwardPlace & LaneAddress;

/** @throws GatewayError when a mode lacks something that it needs (a key, a cassette). */
export async function openSource(mode: LaneMode, place: SourcePlace): Promise<Source> {
  switch (mode.kind) {
    case 'script':
      return scriptSource(mode.script, { seed: mode.seed ?? 0, owner: place.owner });
    case 'forward':
      return forwardSource(mode, place);
    case 'record':
      return recordSource(mode, place);
    case 'replay':
      return replaySource(mode, place);
  }
}
