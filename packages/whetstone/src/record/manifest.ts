import { z } from 'zod';

/** `manifest.json`: what was planned, on what, and with which isolation. Written once, before the first case. */
export const manifestSchema = z.object({
  schema_version: z.literal('1'),
  whetstone_version: z.string(),
  run_id: z.string(),
  /** Each line of the journal has a hash of itself and of what is before it; the first follows this file. Absent: it has none. */
  chained: z.literal(true).optional(),
  created_at: z.string(),
  /** The run whose stored cases this one judges anew, without any agent. Absent: its agents ran. */
  rescored_from: z.string().optional(),
  /** Another tool's results that this run was made of. Absent: Whetstone ran it. */
  imported_from: z
    .object({
      tool: z.string(),
      path: z.string(),
      /** What its trees do not have although the agent may have left it, as patterns of `tar --exclude`. Absent: nothing. */
      trees_leave_out: z.array(z.string()).optional(),
    })
    .optional(),
  config_path: z.string(),
  /** sha256 over the content of the config and task files. `null`: an imported run, which has none. */
  config_hash: z.string().nullable(),
  /** `dirty`: `null` where no case works on files, so that nobody looked. */
  repo: z.object({ path: z.string(), base_ref: z.string(), dirty: z.boolean().nullable() }),
  /** Paths inside the repository that no case's tree has. Absent in runs of older versions, which withheld nothing. */
  withheld: z.array(z.object({ path: z.string(), what: z.string() })).optional(),
  seed: z.string(),
  trials: z.number().int().positive(),
  jobs: z.number().int().positive(),
  baseline: z.string(),
  /** What comparisons are about, declared before the first case. Absent: the pass rate. */
  metric: z.enum(['pass_rate', 'score', 'pass_at_k', 'cost', 'tokens', 'seconds']).optional(),
  /** Differences up to this size count as none, declared before the first case: 0.05 for 5 pp or 5 %. Absent: not declared. */
  equivalence: z.number().positive().optional(),
  /** After a pass, the other trials of the same task, agent and variant were not to run. Absent: all were to run. */
  early_exit: z.literal(true).optional(),
  /**
   * The looks of a sequential run: the tasks that each one adds, and the level of its tests (two-sided). Absent: all tasks are
   * compared at once.
   */
  looks: z.array(z.object({ tasks: z.array(z.string()), alpha: z.number() })).optional(),
  /** The baseline only ran on these tasks, as a bridge to the run that has it on all. Absent: it ran like the other variants. */
  bridge: z.object({ run_id: z.string(), tasks: z.array(z.string()) }).optional(),
  case_count: z.number().int(),
  agents: z.array(
    z.object({ name: z.string(), kind: z.string(), version: z.string().nullable(), fingerprint: z.string() }),
  ),
  tasks: z.array(
    z.object({
      id: z.string(),
      title: z.string().nullable(),
      commit: z.string(),
      fingerprint: z.string(),
      submodules: z.array(z.string()),
      lfs_pointers: z.array(z.string()),
    }),
  ),
  variants: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      fingerprint: z.string(),
      /** The declared context of the variant, by content (sha256). Absent where the variant declares none. */
      context: z
        .object({
          instructions: z.string().nullable(),
          /** Absent without instructions, and in runs of older versions, which replaced only the file of that name. */
          instructions_mode: z.enum(['append', 'replace']).optional(),
          skills: z.array(z.object({ name: z.string(), sha256: z.string() })),
          mcp_servers: z.array(z.string()),
          plugins: z
            .array(
              z.object({
                name: z.string(),
                sha256: z.string(),
                version: z.string().nullable(),
                description: z.string().nullable(),
              }),
            )
            .optional(),
        })
        .optional(),
    }),
  ),
  /** Case ids in starting order. */
  order: z.array(z.string()),
  /** The cases in agent, task, variant, trial order. */
  case_matrix: z.array(
    z.object({
      case_id: z.string(),
      agent_name: z.string(),
      task_id: z.string(),
      variant: z.string(),
      trial_index: z.number().int().positive(),
      block: z.number().int(),
      fingerprint: z.string(),
    }),
  ),
  /** The provider is `none` where every agent is code in the process of the run and gets no tree. */
  isolation: z.object({
    provider: z.string(),
    level: z.number().int(),
    processes: z.string(),
    network: z.string(),
    workspace: z.string(),
    /** Absent in runs of older versions, in which both were open. */
    neighbours: z.string().optional(),
    parents: z.string().optional(),
    /** Of all commands of a case together; `null`: not limited. Absent in runs of older versions, which limited nothing. */
    limits: z
      .object({
        memory_bytes: z.number().int().nullable(),
        processes: z.number().int().nullable(),
        cpus: z.number().nullable(),
        /** Absent in runs of older versions, which limited no disk. */
        disk_bytes: z.number().int().nullable().optional(),
      })
      .optional(),
    /** The hosts that commands reached beside the gateway, and those of `setup` and `prepare`. Absent: none; no such limit. */
    hosts: z.array(z.string()).optional(),
    setup_hosts: z.array(z.string()).optional(),
    /** The container that commands ran in. `digest`: of the image at its registry; `null`: it was made on that machine. */
    container: z
      .object({
        name: z.string(),
        id: z.string(),
        digest: z.string().nullable(),
        runtime: z.string().nullable(),
      })
      .optional(),
    /** What was tried from inside before the first case. Absent for sandboxes that do not confine. */
    probes: z.array(z.object({ attack: z.string(), reached: z.boolean() })).optional(),
    /** The configuration left the choice. `reasons`: why the sandbox is nothing stronger; empty: nothing is stronger. */
    auto: z.object({ reasons: z.array(z.string()) }).optional(),
    /** What a command of this sandbox can do to the machine, as docs/security.md has it: words after "could". Not tried. */
    reachable: z.array(z.string()).optional(),
  }),
  gateway: z
    .object({
      mode: z.string(),
      script: z.string().nullable(),
      cassettes: z.string().optional(),
      faults: z.array(z.string()).optional(),
      /** Whether each case keeps the requests and replies of its model calls. Absent in runs of older versions, which kept none. */
      exchanges: z.boolean().optional(),
    })
    .nullable(),
  machine: z
    .object({
      platform: z.string(),
      release: z.string(),
      arch: z.string(),
      cpus: z.number().int(),
      memory_bytes: z.number(),
      node: z.string(),
      /** `null` where no case works on files, so that nobody asked. */
      git: z.string().nullable(),
    })
    /** `null`: an imported run, whose machine nobody knows. */
    .nullable(),
  /** What a reader of the result must know, in sentences. */
  notes: z.array(z.string()),
});

export type Manifest = z.infer<typeof manifestSchema>;
