import type { Diagnostic } from './diagnostic.ts';
import { isModule } from './is-module.ts';
import { openModule } from './module-source.ts';
import { openYaml } from './open-yaml.ts';
import type { YamlSource } from './yaml-source.ts';

/** Opens a configuration in TypeScript, JavaScript or YAML. Adds to `diagnostics` what keeps it from being read. */
export const openSource = (
  file: string,
  diagnostics: Diagnostic[],
  draft?: string,
): Promise<YamlSource | undefined> =>
  isModule(file) ? openModule(file, diagnostics) : openYaml(file, diagnostics, draft);
