/** Tables of rows with links, thumbnails and sortable headers. On narrow screens each row is a card. */
import { Fragment } from 'preact';
import { urlWithChangedQuery } from './listcontrols';
import { localThumbnailPath } from './images';
import type { Cell, Column, HtmlView, TableView, TableRow } from './view/viewmodel';

function Thumbnail({ imageUrl, alt, baseUrl }: { imageUrl: string; alt: string; baseUrl: string }) {
  const src = localThumbnailPath(imageUrl, baseUrl, 'thumbnail');
  return src === undefined ? null : <img class="thumb" src={src} alt={alt} loading="lazy" />;
}

export function CellContent({
  cell,
  rowName,
  baseUrl,
}: {
  cell: Cell;
  rowName: string;
  baseUrl: string;
}) {
  const { text, links, pictureUrl } = cell;
  if (pictureUrl) return <Thumbnail imageUrl={pictureUrl} alt={rowName} baseUrl={baseUrl} />;
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

function ColumnHeader({
  column: { key, label, isSortable, cellCssClass },
  view,
}: {
  column: Column;
  view?: HtmlView;
}) {
  const currentOrdering = view?.query.getAll('ordering').at(-1);
  const direction =
    isSortable &&
    (currentOrdering === key
      ? 'ascending'
      : currentOrdering === `-${key}`
        ? 'descending'
        : undefined);
  return (
    <th scope="col" class={cellCssClass} aria-sort={direction || undefined}>
      {view && isSortable ? (
        <a
          href={urlWithChangedQuery(view, {
            ordering: currentOrdering === key ? `-${key}` : key,
            offset: null,
          })}
        >
          {label}
          {direction && <span aria-hidden="true">{direction === 'ascending' ? ' ▲' : ' ▼'}</span>}
        </a>
      ) : (
        label
      )}
    </th>
  );
}

/** Renders rows as a table. `tableCssClass` is a CSS class, unique on the page. With `view`, as on list pages, the column headers sort the rows. */
export function RowTable({
  table,
  baseUrl,
  tableCssClass,
  view,
}: {
  table: TableView;
  baseUrl: string;
  tableCssClass: string;
  view?: HtmlView;
}) {
  const { title, columns, rows } = table;
  const cellClasses = columns.slice(1).map(({ cellCssClass }) => cellCssClass);
  const renderRow = ({ id, name, href, pictureUrl, cells }: TableRow) => (
    <tr key={id}>
      <th scope="row">
        {pictureUrl !== undefined && <Thumbnail imageUrl={pictureUrl} alt="" baseUrl={baseUrl} />}
        {href === undefined ? name : <a href={href}>{name}</a>}
      </th>
      {cells.map((cell, index) => (
        <td key={index} class={cellClasses[index]}>
          <CellContent cell={cell} rowName={name} baseUrl={baseUrl} />
        </td>
      ))}
    </tr>
  );
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={title}>
      <table class={`rows ${tableCssClass}`}>
        <thead>
          <tr>
            {columns.map((column) => (
              <ColumnHeader key={column.key} column={column} view={view} />
            ))}
          </tr>
        </thead>
        <tbody>{rows.map(renderRow)}</tbody>
      </table>
    </div>
  );
}

const quoteCssString = (text: string) => `"${text.replace(/["\\<\n]/g, '')}"`;

/** Returns the CSS that shows column labels next to the values of a card. In CSS each label occurs once; HTML would repeat it in every row. */
export const cardLabelCss = (tableCssClass: string, { columns }: TableView): string =>
  columns
    .slice(1)
    .map(
      ({ label }, index) =>
        `.${tableCssClass} td:nth-child(${index + 2})::before{content:${quoteCssString(label)}}`,
    )
    .join('');
