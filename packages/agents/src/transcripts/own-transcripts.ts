import { glob } from 'node:fs/promises';
import { placeOf } from '../native/login.ts';
import type { NativeAgent } from '../native/native-agent.ts';
import { nativeAgents } from '../native/native-agents.ts';

/**
 * The transcripts that released agents have kept for the user of this machine, such as `~/.claude/projects/…/*.jsonl`:
 * absolute paths, each once, sorted by agent. Folders that are not there have none.
 *
 * @param environment Where `HOME` and variables such as `CODEX_HOME` move them. Default: that of this process.
 */
export async function* ownTranscripts(
  environment: NodeJS.ProcessEnv = process.env,
): AsyncGenerator<string, void, undefined> {
  const seen = new Set<string>();
  for (const { transcript, facts } of Object.values<NativeAgent>(nativeAgents)) {
    if (transcript?.kind !== 'files') continue;
    const [folder = ''] = transcript.pattern.split('/', 1);
    const movedBy = facts.login?.file?.movedBy;
    const moved = movedBy?.folder === folder ? { movedBy } : {};
    const place = placeOf({ path: folder, ...moved }, environment);
    for await (const path of glob(transcript.pattern.slice(folder.length + 1), { cwd: place })) {
      const file = `${place}/${path}`;
      if (!seen.has(file)) yield file;
      seen.add(file);
    }
  }
}
