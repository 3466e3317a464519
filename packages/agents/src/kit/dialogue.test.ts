import { present } from '@whetstone/events/present';
import type { RunOptions } from '@whetstone/sandbox';
import { expect, test } from 'vitest';
import { startAttempt } from '../__fixtures__/attempt.ts';
import { type Peer, runDialogue } from './dialogue.ts';

/** Answers each line with its `n` plus one; ends at the end of its input, unless its line says otherwise. */
const PROGRAM = `
$| = 1;
while (<STDIN>) {
  /"n":(\\d+)/ and print "not a message\\n", '{"n":', $1 + 1, "}\\n";
  exit 3 if /"after":"crash"/;
  $stays = 1 if /"after":"stay"/;
}
sleep 600 if $stays;`;

async function talk(hold: (peer: Peer, leaving: AbortSignal) => Promise<void>, options: RunOptions = {}) {
  await using attempt = await startAttempt('');
  const run = (given: RunOptions) => attempt.sandbox.runCommand('perl', ['-e', PROGRAM], given);
  const printed: Buffer[] = [];
  const result = await runDialogue(run, { ...options, onStdout: (chunk) => printed.push(chunk) }, hold);
  return { result, printed: Buffer.concat(printed).toString() };
}

test.concurrent('A dialogue ends with its turn, and the program with the dialogue', async () => {
  const answers: unknown[] = [];
  const { result, printed } = await talk(async (peer) => {
    for (const n of [1, 5]) {
      peer.send({ n });
      answers.push(await peer.next());
    }
  });
  expect(answers).toEqual([{ n: 2 }, { n: 6 }]);
  expect(result).toMatchObject({ ended: 'exit', exitCode: 0 });
  expect(printed).toContain('not a message\n{"n":2}\n');
});

test.concurrent('A program that stays after the turn is ended', async () => {
  const { result } = await talk(async (peer) => {
    peer.send({ n: 1, after: 'stay' });
    await peer.next();
  });
  expect(result).toMatchObject({ ended: 'exit' });
  // The host ended it, so it has no exit code of its own.
  expect(result).not.toHaveProperty('exitCode');
});

test.concurrent('A crash ends the dialogue, with the exit code of the program', async () => {
  let last: unknown = 'nothing';
  const { result } = await talk(async (peer) => {
    peer.send({ n: 1, after: 'crash' });
    await peer.next();
    last = await peer.next();
  });
  expect(last).toBeUndefined();
  expect(result).toMatchObject({ ended: 'exit', exitCode: 3 });
});

test.concurrent('A crash counts, not the error of a dialogue that could not go on', async () => {
  const { result } = await talk(async (peer) => {
    peer.send({ n: 1, after: 'crash' });
    while (await peer.next());
    throw new Error('the program has ended');
  });
  expect(result.exitCode).toBe(3);
});

test.concurrent('The time limit ends a dialogue that waits', async () => {
  const { result } = await talk(async (peer) => void (await peer.next()), { timeoutMs: 300 });
  expect(result.ended).toBe('timeout');
});

test.concurrent('An error of the one who leads the dialogue ends the program and is passed on', async () => {
  const failing = talk(async () => {
    throw new Error('cannot go on');
  });
  await expect(failing).rejects.toThrow('cannot go on');
});

test.concurrent('A dialogue takes leave of its program at the time limit, before the program is ended', async () => {
  const { result, printed } = await talk(
    async (peer, leaving) => {
      await new Promise((resolve) => leaving.addEventListener('abort', resolve));
      peer.send({ n: 7 });
      await peer.next();
    },
    { timeoutMs: 300 },
  );
  expect(printed).toContain('{"n":8}');
  expect(result).toMatchObject({ ended: 'timeout', exitCode: 0 });
});

/** Turns with one program that is kept. `starts` counts how often it was started. */
async function keptTurns(
  lead: (
    turn: (hold: (peer: Peer) => Promise<void>, given?: RunOptions) => Promise<unknown>,
    starts: () => number,
  ) => Promise<void>,
) {
  await using attempt = await startAttempt('');
  let starts = 0;
  const run = (given: RunOptions) => {
    starts += 1;
    return attempt.sandbox.runCommand('perl', ['-e', PROGRAM], given);
  };
  const kept = {};
  await lead(
    (hold, given = {}) => runDialogue(run, given, hold, kept),
    () => starts,
  );
}

const answered = async (peer: Peer): Promise<void> => {
  peer.send({ n: 1 });
  expect(await peer.next()).toEqual({ n: 2 });
};

test.concurrent('A program that its turn discards is ended, and the next turn starts another', async () => {
  await keptTurns(async (turn, starts) => {
    await turn(answered);
    const discarded = await turn(async (peer) => {
      peer.send({ n: 1, after: 'stay' });
      await peer.next();
      peer.discard();
    });
    // It was ended: a program that stays has no result yet.
    expect(discarded).toMatchObject({ ended: 'exit', stdoutBytes: expect.any(Number) });
    expect((discarded as { stdoutBytes: number }).stdoutBytes).toBeGreaterThan(0);
    expect(starts()).toBe(1);
    await turn(answered);
    expect(starts()).toBe(2);
  });
});

test.concurrent('A program that dies between two turns is started anew', async () => {
  await keptTurns(async (turn, starts) => {
    let last: Peer | undefined;
    await turn(async (peer) => {
      last = peer;
      await answered(peer);
    });
    last?.send({ n: 1, after: 'crash' });
    // Its crash is the end of its messages.
    while (await last?.next());
    await turn(answered);
    expect(starts()).toBe(2);
  });
});

test.concurrent('A program that is kept leads the next turn too, and a turn that ended it starts another', async () => {
  await keptTurns(async (turn, starts) => {
    const printed: string[] = [];
    const say = (n: number, after?: string) =>
      turn(
        async (peer) => {
          peer.send({ n, ...present({ after }) });
          await peer.next();
          if (after !== undefined) await peer.next();
        },
        { onStdout: (chunk) => printed.push(String(chunk)) },
      );
    for (const n of [1, 2]) {
      const stays = await say(n);
      expect(stays).toMatchObject({ ended: 'exit' });
      expect(stays).not.toHaveProperty('exitCode');
    }
    expect(starts()).toBe(1);
    expect(printed.join('')).toContain('{"n":3}');
    expect(await say(3, 'crash')).toMatchObject({ ended: 'exit', exitCode: 3 });
    expect(await say(4)).toMatchObject({ ended: 'exit' });
    expect(starts()).toBe(2);
  });
});
