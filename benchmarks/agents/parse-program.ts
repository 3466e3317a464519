/** Reads a recorded stream, over and over, until so many bytes have been read. Arguments: kind, file, bytes. */
import { readFileSync } from 'node:fs';
import { readJsonLines } from '../../packages/agents/src/kit/read-json-lines.ts';
import type { CliAgentKind } from '../../packages/agents/src/native/kinds.ts';
import { mappers } from '../../packages/agents/src/native/mappers.ts';

const [kind, file = '', bytes] = process.argv.slice(2) as [CliAgentKind, string, string];
const stream = readFileSync(file);
const reader = readJsonLines(mappers[kind].stream({ workdir: '/workspace' }), () => {});
for (let read = 0; read < Number(bytes); read += stream.length) {
  // As a pipe gives it.
  for (let at = 0; at < stream.length; at += 65_536) reader.push(stream.subarray(at, at + 65_536));
}
reader.end();
