import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { codeOf, WhetstoneError } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { attestationOf, misfitsOf } from '../record/attest.ts';
import { runLayout } from '../record/layout.ts';
import { readRun } from '../record/read-run.ts';
import { counted } from '../report/format.ts';
import { locateRun } from './report.ts';
import type { Streams } from './streams.ts';

/** A signature for something else is not one of a run. */
const NAMESPACE = 'whetstone';

/** Writes what a run found into `attestation.json`, and signs it with a key of the user. */
export async function signCommand(
  reference: string,
  { key, config, json }: { key: string; config?: string; json?: boolean },
  { stdout }: Streams,
): Promise<number> {
  const run = await readRun(await locateRun(reference, config));
  const [misfit] = misfitsOf(run);
  if (misfit !== undefined) {
    throw new WhetstoneError('run-unsigned', `The run does not fit together: ${misfit}`, {
      where: run.directory,
    });
  }
  const { attestation, signature } = runLayout(run.directory);
  const text = `${JSON.stringify(await attestationOf(run), null, 2)}\n`;
  const made = await sshKeygen(['-Y', 'sign', '-f', key, '-n', NAMESPACE], text);
  if (made.exitCode !== 0)
    throw new WhetstoneError('run-unsigned', `ssh-keygen could not sign: ${made.said}`, { where: key });
  // Only now: a key that cannot sign leaves the signature that is there.
  await writeFile(attestation, text);
  await writeFile(signature, made.stdout);
  stdout.write(json ? `${JSON.stringify({ attestation, signature }, null, 2)}\n` : `${signature}\n`);
  return 0;
}

type VerifyOptions = { allowedSigners?: string; signer?: string; config?: string; json?: boolean };

/** Checks the journal, the evidence and the signature of a run. Returns 0, or 1 where something does not fit. */
export async function verifyCommand(
  reference: string,
  options: VerifyOptions,
  { stdout }: Streams,
): Promise<number> {
  if ((options.allowedSigners === undefined) !== (options.signer === undefined)) {
    const hint = 'Give both or neither of them.';
    throw new WhetstoneError('selection-invalid', '--allowed-signers and --signer belong together.', {
      hint,
    });
  }
  const run = await readRun(await locateRun(reference, options.config));
  const problems = misfitsOf(run);
  const { manifest, rows, directory } = run;
  const signed = await readFile(runLayout(directory).attestation, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  const signature = signed === undefined ? null : await checkSignature(directory, signed, options);
  if (signed !== undefined && run.started !== undefined) {
    const now: Record<string, unknown> = await attestationOf(run);
    const then = parseJson(signed) as Record<string, unknown> | undefined;
    const differing = Object.keys(now).filter(
      (name) => JSON.stringify(now[name]) !== JSON.stringify(then?.[name]),
    );
    if (differing.length > 0)
      problems.push(`attestation.json does not fit the run: ${differing.join(', ')}.`);
  }
  if (signature && !signature.isGood) problems.push(`The signature is not good: ${signature.said}`);
  if (!signature && options.signer !== undefined) problems.push('The run is not signed.');
  const chained = manifest.chained === true;
  if (options.json) {
    stdout.write(`${JSON.stringify({ run_id: manifest.run_id, chained, signature, problems }, null, 2)}\n`);
    return problems.length === 0 ? 0 : 1;
  }
  const chain = !chained
    ? 'an older version wrote the journal, without hashes: nothing shows whether it was changed'
    : run.unread.length > 0 || run.started === undefined
      ? 'the journal does not hold together'
      : 'each line of the journal follows the one before it';
  const lines = [
    `${manifest.run_id}: ${counted(rows.size, 'row')}; ${chain}`,
    ...(problems.length > 0 ? problems : ['Nothing was found that does not fit.']),
    signature?.isGood
      ? `${signature.said}${options.signer === undefined ? ' (whose key this is was not checked: --allowed-signers, --signer)' : ''}`
      : 'No signature that holds: whoever can write to the folder could have rewritten all of it.',
  ];
  stdout.write(`${lines.join('\n')}\n`);
  return problems.length === 0 ? 0 : 1;
}

async function checkSignature(directory: string, signed: string, { allowedSigners, signer }: VerifyOptions) {
  const { signature } = runLayout(directory);
  const what = ['-n', NAMESPACE, '-s', signature];
  const args =
    allowedSigners === undefined || signer === undefined
      ? ['-Y', 'check-novalidate', ...what]
      : ['-Y', 'verify', '-f', allowedSigners, '-I', signer, ...what];
  const { exitCode, said } = await sshKeygen(args, signed);
  return { isGood: exitCode === 0, said };
}

/** Runs ssh-keygen. `said`: the first line of what it printed. */
function sshKeygen(
  args: string[],
  input: string,
): Promise<{ exitCode: number; said: string; stdout: string }> {
  return new Promise((resolve, reject) => {
    const child = execFile('ssh-keygen', args, (error, stdout, stderr) => {
      if (error && codeOf(error) === 'ENOENT') {
        const hint = 'Install OpenSSH 8.2 or newer.';
        reject(new WhetstoneError('run-unsigned', 'The program ssh-keygen was not found.', { hint }));
        return;
      }
      const said = `${stdout}\n${stderr}`.trim().split('\n', 1)[0] ?? '';
      resolve({ exitCode: error ? 1 : 0, said, stdout });
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
