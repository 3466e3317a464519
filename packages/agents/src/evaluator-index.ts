/**
 * `@whetstone/agents/evaluator`: what the evaluator needs to run agents case after case and to explain their rows. Other
 * programs do not need it; it may change in any version.
 */

// The folder of an attempt, and what an agent gets of a variant.

export { type AttemptFolder, openAttemptFolder } from './drive/attempt-folder.ts';
export { enforcedOn } from './drive/enforced-on.ts';
export { foundAbove } from './drive/read-above.ts';
export { createTurnStamp } from './drive/turn-stamp.ts';
export { placeContext, pluginFolders } from './kit/place-context.ts';
export { pluginContents } from './kit/plugin-contents.ts';

// What agents lack, before anything runs.

export { agentProblems } from './agent-problems.ts';

// Keys and secrets, and how an agent's calls reach the gateway.

export { resolveAgentEnv } from './kit/agent-environment.ts';
export { agentSecrets, providerKeys } from './kit/agent-secrets.ts';
export { leadsToGateway } from './kit/leads-to-gateway.ts';
export { learnSecret, watchLearnedSecrets } from './kit/learned-secrets.ts';
export { attachedServer } from './native/attached-server.ts';
export { loginUpstreams, needsKey, usesLogin } from './native/login.ts';
export type { Connection, DrivenAgent } from './native/native-agent.ts';
export { hasOwnSandbox } from './native/own-sandbox.ts';
export { priceWithoutGateway } from './native/price-without-gateway.ts';

// Fixtures: what an agent must not see of them.

export { hiddenByDefault } from './module/shared/prepare-workspace.ts';

// What a row says about usage, and what the loop does when nothing is configured.

export { disagree } from './kit/usage-disagrees.ts';
export { loopDefaults } from './loop/loop-defaults.ts';
