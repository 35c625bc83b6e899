/**
 * Files of the web workers of Monaco, the editor of GraphiQL, by label, in the folder of the
 * bundle. Defined by `scripts/build.mjs`.
 */
declare const PLAYGROUND_WORKERS: Readonly<Record<string, string>> & { readonly editor: string };

declare module '*.css';
