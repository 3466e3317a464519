/**
 * One turn with an SDK, as its users write it. Arguments: its kind, its module, the model. The prompt is on standard
 * input, the workspace is the current folder.
 */
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

const [kind = '', module = '', model = ''] = process.argv.slice(2);
const prompt = await text(process.stdin);
const sdk = await import(pathToFileURL(module).href);

if (kind === 'codex-sdk') {
  const thread = new sdk.Codex().startThread({
    model,
    workingDirectory: process.cwd(),
    skipGitRepoCheck: true,
    sandboxMode: 'workspace-write',
  });
  await thread.run(prompt);
} else if (kind === 'opencode-sdk') {
  const config = JSON.parse(process.env.OPENCODE_CONFIG_CONTENT ?? '{}');
  const { client, server } = await sdk.createOpencode({
    port: 0,
    timeout: 60_000,
    config: { ...config, permission: 'allow' },
  });
  const session = await client.session.create({ title: 'task' });
  await client.session.prompt({
    sessionID: session.data.id,
    model: { providerID: 'gateway', modelID: model },
    parts: [{ type: 'text', text: prompt }],
  });
  server.close();
} else {
  const options = { model, permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true };
  for await (const message of sdk.query({ prompt, options })) if (message.type === 'result') break;
}
