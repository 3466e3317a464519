// Attacks this machine from sandboxes and prints what came through, for tests that need another user to be the host.
// Arguments: scratch folder, a path that must not be read, then levels.
import { startSandboxProvider } from '../start-sandbox-provider.ts';
import { type AttackName, attacks } from '../probe/attacks.ts';
import { probeSandbox } from '../probe/probe-sandbox.ts';

const [scratch = '', kept = '', ...levels] = process.argv.slice(2);
const found: Record<string, string[]> = {};
for (const level of levels) {
  const provider =
    level === 'descendants'
      ? await startSandboxProvider('process', { scratch, processes: level })
      : await startSandboxProvider(level, { scratch });
  const findings = await probeSandbox(provider, { scratch, kept: [kept] });
  // What nothing limits is not tried.
  const isHeld = (attack: AttackName) => findings.some((finding) => finding.attack === attack && !finding.reached);
  found[level] = (Object.keys(attacks) as AttackName[]).filter((attack) => !isHeld(attack));
}
process.stdout.write(JSON.stringify(found));
