/**
 * Navigation of the browsable pages: breadcrumbs, resources of the API root and actions of a row.
 */
import { toCamelCase } from '../../shared/casing';
import { labelFor as humanize } from '../../engine/declare/inflection';
import type { Crumb } from '../layout';
import type { HtmlView } from './view/view-model';
import { endpointTitle } from './view/labels';
import { API_ROOT_PATH, detailPath, listPath } from './view/page-routes';
import { TextWithCode } from './rich-text';

export function crumbsOf({
  kind,
  resource,
  rowId,
  actionName,
  name,
  detailRow,
}: HtmlView): Crumb[] {
  if (kind === 'root') return [{ label: 'API' }];
  const rootCrumb = { label: 'API', href: API_ROOT_PATH };

  if (!resource) return [rootCrumb, { label: name }];
  if (rowId === undefined) return [rootCrumb, { label: resource.pluralLabel }];
  const listCrumbs = [rootCrumb, { label: resource.pluralLabel, href: listPath(resource.name) }];
  const rowLabel = detailRow?.name ?? `${resource.singularLabel} ${rowId}`;

  if (actionName === undefined) return [...listCrumbs, { label: rowLabel }];

  return [
    ...listCrumbs,
    { label: rowLabel, href: detailPath(resource.name, rowId) },
    { label: name },
  ];
}

export function ResourceList({ view: { resources } }: { view: HtmlView }) {
  if (resources.length === 0) return null;
  const resourceGroups = [
    {
      title: 'Your data',
      help: 'Visible only to you, when you are signed in.',
      rows: resources.filter(({ isOwned }) => isOwned),
    },
    {
      title: 'Public data',
      help: 'Visible to everyone, without signing in.',
      rows: resources.filter(({ isOwned }) => !isOwned),
    },
  ];

  return (
    <>
      {resourceGroups.map(({ title, help, rows }) => (
        <section key={title}>
          <h2>{title}</h2>
          <p class="help">{help}</p>
          <ul class="cards">
            {rows.map(({ name, pluralLabel, description }) => (
              <li key={name}>
                <a href={listPath(name)}>{pluralLabel}</a> <code class="count">{name}</code>
                <p class="help">{description}</p>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

/** Links to the actions of a row, except for the current one. */
export function ActionLinks({ view }: { view: HtmlView }) {
  const { kind, endpoint, rowId, actionName, status } = view;

  if (!endpoint || status >= 400 || rowId === undefined || kind === 'list') return null;
  const otherActions = [...endpoint.actions].filter(
    ([name, { metadata }]) => name !== actionName && !metadata.hiddenOnPages,
  );

  if (otherActions.length === 0) return null;

  return (
    <nav class="related" aria-label="Related">
      <ul>
        {otherActions.map(([name, { field }]) => (
          <li key={name}>
            <a href={`${detailPath(endpoint.view.restName, rowId)}${name}/`}>
              {endpointTitle(humanize(toCamelCase(name)))}
            </a>{' '}
            <span class="help">
              <TextWithCode text={field.description ?? ''} />
            </span>
          </li>
        ))}
      </ul>
    </nav>
  );
}
