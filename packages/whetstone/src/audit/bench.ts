import type { TaskConfig } from '../config/config.ts';
import type { SourceParser } from '../syntax/source-parser.ts';
import type { TaskRoom } from '../tasks/task-room.ts';
import type { MaskPlan } from '../verify/masks/exchange-twins.ts';
import type { AuditPart } from './audit-parts.ts';
import type { Grade, Graded } from './graded.ts';
import type { SolvedTree } from './solved-tree.ts';

export type TaskAuditOptions = {
  room: TaskRoom;
  parse: SourceParser;
  parts: ReadonlySet<AuditPart>;
  /** How often the solved and the unchanged tree are graded: a whole number from 1. */
  repeat: number;
  /** Names of cheats. Empty: all that fit the task. */
  cheats: readonly string[];
  /** The most mutants of a task. */
  mutants: number;
  /** Addresses of the repository. */
  upstreams: readonly string[];
  /** Resolves with what was graded under a name before, else grades and keeps it. */
  remember: (name: string, grade: () => Promise<Graded>) => Promise<Graded>;
  /** How many gradings may be under way at once. */
  jobs: number;
  /** Called before each grading. */
  onStep?: (what: string) => void;
  signal: AbortSignal;
};

/** The parts of an audit share this. */
export type Bench = {
  task: TaskConfig;
  /** How its tests are masked. `undefined`: they are not. */
  masking: MaskPlan | undefined;
  tree: SolvedTree;
  options: TaskAuditOptions;
  /** Grades once for all times under this name. */
  grade: (name: string, ...work: Parameters<Grade>) => Promise<Graded>;
};
