import { z } from 'zod';
import { anyText } from '../kit/option-values.ts';
import { permissionValues } from './permissions.ts';
import { type PolicyRule, requestKinds } from './policy.ts';

/** `permissions:` of an agent. */
export const permissionsOptions = z.strictObject({
  filesystem: z.enum(permissionValues.filesystem).exactOptional(),
  shell: z.enum(permissionValues.shell).exactOptional(),
  network: z.enum(permissionValues.network).exactOptional(),
  apps: z.enum(permissionValues.apps).exactOptional(),
  environment: z.enum(permissionValues.environment).exactOptional(),
});

const pattern = anyText.min(1, 'must not be empty').exactOptional();

const conditions = z
  .strictObject({
    tool: pattern,
    command: pattern,
    path: pattern,
    host: pattern,
    kind: z.enum(requestKinds).exactOptional(),
  })
  .refine(
    (value) => Object.keys(value).length > 0,
    'names no condition: write tool, command, path, host or kind',
  );

const rule = z.union([z.strictObject({ allow: conditions }), z.strictObject({ deny: conditions })], {
  error: 'a rule is either {allow: {…}} or {deny: {…}}',
});

/** `policy:` of an agent: rules in the order in which they are tried. */
export const policyOptions: z.ZodType<PolicyRule[]> = z.array(rule);
