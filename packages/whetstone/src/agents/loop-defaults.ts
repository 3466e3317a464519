/** What a profile of our loop uses where nothing else is said. */
export const loopDefaults = {
  openai: { model: 'gpt-5.5', apiKeyEnv: 'OPENAI_API_KEY', baseUrlEnv: 'OPENAI_BASE_URL' },
  anthropic: { model: 'claude-opus-4-8', apiKeyEnv: 'ANTHROPIC_API_KEY', baseUrlEnv: 'ANTHROPIC_BASE_URL' },
} as const;
