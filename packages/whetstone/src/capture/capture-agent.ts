import { realpath } from 'node:fs/promises';
import type { KnownDrivenAgent } from '@whetstone/agents';
import { locateProgram } from '@whetstone/agents/install';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { type LaneRequest, type LedgerLine, readRequestPrompt } from '@whetstone/gateway';
import type { CommandResult } from '@whetstone/sandbox';
import { counted } from '../report/format.ts';
import { oneLine } from '../report/sanitize.ts';
import { type Capture, canonicalPrompt, promptHash } from './capture.ts';
import { type AgentRun, isMain, runOnce } from './run-once.ts';

export type CaptureOptions = {
  /** Default: the agent's own. */
  model?: string;
  signal?: AbortSignal;
};

const PROMPT = 'Reply with OK.';

/**
 * Runs an installed agent once, without a key or a provider, and takes prompt and tools from its main request.
 * @throws WhetstoneError `agent-not-installed`, `agent-model-missing`, `capture-failed`
 */
export async function captureAgent(agent: KnownDrivenAgent, options: CaptureOptions = {}): Promise<Capture> {
  const { model, signal = new AbortController().signal } = options;
  // The one that a run would take: of the PATH or the project, else the newest that was installed for Whetstone.
  const programFile = await locateProgram(agent);
  const run = await runOnce(agent, { ...present({ model }), programFile, prompt: PROMPT, signal });
  const call = mainCall(run);
  const request = call && run.requests.get(call.id);
  if (!call || !request) throw noRequest(agent, run);

  const prompt = readRequestPrompt(request.wire, request.body);
  const names = { ...run.names, ...packageName(agent, await realpath(programFile)) };
  return {
    version: 1,
    kind: agent.kind,
    agentVersion: versionOf(agent, run.version),
    capturedAt: new Date().toISOString(),
    wire: request.wire,
    model: call.model_asked ?? model ?? '',
    ...prompt,
    hash: promptHash(canonicalPrompt(prompt, names, call.agent_family)),
    names,
    family: call.agent_family,
    request: { headers: clientHeaders(request), body: Buffer.from(request.body).toString() },
  };
}

/** Paths of the agent, which some agents put into their prompt. They do not count as a change of the prompt. */
function packageName({ release }: KnownDrivenAgent, programFile: string): Record<string, string> {
  const folder = `/node_modules/${release.package}/`;
  const at = programFile.indexOf(folder);
  return at < 0 ? {} : { [programFile.slice(0, at + folder.length - 1)]: '<package>' };
}

/** The first call that offers tools, else the first call, because an agent may have no tools. */
function mainCall({ calls }: AgentRun): LedgerLine | undefined {
  const main = calls.filter(isMain);
  return main.find(({ tools_offered: tools }) => tools.length > 0) ?? main[0];
}

function versionOf({ release }: KnownDrivenAgent, { stdout, stderr }: CommandResult): string {
  const { program, package: name } = release;
  const said = `${stdout}\n${stderr}`;
  const version = /\d+\.\d+\.\d+(?:[-+][\w.+-]*\w)?/.exec(said)?.[0];
  if (version) return version;
  throw new WhetstoneError('capture-failed', `The output does not contain a version: ${oneLine(said, 200)}`, {
    where: `${program} --version`,
    hint: `Check that it is the program of ${name}: another program of that name may come first on the PATH.`,
  });
}

const CLIENT_HEADERS =
  /^(user-agent|originator|x-app|openai-beta|anthropic-(beta|version)|x-goog-api-client)$/;

const clientHeaders = ({ headers }: LaneRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name, value]) => value !== undefined && CLIENT_HEADERS.test(name))
      .map(([name, value]) => [name, String(value)]),
  );

function noRequest({ release }: KnownDrivenAgent, { turn, printed, calls }: AgentRun): WhetstoneError {
  const refused = calls.flatMap(({ error }) => error ?? [])[0];
  const said = oneLine(refused ?? printed, 400);
  const { ended, exitCode } = turn.exit ?? {};
  const end = ended === 'timeout' ? 'was ended at its time limit' : `ended with ${exitCode}`;
  const what = `${release.program} sent no request to its model that could be captured.`;
  const message = `${what} It ${end} after ${counted(calls.length, 'request')}${said === '' ? '.' : `: ${said}`}`;
  const hint = 'Some agents need a model that they know: --model MODEL.';
  return new WhetstoneError('capture-failed', message, { hint });
}
