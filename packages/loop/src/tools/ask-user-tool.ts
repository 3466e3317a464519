import type { JsonObject } from '@whetstone/events';
import { type Input, inputText, type Part } from '../conversation/turn.ts';
import { defineTool, type RegisteredTool, type ToolContext, type ToolOutput } from './tool.ts';
import type { AskUserToolSet } from './tool-set.ts';

export type Question = { callId: string; question: string; options: readonly string[] };

/** Asks the user. Contract: resolves with the answer, and rejects when `signal` aborts. */
export type AskUser = (question: Question, signal: AbortSignal) => Promise<Input>;

/** The tool with which the model asks the user. The questions of one call are asked one after the other. */
export function createAskUserTool(set: AskUserToolSet, ask: AskUser): RegisteredTool {
  switch (set) {
    case 'spec':
      return specTool(ask);
    case 'codex':
      return codexTool(ask);
    case 'claude-code':
      return claudeCodeTool(ask);
    case 'gemini-cli':
      return geminiCliTool(ask);
  }
}

const ASK = 'and wait for the answer. Only for what you cannot find out or decide yourself.';
const text = (description: string): JsonObject => ({ type: 'string', description });
const QUESTION = text('One question, with what the user has to know to answer it.');
const HEADER = text('What it is about, in 12 characters at most.');
const LABEL = text('The answer, in a few words.');
const MEANING = text('What follows from it.');
const MULTI_SELECT = {
  type: 'boolean',
  description: 'Whether several options may be chosen. Default false.',
};

function specTool(ask: AskUser): RegisteredTool {
  return defineTool<{ question: string; options?: string[] }>({
    definition: {
      name: 'ask_user',
      description: `Ask the user a question ${ASK}`,
      parameters: {
        type: 'object',
        properties: {
          question: QUESTION,
          options: {
            type: 'array',
            items: { type: 'string' },
            description: 'Answers to choose from; others are possible.',
          },
        },
        required: ['question'],
      },
    },
    exemptFromLoopDetection: true,
    executor: async ({ question, options = [] }, { callId, signal }) => {
      const answer = await ask({ callId, question, options }, signal);
      return typeof answer === 'string' ? answer : { content: answer.map((part): Part => part) };
    },
  });
}

type Option = { label: string; description?: string };
type NativeQuestion = { question: string; options?: Option[]; multiSelect?: boolean };

function codexTool(ask: AskUser): RegisteredTool {
  const option = objectOf(['label', 'description'], { description: MEANING, label: LABEL });
  const question = objectOf(['id', 'header', 'question', 'options'], {
    header: HEADER,
    id: text('Under which the answer comes, in snake_case.'),
    options: { type: 'array', items: option, description: 'Two or three answers to choose from.' },
    question: QUESTION,
  });
  return defineTool<{ questions: (NativeQuestion & { id: string })[] }>({
    definition: {
      name: 'request_user_input',
      description: `Ask the user one to three short questions ${ASK}`,
      parameters: questionsOf(question, 3),
    },
    exemptFromLoopDetection: true,
    executor: async ({ questions }, context) =>
      await askAll(ask, questions, context, (answers) =>
        JSON.stringify({
          answers: Object.fromEntries(questions.map(({ id }, index) => [id, { answers: [answers[index]] }])),
        }),
      ),
  });
}

function claudeCodeTool(ask: AskUser): RegisteredTool {
  const option = objectOf(['label', 'description'], { label: LABEL, description: MEANING });
  const question = objectOf(['question', 'header', 'options'], {
    question: QUESTION,
    header: HEADER,
    options: {
      type: 'array',
      items: option,
      minItems: 2,
      maxItems: 4,
      description: 'Two to four answers to choose from; others are possible.',
    },
    multiSelect: MULTI_SELECT,
  });
  return defineTool<{ questions: NativeQuestion[] }>({
    definition: {
      name: 'AskUserQuestion',
      description: `Ask the user one to four questions ${ASK}`,
      parameters: questionsOf(question, 4),
    },
    exemptFromLoopDetection: true,
    executor: async ({ questions }, context) =>
      await askAll(ask, questions, context, (answers) =>
        [
          'The user has answered.',
          ...questions.map(({ question: asked }, index) => `"${asked}" = "${answers[index]}"`),
        ].join('\n'),
      ),
  });
}

function geminiCliTool(ask: AskUser): RegisteredTool {
  const option = objectOf(['label', 'description'], { label: LABEL, description: MEANING });
  const question = objectOf(['question', 'header', 'type'], {
    question: QUESTION,
    header: HEADER,
    type: {
      type: 'string',
      enum: ['choice', 'text', 'yesno'],
      description: 'choice: one of the options; text: in the user’s own words; yesno: yes or no.',
    },
    options: { type: 'array', items: option, description: 'Of a choice: two to four answers.' },
    multiSelect: MULTI_SELECT,
    placeholder: text('A hint at what an answer looks like.'),
  });
  type Asked = NativeQuestion & { type: 'choice' | 'text' | 'yesno'; placeholder?: string };
  return defineTool<{ questions: Asked[] }>({
    definition: {
      name: 'ask_user',
      description: `Ask the user one to four questions ${ASK}`,
      parameters: questionsOf(question, 4),
    },
    exemptFromLoopDetection: true,
    executor: async ({ questions }, context) =>
      await askAll(ask, questions.map(withYesAndNo), context, (answers) =>
        JSON.stringify({ answers: { ...answers } }),
      ),
  });
}

function withYesAndNo<Asked extends NativeQuestion & { type: string }>(question: Asked): Asked {
  if (question.type !== 'yesno') return question;
  return { ...question, options: [{ label: 'Yes' }, { label: 'No' }], multiSelect: false };
}

function questionsOf(question: JsonObject, most: number): JsonObject {
  return objectOf(['questions'], {
    questions: { type: 'array', items: question, minItems: 1, maxItems: most },
  });
}

function objectOf(required: string[], properties: JsonObject): JsonObject {
  return { type: 'object', properties, required };
}

/** Asks the questions one after the other. The output is the report about the answers, followed by their images. */
async function askAll(
  ask: AskUser,
  questions: readonly NativeQuestion[],
  { callId, signal }: ToolContext,
  report: (answers: string[]) => string,
): Promise<ToolOutput> {
  const answers: Input[] = [];
  for (const question of questions) {
    const options = (question.options ?? []).map(({ label }) => label);
    answers.push(await ask({ callId, question: inWords(question), options }, signal));
  }
  const content = report(answers.map(inputText));
  const images = answers.flatMap((answer) =>
    typeof answer === 'string' ? [] : answer.filter((part) => part.type === 'image'),
  );
  return images.length === 0 ? content : { content: [{ type: 'text', text: content }, ...images] };
}

/** The question with the meanings of its options, for hosts that can only show plain text. */
function inWords({ question, options = [], multiSelect = false }: NativeQuestion): string {
  const meanings = options.flatMap(({ label, description }) =>
    description ? [`- ${label}: ${description}`] : [],
  );
  return [question, ...meanings, ...(multiSelect ? ['(You may choose several.)'] : [])].join('\n');
}
