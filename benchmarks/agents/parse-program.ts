/** Reads a recorded stream, over and over, until so many bytes have been read. Arguments: kind, file, bytes. */
import { readFileSync } from 'node:fs';
import { drivenAgents } from '@whetstone/agents/config';
import { readJsonLines } from '../../packages/agents/src/kit/read-json-lines.ts';
import type { DrivenAgentKind } from '../../packages/agents/src/native/native-agents.ts';

const [kind, file = '', bytes] = process.argv.slice(2) as [DrivenAgentKind, string, string];
const stream = readFileSync(file);
const reader = readJsonLines(drivenAgents[kind].stream.open({ workdir: '/workspace' }), () => {});
for (let read = 0; read < Number(bytes); read += stream.length) {
  // As a pipe gives it.
  for (let at = 0; at < stream.length; at += 65_536) reader.push(stream.subarray(at, at + 65_536));
}
reader.end();
