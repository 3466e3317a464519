/** The public surface of `whetstone/promptfoo`: every agent of Whetstone as a provider of promptfoo, which is a peer. */
import { constants } from 'node:fs';
import { cp, mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  type Agent,
  createAgent,
  openSession,
  type StreamEvent,
  type Turn,
  type Usage,
} from '@whetstone/agents';
import type { AgentConfig } from '@whetstone/agents/config';
import { watchLearnedSecrets } from '@whetstone/agents/evaluator';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { type AgentMetadata, deriveAgentMetadata, type JsonObject, totalTokens } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { createMask, readTreeState, removeTree, type TreeState, treeChanges } from '@whetstone/sandbox';
import { maskValues } from './attempt/mask-values.ts';
import type { Diagnostic } from './config/diagnostic.ts';
import { valueSource } from './config/module-source.ts';
import { readAgent } from './config/read-agent.ts';
import { createSpot } from './config/spot.ts';
import { collectSecrets } from './run/collect-secrets.ts';

/** `config` of the provider in a promptfoo configuration. */
export type WhetstoneProviderConfig = {
  /** An agent, with the keys of `agents.<name>` in whetstone.yaml. Its paths are relative to the current folder. */
  agent: Readonly<Record<string, unknown>>;
  /**
   * A folder, relative to the current one. Each call works on a copy of its own, which is removed afterwards. Default: an
   * empty folder.
   */
  folder?: string;
  /** A JSON Schema of type object. `output` is then the answer as an object. Default: `output` is text. */
  output_schema?: JsonObject;
};

/** What promptfoo passes to the constructor of a provider. */
export type WhetstoneProviderOptions = { id?: string; label?: string; config?: WhetstoneProviderConfig };

/** A result as promptfoo expects it. What is not known is absent, and never 0. */
export type WhetstoneProviderResponse = {
  /** The last message of the agent, or its structured answer. */
  output?: unknown;
  /** Why the agent failed, or could not be driven. promptfoo counts such a row as an error. */
  error?: string;
  sessionId?: string;
  /** As promptfoo has it: `prompt` includes the tokens that were read from a cache, and `cached` says how many those were. */
  tokenUsage?: {
    total: number;
    prompt: number;
    completion: number;
    cached?: number;
    numRequests?: number;
    completionDetails?: { reasoning: number };
  };
  /** US dollars, as the agent or a price list says. */
  cost?: number;
  metadata?: { agent: AgentMetadata; status: Turn['status']; skillCalls?: { name: string }[] };
  /** The events of the turn as JSON, with long texts cut and without what the agent printed. */
  raw?: string;
};

/** Longer texts are cut in `raw`: promptfoo keeps each row in its database and in memory. */
const RAW_TEXT = 2000;

/**
 * A provider of promptfoo that drives an agent:
 *
 * ```yaml
 * providers:
 *   - id: package:whetstone/promptfoo:WhetstoneProvider
 *     label: codex
 *     config:
 *       agent: { kind: codex-cli, model: gpt-5.5 }
 *       folder: ./repository
 * ```
 *
 * Each call is a session of its own. The values of secrets that the agent gets are masked in what it returns.
 */
export class WhetstoneProvider {
  readonly label: string | undefined;
  readonly #id: string;
  readonly #config: WhetstoneProviderConfig | undefined;
  #opened: Promise<{ agent: Agent; config: AgentConfig }> | undefined;

  constructor({ id, label, config }: WhetstoneProviderOptions = {}) {
    this.#config = config;
    this.label = label;
    this.#id = id ?? 'package:whetstone/promptfoo:WhetstoneProvider';
  }

  id(): string {
    return this.#id;
  }

  /** Drives the agent for one turn. Resolves also when that fails: with `error`. */
  async callApi(
    prompt: string,
    _context?: unknown,
    { abortSignal }: { abortSignal?: AbortSignal } = {},
  ): Promise<WhetstoneProviderResponse> {
    try {
      this.#opened ??= openAgent(this.#config?.agent);
      const { agent, config } = await this.#opened;
      const mask = createMask(collectSecrets([config], undefined, process.env));
      using _ = watchLearnedSecrets((secret) => mask.add([secret]));
      const folder = await mkdtemp(join(await realpath(tmpdir()), 'whetstone-promptfoo-'));
      try {
        const { folder: from, output_schema: outputSchema } = this.#config ?? {};
        if (from !== undefined) await copyFolder(resolve(from), folder);
        const before = await readTreeState(folder);
        await using session = await openSession(agent, {
          ...{ folder, timeoutMs: config.timeoutSeconds * 1000 },
          ...present({ signal: abortSignal }),
        });
        const turn = await session.send(outputSchema ? { text: prompt, outputSchema } : prompt);
        const fileChanges = changedFiles(before, await readTreeState(folder));
        return maskValues(responseOf(turn, { sessionId: session.id, fileChanges }), mask);
      } finally {
        await removeTree(folder);
      }
    } catch (error) {
      return { error: explain(error) };
    }
  }
}

/** Reads the agent as a configuration file would have it. */
async function openAgent(options: unknown): Promise<{ agent: Agent; config: AgentConfig }> {
  const diagnostics: Diagnostic[] = [];
  const source = valueSource(resolve('promptfooconfig'), { agent: options ?? {} });
  const spot = createSpot(source, diagnostics);
  const config = await readAgent('agent', options ?? {}, spot.at('agent'), false);
  const wrong = diagnostics.map(({ path, message, hint }) =>
    [`${path}: ${message}`, hint ?? ''].join('\n').trim(),
  );
  if (!config || wrong.length > 0) {
    throw new WhetstoneError('config-invalid', `The config of the provider is wrong.\n${wrong.join('\n')}`);
  }
  return { agent: await createAgent(config), config };
}

const copyFolder = (from: string, to: string): Promise<void> =>
  cp(from, to, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });

/** What the host sees, without folders and Git's own files. */
const changedFiles = (before: TreeState, after: TreeState): AgentMetadata['fileChanges'] =>
  treeChanges(before, after).filter(
    ({ path }) =>
      !`${path}/`.startsWith('.git/') && !(after.get(path) ?? before.get(path))?.startsWith('folder'),
  );

function responseOf(
  { events, status, data, usage, costUsd, facts }: Turn,
  { sessionId, fileChanges }: { sessionId: string | undefined; fileChanges: AgentMetadata['fileChanges'] },
): WhetstoneProviderResponse {
  const agent = { ...deriveAgentMetadata(events, facts), fileChanges };
  const failure = agent.errors.at(-1) ?? 'the agent failed and gave no reason';
  const { confirmed } = agent.skills;
  return {
    output: data ?? lastMessage(events),
    ...(status === 'failed' && { error: failure }),
    metadata: {
      agent,
      status,
      ...(confirmed.length > 0 && { skillCalls: confirmed.map((name) => ({ name })) }),
    },
    raw: JSON.stringify({ status, events: events.filter(({ type }) => type !== 'raw') }, (_, value) =>
      shortened(value),
    ),
    ...present({
      sessionId: sessionId ?? agent.sessionId,
      tokenUsage: usage && tokenUsageOf(usage, agent.modelCalls),
      cost: costUsd,
    }),
  };
}

/** The agent's own, not that of a subagent. */
const lastMessage = (events: readonly StreamEvent[]): string => {
  const last = events.findLast(
    (event) => event.type === 'message' && event.role === 'assistant' && !event.parentCallId,
  );
  return last?.type === 'message' ? last.text : '';
};

function tokenUsageOf(
  usage: Usage,
  modelCalls: number | null,
): NonNullable<WhetstoneProviderResponse['tokenUsage']> {
  const { outputTokens: completion, cacheReadTokens: cached, reasoningTokens: reasoning } = usage;
  const total = totalTokens(usage);
  return {
    ...{ total, prompt: total - completion, completion },
    ...present({ cached, numRequests: modelCalls ?? undefined }),
    ...(reasoning !== undefined && { completionDetails: { reasoning } }),
  };
}

const shortened = (value: unknown): unknown =>
  typeof value === 'string' && value.length > RAW_TEXT
    ? `${value.slice(0, RAW_TEXT).toWellFormed()}… (${value.length - RAW_TEXT} more characters)`
    : value;

const explain = (error: unknown): string =>
  error instanceof WhetstoneError && error.hint !== undefined
    ? `${error.message}\n${error.hint}`
    : messageOf(error);
