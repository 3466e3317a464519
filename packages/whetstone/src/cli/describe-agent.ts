import type { AgentHere } from '@whetstone/agents/install';

/** Where an agent is on this machine, and how it can sign in, in a few words. */
export function describeAgent({ onPath, installed, key, login }: AgentHere): string {
  const place =
    onPath !== null ? 'on the PATH' : installed.length > 0 ? `installed ${installed[0]}` : 'not here';
  return [
    place,
    `${key.variable} is ${key.isSet ? 'set' : 'not set'}`,
    ...(login === null ? [] : ['its own login was found']),
  ].join(', ');
}
