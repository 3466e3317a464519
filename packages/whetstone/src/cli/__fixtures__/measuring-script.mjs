import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the runs are that the agent reads: the test writes it beside this file. */
const { config } = JSON.parse(readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'measured.json'), 'utf8'));

/** A model that lists the runs, compares the arms of the newest, reads the run, and then the case that failed. */
export default {
  name: 'measuring',
  play({ text, tools }) {
    const found = (pattern) => text.match(pattern)?.[1];
    const run = found(/\d{8}-\d{6}-[\w-]+/g)?.[0] ?? found(/(\d{8}-\d{6}[\w-]*)/);
    const failed = found(/\\*"case_id\\*":\s*\\*"([\w-]*without[\w-]*)/);
    const place = join(dirname(config), 'runs', run ?? '');
    const next = () => {
      if (run === undefined) return ['list_runs', { config }];
      if (!text.includes('tasks_that_differ')) return ['compare', { a: 'without', b: 'with', run: place, config }];
      if (failed === undefined) return ['read_run', { run: place, config }];
      if (!/grep[^\n]*done/.test(text)) return ['read_case', { run: place, case_id: failed }];
      return undefined;
    };
    const [name, input] = next() ?? [];
    if (name === undefined) return { text: `The variant is better: ${failed} failed without it.` };
    const tool = tools.find(
      (one) => one.name === `mcp__whetstone__${name}` || (one.namespace === 'mcp__whetstone' && one.name === name),
    );
    if (tool) return { calls: [{ tool: 'native', name: tool.name, input }] };
    if (tools.some((one) => one.name === 'ToolSearch'))
      return { calls: [{ tool: 'native', name: 'ToolSearch', input: { query: `select:mcp__whetstone__${name}`, max_results: 1 } }] };
    return { text: `There is no tool ${name}.` };
  },
};
