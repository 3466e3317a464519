import {
  requireConditions,
  requireLimit,
  requireList,
  requirePattern,
  requireTool,
} from '../expect/arguments.ts';
import { far, matched, mismatched, unavailable } from '../expect/matcher.ts';
import type { Count, JsonPattern, TextPattern, ToolConditions, ToolPattern } from '../expect/patterns.ts';
import { plural } from '../expect/show.ts';
import { fits } from '../expect/texts.ts';
import { fieldsOf, matchConditions } from '../expect/tools.ts';
import { whenAllKnown, whenKnown } from '../expect/when-known.ts';
import { type Activity, calling, labelOf } from './activities.ts';
import type { Claim } from './assertion.ts';
import { callText } from './call-text.ts';
import { type Evidence, eventsIn, type ObservedCall, type ObservedSubagent } from './evidence.ts';
import { allHits, boundsOf, countVerdict, findOccurrences, orderVerdict } from './occurrences.ts';

/** The claims about tools. Each is pure: the same evidence gives the same verdict. */
export const toolClaims = {
  calledTool(evidence: Evidence, tool: ToolPattern, wanted: ToolConditions & { count?: Count } = {}): Claim {
    requireConditions('calledTool()', wanted, { keys: ['input', 'output', 'status', 'count'] });
    const { count, ...conditions } = wanted;
    return {
      name: callText('calledTool', tool, given({ ...conditions, count })),
      verdict: whenKnown(calling(tool, conditions).find(evidence), (calls) =>
        countVerdict(calls, boundsOf(count), {
          noun: 'fitting call',
          evidence,
          found: toolsCalled(evidence),
        }),
      ),
    };
  },

  notCalledTool(evidence: Evidence, tool: ToolPattern, conditions?: ToolConditions): Claim {
    return {
      name: callText('notCalledTool', tool, conditions),
      verdict: whenKnown(calling(tool, conditions, 'notCalledTool()').find(evidence), (calls) =>
        countVerdict(calls, NONE, { noun: 'fitting call', evidence }),
      ),
    };
  },

  toolOrder(evidence: Evidence, tools: readonly ToolPattern[]): Claim {
    requireList('toolOrder()', tools, requireTool);
    return orderClaim(
      'toolOrder',
      tools.map((tool) => ({ label: labelOf(tool), activity: calling(tool) })),
      evidence,
    );
  },

  usedNoTools(evidence: Evidence): Claim {
    return { name: 'usedNoTools()', verdict: toolUses(evidence, 0) };
  },

  maxToolCalls(evidence: Evidence, limit: number): Claim {
    requireLimit('maxToolCalls()', limit);
    return { name: callText('maxToolCalls', limit), verdict: toolUses(evidence, limit) };
  },

  loadedSkill(evidence: Evidence, name: TextPattern): Claim {
    requirePattern('loadedSkill()', name);
    const isSkill = (skill: unknown) =>
      typeof skill === 'string' && [skill, skill.replace(/^.*:/s, '')].some((form) => fits(form, name));
    const loaded = eventsIn(evidence, 'skill.loaded').filter(({ event }) => isSkill(event.skill));
    const asked = evidence.calls.filter(
      (call) => call.name === 'load_skill' && isSkill(fieldsOf(call.input).skill),
    );
    const told = allHits(loaded, 'the skill was loaded', evidence.isObserved);
    const calls = findOccurrences(
      asked,
      ({ status }) => statusMatch(status, 'completed'),
      evidence.isObserved,
    );
    const skills = [
      ...eventsIn(evidence, 'skill.loaded').map(({ event }) => event.skill),
      ...evidence.calls
        .filter((call) => call.name === 'load_skill')
        .map((call) => String(fieldsOf(call.input).skill)),
    ];
    const found = skills.length > 0 ? `Loaded: ${[...new Set(skills)].join(', ')}` : 'No skill was loaded';
    return {
      name: callText('loadedSkill', name),
      verdict: whenKnown(calls, ({ hits, ...rest }) =>
        countVerdict({ ...rest, hits: [...told.hits, ...hits] }, boundsOf(undefined), {
          noun: 'load',
          evidence,
          found,
        }),
      ),
    };
  },

  calledSubagent(
    evidence: Evidence,
    name: TextPattern,
    wanted: { output?: JsonPattern; status?: ObservedSubagent['status']; count?: Count } = {},
  ): Claim {
    requirePattern('calledSubagent()', name);
    requireConditions('calledSubagent()', wanted, {
      keys: ['output', 'status', 'count'],
      statuses: ['completed', 'failed', 'pending'],
    });
    const { count, ...conditions } = wanted;
    const names = evidence.subagents.map((subagent) => subagent.name);
    const subagents = findOccurrences(
      evidence.subagents,
      (subagent) =>
        fits(subagent.name, name)
          ? matchConditions(subagent, conditions)
          : far(`the sub-agent is ${subagent.name}`),
      evidence.isObserved,
    );
    const found =
      names.length > 0 ? `Sub-agents: ${[...new Set(names)].join(', ')}` : 'No sub-agent was called';
    return {
      name: callText('calledSubagent', name, given({ ...conditions, count })),
      verdict: whenKnown(subagents, (occurrences) =>
        countVerdict(occurrences, boundsOf(count), { noun: 'fitting sub-agent', evidence, found }),
      ),
    };
  },

  noFailedActions(evidence: Evidence): Claim {
    const actions = [...evidence.calls, ...evidence.subagents];
    const failed = findOccurrences(
      actions,
      ({ status }) => {
        if (status === 'pending') return unavailable('no result was recorded');
        return status === 'completed' ? far('it completed') : matched(`it ended with ${status}`);
      },
      evidence.isObserved,
    );
    return {
      name: 'noFailedActions()',
      verdict: whenKnown(failed, (occurrences) =>
        countVerdict(occurrences, NONE, { noun: 'failed action', evidence }),
      ),
    };
  },
};

const NONE = { least: 0, most: 0 };

/** Steps that must come in order. */
export function orderClaim(
  method: string,
  steps: readonly { label: string; activity: Activity }[],
  evidence: Evidence,
): Claim {
  return {
    name: `${method}([${steps.map(({ label }) => label).join(', ')}])`,
    verdict: whenAllKnown(
      steps.map(({ activity }) => activity.find(evidence)),
      (found) =>
        orderVerdict(
          found.map((occurrences, at) => ({ label: steps[at]?.label ?? '', occurrences })),
          evidence,
        ),
    ),
  };
}

/** Tool calls, and delegations that no tool call made. */
export function toolUses(evidence: Evidence, limit: number) {
  const called = new Set(evidence.calls.map(({ callId }) => callId));
  const others = evidence.subagents.filter(({ callId }) => !called.has(callId));
  const uses = [...evidence.calls, ...others];
  return countVerdict(
    allHits(uses, 'called', evidence.isObserved),
    { least: 0, most: limit },
    { noun: 'tool call', evidence },
  );
}

function statusMatch(status: ObservedCall['status'], wanted: ObservedCall['status']) {
  if (status === 'pending') return unavailable('no result was recorded');
  return status === wanted ? matched(`it ${status}`) : mismatched(`it ended with ${status}`);
}

function toolsCalled({ calls }: Evidence): string {
  if (calls.length === 0) return 'The agent called no tool';
  const counts = Map.groupBy(calls, ({ name }) => name);
  return `The agent made ${plural(calls.length, 'call')}: ${[...counts].map(([name, { length }]) => `${name} (${length})`).join(', ')}`;
}

/** The fields that are set; `undefined` if none is. */
export function given<Fields extends object>(fields: Fields): Fields | undefined {
  return Object.values(fields).some((value) => value !== undefined) ? fields : undefined;
}
