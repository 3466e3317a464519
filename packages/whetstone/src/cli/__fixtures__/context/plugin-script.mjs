/** Has the cups counted where an agent offers it, then loads the skill of the plugin; each agent has names of its own. */
export default {
  name: 'plugin',
  play({ step, text, tools }) {
    const call = (name, input) => ({ calls: [{ tool: 'native', name, input }] });
    const offers = (name) => tools.some((tool) => tool.name === name);
    if (step < 3 && !text.includes('There are seven cups.')) {
      const count = tools.find(({ name }) => name.endsWith('count_cups'));
      if (count) return call(count.name, {});
      const [deferred] = /mcp__\S*count_cups/.exec(text) ?? [];
      if (deferred && offers('tool_call')) return call('tool_call', { name: deferred, arguments: {} });
      if (deferred && offers('ToolSearch')) return call('ToolSearch', { query: `select:${deferred}`, max_results: 1 });
    }
    if (step < 5 && !text.includes('exactly 30 centimetres')) {
      const loader = tools.find(({ name }) => ['skill', 'Skill', 'activate_skill'].includes(name));
      // Codex writes an abbreviation of its own for the folder.
      if (!loader) return { calls: [{ tool: 'shell', command: 'cat $(find "$HOME" -path "*/pour-tea/SKILL.md")' }] };
      const skill = text.includes('tea-house:pour-tea') ? 'tea-house:pour-tea' : 'pour-tea';
      return call(loader.name, { [loader.parameters.properties.skill ? 'skill' : 'name']: skill });
    }
    return { text: 'Done.' };
  },
};
