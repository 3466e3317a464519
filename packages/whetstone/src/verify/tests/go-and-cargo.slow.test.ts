import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createMask, createProcessSandboxProvider } from '@whetstone/sandbox';
import { expect, test } from 'vitest';
import { makeTempDir, type TreeSpec, writeTree } from '../../workspace/__fixtures__/test-repo.ts';
import { runTests, type Surroundings } from './run-tests.ts';

const version = String(spawnSync('cargo', ['--version']).stdout ?? '').match(/^cargo 1\.(\d+)/)?.[1];
/** From 2024 on, one program has all tests of the documentation. */
const EDITION = Number(version) < 85 ? '2021' : '2024';

const DOCUMENTED = `/// \`\`\`
/// assert!(std::env::var("SEEN").is_err());
/// unsafe { std::env::set_var("SEEN", "1") };
/// \`\`\`
`;

/** A crate whose tests see what another order must not change: other harnesses, documentation, and compilers that tests start. */
const crate: TreeSpec = {
  'Cargo.toml': `[package]
name = "seen"
version = "0.1.0"
edition = "${EDITION}"

[[test]]
name = "custom"
harness = false
`,
  '.cargo/config.toml': '[env]\nRUST_TEST_THREADS = "1"\n',
  'src/lib.rs': `${DOCUMENTED}pub fn one() {}\n\n${DOCUMENTED}pub fn two() {}\n`,
  'tests/order.rs': `use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

static SEEN: AtomicUsize = AtomicUsize::new(0);

#[test]
fn first() {
    SEEN.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn second() {
    assert_eq!(SEEN.load(Ordering::SeqCst), 1);
}

#[test]
fn third_is_stable() {
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/nightly.rs");
    std::fs::write(file, "#![feature(test)]\\n").unwrap();
    let output = Command::new("rustc")
        .args(["--crate-type=lib", "--emit=metadata", "--out-dir", env!("CARGO_TARGET_TMPDIR"), file])
        .output()
        .unwrap();
    assert!(!output.status.success());
}
`,
  'tests/custom.rs': `fn main() {
    let given = std::env::args().skip(1).collect::<Vec<_>>();
    assert!(given.is_empty(), "{given:?}");
    println!("running 1 test\\ntest custom ... ok\\n\\ntest result: ok.");
}
`,
};

/** Runs the tests of the crate in a new tree. */
async function runIn(files: TreeSpec, surroundings: Surroundings) {
  const folder = makeTempDir();
  const tree = join(folder, 'repo');
  mkdirSync(tree);
  writeTree(tree, files);
  const provider = await createProcessSandboxProvider({ scratch: folder });
  const { PATH = '', HOME = '', RUSTUP_HOME = join(HOME, '.rustup') } = process.env;
  const sandbox = await provider.start({ workdir: tree, env: { PATH, RUSTUP_HOME } });
  try {
    const { report } = await runTests(
      sandbox,
      { runner: 'cargo-test', files: ['tests/order.rs'], options: [], mustPass: [] },
      {
        ...{ tree, directory: join(folder, 'logs'), mask: createMask([]), surroundings },
        signal: AbortSignal.timeout(240_000),
      },
    );
    const { tests, problems, hasUsualOrder } = report;
    return { tests: Object.fromEntries(tests), problems, hasUsualOrder };
  } finally {
    await sandbox.stop();
    rmSync(folder, { recursive: true });
  }
}

test.skipIf(version === undefined)(
  'cargo: another order changes the order of the tests, and nothing else',
  { timeout: 300_000, tags: ['cargo'] },
  async () => {
    const usual = await runIn(crate, {});
    const names = ['custom', 'first', 'second', 'src/lib.rs - one (line 1)', 'src/lib.rs - two (line 7)'];
    expect(usual).toEqual({
      tests: Object.fromEntries([...names, 'third_is_stable'].map((name) => [name, 'passed'])),
      problems: [],
    });
    expect(await runIn(crate, { order: true })).toEqual({
      ...usual,
      tests: { ...usual.tests, second: 'failed' },
    });
  },
);

test.skipIf(version === undefined)(
  'cargo: tests that the project starts in its own way keep their order, and the report says so',
  { timeout: 300_000, tags: ['cargo'] },
  async () => {
    const config = '[target."cfg(all())"]\nrunner = ["env", "RUST_TEST_THREADS=1"]\n';
    const own = await runIn({ ...crate, '.cargo/config.toml': config }, { order: true });
    expect(own).toMatchObject({ tests: { second: 'passed' }, problems: [], hasUsualOrder: true });
  },
);
