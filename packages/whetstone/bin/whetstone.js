#!/usr/bin/env node
// Plain JavaScript that any Node can parse, so that an old one gets a sentence and not a stack trace.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `whetstone needs Node 22.18 or newer, and this is Node ${process.versions.node}. Install a current Node (https://nodejs.org), then run it again.\n`,
  );
  process.exit(2);
}

// Node makes its folder there, and never ends where that cannot be made.
if (existsSync(tmpdir())) module.enableCompileCache?.();
const source = new URL('../src/cli/main.ts', import.meta.url);
const { main } = await import(
  existsSync(source) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href
);
process.exitCode = await main(process.argv.slice(2));
// An agent in the user's own code may have left something open, for example where it was stopped.
for (const stream of [process.stdout, process.stderr]) await new Promise((done) => stream.write('', done));
setTimeout(() => process.exit(), 500).unref();
