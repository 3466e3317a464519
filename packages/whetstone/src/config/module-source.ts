import { pathToFileURL } from 'node:url';
import { messageOf } from '@whetstone/errors';
import { type Node, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import type { Diagnostic } from './diagnostic.ts';
import { literalAt, literalsIn } from './object-literal.ts';
import { readSourceText, type SourceText, unplaced } from './source-text.ts';
import type { YamlSource } from './yaml-source.ts';

/**
 * Loads a TypeScript or JavaScript file whose default export is what a YAML file would say, so that the same code checks
 * both: each key and value has its place in the file, as far as it stands there as a literal. Adds to `diagnostics` what
 * keeps it from being loaded.
 */
export async function openModule(file: string, diagnostics: Diagnostic[]): Promise<YamlSource | undefined> {
  const read = await readSourceText(file);
  const fail = (message: string): undefined => {
    diagnostics.push(unplaced(file, { path: '', severity: 'error', message }));
  };
  if (read.kind === 'unreadable') return fail(`this file ${read.reason}`);
  let loaded: { default?: unknown };
  try {
    loaded = await import(pathToFileURL(file).href);
  } catch (error) {
    return fail(`this file cannot be loaded: ${messageOf(error)}`);
  }
  if (typeof loaded.default !== 'object' || loaded.default === null) {
    return fail('this file has no default export that is an object');
  }
  return moduleSource(read.source, loaded.default);
}

/** A value that is in no file of its own, for the code that checks files: nothing in it has a place. */
export const valueSource = (file: string, value: object): YamlSource =>
  moduleSource({ file, text: '' }, value);

const EXPORTED = /export\s+default\s+(?:\w+\s*\(\s*)?(?=\{)/;

function moduleSource(source: SourceText, value: object): YamlSource {
  const exported = EXPORTED.exec(source.text);
  const offset = exported ? exported.index + exported[0].length : undefined;
  return { ...source, value, root: nodeOf(source.text, value, offset), resolve: (node) => node };
}

/** The nodes of a value whose text begins at `offset`. Without one, nothing below has a place. */
function nodeOf(text: string, value: unknown, offset: number | undefined): Node {
  if (Array.isArray(value)) {
    const list = new YAMLSeq();
    const places = literalsIn(text, offset);
    for (const [index, item] of value.entries()) list.items.push(nodeOf(text, item, places[index]?.value));
    return placed(list, text, offset);
  }
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    const map = new YAMLMap();
    const places = new Map(literalsIn(text, offset).map((place) => [place.key, place]));
    for (const [name, child] of Object.entries(value)) {
      const place = places.get(name);
      const key = placed(new Scalar(name), text, place?.offset);
      map.items.push(new Pair(key, nodeOf(text, child, place?.value)));
    }
    return placed(map, text, offset);
  }
  return placed(new Scalar(value), text, offset);
}

function placed<Kind extends Node>(node: Kind, text: string, offset: number | undefined): Kind {
  if (offset === undefined) return node;
  const end = literalAt(text, offset);
  node.range = [offset, end, end];
  return node;
}
