// Reference: "defineSandboxAgent", "The ctx.sandbox field", "shared helpers" and "Complete example: claude-code adapter". The
// command line is a small program that asks the gateway's script and keeps a transcript, as Claude Code does.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requireEnv } from 'whetstone';
import { defineSandboxAgent, type StreamEvent, shared } from 'whetstone/adapter';

const PROGRAM = join(import.meta.dirname, 'ask-model.mjs');

export default defineSandboxAgent({
  name: 'in-sandbox',
  capabilities: { conversation: true, toolObservability: true },
  async send(input, ctx) {
    const { sandbox } = ctx;
    requireEnv('PATH');
    await sandbox.uploadFiles([{ path: 'tools/ask-model.mjs', content: await readFile(PROGRAM) }]);
    await sandbox.writeFiles({ 'tools/prompt.txt': input.text });
    const version = await sandbox.runShell('node --version', { env: { LANG: 'C' } });
    ctx.log(version.stdout.trim());
    const args = ['ask-model.mjs', await sandbox.readFile('tools/prompt.txt')];
    if (!ctx.session.isNew && ctx.session.id) args.push('--resume', ctx.session.id);
    const ran = await sandbox.runCommand('node', args, {
      cwd: join(sandbox.workdir, 'tools'),
      env: { ...ctx.lane?.env },
    });
    await sandbox.runCommand('rm', ['-r', 'tools']);
    const transcript = await shared.captureLatestJsonl(sandbox, '~/.claude/projects');
    ctx.session.id = shared.sessionIdFromClaudeTranscript(transcript);
    return { events: eventsOf(transcript), status: ran.exitCode === 0 ? 'completed' : 'failed' };
  },
});

/** Each line of the transcript is a message with one event. */
function eventsOf(transcript: string): StreamEvent[] {
  return transcript
    .split('\n')
    .filter((line) => line !== '')
    .map((line): StreamEvent => JSON.parse(line).event);
}
