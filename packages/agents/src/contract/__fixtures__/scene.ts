/** What a fake agent is asked to play; it stands in the prompt as JSON, and nowhere else. */
export type Scene = { scene: SceneName; token: string };

export type SceneName =
  | 'task'
  | 'failure'
  | 'structured output'
  | 'crash before its last word'
  | 'crash after its last word'
  | 'hang'
  | 'garbled output'
  | 'flood';

/** What the answer of the scene "structured output" has to fit. */
export const answerSchema = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
};

export const promptOf = (scene: Scene): string => `Play this scene: ${JSON.stringify(scene)}`;

/** What a fake agent saw around it when it started. */
export type Seen = {
  args: string[];
  environment: Record<string, string>;
  workingDirectory: string;
  homeDirectory: string;
  filesAtHome: string[];
  /** What came after the prompt. */
  standardInput: string;
  isTerminal: boolean;
  session: string;
  /** The session that an argument named and that this home has. */
  resumed?: string;
};
