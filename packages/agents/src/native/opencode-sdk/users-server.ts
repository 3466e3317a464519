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
};

export type ServerAgent = { name: string; permission?: SessionRule[] };

type Answer = Promise<{ data: unknown }>;
type Client = {
  file: { list(parameters: object): Answer };
  session: Record<'abort' | 'delete', (parameters: object) => Answer>;
};

/** Why a server cannot be used: one in a container, or on another machine, would work on other files, or on none. */
export async function checkWorkspace(
  { file }: Client,
  { directory }: UsersServer,
): Promise<string | undefined> {
  const here = readdirSync(process.cwd()).filter((name) => name !== '.git');
  const there = (await file.list({ path: '' })).data as { name: string }[];
  return here.every((name) => there.some((entry) => entry.name === name))
    ? undefined
    : `it does not see the files of ${directory}`;
}

/** Why a request failed: what `fetch` says, and the cause of that. */
export function messageOfCause(error: unknown): string {
  const { message, cause } = (error ?? {}) as { message?: string; cause?: { message?: string } };
  const said = [message ?? JSON.stringify(error), cause?.message].filter((part) => part !== undefined);
  return said.join(': ');
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
