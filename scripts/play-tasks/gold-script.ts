/** What the model of an agent is asked, and the patch that it answers with; bytes as a latin1 string. */
export type GoldTask = { prompt: string; patch: string };

/** In base64 digits. A program takes no argument of more than 128 KiB, and an agent may show a command to one. */
const PART = 48_000;

/**
 * A module for `gateway.script` that plays the patch of the task whose prompt the agent was given. Of several tasks with one
 * prompt it plays the first patch that fits the tree.
 */
export function goldScript(tasks: readonly GoldTask[]): string {
  const longestFirst = tasks.toSorted((a, b) => b.prompt.length - a.prompt.length);
  const played = longestFirst.map(({ prompt }) => ({
    prompt: prompt.trim(),
    commands: commandsFor(tasks.filter((one) => one.prompt === prompt).map(({ patch }) => patch)),
  }));
  return `const tasks = ${JSON.stringify(played)};
export default {
  name: 'gold',
  play({ step, userText }) {
    const task = tasks.find(({ prompt }) => userText.includes(prompt));
    if (!task) return { text: 'Which task is it?' };
    const command = task.commands[step];
    return command === undefined ? { text: 'Done.' } : { calls: [{ tool: 'shell', command }] };
  },
};
`;
}

/** They write the patches outside of the tree, in parts that a command can hold, and apply the first that fits. */
function commandsFor(patches: readonly string[]): string[] {
  const folder = '"$HOME/.gold"';
  const parts = patches.flatMap((patch, index) => {
    const digits = Buffer.from(patch, 'latin1').toString('base64');
    const pieces = digits.match(new RegExp(`.{1,${PART}}`, 'g')) ?? [''];
    return pieces.map((piece) => `mkdir -p ${folder} && printf %s ${piece} >> ${folder}/${index}`);
  });
  const apply = `for each in ${folder}/*; do
  base64 -d < "$each" > "$each.patch"
  git apply --binary --whitespace=nowarn "$each.patch" && break
done; rm -r ${folder}`;
  return [...parts, apply];
}
