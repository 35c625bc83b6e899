/** Where one can go from here: the resources of the root, the actions of a row, other views of the same rows. */
import type { Crumb } from '../layout';
import type { HtmlView } from './view/view';
import { Words } from './words';

export function crumbsOf({ kind, base, resource, id, action, name }: HtmlView): Crumb[] {
  const home = { label: 'Fitgraph', href: '/' };
  if (kind === 'root') return [home, { label: 'API' }];
  const root = [home, { label: 'API', href: `${base}/` }];
  if (!resource) return [...root, { label: name }];
  const list = `${base}/${resource.name}/`;
  if (id === undefined) return [...root, { label: resource.name }];
  const detail = `${list}${encodeURIComponent(id)}/`;
  if (action === undefined) return [...root, { label: resource.name, href: list }, { label: id }];
  return [...root, { label: resource.name, href: list }, { label: id, href: detail }, { label: action }];
}

export function Resources({ view }: { view: HtmlView }) {
  const { resources, base } = view;
  if (resources.length === 0) return null;
  const groups = [
    { title: 'Yours', help: 'Rows that belong to who is signed in.', rows: resources.filter(({ owned }) => owned) },
    { title: 'Everybody’s', help: 'Open to all, no sign-in needed.', rows: resources.filter(({ owned }) => !owned) },
  ];
  return (
    <>
      {groups.map(({ title, help, rows }) => (
        <section key={title}>
          <h2>{title}</h2>
          <p class="help">{help}</p>
          <ul class="cards">
            {rows.map(({ name, description }) => (
              <li key={name}>
                <a href={`${base}/${name}/`}>{name}</a>
                <p class="help">{description}</p>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

export function Related({ view }: { view: HtmlView }) {
  const { kind, siblings, actions, resource, base, id, action, status } = view;
  if (!resource || status >= 400) return null;
  const list = `${base}/${resource.name}/`;
  const row = id === undefined ? undefined : `${encodeURIComponent(id)}/`;
  const links = [
    ...(row === undefined || kind === 'list' ? [] : actions.filter(({ name }) => name !== action)).map(({ name, description }) => ({
      href: `${list}${row}${name}/`,
      label: name,
      description,
    })),
    ...(action === undefined ? siblings : []).map((name) => ({
      href: `${base}/${name}/${row ?? ''}`,
      label: name,
      description: 'The same with other fields.',
    })),
  ];
  if (links.length === 0) return null;
  return (
    <nav class="related" aria-label="Related">
      <ul>
        {links.map(({ href, label, description }) => (
          <li key={href}>
            <a href={href}>{label}</a>{' '}
            <span class="help">
              <Words text={description} />
            </span>
          </li>
        ))}
      </ul>
    </nav>
  );
}
