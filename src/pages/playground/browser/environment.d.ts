/** Defined by `scripts/build.mjs`: the URLs of the compiled workers, by the labels of Monaco, the editor of GraphiQL. */
declare const PLAYGROUND_WORKERS: Readonly<Record<string, string>> & { readonly editor: string };

declare module '*.css';
