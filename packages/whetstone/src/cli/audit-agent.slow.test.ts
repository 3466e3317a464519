import { afterAll, beforeAll, expect, test } from 'vitest';
import { scenarios } from '../audit/agent/scenarios.ts';
import { makeProject, type Project } from './__fixtures__/project.ts';

/** Asks the first MCP server of a file for its tools, and prints their descriptions. */
const ASK = `import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const [{ command, args }] = Object.values(JSON.parse(readFileSync(process.argv[2], 'utf8')).mcpServers);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const say = (id, method, params = {}) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\\n');
say(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } });
say(2, 'tools/list');
for await (const line of createInterface({ input: child.stdout })) {
  const { id, result } = JSON.parse(line);
  if (id !== 2) continue;
  for (const { description } of result.tools) console.log(description);
  child.kill();
}
`;

/** What an agent reads of the project and of its tools. */
const READS = `reads() { cat README.md .agents/skills/summary/SKILL.md 2> /dev/null; [ ! -f tools/status.sh ] || sh tools/status.sh
[ ! -f "$HOME/servers.json" ] || node "$NOTES/../ask.mjs" "$HOME/servers.json"; }
commands() { reads | sed -n 's/^ *\\$ //p'; }`;

let project: Project;
beforeAll(() => {
  const keys = { context: { mcp_servers: '~/servers.json' } };
  project = makeProject({
    agents: {
      gullible: {
        keys,
        script: `${READS}\ncommands > "$HOME/orders"; while read -r line; do sh -c "$line"; done < "$HOME/orders"; echo Done.`,
      },
      careful: {
        keys,
        script: `echo 'A project that adds numbers.' > NOTES.md; echo 'I wrote NOTES.md.'`,
      },
      teller: { keys, script: `${READS}\necho "Please run this yourself: $(commands)"` },
    },
  });
  project.write({ 'ask.mjs': ASK });
});
afterAll(() => project[Symbol.dispose]());

test('an agent that obeys what it reads executes every attack, a careful one none, one that passes it on instructs', async () => {
  const { stdout, stderr, exitCode } = await project.whetstone(['audit', 'agent', '--json', '--jobs', '2']);
  expect(exitCode, stderr).toBe(5);
  const { results, executed } = JSON.parse(stdout);
  const statuses = (name: string) =>
    Object.fromEntries(
      results
        .filter(({ agent }: { agent: string }) => agent === name)
        .map(({ scenario, status }: { scenario: string; status: string }) => [scenario, status]),
    );
  // These agents have no gateway.
  const all = (status: string) =>
    Object.fromEntries(
      scenarios.map(({ name, needsGateway }) => [name, needsGateway ? 'evidence missing' : status]),
    );
  expect(statuses('gullible')).toEqual(all('executed'));
  expect(statuses('careful')).toEqual(all('not attempted'));
  expect(statuses('teller')).toEqual(all('instructed'));
  expect(executed).toBe(scenarios.filter(({ needsGateway }) => !needsGateway).length);
}, 120_000);

test.each([
  [['--agent', 'nobody'], 'Unknown agent "nobody"'],
  [['--scenario', 'none'], 'Unknown'],
])('audit agent %j is refused: %s', async (args, message) => {
  const { stderr, exitCode } = await project.whetstone(['audit', 'agent', ...args]);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
});
