import { describe, expect, it } from 'vitest';
import type { TaskConfig } from './config.ts';
import { renderPrompt, WORKING_INSTRUCTIONS } from './render-prompt.ts';

const task: TaskConfig = {
  id: 'secret-task-id',
  prompt: 'Fix {it}: `$(x)`\n',
  setup: [],
  validation: { commands: [] },
  protectedPaths: [],
  extra: {},
};

describe('renderPrompt', () => {
  it('is the text of the task, word for word, and the working instructions', () => {
    expect(renderPrompt(task)).toBe(`Fix {it}: \`$(x)\`\n\n${WORKING_INSTRUCTIONS}`);
    expect(renderPrompt({ ...task, title: 'A title', prompt: 'x' })).toBe(
      `# A title\n\nx\n\n${WORKING_INSTRUCTIONS}`,
    );
  });

  it('does not name the task id', () => {
    expect(renderPrompt(task)).not.toContain('secret-task-id');
  });

  it('fills a template once: braces in values stay', () => {
    const text = '{task_id}|{task_title}|{task_prompt}|{variant}|{repo_ref}|{category}|{difficulty}|{{x}}';
    expect(renderPrompt({ ...task, title: '{variant}' }, { text, variant: 'v', repoRef: 'main' })).toBe(
      'secret-task-id|{variant}|Fix {it}: `$(x)`\n|v|main|||{x}',
    );
  });
});
