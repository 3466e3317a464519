/** A task whose tests see what another process answers. `cases`: arguments and the answer, as JSON. */
export type GoodTask = { name: string; solved: string; cases: [unknown[], unknown][] };

export const goodTasks: readonly GoodTask[] = [
  {
    name: 'clamp',
    solved: `export function clamp(value, low, high) {
  if (value < low) {
    return low;
  }
  if (value > high) {
    return high;
  }
  return value;
}
`,
    cases: [
      [[5, 0, 10], 5],
      [[-1, 0, 10], 0],
      [[11, 0, 10], 10],
      [[0, 0, 10], 0],
      [[10, 0, 10], 10],
      [[7, 6, 8], 7],
    ],
  },
  {
    name: 'median',
    solved: `export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length % 2 === 1) {
    return sorted[middle];
  } else {
    return (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
`,
    cases: [
      [[[3, 1, 2]], 2],
      [[[4, 1, 3, 2]], 2.5],
      [[[7]], 7],
      [[[10, 2]], 6],
      [[[9, 100, 20]], 20],
      [[[5, 5, 1, 1, 30]], 5],
      [[[8, 0, 2, 4]], 3],
    ],
  },
  {
    name: 'roman',
    solved: `export function roman(number) {
  const steps = [[10, 'X'], [9, 'IX'], [5, 'V'], [4, 'IV'], [1, 'I']];
  let rest = number;
  let text = '';
  for (const [value, letters] of steps) {
    while (rest >= value) {
      text += letters;
      rest -= value;
    }
  }
  return text;
}
`,
    cases: [
      [[1], 'I'],
      [[4], 'IV'],
      [[5], 'V'],
      [[8], 'VIII'],
      [[9], 'IX'],
      [[10], 'X'],
      [[24], 'XXIV'],
      [[39], 'XXXIX'],
    ],
  },
  {
    name: 'initials',
    solved: `export function initials(name) {
  const words = name.split(' ').filter((word) => word !== '');
  const letters = words.map((word) => word[0].toUpperCase());
  return letters.join('.') + '.';
}
`,
    cases: [
      [['ada lovelace'], 'A.L.'],
      [['grace  brewster hopper'], 'G.B.H.'],
      [['plato'], 'P.'],
      [[' alan turing '], 'A.T.'],
      [['x y z'], 'X.Y.Z.'],
      [['Edsger Dijkstra'], 'E.D.'],
    ],
  },
  {
    name: 'duration',
    solved: `export function duration(seconds) {
  const minutes = Math.floor(seconds / 60);
  const rest = seconds % 60;
  if (minutes === 0) {
    return \`\${rest}s\`;
  } else {
    return \`\${minutes}m\${rest}s\`;
  }
}
`,
    cases: [
      [[5], '5s'],
      [[59], '59s'],
      [[60], '1m0s'],
      [[61], '1m1s'],
      [[125], '2m5s'],
      [[3599], '59m59s'],
    ],
  },
  {
    name: 'tally',
    solved: `export function tally(words) {
  const counts = {};
  for (const word of words) {
    const known = counts[word] ?? 0;
    counts[word] = known + 1;
  }
  return counts;
}
`,
    cases: [
      [[['a', 'b', 'a']], { a: 2, b: 1 }],
      [[[]], {}],
      [[['x']], { x: 1 }],
      [[['x', 'x', 'x']], { x: 3 }],
      [[['p', 'q']], { p: 1, q: 1 }],
      [[['k', 'l', 'l', 'm']], { k: 1, l: 2, m: 1 }],
    ],
  },
  {
    name: 'ranges',
    solved: `export function ranges(text) {
  const found = [];
  for (const part of text.split(',')) {
    const [first, last] = part.split('-');
    const end = Number(last ?? first);
    for (let at = Number(first); at <= end; at += 1) {
      found.push(at);
    }
  }
  return found;
}
`,
    cases: [
      [['1-3'], [1, 2, 3]],
      [['5'], [5]],
      [['1,3'], [1, 3]],
      [['1-2,7-9'], [1, 2, 7, 8, 9]],
      [['4-4'], [4]],
      [['10-12,1'], [10, 11, 12, 1]],
    ],
  },
  {
    name: 'overlap',
    solved: `export function overlap(a, b) {
  const start = Math.max(a[0], b[0]);
  const end = Math.min(a[1], b[1]);
  return end > start ? end - start : 0;
}
`,
    cases: [
      [[[0, 4], [2, 6]], 2],
      [[[0, 1], [2, 3]], 0],
      [[[0, 10], [3, 5]], 2],
      [[[5, 9], [0, 6]], 1],
      [[[1, 2], [2, 3]], 0],
      [[[7, 9], [7, 9]], 2],
    ],
  },
];

/** Hidden tests of such a task: another process answers all cases, and each is a test. */
export const goodTest = ({ name, cases }: GoodTask): string => `import { deepEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
const cases = ${JSON.stringify(cases)};
const code = \`import { ${name} } from './src/${name}.js'; console.log(JSON.stringify(\${JSON.stringify(cases.map(([given]) => given))}.map((given) => ${name}(...given))));\`;
let answers = [];
try {
  answers = JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
} catch {}
for (const [index, [given, answer]] of cases.entries())
  test(JSON.stringify(given), () => deepEqual(answers[index], answer));
`;

export const notWritten = (name: string): string =>
  `export function ${name}() {\n  throw new Error('${name} is not written yet');\n}\n`;
