import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { hasBubblewrap } from '../../../sandbox/src/__fixtures__/has-bubblewrap.ts';
import { makeProgram, makeProject, type Project } from './__fixtures__/project.ts';
import { expectSealedCase } from './__fixtures__/sealed-case.ts';

let project: Project;
afterEach(() => project?.[Symbol.dispose]());

test.runIf(hasBubblewrap)(
  'a sealed case has its tree, its environment, its services and the gateway, and nothing else',
  { tags: 'bubblewrap' },
  async () => {
    await expectSealedCase(
      { sandbox: { provider: 'bubblewrap' }, provider: 'bubblewrap', level: 1 },
      (made) => {
        project = made;
      },
    );
  },
);

test.runIf(hasBubblewrap)(
  'a program that the PATH has as a link to a hidden place is named with both paths, and readable shows it',
  { tags: 'bubblewrap' },
  async () => {
    // Its own programs lie where a sealed agent does not see them.
    const agents = { idle: { kind: 'custom', command: 'true' } };
    project = makeProject({
      config: { agents, sandbox: 'bubblewrap' },
      tasks: [
        { id: 'checked', prompt: 'x', validation: { commands: ['far-tool'] } },
        { id: 'equipped', prompt: 'x', setup: ['far-tool'], validation: { commands: ['true'] } },
        { id: 'absent', prompt: 'x', validation: { commands: ['no-such-tool'] } },
      ],
    });
    const [link, target] = [join(project.root, 'bin/far-tool'), join(project.root, 'far/real-tool')];
    makeProgram(target, 'exit 0');
    mkdirSync(join(project.root, 'bin'));
    symlinkSync(target, link);
    const PATH = `${join(project.root, 'bin')}:${process.env.PATH}`;
    await project.whetstone(['run'], { PATH });
    const of = (id: string) => project.latest().rows.find((row) => row.task_id === id);
    const said = `because ${link} is a link to ${target}, which the sandbox hides`;
    for (const id of ['checked', 'equipped']) expect(of(id)?.evidence).toContain(said);
    expect(of('checked')?.evidence).toContain('under `sandbox.readable`): the command was not found');
    expect(of('absent')?.evidence).not.toContain('link');

    project.writeConfig({ agents, sandbox: { provider: 'bubblewrap', readable: [target] } });
    await project.whetstone(['run'], { PATH });
    for (const id of ['checked', 'equipped']) expect(of(id)?.outcome).toBe('passed');
  },
);
