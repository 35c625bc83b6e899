/** What `scripts/build.mjs` puts into the bundle: the addresses of the compiled workers, by the names that the editor calls them. */
declare const PLAYGROUND_WORKERS: Readonly<Record<string, string>> & { readonly editor: string };

declare module '*.css';
