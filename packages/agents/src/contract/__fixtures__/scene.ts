/** What the fake agent must play. Only the prompt has it, as JSON. */
export type Scene = { scene: SceneName; token: string };

export type SceneName =
  | 'task'
  | 'failure'
  | 'refusal'
  | 'structured output'
  | 'crash before its last word'
  | 'crash after its last word'
  | 'hang'
  | 'garbled output'
  | 'flood';

/** The schema for the answer in the scene "structured output". */
export const answerSchema = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
};

export const promptOf = (scene: Scene): string => `Play this scene: ${JSON.stringify(scene)}`;

/** What the fake agent saw when it started. */
export type Seen = {
  args: string[];
  environment: Record<string, string>;
  workingDirectory: string;
  homeDirectory: string;
  filesAtHome: string[];
  /** Standard input after the prompt. Absent: the agent is led through it. */
  standardInput?: string;
  isTerminal: boolean;
  session: string;
  /** The session that an argument named, if the home has it. */
  resumed?: string;
};
