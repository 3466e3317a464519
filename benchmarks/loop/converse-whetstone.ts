import { tmpdir } from 'node:os';
import { createOpenAiProfile, defineTool, LocalExecutionEnvironment, Session } from '@whetstone/loop';
import { createFakeModel } from './fake-model.ts';
import { type Converse, createLookUp, LOOK_UP, QUESTION } from './work.ts';

/** Without a listener, like the peers. */
export const converse: Converse = (rounds) => work(rounds, () => {});

/** A listener gets every event: five per round. */
export const converseWithListener: Converse = async (rounds) => {
  let events = 0;
  const session = await work(rounds, (session) => {
    session.on(() => {
      events += 1;
    });
  });
  if (events < rounds) throw new Error(`the listener got ${events} events in ${rounds} rounds`);
  return session;
};

/** A session with the tools and limits of a profile, in a folder without Git. */
async function work(rounds: number, listen: (session: Session) => void): Promise<Session> {
  const lookUp = createLookUp();
  const profile = createOpenAiProfile({ model: 'fake-1', contextWindowSize: Number.MAX_SAFE_INTEGER });
  profile.toolRegistry.register(defineTool({ definition: LOOK_UP, executor: lookUp.run }));
  const session = new Session({
    profile,
    environment: new LocalExecutionEnvironment({ workingDirectory: tmpdir() }),
    model: createFakeModel(rounds),
    config: { maxToolRoundsPerInput: 0 },
  });
  listen(session);
  const { reason } = await session.submit(QUESTION);
  if (reason !== 'completed') throw new Error(`the submit ended with ${reason}`);
  lookUp.check(rounds);
  return session;
}
