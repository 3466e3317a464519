import { present } from '@whetstone/events/present';
import type { ApprovalHook } from '../control/approval.ts';
import type { ChildRequest, SessionSnapshot } from '../conversation/snapshot.ts';
import { pathsOf, relativeInside, resolvePath } from '../environment/environment-path.ts';
import { wrapEnvironment } from '../environment/environment-root.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import type { LoopContext } from '../loop/loop-context.ts';
import type { SessionOptions } from './session-options.ts';

const MAX_TURNS = 50;

/**
 * The options of a subagent: what its parent has at this moment, except for what the parent asked for. A subagent
 * inherits the approval hook, the hooks around tools, the instructions and the environment. It does not inherit the
 * other hooks, and cannot ask the user.
 */
export async function childOptions(
  request: ChildRequest,
  parent: LoopContext,
  options: SessionOptions,
  kept?: SessionSnapshot,
): Promise<{ options: SessionOptions; model: string }> {
  const { subagents = {}, userInstructions, approve, hooks = {} } = options;
  const { resolveModel } = subagents;
  if (request.model !== undefined && !resolveModel)
    throw new Error(`Model ${request.model} is not available: the host offers no other models.`);
  const resolved = request.model === undefined ? undefined : await resolveModel?.(request.model);
  if (request.model !== undefined && !resolved?.model)
    throw new Error(`Model ${request.model} is not available: the host has found no such model.`);
  const model = resolved?.model ?? parent.model;
  const environment =
    request.workingDirectory === undefined
      ? parent.environment
      : await scopeEnvironment(parent.environment, request.workingDirectory);
  const { beforeTool, afterTool } = hooks;
  return {
    model: model.modelId,
    options: {
      profile: resolved?.profile ?? parent.profile,
      model,
      environment,
      config: {
        ...parent.config,
        maxTurns: request.maxTurns ?? subagents.maxTurns ?? MAX_TURNS,
        // A restored child keeps the effort that it had, whatever its parent has now.
        ...(kept && { reasoningEffort: kept.reasoningEffort }),
      },
      budget: present({ costUsd: subagents.costUsd }),
      hooks: present({ beforeTool, afterTool }),
      priceOf: parent.priceOf,
      subagents,
      clock: parent.clock,
      ...(approve && { approve: withoutParking(approve) }),
      ...present({ userInstructions }),
    },
  };
}

/** Denies where the hook parks: a parked call ends an input, and nobody could resume an input of a subagent. */
function withoutParking(approve: ApprovalHook): ApprovalHook {
  return async (request) => {
    const decision = await approve(request);
    if (decision.decision !== 'parked') return decision;
    return { decision: 'denied', reason: 'a call of a subagent cannot wait for a decision' };
  };
}

/**
 * The same environment with another working folder, which lies inside its own. Relative paths and commands start there,
 * but nothing keeps them there. Rejects where that is not a folder, or lies outside once symbolic links are resolved.
 */
async function scopeEnvironment(
  environment: ExecutionEnvironment,
  folder: string,
): Promise<ExecutionEnvironment> {
  const directory = await folderInside(environment, folder);
  if (directory === environment.workingDirectory()) return environment;
  const paths = pathsOf(environment);
  const at = (path: string | undefined) => paths.resolve(directory, path ?? '.');
  const { readRange, removeDirectory, copyAttributes, endCommandsOf, start, connect, outputDirectory } =
    environment;
  const scoped: ExecutionEnvironment = {
    workingDirectory: () => directory,
    platform: () => environment.platform(),
    osVersion: () => environment.osVersion(),
    readBytes: (path) => environment.readBytes(at(path)),
    writeBytes: (path, content, options) => environment.writeBytes(at(path), content, options),
    remove: (path) => environment.remove(at(path)),
    rename: (from, to) => environment.rename(at(from), at(to)),
    stat: (path) => environment.stat(at(path)),
    mkdirp: (path) => environment.mkdirp(at(path)),
    realpath: (path) => environment.realpath(at(path)),
    listDirectory: (path) => environment.listDirectory(at(path)),
    exec: (command, options) =>
      environment.exec(command, { ...options, workingDirectory: at(options?.workingDirectory) }),
    ...(readRange && {
      readRange: (path, offset, length) => readRange.call(environment, at(path), offset, length),
    }),
    ...(removeDirectory && { removeDirectory: (path) => removeDirectory.call(environment, at(path)) }),
    ...(copyAttributes && {
      copyAttributes: (from, to) => copyAttributes.call(environment, at(from), at(to)),
    }),
    ...(endCommandsOf && { endCommandsOf: (owner) => endCommandsOf.call(environment, owner) }),
    ...(start && {
      start: (command, options) =>
        start.call(environment, command, { ...options, workingDirectory: at(options?.workingDirectory) }),
    }),
    ...(connect && {
      connect: (command, options) =>
        connect.call(environment, command, { ...options, workingDirectory: at(options.workingDirectory) }),
    }),
    ...(outputDirectory && { outputDirectory: () => outputDirectory.call(environment) }),
  };
  return wrapEnvironment(scoped, environment);
}

async function folderInside(environment: ExecutionEnvironment, folder: string): Promise<string> {
  const root = environment.workingDirectory();
  const [realRoot, real] = await Promise.all([
    environment.realpath(root),
    environment.realpath(resolvePath(environment, folder)).catch(() => undefined),
  ]);
  if (real === undefined || (await environment.stat(real))?.kind !== 'directory')
    throw new Error(`working_dir: ${folder} is not a folder`);
  const relative = relativeInside(environment, realRoot, real);
  if (relative === undefined)
    throw new Error(`working_dir: ${folder} is outside ${root}; a subagent has to work inside it`);
  return relative === '' ? root : real;
}
