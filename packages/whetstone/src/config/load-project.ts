import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { present } from '@whetstone/events/present';
import { checkMapping } from './check-shape.ts';
import type { Config, EnvironmentConfig, GatewayConfig, StatedJudge, VariantConfig } from './config.ts';
import { ConfigErrors, type Diagnostic, inFileOrder } from './diagnostic.ts';
import { existingPath } from './existing-path.ts';
import { experimentSchema } from './experiment-schema.ts';
import { openModule } from './module-source.ts';
import { openSource } from './open-source.ts';
import { readEnvironment } from './read-environment.ts';
import { readGateway } from './read-gateway.ts';
import { readJudge } from './read-judge.ts';
import { readSandbox } from './read-sandbox.ts';
import { readVariant } from './read-variant.ts';
import { rootSchema } from './schema.ts';
import { createSpot } from './spot.ts';

/** What all experiments of a project share: the part of a configuration that is not about agents and tasks. */
export type Project = {
  /** The folder of the configuration, with `evals/` and `experiments/` in it. */
  root: string;
  /** Absent: there is no configuration file. */
  file?: string;
  repo?: Config['repo'];
  gateway?: GatewayConfig;
  /** Absent: the configuration names none. */
  sandbox?: Config['sandbox'];
  environment?: EnvironmentConfig;
  judge?: StatedJudge;
  seed?: string;
  outputDir: string;
  warnings: Diagnostic[];
};

const NAMES = ['whetstone.config.ts', 'whetstone.config.mts', 'whetstone.config.js', 'whetstone.yaml'];

/** The configuration file of a folder, if it has one. */
export const configFileOf = (root: string): string | undefined =>
  NAMES.map((name) => join(root, name)).find((path) => existsSync(path));

/**
 * Reads `whetstone.config.ts` or `whetstone.yaml` of a folder as far as experiments need it; both have the same keys.
 * Without either, everything has its default.
 * @throws ConfigErrors with everything that is wrong in it.
 */
export async function loadProject(root: string): Promise<Project> {
  const file = configFileOf(root);
  const outputDir = join(root, '.whetstone/runs');
  if (file === undefined) return { root, outputDir, warnings: [] };
  const diagnostics: Diagnostic[] = [];
  const source = await openSource(file, diagnostics);
  const spot = source && createSpot(source, diagnostics);
  const fields = spot && checkMapping(rootSchema.partial(), source.value, spot);
  const gateway = spot && fields?.gateway ? readGateway(fields.gateway, spot.at('gateway')) : undefined;
  const sandbox = spot && fields?.sandbox ? readSandbox(fields.sandbox, spot.at('sandbox')) : undefined;
  const judge = spot && fields?.judge != null ? readJudge(fields.judge, spot.at('judge'), file) : undefined;
  const path = fields?.repo && spot && existingPath(fields.repo.path, spot.at('repo', 'path'), 'folder');
  const environment =
    spot && fields?.environment ? readEnvironment(fields.environment, spot.at('environment')) : undefined;
  if (!fields || diagnostics.some(({ severity }) => severity === 'error')) {
    throw new ConfigErrors(inFileOrder(diagnostics));
  }
  return {
    root,
    file,
    outputDir: fields.output_dir == null ? outputDir : resolve(root, fields.output_dir),
    ...(path && { repo: { path, baseRef: fields.repo?.base_ref ?? 'HEAD' } }),
    ...present({ gateway, sandbox, environment, judge }),
    ...(fields.seed != null && { seed: String(fields.seed) }),
    warnings: inFileOrder(diagnostics),
  };
}

/** The default export of an experiment's file, with the parts that have the keys of a YAML file as that file has them. */
export type ExperimentFileContent = {
  value: Record<string, unknown>;
  variants: VariantConfig[];
  sandbox?: Config['sandbox'];
  judge?: StatedJudge;
  warnings: Diagnostic[];
};

/** @throws ConfigErrors with everything that is wrong in the file. */
export async function loadExperimentFile(file: string): Promise<ExperimentFileContent> {
  const diagnostics: Diagnostic[] = [];
  const source = await openModule(file, diagnostics);
  const variants: VariantConfig[] = [];
  const value = source?.value as Record<string, unknown> | undefined;
  const spot = source && createSpot(source, diagnostics);
  const fields = spot && checkMapping(experimentSchema, value, spot);
  const sandbox = spot && fields?.sandbox ? readSandbox(fields.sandbox, spot.at('sandbox')) : undefined;
  const judge = spot && fields?.judge != null ? readJudge(fields.judge, spot.at('judge'), file) : undefined;
  for (const [name, raw] of Object.entries(fields?.variants ?? {})) {
    if (!spot) break;
    const { flags, ...rest } = raw as Record<string, unknown>;
    const variant = await readVariant(name, rest, spot.at('variants', name));
    if (variant) variants.push({ ...variant, ...(flags ? { flags: flags as Record<string, unknown> } : {}) });
  }
  if (!value || diagnostics.some(({ severity }) => severity === 'error')) {
    throw new ConfigErrors(inFileOrder(diagnostics));
  }
  return { value, variants, ...present({ sandbox, judge }), warnings: inFileOrder(diagnostics) };
}
