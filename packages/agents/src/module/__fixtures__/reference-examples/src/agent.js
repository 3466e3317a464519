/** The user's own code that the in-process example drives. */
export async function classifyIntent(text) {
  return { intent: text.endsWith('?') ? 'question' : 'statement' };
}
