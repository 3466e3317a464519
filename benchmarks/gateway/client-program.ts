/** Calls servers and measures each call. Answers each `Job` of its parent with a `Measurement`. */
import { Agent, request } from 'node:http';
import type { Call, Job, Measurement, Target } from './calls.ts';
import { agentRequest } from './request.ts';

const agent = new Agent({ keepAlive: true });

process.on('message', (job: Job) => {
  void measure(job).then((measurement) => process.send?.(measurement));
});
process.once('disconnect', () => process.exit());
process.send?.('ready');

async function measure({ targets, bodyBytes, calls, atOnce }: Job): Promise<Measurement> {
  const bodies = targets.map(({ model }) => agentRequest(model, bodyBytes));
  const done: Measurement = { calls: targets.map(() => []), failures: [], wallMs: 0 };
  let begun = 0;
  const began = process.hrtime.bigint();
  await Promise.all(Array.from({ length: atOnce }, callOn));
  done.wallMs = millisecondsSince(began);
  return done;

  async function callOn(): Promise<void> {
    while (begun < calls) {
      const round = begun;
      begun += 1;
      // The targets take turns in being first, so that none always follows the same one.
      for (let index = 0; index < targets.length; index++) {
        await callAt((round + index) % targets.length, round);
      }
    }
  }

  async function callAt(index: number, round: number): Promise<void> {
    const [target, body, own] = [targets[index], bodies[index], done.calls[index]];
    if (!target || !body || !own) return;
    try {
      own[round] = await call(target, body);
    } catch (error) {
      own[round] = null;
      done.failures.push(`${target.url}: ${error}`);
    }
  }
}

/** Rejects when the stream is cut off. */
function call({ url, headers }: Target, body: Buffer): Promise<Call> {
  const { promise, resolve, reject } = Promise.withResolvers<Call>();
  const began = process.hrtime.bigint();
  const sent = request(url, {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json', 'content-length': body.length, ...headers },
  });
  sent.on('error', reject);
  sent.on('response', (response) => {
    let firstByteMs: number | undefined;
    let ended = false;
    let pending = '';
    const lagsMs: number[] = [];
    response.setEncoding('latin1');
    response.on('data', (chunk: string) => {
      const now = process.hrtime.bigint();
      firstByteMs ??= Number(now - began) / 1e6;
      pending += chunk;
      const end = pending.lastIndexOf('\n\n');
      if (end < 0) return;
      const complete = pending.slice(0, end + 2);
      for (const [, stamp = ''] of complete.matchAll(/@(\d+)@/g)) {
        lagsMs.push(Number(now - BigInt(stamp)) / 1e6);
      }
      ended ||= complete.includes('"message_stop"');
      pending = pending.slice(complete.length);
    });
    response.on('error', reject);
    response.on('end', () => {
      const wholeMs = millisecondsSince(began);
      if (ended && firstByteMs !== undefined) resolve({ firstByteMs, wholeMs, lagsMs });
      else reject(new Error(`status ${response.statusCode}, without its end: ${pending.slice(0, 500)}`));
    });
  });
  sent.end(body);
  return promise;
}

const millisecondsSince = (began: bigint): number => Number(process.hrtime.bigint() - began) / 1e6;
