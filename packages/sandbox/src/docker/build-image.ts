import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '@whetstone/errors';
import { type Engine, unavailable } from './engine.ts';
import type { ImageBuild } from './name-of-build.ts';

/** What the engine says of a step. */
type Step = { stream?: string; error?: string };

/**
 * Builds an image, as `docker build` does without its newer builder.
 * @throws WhetstoneError `sandbox-unavailable` with the end of what the build printed
 */
export async function buildImage(
  engine: Engine,
  name: string,
  { context, dockerfile }: ImageBuild,
): Promise<void> {
  const refuse = (reason: string) =>
    unavailable(
      `the image of ${join(context, dockerfile)} was not built: ${reason}`,
      `Try it by hand: docker build -f ${dockerfile} . in ${context}`,
    );
  const progress = await engine
    .buildImage({ context, src: readdirSync(context) }, { t: name, dockerfile, rm: true, forcerm: true })
    .catch((error: unknown) => {
      throw refuse(messageOf(error).trim());
    });
  const printed: string[] = [];
  await new Promise<void>((resolve, reject) => {
    let failure: string | undefined;
    const onStep = ({ stream, error }: Step): void => {
      if (stream) printed.push(stream);
      if (printed.length > 40) printed.shift();
      failure ??= error;
    };
    engine.modem.followProgress(
      progress,
      (error) => {
        const reason = failure ?? (error ? messageOf(error) : undefined);
        if (reason === undefined) resolve();
        else reject(refuse(`${reason.trim()}\n${printed.join('').trim()}`));
      },
      onStep,
    );
  });
}
