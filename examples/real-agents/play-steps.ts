import { type AgentMetadata, deriveAgentMetadata, type JsonObject } from '@whetstone/events';
import {
  createGateway,
  defineScript,
  type LedgerLine,
  type ScriptRequest,
  type ScriptStep,
} from '@whetstone/gateway';
import {
  type AgentSession,
  type AgentSettings,
  type AgentTurn,
  type InstalledAgent,
  openAgent,
  type TurnOptions,
} from './drive-agent.ts';

/** A call of a tool by the agent's own name for it. */
export const native = (name: string, input: JsonObject): ScriptStep => ({
  calls: [{ tool: 'native', name, input }],
});

/** The steps of a turn, or of each conversation in it. */
type Steps = readonly ScriptStep[] | ((request: ScriptRequest) => readonly ScriptStep[]);

export type StepsPlay = AgentTurn & {
  metadata: AgentMetadata;
  calls: readonly LedgerLine[];
  /** All requests of the turn, as text. */
  asked: string;
};

export type StepsSession = AsyncDisposable &
  Pick<AgentSession, 'files'> & {
    workspace: string;
    /** Sets the steps of the model for what is not a turn of this session. */
    answer(steps: Steps): void;
    /** One turn, in which the model makes these steps and then says "Done.". */
    play(steps: Steps, options?: Partial<TurnOptions> & { prompt?: string }): Promise<StepsPlay>;
  };

/**
 * A session of a released agent whose model makes the steps that a test gives it, whatever the tools answer. `settings` can
 * depend on the lane that has this model.
 */
export async function openSteps({
  settings,
  ...agent
}: Pick<InstalledAgent, 'kind' | 'protocol' | 'extra' | 'model'> & {
  settings: AgentSettings | ((lane: InstalledAgent['lane']) => Promise<AgentSettings>);
}): Promise<StepsSession> {
  let steps: Steps = [];
  let asked = '';
  const gateway = await createGateway();
  const lane = await gateway.open({
    owner: agent.kind,
    mode: {
      kind: 'script',
      script: defineScript({
        name: 'steps',
        play: (request) =>
          (typeof steps === 'function' ? steps(request) : steps)[request.step] ?? { text: 'Done.' },
      }),
    },
    onRequest({ body }) {
      asked += Buffer.from(body).toString();
    },
  });
  const given = typeof settings === 'function' ? await settings(lane) : settings;
  const session = await openAgent({ permissions: {}, ...given, ...agent, lane });
  return {
    files: session.files,
    workspace: session.workspace,
    answer(given) {
      steps = given;
    },
    async play(given, { prompt = 'Do it.', timeoutMs = 60_000, ...options } = {}) {
      steps = given;
      asked = '';
      const from = lane.ledger.length;
      const played = await session.turn(prompt, { timeoutMs, ...options });
      const metadata = deriveAgentMetadata(played.turn.events, played.turn.facts);
      return { ...played, metadata, calls: lane.ledger.slice(from), asked };
    },
    async [Symbol.asyncDispose]() {
      await session[Symbol.asyncDispose]();
      await lane[Symbol.asyncDispose]();
      await gateway.close();
    },
  };
}
