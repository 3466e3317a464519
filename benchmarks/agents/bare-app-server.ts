/** The least that drives `codex app-server`: no adapter, nothing kept. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { drivenAgents } from '@whetstone/agents';
import { type Permissions, permissionsOf } from '@whetstone/agents/config';
import { KNOWN_MODELS } from '../../examples/real-agents/drive-agent.ts';
import { programs } from '../../examples/real-agents/install.ts';

const agent = drivenAgents['codex-app-server'];
const model = KNOWN_MODELS['codex-app-server'];

/** What the adapter is given too. */
export const permissions: Permissions = permissionsOf(
  { enforces: agent.facts.enforces ?? {}, asks: true },
  { shell: 'allow' },
);

export type BareServer = {
  pid: number;
  /** One turn in a thread of its own. */
  turn(prompt: string, cwd: string): Promise<void>;
  close(): Promise<void>;
};

/** A program that was started, to be spoken with. */
export type Started = {
  input: Writable;
  output: Readable;
  ended: Promise<unknown>;
  pid?: number | undefined;
};

export type Start = (program: string, args: readonly string[], env: Record<string, string>) => Started;

/** `start`: in a sandbox, for example. Default: as a child of this process. */
export async function openBareServer(
  home: string,
  lane: { baseUrl: string; key: string },
  start: Start = startHere(home),
): Promise<BareServer> {
  mkdirSync(home, { recursive: true });
  const access = { kind: 'key', ...lane } as const;
  const settings = agent.launch.settings({ access, model, home, workingDirectory: home, permissions });
  for (const [path, content] of Object.entries(settings.files)) {
    mkdirSync(join(home, path, '..'), { recursive: true });
    writeFileSync(join(home, path), content);
  }
  const args = [...(settings.args ?? []), 'app-server'];
  const { input, output, ended, pid = 0 } = start(join(programs, 'codex'), args, settings.env);
  const waiting = new Map<unknown, (message: { result?: Record<string, { id: string }> }) => void>();
  createInterface({ input: output }).on('line', (line) => {
    const message = JSON.parse(line);
    const key = message.method === 'turn/completed' ? message.params.turn.id : message.id;
    waiting.get(key)?.(message);
    waiting.delete(key);
  });
  let lastId = 0;
  const answer = (key: unknown) =>
    new Promise<{ result?: Record<string, { id: string }> }>((resolve) => waiting.set(key, resolve));
  const ask = (method: string, params: object) => {
    lastId += 1;
    const answered = answer(lastId);
    input.write(`${JSON.stringify({ id: lastId, method, params })}\n`);
    return answered;
  };
  await ask('initialize', {
    clientInfo: { name: 'bare', title: 'Bare', version: '1' },
    capabilities: { experimentalApi: true },
  });
  input.write('{"method":"initialized"}\n');
  return {
    pid,
    async turn(prompt, cwd) {
      const started = await ask('thread/start', {
        cwd,
        model,
        approvalPolicy: 'never',
        sandbox: 'workspace-write',
      });
      const threadId = started.result?.thread?.id;
      const items = [{ type: 'text', text: prompt, text_elements: [] }];
      const turn = await ask('turn/start', { threadId, input: items });
      await answer(turn.result?.turn?.id);
    },
    async close() {
      input.end();
      await ended;
    },
  };
}

function startHere(home: string): Start {
  return (program, args, env) => {
    const temporary = join(home, '../tmp');
    mkdirSync(temporary, { recursive: true });
    const child = spawn(program, args, {
      cwd: home,
      // Codex has no sandbox below the temporary folder.
      env: { PATH: process.env.PATH, TMPDIR: temporary, ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    return { input: child.stdin, output: child.stdout, ended: once(child, 'close'), pid: child.pid };
  };
}
