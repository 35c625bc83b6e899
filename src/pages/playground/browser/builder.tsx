/** The field builder: a query is put together by ticking what it asks for. */
import { explorerPlugin } from '@graphiql/plugin-explorer';
import { useGraphiQL } from '@graphiql/react';
import { useEffect, useRef } from 'react';
import { Loading } from './loading';

/** Those that it would have are too faint to read. */
const TEXT = 'hsl(var(--color-neutral))';
const QUIET = 'hsla(var(--color-neutral), 0.76)';
const COLOURS = {
  keyword: TEXT,
  def: TEXT,
  property: TEXT,
  qualifier: QUIET,
  attribute: QUIET,
  number: TEXT,
  string: TEXT,
  builtin: TEXT,
  string2: TEXT,
  variable: QUIET,
  atom: TEXT,
};

const { content: Explorer } = explorerPlugin({ showAttribution: false, colors: COLOURS });

/** It gives inputs no names. */
function mend(root: HTMLElement): void {
  for (const input of root.querySelectorAll('input, select'))
    if (!input.hasAttribute('aria-label'))
      input.setAttribute('aria-label', input.closest<HTMLElement>('[data-arg-name]')?.dataset.argName ?? 'Name of the operation');
}

export default function Builder() {
  const box = useRef<HTMLDivElement>(null);
  // It writes into the editor at once.
  const ready = useGraphiQL(({ queryEditor }) => Boolean(queryEditor));
  useEffect(() => {
    const root = box.current;
    if (!root) return;
    const watched = new MutationObserver(() => mend(root));
    watched.observe(root, { childList: true, subtree: true });
    mend(root);
    return () => watched.disconnect();
  }, []);
  return <div ref={box}>{ready ? <Explorer /> : <Loading />}</div>;
}
