/** Panels whose code is loaded when they are first opened. */
import { lazy, Suspense, type ComponentType } from 'react';
import { Loading } from './loading';

const QueryBuilder = lazy(() => import('./querybuilder'));
const SchemaMapPanel = lazy(() => import('./schemamap'));

const lazyPanel = (Content: ComponentType) =>
  function LazyPanel() {
    return (
      <Suspense fallback={<Loading />}>
        <Content />
      </Suspense>
    );
  };

const iconOf = (path: string) =>
  function Icon() {
    return (
      <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" aria-hidden="true">
        <path d={path} />
      </svg>
    );
  };

export const QUERY_BUILDER_PLUGIN = {
  title: 'Field builder',
  icon: iconOf('M4 5h4v4H4zM4 15h4v4H4zM12 7h8M12 17h8'),
  content: lazyPanel(QueryBuilder),
};

export const SCHEMA_MAP_PLUGIN = {
  title: 'Schema map',
  icon: iconOf(
    'M5 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M19 14a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M8 21a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M7.3 6.6l9.5 4M6 8l1.5 8M10 17.4l7-4',
  ),
  content: lazyPanel(SchemaMapPanel),
};
