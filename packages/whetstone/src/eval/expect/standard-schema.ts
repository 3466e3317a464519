/** The part of Standard Schema 1 (standardschema.dev) that is used: zod, valibot, arktype and others have it. */
export type StandardSchema = {
  readonly '~standard': {
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
  };
};

type StandardResult = {
  readonly issues?:
    | readonly {
        readonly message: string;
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[]
    | undefined;
};
