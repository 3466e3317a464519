/** A repository whose history has many small commits with tests that are quick. */
export type PublicRepository = {
  /** On GitHub, `owner/name`. */
  name: string;
  commit: string;
  /** How many tasks are made of it at most. */
  limit: number;
  /** Whether its tests need what its `package.json` names, and further packages. */
  install?: true | string[];
  /** Installs what else its tests need. */
  prepare?: string;
  paths?: string[];
  /** Default: `replay`. */
  method?: 'replay' | 'revert' | 'remove';
};

/** A Python that finds the modules in `src`, and has these packages. */
const python = (...packages: string[]): string =>
  [
    'python3 -m venv --system-site-packages --without-pip .venv',
    'cd .venv/lib/python3*/site-packages',
    'echo ../../../../src > src.pth',
    ...(packages.length > 0 ? [`python3 -m pip install --quiet --target . ${packages.join(' ')}`] : []),
  ].join(' && ');

export const publicRepositories: readonly PublicRepository[] = [
  {
    name: 'tkem/cachetools',
    commit: '28d4506f2a49d781ffbcecb095fa7aba5bb80aff',
    limit: 6,
    prepare: python(),
  },
  { name: 'more-itertools/more-itertools', commit: '2fe1b2eeb9d75f994113fe3ac76d14b6bcd6fb10', limit: 8 },
  { name: 'pytoolz/toolz', commit: '568c2b8393973cd172a466546c9d95779c452438', limit: 16 },
  { name: 'mahmoud/boltons', commit: '967864f89791509f9eb36b22b4579d36b72a6df2', limit: 28 },
  {
    name: 'marshmallow-code/marshmallow',
    commit: '341b927f219205704728c05cd61f04d7e9727523',
    limit: 12,
    prepare: python(),
  },
  { name: 'unjs/ufo', commit: '11308c0bb5cb4a4bc3bfcbdc5c03177b097423e6', limit: 20, install: true },
  { name: 'unjs/destr', commit: '541b6f9aeada9fc30de9c5a7e086dbfc1c6fcdc7', limit: 8, install: true },
  { name: 'unjs/scule', commit: '8f56148d820ed5aa93ff71f33566fcae5edfef0e', limit: 6, install: true },
  { name: 'unjs/defu', commit: '80c0146afb11ebd86183a579ec469f3abd976695', limit: 6, install: true },
  { name: 'unjs/citty', commit: '3e342fe7b3f67575faf51df8361d502be6fe32e8', limit: 8, install: true },
  { name: 'unjs/ohash', commit: '764b0a3203308956ef07597612af5ad59f36c791', limit: 6, install: true },
  {
    name: 'micromatch/picomatch',
    commit: '4f41a8edade7a5ab19832f7b40ecce46b288767f',
    limit: 22,
    install: true,
  },
  {
    name: 'tj/commander.js',
    commit: 'ba6d13ddb4243e5913367734f8c159089ffe7834',
    limit: 16,
    install: ['jest@29', 'ts-jest@29'],
  },
  { name: 'eemeli/yaml', commit: 'bf03c0cb1ee997c56ed85c70f56c73e05b1cc001', limit: 12, install: true },
  {
    name: 'pillarjs/path-to-regexp',
    commit: 'cbf30259e6d34d6135f9e7dbaa3371e7188f9936',
    limit: 4,
    install: true,
  },
];
