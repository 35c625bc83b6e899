/** Panels whose code is loaded when they are first opened. */
import { lazy, Suspense, type ComponentType } from 'react';
import { Loading } from './loading';

const QueryBuilder = lazy(() => import('./querybuilder'));

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
      <svg
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        aria-hidden="true"
      >
        <path d={path} />
      </svg>
    );
  };

export const QUERY_BUILDER_PLUGIN = {
  title: 'Field builder',
  icon: iconOf('M4 5h4v4H4zM4 15h4v4H4zM12 7h8M12 17h8'),
  content: lazyPanel(QueryBuilder),
};
