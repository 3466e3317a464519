import type { ExecutionEnvironment } from '../environment/execution-environment.ts';

/** Whose state it is. An id is not enough: a snapshot may be restored twice in one process. */
export type StateOwner = { environment: ExecutionEnvironment; sessionId: string };

const states = new WeakMap<ExecutionEnvironment, Map<string, Map<object, unknown>>>();

/** What a tool keeps in memory for a session, made at the first use. One tool may serve many sessions. */
export function sessionState<State>(create: () => State): (owner: StateOwner) => State {
  const key = {};
  return ({ environment, sessionId }) => {
    const ofEnvironment = states.get(environment) ?? new Map<string, Map<object, unknown>>();
    states.set(environment, ofEnvironment);
    const ofSession = ofEnvironment.get(sessionId) ?? new Map<object, unknown>();
    ofEnvironment.set(sessionId, ofSession);
    if (!ofSession.has(key)) ofSession.set(key, create());
    // Nothing else has the key.
    return ofSession.get(key) as State;
  };
}

/** To be called when a session closes. */
export function dropSessionState({ environment, sessionId }: StateOwner): void {
  states.get(environment)?.delete(sessionId);
}
