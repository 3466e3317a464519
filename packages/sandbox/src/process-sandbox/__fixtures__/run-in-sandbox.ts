// Runs commands in a process sandbox and prints what came of them: for tests that need another process to be the host
// (one that is killed, or that is another user).
// Arguments: scratch folder, how processes are held together (or `default`), then one script a command.
import { createProcessSandboxProvider } from '../process-sandbox.ts';

const [scratch = '', processes = 'default', ...scripts] = process.argv.slice(2);
const provider = await createProcessSandboxProvider({
  scratch,
  ...(processes === 'pid-namespace' || processes === 'descendants' ? { processes } : {}),
});
await using sandbox = await provider.start({ workdir: scratch, env: {} });
const results = [];
for (const script of scripts) {
  results.push(await sandbox.runShell(script, { onStdout: (chunk) => process.stderr.write(chunk) }));
}
process.stdout.write(JSON.stringify({ level: await provider.describe(), results }));
