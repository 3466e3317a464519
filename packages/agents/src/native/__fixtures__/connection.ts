import type { Connection } from '../native-agent.ts';

/** A lane, and a home that nobody makes. */
export const connection: Connection = {
  baseUrl: 'http://127.0.0.1:1234/lanes/0a1b',
  key: 'sk-whetstone-lane',
  model: 'model-1',
  home: '/scratch/home',
  workingDirectory: '/scratch/workspace',
};
