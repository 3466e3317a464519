/** The public surface of `whetstone/adapter`: that of `@whetstone/agents`, for projects that install only `whetstone`. */
export * from '@whetstone/agents';
