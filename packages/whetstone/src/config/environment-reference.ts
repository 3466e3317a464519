const REFERENCE = /\$\{([^}]*)\}?/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Names of the variables that a value takes from the user's environment, as `${NAME}`. */
export function referencedVariables(value: string): string[] {
  return [...value.matchAll(REFERENCE)].map((match) => match[1] ?? '').filter((name) => NAME.test(name));
}

/** What is wrong with the references of a value; never quotes the value, which may be a secret. */
export function referenceProblem(value: string): string | undefined {
  for (const [reference, name] of value.matchAll(REFERENCE)) {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it names what the user wrote
    if (!reference.endsWith('}')) return 'has a ${ without a closing }';
    if (!NAME.test(name ?? '')) return 'has a reference that does not name a variable';
  }
  return value.includes('\0') ? 'contains a NUL character' : undefined;
}
