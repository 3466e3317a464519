import { readdirSync } from 'node:fs';

/** One rule of a session of OpenCode. */
export type SessionRule = { permission: string; pattern: string; action: string };

/** A server that the user has started. */
export type UsersServer = {
  url: string;
  /** The workspace, as the server sees it. */
  directory: string;
  /** What a session there asks about. */
  rules: readonly SessionRule[];
  /** The sessions that the bridge makes stay there. */
  keeps: boolean;
  /** How long it may take for its first answers. */
  timeoutSeconds: number;
};

/** Some of a provider that a server of OpenCode knows. */
export type ServerProvider = { id: string; models: Record<string, { variants?: object }> };

export type ServerAgent = { name: string; permission?: SessionRule[] };

type Answer = Promise<{ data: unknown }>;
type Client = {
  global: { health(options: object): Answer };
  file: { list(parameters: object, options: object): Answer };
  session: Record<'abort' | 'delete', (parameters: object) => Answer>;
};

/** Before 1.1, a server asks about its calls in another way. */
const TOO_OLD = /^(?:0|1\.0)\./;

/** Why a server cannot be used; `undefined`: it can. */
export async function whyUnusable(
  { global, file }: Client,
  { directory, timeoutSeconds }: UsersServer,
): Promise<string | undefined> {
  const signal = AbortSignal.timeout(timeoutSeconds * 1000);
  try {
    const limit = { signal };
    const { version } = Object((await global.health(limit)).data) as { version?: unknown };
    if (typeof version !== 'string') return 'it does not answer as OpenCode does';
    if (TOO_OLD.test(version)) return `it is OpenCode ${version}, and 1.1 or later is needed`;
    // A server in a container, or on another machine, would work on other files, or on none.
    const here = readdirSync(process.cwd()).filter((name) => name !== '.git');
    const there = (await file.list({ path: '' }, limit)).data as { name: string }[];
    const sees = here.every((name) => there.some((entry) => entry.name === name));
    return sees ? undefined : `it does not see the files of ${directory}`;
  } catch (error) {
    return signal.aborted ? `it does not answer within ${timeoutSeconds} seconds` : reasonOf(error);
  }
}

/** Why a request failed. The SDK puts the status of an answer below `cause`, and `fetch` what kept it from connecting. */
function reasonOf(error: unknown): string {
  const { message = String(error), cause } = Object(error) as Error;
  const { status, message: why } = Object(cause) as { status?: number; message?: string };
  if (status === 401) return 'it refuses the password (HTTP status 401)';
  return status === undefined ? (why ?? message) : `it answers with HTTP status ${status}`;
}

/** Ends what the bridge began on a server of the user, and nothing else. */
export async function leave(
  { session }: Client,
  last: string,
  made: ReadonlySet<string>,
  { keeps }: UsersServer,
): Promise<void> {
  await session.abort({ sessionID: last });
  if (keeps) return;
  for (const sessionID of made) await session.delete({ sessionID });
}

/** Tools that change nothing by themselves, and that OpenCode runs without a question. */
export const UNASKED: ReadonlySet<string> = new Set([
  ...['invalid', 'lsp', 'question', 'skill', 'StructuredOutput', 'task', 'todoread', 'todowrite'],
]);

/** What an agent of the server may not do. Its session could otherwise ask for it. */
export const denials = (agent: ServerAgent | undefined): SessionRule[] =>
  (agent?.permission ?? []).filter(
    ({ permission, pattern, action }, index, all) =>
      action === 'deny' &&
      permission !== '*' &&
      !all.slice(index + 1).some((later) => later.permission === permission && later.pattern === pattern),
  );
