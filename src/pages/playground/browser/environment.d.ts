/** URLs of the web workers of Monaco, the editor of GraphiQL, by worker label. `scripts/build.mjs` defines them. */
declare const PLAYGROUND_WORKERS: Readonly<Record<string, string>> & { readonly editor: string };

declare module '*.css';
