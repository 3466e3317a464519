import { fillTemplate, parseTemplate, readPrompt } from '@whetstone/agents/config';
import type { TaskConfig } from './config.ts';

/** What a prompt template may name. */
export const PROMPT_VARIABLES = [
  'task_id',
  'task_title',
  'task_prompt',
  'variant',
  'repo_ref',
  'category',
  'difficulty',
] as const;

/** What the built-in prompt adds to the text of every task. Part of every fingerprint. */
export const WORKING_INSTRUCTIONS = `## How to work

- The project is in the current directory. Read what you need, and make the change in its files.
- Nobody can answer questions while you work: where something is open, choose the most sensible way and go on.
- Check your work with the means the project has.
- Leave the change in the working directory; a commit is not needed.
`;

/** A user's own prompt, with the values that name the case: using \`{variant}\` unblinds the agent. */
export type PromptTemplate = { text: string; variant: string; repoRef: string };

/** Without a template: the task and a few instructions in Markdown, without agent, variant, trial and task id. */
export function renderPrompt(task: TaskConfig, template?: PromptTemplate): string {
  if (!template) return builtInPrompt(task);
  const values: Record<string, string> = {
    task_id: task.id,
    task_title: task.title ?? '',
    task_prompt: task.prompt,
    variant: template.variant,
    repo_ref: template.repoRef,
    category: task.category ?? '',
    difficulty: task.difficulty ?? '',
  };
  return fillTemplate(parseTemplate(template.text).segments, (name) => values[name] ?? '');
}

function builtInPrompt({ title, prompt }: TaskConfig): string {
  const heading = title === undefined ? '' : `# ${title}\n\n`;
  const { items } = readPrompt(prompt);
  if (items) {
    const texts = [heading.trim(), WORKING_INSTRUCTIONS].map((text) => ({ type: 'text', text }));
    return JSON.stringify([...(heading === '' ? [] : texts.slice(0, 1)), ...items, ...texts.slice(1)]);
  }
  return `${heading}${prompt}${prompt.endsWith('\n') ? '' : '\n'}\n${WORKING_INSTRUCTIONS}`;
}
