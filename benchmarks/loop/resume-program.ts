/**
 * `node resume-program.ts write <file> <rounds>` works through a conversation and writes its snapshot to a file.
 * `node resume-program.ts resume <file> <seconds>` restores it, sends the next request, then leaves the session alone for
 * that time. Both print JSON; the second prints a `ResumeUse`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { createOpenAiProfile, defineTool, LocalExecutionEnvironment, Session } from '@whetstone/loop';
import { createFakeModel } from './fake-model.ts';
import { cpuMs, createLookUp, firstModelCall, LOOK_UP, QUESTION } from './work.ts';

export type ResumeUse = {
  snapshotBytes: number;
  turns: number;
  /** From before the file is read until the model is called, in milliseconds: wall and CPU. */
  requestMs: number;
  requestCpuMs: number;
  /** CPU of the process while nothing happens, with a listener, an iterator and a command in the background. */
  idleCpuMs: number;
};

async function write(file: string, rounds: number): Promise<{ turns: number }> {
  await using session = new Session(optionsOf(rounds));
  const { reason } = await session.submit(QUESTION);
  if (reason !== 'completed') throw new Error(`the submit ended with ${reason}`);
  writeFileSync(file, JSON.stringify(await session.snapshot()));
  return { turns: session.history.length };
}

async function resume(file: string, seconds: number): Promise<ResumeUse> {
  const [began, cpuBefore] = [performance.now(), cpuMs()];
  const text = readFileSync(file, 'utf8');
  const options = optionsOf(0);
  await using session = Session.restore(JSON.parse(text), options);
  const { reason } = await session.submit(QUESTION);
  if (reason !== 'completed' || !firstModelCall) throw new Error(`the submit ended with ${reason}`);
  session.on(() => {});
  void session.events().next();
  await using environment = options.environment;
  await environment.start(['sleep', '600']);
  // What the work before left to do, such as collecting garbage, is not idle time.
  await delay(1_000);
  const idleBefore = cpuMs();
  await delay(seconds * 1_000);
  return {
    snapshotBytes: Buffer.byteLength(text),
    turns: session.history.length,
    requestMs: firstModelCall.atMs - began,
    requestCpuMs: firstModelCall.cpuMs - cpuBefore,
    idleCpuMs: cpuMs() - idleBefore,
  };
}

function optionsOf(rounds: number) {
  const profile = createOpenAiProfile({ model: 'fake-1', contextWindowSize: Number.MAX_SAFE_INTEGER });
  profile.toolRegistry.register(defineTool({ definition: LOOK_UP, executor: createLookUp().run }));
  const environment = new LocalExecutionEnvironment({ workingDirectory: tmpdir() });
  return { profile, environment, model: createFakeModel(rounds), config: { maxToolRoundsPerInput: 0 } };
}

const [mode = '', file = '', count = ''] = process.argv.slice(2);
console.log(JSON.stringify(await (mode === 'write' ? write : resume)(file, Number(count))));
