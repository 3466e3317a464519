import { type DrivenAgentKind, drivenAgents } from './native-agents.ts';

/** Every plugin manifest of every agent, each path once; `package.json` last, because npm packages have one too. */
export const manifestPaths: readonly string[] = [
  ...new Set(
    Object.values(drivenAgents).flatMap(({ facts }) =>
      (facts.plugins?.manifests ?? []).map(({ path }) => path),
    ),
  ),
].sort((a, b) => Number(a === 'package.json') - Number(b === 'package.json'));

/** The manifests of an agent in words: `package.json (with pi)`, joined with `or`. */
export const manifestsOf = (kind: DrivenAgentKind): string =>
  (drivenAgents[kind].facts.plugins?.manifests ?? [])
    .map(({ path, holds }) => (holds ? `${path} (with ${holds.what})` : path))
    .join(' or ');
