import { codeOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { Sandbox } from '@whetstone/sandbox';
import type { HarnessSandbox } from './harness.ts';

/** The sandbox of a case, as adapters of the AI SDK see one. Its commands run in bash, as these adapters expect. */
export function harnessSandbox(sandbox: Sandbox): HarnessSandbox {
  const read = async (path: string): Promise<Buffer | null> => {
    try {
      return await sandbox.readBytes(path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    }
  };
  const write = (path: string, content: Uint8Array): Promise<void> =>
    sandbox.uploadFiles([{ path, content }]);
  return {
    description: `The workspace is ${sandbox.workdir}.`,
    async readFile({ path }) {
      const content = await read(path);
      return content && new Blob([new Uint8Array(content)]).stream();
    },
    readBinaryFile: ({ path }) => read(path),
    async readTextFile({ path, encoding = 'utf-8', startLine = 1, endLine }) {
      const content = await read(path);
      if (!content) return null;
      const text = new TextDecoder(encoding).decode(content);
      if (startLine === 1 && endLine === undefined) return text;
      return text
        .split('\n')
        .slice(startLine - 1, endLine)
        .join('\n');
    },
    writeFile: async ({ path, content }) => write(path, await new Response(content).bytes()),
    writeBinaryFile: ({ path, content }) => write(path, content),
    writeTextFile: ({ path, content, encoding = 'utf-8' }) =>
      write(path, Buffer.from(content, encoding as BufferEncoding)),
    async run({ command, workingDirectory: cwd, env, abortSignal: signal }) {
      const options = present({ cwd, env, signal });
      const { exitCode, stdout, stderr } = await sandbox.runCommand('bash', ['-c', command], options);
      return { exitCode, stdout, stderr };
    },
    async spawn({ command, workingDirectory: cwd, env, abortSignal }) {
      const [stdout, stderr] = [new TransformStream<Uint8Array>(), new TransformStream<Uint8Array>()];
      const [out, err] = [stdout.writable.getWriter(), stderr.writable.getWriter()];
      const ending = new AbortController();
      const signal = abortSignal ? AbortSignal.any([abortSignal, ending.signal]) : ending.signal;
      const running = sandbox
        .runCommand('bash', ['-c', command], {
          ...present({ cwd, env }),
          signal,
          onStdout: (chunk) => void out.write(chunk),
          onStderr: (chunk) => void err.write(chunk),
        })
        .finally(() => Promise.all([out.close(), err.close()]));
      running.catch(() => undefined);
      return {
        ...{ stdout: stdout.readable, stderr: stderr.readable },
        wait: async () => ({ exitCode: (await running).exitCode }),
        async kill() {
          ending.abort();
          await running.catch(() => undefined);
        },
      };
    },
  };
}
