import type { Diagnostic } from './diagnostic.ts';
import { openModule } from './module-source.ts';
import { openYaml } from './open-yaml.ts';
import type { YamlSource } from './yaml-source.ts';

/** Whether a configuration is code, which has the keys of YAML in its default export. */
export const isModule = (file: string): boolean => /\.[cm]?[jt]s$/.test(file);

/** Opens a configuration in TypeScript, JavaScript or YAML. Adds to `diagnostics` what keeps it from being read. */
export const openSource = (
  file: string,
  diagnostics: Diagnostic[],
  draft?: string,
): Promise<YamlSource | undefined> =>
  isModule(file) ? openModule(file, diagnostics) : openYaml(file, diagnostics, draft);
