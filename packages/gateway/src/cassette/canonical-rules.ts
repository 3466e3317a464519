import type { AgentFamily } from '../agent-family.ts';
import { maskPrivateKeys } from './mask-private-keys.ts';

/** The parts of a request that change from session to session without meaning anything. */
export type CanonicalRules = {
  /** Fields that are left out, as paths from the body's root; `*` is every element of a list. */
  drop?: readonly string[];
  /** Paths of lists whose order means nothing. Each element is compared as JSON. */
  sets?: readonly string[];
  /** Replacements in every text, in this order. Texts may be hostile, so every one must take linear time. */
  mask: readonly (Replacement | ((text: string) => string))[];
};

type Replacement = readonly [RegExp, string | ((match: string) => string)];

/** Written into each cassette. Raise it with every change of the rules: keys of older cassettes no longer match. */
export const canonicalRulesVersion = 3;

const months = 'January|February|March|April|May|June|July|August|September|October|November|December';
const shortMonths = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec';
const shortDays = 'Mon|Tue|Wed|Thu|Fri|Sat|Sun';

const everyAgent = {
  drop: ['client_metadata', 'metadata', 'prompt_cache_key', 'safety_identifier', 'session_id', 'user'],
  mask: [
    // Secrets first, in their known forms.
    [/\b(sk|pk|rk)-[\w-]{20,}/g, '<secret>'],
    [/\bgh[pousr]_\w{30,}/g, '<secret>'],
    [/\bgithub_pat_\w{30,}/g, '<secret>'],
    [/\bAKIA[0-9A-Z]{16}\b/g, '<secret>'],
    [/\bAIza[\w-]{35}/g, '<secret>'],
    [/\bxox[abprs]-[\w-]{10,}/g, '<secret>'],
    maskPrivateKeys,
    [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
    [/\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z| ?[+-]\d{2}:?\d{2})?/g, '<time>'],
    [/\b\d{4}-\d{2}-\d{2}\b/g, '<date>'],
    [
      new RegExp(`\\b((Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, )?(${months}) \\d{1,2}, \\d{4}\\b`, 'g'),
      '<date>',
    ],
    // As `date` prints it.
    [
      new RegExp(`\\b(${shortDays}) (${shortMonths}) +\\d{1,2} [\\d:]{8}( [AP]M)? \\w+ \\d{4}\\b`, 'g'),
      '<time>',
    ],
    [new RegExp(`\\b(${shortDays}) (${shortMonths}) \\d{1,2} \\d{4}\\b`, 'g'), '<date>'],
    // The home directory, recognised by the folders that agents keep in it.
    [
      /(?:\/[\w.@+~-]{1,100}){1,12}(?=\/\.(?:agents|cache|claude|codex|config|copilot|gemini|local|pi|qwen)\b)/g,
      '<home>',
    ],
  ],
} satisfies CanonicalRules;

/** The state of the repository at the start. A fresh copy has another commit. */
const recentCommits = [/(Recent commits:\n)(?:(?:git: )?[0-9a-f]{7,40} .*\n?)+/g, '$1<commits>\n'] as const;

/** What the shell tools of Gemini CLI and of its fork Qwen Code report about processes. */
const processIds = [/\b(PGID|PIDs): \d[\d, ]*/g, '$1: <id>'] as const;

/** Gemini CLI reads its skills in parallel, and lists them as they arrive. */
const skillsInAnyOrder: CanonicalRules['mask'] = [
  [
    /(?<=<available_skills>\n)(?:(?!<available_skills>)[\s\S])*?(?=\n<\/available_skills>)/g,
    (list) =>
      list
        .split(/\n(?= *<skill>)/)
        .sort()
        .join('\n'),
  ],
  [/(?<=\(Available: )'[^'()]*'(?:, '[^'()]*')*(?=\))/g, (list) => list.split(', ').sort().join(', ')],
];

const agents: Partial<Record<AgentFamily, CanonicalRules>> = {
  codex: {
    drop: ['input.*.id'],
    mask: [
      [/^Chunk ID: \w+$/gm, 'Chunk ID: <id>'],
      [/^Wall time: [\d.]+ seconds$/gm, 'Wall time: <time>'],
      [/\bsession ID \d+/g, 'session ID <id>'],
      [/<timezone>[^<]*<\/timezone>/g, '<timezone/>'],
    ],
  },
  'claude-code': {
    mask: [
      [/\bcch=\w+/g, 'cch=<id>'],
      [/\/claude-\d+\//g, '/claude-<uid>/'],
      [/^OS Version: .*$/gm, 'OS Version: <version>'],
      recentCommits,
    ],
  },
  'gemini-cli': {
    sets: ['tools.*.functionDeclarations.*.parametersJsonSchema.properties.name.enum'],
    mask: [
      ...skillsInAnyOrder,
      [/\b(\w+?)_\d{13}_\d+\b/g, '$1_<id>'],
      [/\b[0-9a-f]{64}\b/g, '<hash>'],
      processIds,
      // Named after the workspace's last folder.
      [/(\/\.gemini\/tmp\/)[^/\s]{1,255}/g, '$1<project>'],
    ],
  },
  'qwen-code': { mask: [recentCommits, processIds] },
  opencode: {
    // Its folder for temporary files, which the description of a tool names.
    mask: [[/(?:\/[\w.@+~-]{1,100}){1,12}\/opencode(?=` for temporary)/g, '<tmp>/opencode']],
  },
  'whetstone-loop': {
    mask: [
      [/^Duration: [\d.]+ s$/gm, 'Duration: <time>'],
      [/^Wall time: [\d.]+ seconds$/gm, 'Wall time: <time>'],
    ],
  },
  copilot: {
    mask: [[/<current_datetime>[^<]*<\/current_datetime>/g, '<current_datetime/>']],
  },
};

/** The rules for an agent's requests: first those for every agent, then its own. */
export function canonicalRules(family: AgentFamily): Required<CanonicalRules> {
  const { drop = [], sets = [], mask } = agents[family] ?? { mask: [] };
  return { drop: [...everyAgent.drop, ...drop], sets, mask: [...everyAgent.mask, ...mask] };
}
