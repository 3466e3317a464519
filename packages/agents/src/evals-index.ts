/**
 * `@whetstone/agents/evals`: what the code of an eval needs of this package, without the agents themselves. Other
 * programs do not need it; it may change in any version.
 */
export { requireEnv } from './kit/require-env.ts';
export { deriveObservability, type Observability } from './module/shared/observability.ts';
export { loadTypescriptSources } from './module/typescript-sources.ts';
