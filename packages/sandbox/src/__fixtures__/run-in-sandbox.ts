// Runs commands in a sandbox and prints what came of them: for tests that need another process to be the host
// (one that is killed, or that is another user).
// Arguments: scratch folder, how processes are held together (or another sandbox, or a JSON object with the name of one and the
// options of its provider), then one script a command.
import { chownSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { startSandboxProvider } from '../start-sandbox-provider.ts';

const [scratch = '', processes = 'default', ...scripts] = process.argv.slice(2);
const { name, ...options } = processes.startsWith('{') ? JSON.parse(processes) : { name: processes };
const provider = await startSandboxProvider(['bubblewrap', 'docker'].includes(name) ? name : 'process', {
  scratch,
  ...options,
  ...(processes === 'pid-namespace' || processes === 'descendants' ? { processes } : {}),
});
const workdir = mkdtempSync(join(scratch, 'w-'));
if (provider.owner) chownSync(workdir, provider.owner.uid, provider.owner.gid);
await using sandbox = await provider.start({ workdir, env: {} });
const results = [];
for (const script of scripts) {
  results.push(await sandbox.runShell(script, { onStdout: (chunk) => process.stderr.write(chunk) }));
}
process.stdout.write(JSON.stringify({ level: await provider.describe(), results }));
