// Attacks this machine from sandboxes and prints what came through, for tests that need another user to be the host.
// Arguments: scratch folder, a path that must not be read, then levels. `null`: the level does not start here.
import { startSandboxProvider } from '../start-sandbox-provider.ts';
import { type AttackName, attacks } from '../probe/attacks.ts';
import { probeSandbox } from '../probe/probe-sandbox.ts';

const [scratch = '', kept = '', ...levels] = process.argv.slice(2);
const found: Record<string, string[] | null> = {};
for (const level of levels) {
  const provider = await startSandboxProvider(level, { scratch }).catch((error) => {
    if (error.code === 'sandbox-unavailable') return null;
    throw error;
  });
  if (!provider) {
    found[level] = null;
    continue;
  }
  const findings = await probeSandbox(provider, { scratch, kept: [kept] });
  // What nothing limits is not tried.
  const isHeld = (attack: AttackName) => findings.some((finding) => finding.attack === attack && !finding.reached);
  found[level] = (Object.keys(attacks) as AttackName[]).filter((attack) => !isHeld(attack));
}
process.stdout.write(JSON.stringify(found));
