import type { Diagnostic } from './diagnostic.ts';
import { readSourceText, unplaced } from './source-text.ts';
import { parseYaml, type YamlSource } from './yaml-source.ts';

/**
 * Reads a YAML file that is not empty. Adds what is wrong with it to `diagnostics`. `draft`: a text that stands in place of
 * what the file has.
 */
export async function openYaml(
  file: string,
  diagnostics: Diagnostic[],
  draft?: string,
): Promise<YamlSource | undefined> {
  const read =
    draft === undefined
      ? await readSourceText(file)
      : { kind: 'text' as const, source: { file, text: draft } };
  if (read.kind === 'unreadable') {
    diagnostics.push(unplaced(file, { path: '', severity: 'error', message: `this file ${read.reason}` }));
    return undefined;
  }
  const parsed = parseYaml(read.source);
  diagnostics.push(...parsed.diagnostics);
  if (parsed.yaml.value === null) {
    diagnostics.push(unplaced(file, { path: '', severity: 'error', message: 'this file is empty' }));
    return undefined;
  }
  return parsed.yaml;
}
