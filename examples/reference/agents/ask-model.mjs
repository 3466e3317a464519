// A coding agent in one file: asks the model, runs the shell command that it calls, and writes a transcript.
import { execSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const [prompt] = process.argv.slice(2);
const ask = async (messages) => {
  const answer = await fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': process.env.ANTHROPIC_API_KEY ?? '' },
    body: JSON.stringify({
      ...{ model: 'claude-opus-4-8', max_tokens: 100, messages },
      tools: [
        { name: 'Bash', input_schema: { type: 'object', properties: { command: { type: 'string' } } } },
      ],
    }),
  });
  return (await answer.json()).content;
};

const events = [];
const messages = [{ role: 'user', content: prompt }];
for (let isDone = false; !isDone; ) {
  const content = await ask(messages);
  messages.push({ role: 'assistant', content });
  isDone = true;
  for (const part of content) {
    if (part.type === 'text') events.push({ type: 'message', role: 'assistant', text: part.text });
    if (part.type !== 'tool_use') continue;
    isDone = false;
    const output = execSync(part.input.command, { cwd: '..', encoding: 'utf8' });
    events.push({ type: 'action.called', callId: part.id, name: 'Bash', input: part.input });
    events.push({ type: 'action.result', callId: part.id, output, status: 'completed' });
    messages.push({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: part.id, content: output }],
    });
  }
}
const folder = join(homedir(), '.claude/projects/work');
mkdirSync(folder, { recursive: true });
const lines = events.map((event) => JSON.stringify({ type: 'assistant', sessionId: 'session-1', event }));
writeFileSync(join(folder, 'session-1.jsonl'), lines.join('\n'));
