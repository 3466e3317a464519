import { type AgentConfig, contextPlacesOf } from '@whetstone/agents/config';
import { present } from '@whetstone/events/present';
import type { VariantConfig } from '../config/config.ts';
import type { InstructionPlaces, VariantInstructions } from './place-instructions.ts';

/** What `Workspaces.prepare` needs of a variant's instructions; `undefined` where it declares none. */
export function instructionsFor(
  { instructions }: VariantConfig,
  agent: AgentConfig,
  text = '',
): VariantInstructions | undefined {
  return instructions && { text, mode: instructions.mode, places: instructionPlaces(agent) };
}

export function instructionPlaces(agent: AgentConfig): InstructionPlaces {
  const { instructions, reads, readsBelow } = contextPlacesOf(agent);
  return { instructions, ...present({ reads, readsBelow }) };
}
