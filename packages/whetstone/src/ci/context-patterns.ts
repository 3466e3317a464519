import { instructionPatterns } from '@whetstone/agents/config';

/** Skills are folders with this file, below a folder of this name. */
const SKILLS = ['**/SKILL.md', '**/skills/**'];

/** Patterns of every file that some agent reads: what starts a job when a pull request changes it. */
export const contextPatterns = (): string[] => [...instructionPatterns(), ...SKILLS];
