import { defineHarnessAgent, type Harness, type HarnessPart } from '../../index.ts';

/** An adapter of the AI SDK's harness without a model: its runtime is the fake agent, in the sandbox that it is given. */
const harness: Harness = {
  specificationVersion: 'harness-v1',
  harnessId: 'fake',
  async doStart({ sandboxSession, sessionWorkDir, sessionId, resumeFrom }) {
    return {
      async doPromptTurn({ prompt, model = 'default', abortSignal, emit }) {
        const session = resumeFrom ? resumeFrom.data.session : `--session-id ${sessionId}`;
        const { stdout, stderr, wait } = await sandboxSession.spawn({
          command: `printf %s '${prompt}' | fake-agent harness --model ${model} ${session}`,
          workingDirectory: sessionWorkDir,
          abortSignal,
        });
        const said = new Response(stderr).text();
        const done = (async () => {
          for await (const line of linesOf(stdout)) emit(partOf(line));
          const { exitCode } = await wait();
          if (exitCode !== 0) throw new Error(`The runtime ended with exit code ${exitCode}.\n${await said}`);
        })();
        return { done, submitToolApproval: async () => {} };
      },
      doStop: async () => ({ type: 'resume-session', data: { session: sessionId } }),
      doDestroy: async () => {},
    };
  },
};

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line.trim() !== '');
  }
}

function partOf(line: string): HarnessPart {
  try {
    const part = JSON.parse(line);
    return typeof part?.type === 'string' ? part : { type: 'raw', rawValue: part };
  } catch {
    return { type: 'raw', rawValue: line };
  }
}

export default defineHarnessAgent({ name: 'contract-harness', harness: () => harness });
