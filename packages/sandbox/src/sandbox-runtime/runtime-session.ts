import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import type { SandboxRuntimeConfig } from '@anthropic-ai/sandbox-runtime';
import { messageOf, type WhetstoneError } from '@whetstone/errors';
import { doesNotStart } from '../process-sandbox/assert-works.ts';

/** The version that this was written for. The library promises no stable interface before 1.0. */
const TESTED_VERSION = '0.0.83';

export type Manager = typeof import('@anthropic-ai/sandbox-runtime')['SandboxManager'];

/** Optional: only this sandbox needs it, and it brings 12 MB along. */
export async function loadManager(): Promise<Manager> {
  const { SandboxManager: manager } = await import('@anthropic-ai/sandbox-runtime').catch(
    (error: unknown) => {
      throw unavailable(
        `the package @anthropic-ai/sandbox-runtime cannot be loaded: ${messageOf(error)}`,
        `Install it beside Whetstone: npm install @anthropic-ai/sandbox-runtime@${TESTED_VERSION}`,
      );
    },
  );
  const { errors } = manager.checkDependencies();
  if (errors.length > 0) {
    const hint = 'On Linux it needs bubblewrap, socat and ripgrep: apt install bubblewrap socat ripgrep.';
    throw unavailable(errors.join(', '), hint);
  }
  return manager;
}

/** What the library starts inside. */
export const programsOfLibrary = (): string[] => {
  const entry = fileURLToPath(import.meta.resolve('@anthropic-ai/sandbox-runtime'));
  return [join(dirname(entry), '../vendor')];
};

const unavailable = (reason: string, hint: string): WhetstoneError =>
  doesNotStart('sandbox-runtime', `${reason.replace(/\.$/, '')}.`, hint);

/** What a command needs the library to be set to. */
type Waiter = { config: SandboxRuntimeConfig; enter: () => void };

let current: SandboxRuntimeConfig | undefined;
let users = 0;
const waiting: Waiter[] = [];

/**
 * Resolves when the library has these settings. It has one state per process, so commands that need others wait until `release`
 * was called for each of these.
 * @throws WhetstoneError `sandbox-unavailable`
 */
export async function takeTurn(
  manager: Manager,
  config: SandboxRuntimeConfig,
): Promise<{ release: () => void }> {
  if (waiting.length > 0 || (users > 0 && !isDeepStrictEqual(current, config))) {
    await new Promise<void>((enter) => waiting.push({ config, enter }));
  } else {
    users += 1;
  }
  try {
    await use(manager, config);
  } catch (error) {
    leave();
    throw unavailable(messageOf(error), 'See the README of @anthropic-ai/sandbox-runtime for what it needs.');
  }
  let isHeld = true;
  return {
    release() {
      if (isHeld) leave();
      isHeld = false;
    },
  };
}

let changing: Promise<void> = Promise.resolve();

function use(manager: Manager, config: SandboxRuntimeConfig): Promise<void> {
  const done = changing.then(async () => {
    if (isDeepStrictEqual(current, config)) return;
    if (current) await manager.reset();
    current = undefined;
    await manager.initialize(config);
    current = config;
  });
  changing = done.catch(() => undefined);
  return done;
}

/** Lets in those who need the settings of the first one who waits. */
function leave(): void {
  users -= 1;
  const [first] = waiting;
  if (users > 0 || !first) return;
  while (waiting[0] && isDeepStrictEqual(waiting[0].config, first.config)) {
    users += 1;
    waiting.shift()?.enter();
  }
}

let sandboxes = 0;

/** Between these two the library stays as it is. After the last sandbox nothing of it keeps this process alive. */
export function openLibrary(): void {
  sandboxes += 1;
}

export async function closeLibrary(manager: Manager): Promise<void> {
  sandboxes -= 1;
  const done = changing.then(async () => {
    if (sandboxes > 0 || !current) return;
    current = undefined;
    await manager.reset();
  });
  changing = done.catch(() => undefined);
  await done;
}
