/**
 * Tables of rows with links, thumbnails and sortable headers. On narrow screens each row is a card.
 */
import { Fragment } from 'preact';
import { urlWithChangedQuery } from './list-controls';
import { LocalTime } from '../local-times';
import { localImagePath, thumbnailSrcOf } from './images';
import type { Cell, TableColumn, HtmlView, TableModel, TableRow } from './view/view-model';

function Thumbnail({ imageUrl, alt, baseUrl }: { imageUrl: string; alt: string; baseUrl: string }) {
  const src = localImagePath(imageUrl, baseUrl);

  if (src === undefined) return null;

  return <img class="thumb" src={thumbnailSrcOf(src, 'thumbnail')} alt={alt} loading="lazy" />;
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
  const { text, time, links, pictureUrl } = cell;

  if (pictureUrl) return <Thumbnail imageUrl={pictureUrl} alt={rowName} baseUrl={baseUrl} />;
  if (time !== undefined) return <LocalTime time={time} text={text} />;
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
  column: TableColumn;
  view?: HtmlView;
}) {
  if (!view || !isSortable) {
    return (
      <th scope="col" class={cellCssClass}>
        {label}
      </th>
    );
  }

  const currentOrdering = view.query.getAll('ordering').at(-1);
  const nextOrdering = currentOrdering === key ? `-${key}` : key;
  let direction: 'ascending' | 'descending' | undefined;

  if (currentOrdering === key) direction = 'ascending';
  else if (currentOrdering === `-${key}`) direction = 'descending';

  return (
    <th scope="col" class={cellCssClass} aria-sort={direction}>
      <a href={urlWithChangedQuery(view, { ordering: nextOrdering, offset: null })}>
        {label}
        {direction && <span aria-hidden="true">{direction === 'ascending' ? ' ▲' : ' ▼'}</span>}
      </a>
    </th>
  );
}

/**
 * Renders rows as a table. `tableCssClass` is unique on the page. With `view`, as on list pages,
 * the column headers sort the rows.
 */
export function RowTable({
  table,
  baseUrl,
  tableCssClass,
  view,
}: {
  table: TableModel;
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

/**
 * CSS that shows column labels next to the values of a card. HTML would repeat the labels in every
 * row.
 */
export const cardLabelCss = (tableCssClass: string, { columns }: TableModel): string =>
  columns
    .slice(1)
    .map(
      ({ label }, index) =>
        `.${tableCssClass} td:nth-child(${index + 2})::before{content:${quoteCssString(label)}}`,
    )
    .join('');
