import path from 'node:path';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';

type Node = { kind: 'file'; content: Uint8Array; mode: number; modifiedMs: number } | { kind: 'directory' };

/** An environment of a host's own: files in memory, and no commands. */
export function createMemoryEnvironment(): ExecutionEnvironment {
  const nodes = new Map<string, Node>([
    ['/', { kind: 'directory' }],
    ['/work', { kind: 'directory' }],
  ]);
  const at = (target: string) => path.posix.resolve('/work', target);
  const fail = (code: string, target: string): never => {
    throw Object.assign(new Error(`${code}: ${target}`), { code });
  };
  const existing = (target: string) => nodes.get(at(target)) ?? fail('ENOENT', target);
  const makeFolder = (folder: string) => {
    const node = nodes.get(folder);
    if (node?.kind === 'file') fail('ENOTDIR', folder);
    if (node) return;
    makeFolder(path.posix.dirname(folder));
    nodes.set(folder, { kind: 'directory' });
  };
  return {
    workingDirectory: () => '/work',
    platform: () => 'wasm',
    osVersion: () => 'memory',
    readBytes: async (target) => {
      const node = existing(target);
      return node.kind === 'file' ? node.content.slice() : fail('EISDIR', target);
    },
    writeBytes: async (target, content, { mode = 0o644 } = {}) => {
      if (nodes.get(at(target))?.kind === 'directory') fail('EISDIR', target);
      makeFolder(path.posix.dirname(at(target)));
      nodes.set(at(target), { kind: 'file', content: content.slice(), mode, modifiedMs: Date.now() });
    },
    remove: async (target) => {
      if (existing(target).kind === 'directory') fail('EISDIR', target);
      nodes.delete(at(target));
    },
    rename: async (from, to) => {
      const node = existing(from);
      makeFolder(path.posix.dirname(at(to)));
      nodes.delete(at(from));
      nodes.set(at(to), node);
    },
    stat: async (target) => {
      const node = nodes.get(at(target));
      if (node?.kind !== 'file') return node && { kind: 'directory', size: 0, modifiedMs: 0 };
      return { kind: 'file', size: node.content.length, modifiedMs: node.modifiedMs, mode: node.mode };
    },
    mkdirp: async (target) => makeFolder(at(target)),
    realpath: async (target) => {
      existing(target);
      return at(target);
    },
    listDirectory: async (target) => {
      if (existing(target).kind === 'file') fail('ENOTDIR', target);
      return [...nodes]
        .filter(([name]) => name !== '/' && path.posix.dirname(name) === at(target))
        .map(([name, { kind }]) => ({ name: path.posix.basename(name), kind }));
    },
    exec: () => Promise.reject(new Error('there are no commands here')),
  };
}
