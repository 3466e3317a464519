import { openPermissions } from '../../policy/permissions.ts';
import type { Connection } from '../native-agent.ts';

/** A connection whose lane and home do not exist. */
export const connection = {
  access: { kind: 'key', baseUrl: 'http://127.0.0.1:1234/lanes/0a1b', key: 'sk-whetstone-lane' },
  model: 'model-1',
  home: '/scratch/home',
  workingDirectory: '/scratch/workspace',
  permissions: openPermissions,
} satisfies Connection;
