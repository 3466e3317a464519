/**
 * An agent without a model: it reads its prompt from standard input to the end and plays the scene that the prompt names.
 * Arguments: a format, and whatever its adapter passes.
 */
import { readFileSync } from 'node:fs';
import { askClient, closeAppServer, openAppServer } from './fake-app-server.ts';
import { playScene, Question } from './play-scene.ts';
import { printNow } from './print-now.ts';

const [format = 'text', ...given] = process.argv.slice(2);
// Two kinds run the same program.
const isServer = given.includes('app-server');
const formatName = isServer ? 'codex-app-server' : format;
const server = isServer ? openAppServer() : undefined;
const args = [...given, ...(server?.args ?? [])];
const promptFile = args[args.indexOf('--prompt-file') + 1];
const prompt =
  server?.prompt ?? readFileSync(args.includes('--prompt-file') && promptFile ? promptFile : 0, 'utf8');
// At the end of a pipe or of /dev/null, a second read gives nothing; at a terminal it would wait.
const rest = server ? {} : { standardInput: readFileSync(0, 'utf8') };

for await (const printed of playScene({ formatName, args, prompt, ...rest })) {
  if (!(printed instanceof Question)) printNow(printed);
  else if (server) askClient(printed.content);
}
if (server) closeAppServer();
