/** Tables of rows with links, thumbnails and sortable headers. On narrow screens each row is a card. */
import { Fragment } from 'preact';
import { urlWith } from './listcontrols';
import { thumbnailOf } from './images';
import type { Cell, Column, HtmlView, TableView, TableRow } from './view/viewmodel';

function Picture({ of, alt, baseUrl }: { of: string; alt: string; baseUrl: string }) {
  const src = thumbnailOf(of, baseUrl, 'thumbnail');
  return src === undefined ? null : <img class="thumb" src={src} alt={alt} loading="lazy" />;
}

export function CellContent({ cell, name, baseUrl }: { cell: Cell; name: string; baseUrl: string }) {
  const { text, links, picture } = cell;
  if (picture) return <Picture of={picture} alt={name} baseUrl={baseUrl} />;
  if (!links) return <>{text}</>;
  return (
    <>
      {links.map(({ label, href }, index) => (
        <Fragment key={index}>
          {index > 0 && ', '}
          {href === undefined ? label : <a href={href}>{label}</a>}
        </Fragment>
      ))}
    </>
  );
}

const orderOf = ({ query }: HtmlView): string => query.getAll('ordering').at(-1) ?? '';

function Header({ column: { key, label, sortable, as }, view }: { column: Column; view?: HtmlView }) {
  const current = view && orderOf(view);
  const direction = sortable && (current === key ? 'ascending' : current === `-${key}` ? 'descending' : undefined);
  return (
    <th scope="col" class={as} aria-sort={direction || undefined}>
      {view && sortable ? (
        <a href={urlWith(view, { ordering: current === key ? `-${key}` : key, offset: null })}>
          {label}
          {direction && <span aria-hidden="true">{direction === 'ascending' ? ' ▲' : ' ▼'}</span>}
        </a>
      ) : (
        label
      )}
    </th>
  );
}

/** `tableClass` is unique on the page. Headers sort the list if `view` is present: only the main table of a list page is sortable. */
export function RowTable({ sheet, baseUrl, mark, view }: { sheet: TableView; baseUrl: string; mark: string; view?: HtmlView }) {
  const { title, columns, rows } = sheet;
  const classes = columns.slice(1).map(({ as }) => as);
  const renderRow = ({ id, name, href, picture, cells }: TableRow) => (
    <tr key={id}>
      <th scope="row">
        {picture !== undefined && <Picture of={picture} alt="" baseUrl={baseUrl} />}
        {href === undefined ? name : <a href={href}>{name}</a>}
      </th>
      {cells.map((cell, index) => (
        <td key={index} class={classes[index]}>
          <CellContent cell={cell} name={name} baseUrl={baseUrl} />
        </td>
      ))}
    </tr>
  );
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={title}>
      <table class={`rows ${mark}`}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Header key={column.key} column={column} view={view} />
            ))}
          </tr>
        </thead>
        <tbody>{rows.map(renderRow)}</tbody>
      </table>
    </div>
  );
}

const quoteCssString = (text: string) => `"${text.replace(/["\\<\n]/g, '')}"`;

/** Returns the CSS that shows column labels next to the values of a card. In the CSS they are sent once, rather than once per cell. */
export const cardLabelStyle = (mark: string, { columns }: TableView): string =>
  columns
    .slice(1)
    .map(({ label }, index) => `.${mark} td:nth-child(${index + 2})::before{content:${quoteCssString(label)}}`)
    .join('');
