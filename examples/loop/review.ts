/**
 * A reviewer that cannot change anything: `node examples/loop/review.ts [folder] [provider/model]` reviews the changes
 * since the last commit and prints its findings. It writes nothing and only runs git commands that read: the environment
 * refuses all others, and the approval hook explains that to the model. Exits with 1 when there is a blocker.
 */
import { Client, LocalExecutionEnvironment, ReadOnlyExecutionEnvironment, Session } from '@whetstone/loop';

const MODELS = { openai: 'gpt-5.5', anthropic: 'claude-opus-4-8', google: 'gemini-3-pro-preview' };
const FINDINGS = {
  type: 'object',
  properties: {
    findings: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          file: { type: 'string' },
          line: { type: 'integer' },
          severity: { type: 'string', enum: ['blocker', 'minor'] },
          message: { type: 'string' },
        },
        required: ['file', 'line', 'severity', 'message'],
        additionalProperties: false,
      },
    },
  },
  required: ['findings'],
  additionalProperties: false,
};
type Finding = { file: string; line: number; severity: 'blocker' | 'minor'; message: string };

const [folder = '.', asked] = process.argv.slice(2);
const client = Client.fromEnv();
const [provider = 'openai'] = client.providers;
const name = asked ?? `${provider}/${MODELS[provider as keyof typeof MODELS]}`;

/** Whether a command only reads from git: one command, without an option that runs or writes something. */
function isLook(command: string): boolean {
  return (
    /^git (?:diff|log|show|status|blame)(?: [\w./~^:@=-]+)*$/.test(command) &&
    !/--(?:output|ext-diff)/.test(command)
  );
}

const local = new LocalExecutionEnvironment({ workingDirectory: folder });
const environment = new ReadOnlyExecutionEnvironment(local, {
  allowCommand: (command) => typeof command === 'string' && isLook(command),
});
const session = new Session({
  ...client.resolve(name),
  environment,
  ownsEnvironment: true,
  userInstructions: 'You review changes. You do not fix them. Report only what you have checked in the code.',
  approve: ({ name: tool, args }) => {
    console.error(`· ${tool} ${JSON.stringify(args)}`);
    if (args.command === undefined || isLook(String(args.command))) return { decision: 'approved' };
    return { decision: 'denied', reason: 'only git diff, log, show, status and blame may run here' };
  },
});
const { output, reason, error } = await session.submit('Review the changes since the last commit.', {
  outputSchema: FINDINGS,
});
await session.close();
if (!output) {
  console.error(`No review (${reason})${error ? `: ${error.message}` : ''}`);
  process.exitCode = 2;
} else {
  const findings = output.findings as Finding[];
  for (const { file, line, severity, message } of findings)
    console.log(JSON.stringify(`${file}:${line} ${severity}: ${message}`).slice(1, -1));
  console.log(`${findings.length} findings`);
  process.exitCode = findings.some(({ severity }) => severity === 'blocker') ? 1 : 0;
}
