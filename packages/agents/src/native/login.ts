import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@whetstone/events';
import type { Upstreams } from '@whetstone/gateway';
import type { AgentConfig, DriverAgentConfig } from '../config.ts';
import { attachedServer } from './attached-server.ts';
import { drivenAgentOf } from './driven-agent-of.ts';
import type { LoginFacts } from './native-agent.ts';

/** The user's own login of an agent's program: a token in a variable, or a file. */
export type Login = {
  /** The variable, or the absolute path of the file. */
  place: string;
  env: Record<string, string>;
  /** `path` is below the home of a case. */
  file?: { path: string; content: string };
  /** Tokens, which are masked in everything that is kept. */
  secrets: string[];
};

export const usesLogin = (agent: AgentConfig): agent is DriverAgentConfig =>
  agent.runner === 'driver' && agent.driver.auth === 'login';

/** Whether an agent needs a key for its model: it has no login of its own, and its server is not the user's. */
export const needsKey = (agent: AgentConfig): boolean =>
  !usesLogin(agent) && attachedServer(agent) === undefined;

/**
 * The providers that the calls of an agent's login go to, each with the login's own credentials; `undefined` if the agent
 * uses a key, or if its login speaks no wire that the gateway reads.
 */
export function loginUpstreams(agent: AgentConfig): Upstreams | undefined {
  if (!usesLogin(agent)) return undefined;
  const upstreams = Object.entries(drivenAgentOf(agent).facts.login?.upstreams ?? {});
  if (upstreams.length === 0) return undefined;
  const own = agent.driver.baseUrl;
  return Object.fromEntries(
    upstreams.map(([wire, usual]) => [wire, { baseUrl: own ?? usual, key: 'client' }]),
  );
}

/** @throws WhetstoneError `agent-login-missing` when there is none, or none that can be used */
export function readLogin(agent: DriverAgentConfig, environment: NodeJS.ProcessEnv): Login {
  const { login } = drivenAgentOf(agent).facts;
  const found = login && findLogin(login, environment);
  if (!login || !found) throw missing(agent, login, 'it has none');
  if ('reason' in found) throw missing(agent, login, found.reason);
  return found;
}

/** The login of a program, if the user has one. */
export function findLogin(
  { variables = [], file, ended }: LoginFacts,
  environment: NodeJS.ProcessEnv,
): Login | { reason: string } {
  if (ended !== undefined) return { reason: ended };
  const variable = variables.find((name) => environment[name]);
  const token = variable === undefined ? undefined : environment[variable];
  if (variable !== undefined && token !== undefined) {
    return { place: variable, env: { [variable]: token }, secrets: [token] };
  }
  const unset = variables.length === 0 ? '' : `${variables.join(', ')}: not set`;
  if (!file) return { reason: unset };
  const place = placeOf(file, environment);
  const content = read(place);
  const reason = content === undefined ? 'no such file' : unusable(content, file.entries);
  if (content === undefined || reason !== undefined) {
    return { reason: `${unset === '' ? '' : `${unset}; `}${place}: ${reason}` };
  }
  return { place, env: {}, file: { path: file.path, content }, secrets: tokensIn(content) };
}

/** Where the user has a file below the home that an agent uses. */
export function placeOf(
  { path, movedBy }: Pick<NonNullable<LoginFacts['file']>, 'path' | 'movedBy'>,
  environment: NodeJS.ProcessEnv,
): string {
  const moved = movedBy && environment[movedBy.variable];
  if (!movedBy || !moved) return join(environment.HOME ?? homedir(), path);
  return join(moved, path.slice(movedBy.folder.length));
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Why a login file cannot be used; `undefined` if it can. */
function unusable(content: string, entries?: readonly string[]): string | undefined {
  const fields = parseJson(content);
  if (!isJsonObject(fields)) return 'it is not a JSON object';
  if (!entries || entries.some((entry) => isJsonObject(fields[entry]))) return undefined;
  return `it has no ${entries.join(' and no ')}`;
}

const TOKEN_NAME = /token|key|secret|password|^access$|^refresh$/i;

/** Shorter texts, such as `Bearer`, would mask ordinary words. */
const TOKEN_LENGTH = 12;

/** The tokens of a login file, by the name of their field, with the path of each. */
export function tokensAt(value: JsonValue | undefined, path = ''): [path: string, token: string][] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value as JsonObject).flatMap(([name, field]): [string, string][] => {
    const isToken = typeof field === 'string' && field.length >= TOKEN_LENGTH && TOKEN_NAME.test(name);
    return isToken ? [[`${path}/${name}`, field]] : tokensAt(field, `${path}/${name}`);
  });
}

export const tokensIn = (content: string): string[] => tokensAt(parseJson(content)).map(([, token]) => token);

function missing(agent: DriverAgentConfig, login: LoginFacts | undefined, reason: string): WhetstoneError {
  const instead = 'write `auth: api-key` and set its key, or use a gateway that has one';
  return new WhetstoneError(
    'agent-login-missing',
    `The agent ${agent.name} has no login that a case can use: ${reason}.`,
    {
      where: `agents.${agent.name}`,
      hint:
        login && !login.ended ? `Sign in first (${login.signIn}), or ${instead}.` : `Use a key: ${instead}.`,
    },
  );
}
