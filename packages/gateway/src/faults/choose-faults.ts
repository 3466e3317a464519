import { chance } from '../script/chance.ts';
import type { Fault, FaultRule } from './fault.ts';

/** The faults that apply to a lane's model call number `call`, counted from 1, in the order of their rules. */
export const chooseFaults = (rules: readonly FaultRule[], call: number, owner: string): Fault[] =>
  rules.filter((rule, index) => meets(rule, index, call, owner)).map((rule) => rule.fault);

function meets({ when }: FaultRule, index: number, call: number, owner: string): boolean {
  if (when === undefined) return true;
  if ('first' in when) return call <= when.first;
  if ('every' in when) return call % when.every === 0;
  return chance({ seed: when.seed ?? 0, owner }, `fault ${index} of call ${call}`, when.probability);
}
