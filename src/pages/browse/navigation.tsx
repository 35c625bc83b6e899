/** Navigation of the browsable pages: breadcrumbs, the resources of the API root and the actions of a row. */
import { toCamelCase } from '../../contract/casing';
import { labelFor as humanize } from '../../core/model/inflection';
import type { Crumb } from '../layout';
import type { HtmlView } from './view/viewmodel';
import { endpointTitle } from './view/labels';
import { TextWithCode } from './richtext';

export function crumbsOf({ kind, basePath, resource, id, extraAction, name, detailRow }: HtmlView): Crumb[] {
  const home = { label: 'Fitgraph', href: '/' };
  if (kind === 'root') return [home, { label: 'API' }];
  const root = [home, { label: 'API', href: `${basePath}/` }];
  if (!resource) return [...root, { label: name }];
  const list = `${basePath}/${resource.name}/`;
  if (id === undefined) return [...root, { label: resource.plural }];
  const listCrumbs = [...root, { label: resource.plural, href: list }];
  const rowLabel = detailRow?.name ?? `${resource.singular} ${id}`;
  if (extraAction === undefined) return [...listCrumbs, { label: rowLabel }];
  return [...listCrumbs, { label: rowLabel, href: `${list}${encodeURIComponent(id)}/` }, { label: name }];
}

export function ResourceList({ view }: { view: HtmlView }) {
  const { resources, basePath } = view;
  if (resources.length === 0) return null;
  const groups = [
    { title: 'Your data', help: 'Visible only to you, when you are signed in.', rows: resources.filter(({ owned }) => owned) },
    { title: 'Public data', help: 'Visible to everyone, without signing in.', rows: resources.filter(({ owned }) => !owned) },
  ];
  return (
    <>
      {groups.map(({ title, help, rows }) => (
        <section key={title}>
          <h2>{title}</h2>
          <p class="help">{help}</p>
          <ul class="cards">
            {rows.map(({ name, plural, description }) => (
              <li key={name}>
                <a href={`${basePath}/${name}/`}>{plural}</a> <code class="count">{name}</code>
                <p class="help">{description}</p>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

/** Links to the actions of a row, except the one that the page shows. */
export function ActionLinks({ view }: { view: HtmlView }) {
  const { kind, actions, resource, basePath, id, extraAction, status } = view;
  if (!resource || status >= 400 || id === undefined || kind === 'list') return null;
  const links = actions
    .filter(({ name }) => name !== extraAction)
    .map(({ name, description }) => ({
      href: `${basePath}/${resource.name}/${encodeURIComponent(id)}/${name}/`,
      label: endpointTitle(humanize(toCamelCase(name))),
      description,
    }));
  if (links.length === 0) return null;
  return (
    <nav class="related" aria-label="Related">
      <ul>
        {links.map(({ href, label, description }) => (
          <li key={href}>
            <a href={href}>{label}</a>{' '}
            <span class="help">
              <TextWithCode text={description} />
            </span>
          </li>
        ))}
      </ul>
    </nav>
  );
}
