// Drives a coding agent in a folder and prints what it does as it happens. It needs the agent, and its provider's key:
//   OPENAI_API_KEY=… node examples/agents/drive.ts codex my-project "Fix the failing test."
import { stripVTControlCharacters } from 'node:util';
import { createAgent, driveAgent, findDrivenAgent } from '@whetstone/agents';

const [name = 'codex', folder = '.', prompt = 'What is this project?'] = process.argv.slice(2);
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());

const agent = await createAgent({ kind: findDrivenAgent(name).kind });
const turn = driveAgent(agent, { folder, prompt, timeoutMs: 20 * 60_000, signal: interrupt.signal });
for await (const event of turn) {
  if (event.type === 'message') console.log(stripVTControlCharacters(event.text));
  if (event.type === 'action.called') console.log(`· ${event.name} ${JSON.stringify(event.input)}`);
  if (event.type === 'file.changed') console.log(`  ${event.change} ${event.path}`);
  if (event.type === 'error') console.error(stripVTControlCharacters(event.message));
}
const { status, usage } = await turn;
console.log(`${status}, ${usage?.outputTokens ?? 'unknown'} output tokens`);
process.exitCode = status === 'completed' ? 0 : 1;
