import { expect, test } from 'vitest';
import { readDockerfile } from './dockerfile.ts';
import { needsContainer, readManifest } from './manifest.ts';

test('the files, commands and variables of a Dockerfile are read', () => {
  const text = `# comment
FROM node:24
WORKDIR /app
ENV CI=1 NAME="two words"
COPY --chown=node:node package.json lock.json ./
COPY src/ ./src/
ADD data.txt /app/data/renamed.txt
RUN npm ci && \\
    npm run build
RUN ["/bin/sh","-c","echo a"]
RUN ["node", "it's"]
CMD ["bash"]
`;
  expect(readDockerfile(text)).toEqual({
    workdir: '/app',
    copies: [
      { from: 'package.json', to: '', isFolder: true },
      { from: 'lock.json', to: '', isFolder: true },
      { from: 'src/', to: 'src', isFolder: true },
      { from: 'data.txt', to: 'data/renamed.txt', isFolder: false },
    ],
    runs: ['npm ci &&      npm run build', 'echo a', `'node' 'it'\\''s'`],
    env: { CI: '1', NAME: 'two words' },
  });
});

const APP = 'FROM debian\nWORKDIR /app\n';

test.each([
  ['FROM debian\nCOPY . .', 'its Dockerfile sets no WORKDIR'],
  [`${APP}FROM node`, 'its Dockerfile has several stages: FROM node'],
  [`${APP}RUN apt-get update`, 'its Dockerfile changes the system: RUN apt-get update'],
  [`${APP}RUN echo a > /etc/a`, 'its Dockerfile changes the system'],
  [`${APP}RUN make -C /app/lib`, 'depends on the path of the container: make -C /app/lib'],
  [`${APP}RUN --mount=type=cache,target=/c npm ci`, 'its Dockerfile runs a command with mounts'],
  [`${APP}RUN cat <<EOF\nx\nEOF`, 'its Dockerfile has a here-document'],
  [`${APP}COPY --from=build /a .`, 'its Dockerfile copies in a way that is not read'],
  [`${APP}COPY *.json .`, 'its Dockerfile copies in a way that is not read'],
  [`${APP}COPY a /etc/a`, 'its Dockerfile copies a to /etc/a, which is outside of /app'],
  [`${APP}USER node`, 'its Dockerfile has an instruction that a workspace cannot have: USER node'],
  [`${APP}ENV PATH=/x:$PATH`, 'its Dockerfile sets variables in a way that is not read'],
])('a Dockerfile that makes more than files is refused: %j', (text, reason) => {
  expect(readDockerfile(text)).toContain(reason);
});

test.each([
  ['[[steps]]\nname = "a"', 'it has several steps'],
  ['[environment]\nos = "windows"', 'it needs windows'],
  ['[environment]\ngpus = 1', 'it needs a GPU'],
  ['[[environment.mcp_servers]]\nname = "a"', 'its environment has MCP servers'],
  ['[agent]\nuser = "ada"', 'it names a user'],
  ['[verifier]\nenvironment_mode = "separate"', 'its verifier has an environment of its own'],
  [`[verifier]\nenv = { KEY = "\${KEY}" }`, 'it takes variables from the machine'],
  ['version = "1.0"\n[agent]\nuser = "root"\n[environment]\ncpus = 1\nmcp_servers = []', undefined],
])('what only a container can do is refused: %j', (text, reason) => {
  expect(needsContainer(readManifest(text))).toBe(reason);
});
