import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type FakeAgent = {
  version: string;
  /** `{cwd}` and `{home}` are what the agent finds itself in. */
  system: string[];
  tools: { name: string; description: string; input_schema: object }[];
  /** It prints its version, whatever it is asked. */
  isSilent?: boolean;
};

/**
 * A program `pi` in a folder for the PATH: it reads pi's own provider file as pi does, asks for a title first and then for
 * the task, over the wire that pi is set up for.
 */
export function installFakePi(folder: string, agent: FakeAgent): void {
  mkdirSync(folder, { recursive: true });
  const description = join(folder, 'pi.json');
  writeFileSync(description, JSON.stringify(agent));
  const program = join(folder, 'pi');
  // What an agent gets of the environment has no place for compiled code.
  const cache = `NODE_COMPILE_CACHE='${process.env.NODE_COMPILE_CACHE ?? ''}'`;
  // Half of all starts ask for the version, for which a shell is enough.
  const version = `echo 'pi ${agent.version}'; exit`;
  const ask = `case " $* " in *' --version '*) ${version} ;; esac
${cache} exec '${process.execPath}' '${import.meta.filename}' '${description}' "$@"`;
  writeFileSync(program, `#!/bin/sh\n${agent.isSilent ? version : ask}\n`);
  chmodSync(program, 0o755);
}

async function main(description: string, args: readonly string[]): Promise<void> {
  const { version, system, tools }: FakeAgent = JSON.parse(readFileSync(description, 'utf8'));
  const models = JSON.parse(readFileSync(`${process.env.PI_CODING_AGENT_DIR}/models.json`, 'utf8'));
  const { baseUrl, apiKey } = models.providers.gateway ?? models.providers.anthropic;
  const model = args.includes('--model') ? args[args.indexOf('--model') + 1] : 'claude-sonnet-4-5';
  const messages = [{ role: 'user', content: readFileSync(0, 'utf8') }];
  const headers = { 'user-agent': `pi/${version}`, 'anthropic-beta': 'a-beta', 'x-session': 'one' };
  const own = (text: string): string =>
    text.replaceAll('{cwd}', process.cwd()).replaceAll('{home}', process.env.HOME ?? '');

  async function ask(body: object): Promise<void> {
    const response = await fetch(`${baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { ...headers, 'x-api-key': apiKey },
      body: JSON.stringify({ model, messages, ...body }),
    });
    console.log(await response.text());
    if (!response.ok) process.exitCode = 1;
  }
  await ask({ system: 'Give the session a title.' });
  await ask({ system: system.map((text) => ({ type: 'text', text: own(text) })), tools });
}

const [, script, description, ...args] = process.argv;
if (script === import.meta.filename && description !== undefined) await main(description, args);
