import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { BoundedOutput } from '@whetstone/sandbox/process';
import type { ConnectedProcess, ExecutionEnvironment } from '../environment/execution-environment.ts';
import type { McpServer } from './mcp-server.ts';

const LONGEST_MESSAGE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;
const LAST_WORDS_BYTES = 2_000;

/** MCP's "stdio" over a program of the environment: a message is a line. Other lines are ignored. */
export class ProcessTransport implements Transport {
  onclose?: () => void;
  onmessage?: Transport['onmessage'];
  readonly #environment: ExecutionEnvironment;
  readonly #server: Extract<McpServer, { kind: 'command' }>;
  readonly #lastWords = new BoundedOutput(LAST_WORDS_BYTES);
  #starting: Promise<ConnectedProcess> | undefined;
  #line: Uint8Array[] = [];
  #lineBytes = 0;
  #isClosed = false;
  #end: string | undefined;

  constructor(environment: ExecutionEnvironment, server: Extract<McpServer, { kind: 'command' }>) {
    this.#environment = environment;
    this.#server = server;
  }

  get end(): string | undefined {
    return this.#end;
  }

  async start(): Promise<void> {
    const { command, args = [], env = {} } = this.#server;
    const connect = this.#environment.connect?.bind(this.#environment);
    if (!connect) throw new Error('this environment cannot start programs that a host talks to');
    this.#starting = connect([command, ...args], {
      env,
      onStdout: (chunk) => this.#read(chunk),
      onStderr: (chunk) => this.#lastWords.append(chunk),
    });
    const { ended } = await this.#starting;
    void ended.then(({ exitCode, signal }) => {
      if (this.#isClosed) return;
      const how = exitCode === undefined ? (signal ?? 'by a signal') : `exit code ${exitCode}`;
      const said = this.#lastWords.text().trim();
      this.#end = `it has ended (${how})${said === '' ? '' : `: ${said}`}`;
      this.#disconnect();
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await (await this.#starting)?.write(serializeMessage(message));
  }

  /** Resolves when nothing of the program is left. Never rejects. */
  async close(): Promise<void> {
    this.#disconnect();
    await (await this.#starting?.catch(() => undefined))?.kill();
  }

  #disconnect(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  #read(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#append(chunk.subarray(start, end));
      this.#receive(Buffer.concat(this.#line).toString());
      this.#line = [];
      this.#lineBytes = 0;
      start = end + 1;
    }
    this.#append(chunk.subarray(start));
  }

  #append(part: Uint8Array): void {
    if (this.#isClosed) return;
    this.#line.push(part);
    this.#lineBytes += part.length;
    if (this.#lineBytes <= LONGEST_MESSAGE_BYTES) return;
    this.#line = [];
    this.#end = `it wrote a line of more than ${LONGEST_MESSAGE_BYTES} bytes`;
    void this.close();
  }

  #receive(line: string): void {
    if (this.#isClosed) return;
    try {
      this.onmessage?.(deserializeMessage(line));
    } catch {
      // No message. Whoever waits for an answer has a time limit.
    }
  }
}
