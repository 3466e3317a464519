import { type Input, inputText, type Part } from '../conversation/turn.ts';
import { builtInTool } from './built-in-tool.ts';
import { flag, listOf, objectOf, oneOf, optional, type Parameter, text } from './parameters.ts';
import type { AskUserToolSet, RegisteredTool, ToolContext, ToolOutput } from './tool.ts';

export type Question = { callId: string; question: string; options: readonly string[] };

/** Asks the user. Contract: resolves with the answer, and rejects when `signal` aborts. */
export type AskUser = (question: Question, signal: AbortSignal) => Promise<Input>;

/** The tool with which the model asks the user. The questions of one call are asked one after the other. */
export function createAskUserTool(set: AskUserToolSet, ask: AskUser): RegisteredTool {
  return { ...TOOLS[set](ask), exemptFromLoopDetection: true };
}

const TOOLS: Readonly<Record<AskUserToolSet, (ask: AskUser) => RegisteredTool>> = {
  spec: specTool,
  codex: codexTool,
  'claude-code': claudeCodeTool,
  'gemini-cli': geminiCliTool,
};

const ASK = 'and wait for the answer. Only for what you cannot find out or decide yourself.';
const QUESTION = text('One question, with what the user has to know to answer it.');
const HEADER = text('What it is about, in 12 characters at most.');
const LABEL = text('The answer, in a few words.');
const MEANING = text('What follows from it.');
const OPTION = objectOf({ label: LABEL, description: MEANING });
const MULTI_SELECT = optional(flag('Whether several options may be chosen. Default false.'));

const questionsOf = <Asked>(question: Parameter<Asked>, maxItems: number) => ({
  questions: listOf(question, undefined, { minItems: 1, maxItems }),
});

function specTool(ask: AskUser): RegisteredTool {
  return builtInTool({
    name: 'ask_user',
    description: `Ask the user a question ${ASK}`,
    parameters: {
      question: QUESTION,
      options: optional(listOf(text(), 'Answers to choose from; others are possible.')),
    },
    executor: async ({ question, options = [] }, { callId, signal }) => {
      const answer = await ask({ callId, question, options }, signal);
      return typeof answer === 'string' ? answer : { content: answer.map((part): Part => part) };
    },
  });
}

function codexTool(ask: AskUser): RegisteredTool {
  const question = objectOf({
    header: HEADER,
    id: text('Under which the answer comes, in snake_case.'),
    options: listOf(objectOf({ description: MEANING, label: LABEL }), 'Two or three answers to choose from.'),
    question: QUESTION,
  });
  return builtInTool({
    name: 'request_user_input',
    description: `Ask the user one to three short questions ${ASK}`,
    parameters: questionsOf(question, 3),
    executor: async ({ questions }, context) =>
      await askAll(ask, questions, context, (answers) => {
        const byId = questions.map(({ id }, index) => [id, { answers: [answers[index]] }]);
        return JSON.stringify({ answers: Object.fromEntries(byId) });
      }),
  });
}

function claudeCodeTool(ask: AskUser): RegisteredTool {
  const options = 'Two to four answers to choose from; others are possible.';
  const question = objectOf({
    question: QUESTION,
    header: HEADER,
    options: listOf(OPTION, options, { minItems: 2, maxItems: 4 }),
    multiSelect: MULTI_SELECT,
  });
  return builtInTool({
    name: 'AskUserQuestion',
    description: `Ask the user one to four questions ${ASK}`,
    parameters: questionsOf(question, 4),
    executor: async ({ questions }, context) =>
      await askAll(ask, questions, context, (answers) => {
        const pairs = questions.map(({ question: asked }, index) => `"${asked}" = "${answers[index]}"`);
        return ['The user has answered.', ...pairs].join('\n');
      }),
  });
}

function geminiCliTool(ask: AskUser): RegisteredTool {
  const question = objectOf({
    question: QUESTION,
    header: HEADER,
    type: oneOf(
      ['choice', 'text', 'yesno'],
      'choice: one of the options; text: in the user’s own words; yesno: yes or no.',
    ),
    options: optional(listOf(OPTION, 'Of a choice: two to four answers.')),
    multiSelect: MULTI_SELECT,
    placeholder: optional(text('A hint at what an answer looks like.')),
  });
  const yesOrNo = { options: [{ label: 'Yes' }, { label: 'No' }], multiSelect: false };
  return builtInTool({
    name: 'ask_user',
    description: `Ask the user one to four questions ${ASK}`,
    parameters: questionsOf(question, 4),
    executor: async ({ questions }, context) => {
      const asked = questions.map((one) => (one.type === 'yesno' ? { ...one, ...yesOrNo } : one));
      return await askAll(ask, asked, context, (answers) => JSON.stringify({ answers: { ...answers } }));
    },
  });
}

type NativeQuestion = {
  question: string;
  options?: { label: string; description?: string }[];
  multiSelect?: boolean;
};

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
