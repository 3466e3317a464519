import { expect, test } from 'vitest';
import { temporaryEnvironment } from '../../__fixtures__/temporary-directory.ts';
import { endSessionProcesses } from '../process-sessions.ts';
import { caller } from './__fixtures__/caller.ts';
import { createClaudeCodeTools } from './claude-code-tools.ts';

async function tasksOf(sessionId = 'session') {
  const place = await temporaryEnvironment();
  return { place, call: caller(createClaudeCodeTools(), place.environment, sessionId) };
}

test('tasks are made, changed, listed with what blocks them, and reported to the host', async () => {
  const { place, call } = await tasksOf();
  await using _ = place;
  expect((await call('TaskList', {})).content).toBe('There are no tasks.');
  await call('TaskCreate', { subject: 'Look', description: 'Find the place' });
  const made = await call('TaskCreate', { subject: 'Mend', description: 'Change it', metadata: { a: 1 } });
  expect(made).toEqual({
    content: 'Created task 2: Mend',
    details: {
      plan: [
        { step: 'Look', status: 'pending' },
        { step: 'Mend', status: 'pending' },
      ],
    },
  });
  await call('TaskUpdate', { taskId: '1', status: 'in_progress', addBlocks: ['2'], owner: 'me' });
  expect((await call('TaskList', {})).content).toBe(
    '1. [in_progress] Look (me)\n2. [pending] Mend (blocked by 1)',
  );
  expect((await call('TaskGet', { taskId: '2' })).content).toBe(
    'Task 2: Mend\nStatus: pending\nDescription: Change it\nBlocked by: 1\nMetadata: {"a":1}',
  );
  expect((await call('TaskGet', { taskId: '1' })).content).toMatch(/\nBlocks: 2$/);
  await call('TaskUpdate', { taskId: '1', status: 'completed' });
  await call('TaskUpdate', { taskId: '2', subject: 'Mend it', metadata: { a: null, b: 2 } });
  expect((await call('TaskList', {})).content).toBe('1. [completed] Look (me)\n2. [pending] Mend it');
  expect((await call('TaskGet', { taskId: '2' })).content).toMatch(/\nMetadata: \{"b":2\}$/);
});

test('a deleted task blocks nothing, and its number is not used again', async () => {
  const { place, call } = await tasksOf();
  await using _ = place;
  for (const subject of ['a', 'b']) await call('TaskCreate', { subject, description: '' });
  await call('TaskUpdate', { taskId: '1', addBlockedBy: ['2'] });
  const { details } = await call('TaskUpdate', { taskId: '2', status: 'deleted' });
  expect(details).toEqual({ plan: [{ step: 'a', status: 'pending' }] });
  expect((await call('TaskList', {})).content).toBe('1. [pending] a');
  expect((await call('TaskCreate', { subject: 'c', description: '' })).content).toBe('Created task 3: c');
});

test('a change that names an unknown task changes nothing', async () => {
  const { place, call } = await tasksOf();
  await using _ = place;
  await call('TaskCreate', { subject: 'a', description: '' });
  const wrong = call('TaskUpdate', { taskId: '1', status: 'completed', addBlockedBy: ['9'] });
  await expect(wrong).rejects.toThrow('there is no task 9. Tasks: 1');
  await expect(call('TaskUpdate', { taskId: '1', addBlocks: ['1'] })).rejects.toThrow(/cannot block itself/);
  expect((await call('TaskList', {})).content).toBe('1. [pending] a');
});

test('the list is its session’s own and ends with it', async () => {
  const { place, call } = await tasksOf('mine');
  await using _ = place;
  await call('TaskCreate', { subject: 'a', description: '' });
  const other = caller(createClaudeCodeTools(), place.environment, 'other');
  expect((await other('TaskList', {})).content).toBe('There are no tasks.');
  await endSessionProcesses({ environment: place.environment, sessionId: 'mine' });
  expect((await call('TaskList', {})).content).toBe('There are no tasks.');
});
