/** Panel that builds a query from checkboxes for the fields, with the explorer plugin of GraphiQL. */
import { explorerPlugin } from '@graphiql/plugin-explorer';
import { useGraphiQL } from '@graphiql/react';
import { useEffect, useRef } from 'react';
import { Loading } from './loading';

/** Colours that replace the default colours of the explorer plugin, which have too little contrast. */
const TEXT_COLOUR = 'hsl(var(--color-neutral))';
const SECONDARY_TEXT_COLOUR = 'hsla(var(--color-neutral), 0.76)';
const EXPLORER_COLOURS = {
  keyword: TEXT_COLOUR,
  def: TEXT_COLOUR,
  property: TEXT_COLOUR,
  qualifier: SECONDARY_TEXT_COLOUR,
  attribute: SECONDARY_TEXT_COLOUR,
  number: TEXT_COLOUR,
  string: TEXT_COLOUR,
  builtin: TEXT_COLOUR,
  string2: TEXT_COLOUR,
  variable: SECONDARY_TEXT_COLOUR,
  atom: TEXT_COLOUR,
};

const { content: Explorer } = explorerPlugin({ showAttribution: false, colors: EXPLORER_COLOURS });

/** Adds accessible names to the inputs of GraphiQL's explorer plugin, which lack them. */
function addAccessibleNames(root: HTMLElement): void {
  for (const input of root.querySelectorAll('input, select'))
    if (!input.hasAttribute('aria-label'))
      input.setAttribute(
        'aria-label',
        input.closest<HTMLElement>('[data-arg-name]')?.dataset.argName ?? 'Operation name',
      );
}

export default function QueryBuilder() {
  const containerRef = useRef<HTMLDivElement>(null);
  // The explorer plugin writes into the query editor as soon as it is rendered, so it is not rendered before the editor exists.
  const isEditorReady = useGraphiQL(({ queryEditor }) => Boolean(queryEditor));
  useEffect(() => {
    const root = containerRef.current;
    if (!root) return;
    const observer = new MutationObserver(() => addAccessibleNames(root));
    observer.observe(root, { childList: true, subtree: true });
    addAccessibleNames(root);
    return () => observer.disconnect();
  }, []);
  return <div ref={containerRef}>{isEditorReady ? <Explorer /> : <Loading />}</div>;
}
