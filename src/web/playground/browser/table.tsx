/** Table view of a result, with sortable headings, a filter and hidden columns. */
import { useMemo, useState } from 'react';
import { plainCellText } from '../../../shared/csv';
import { arrangeTable, nextSortOrder, type TableArrangement } from '../answer/arrangement';
import type { Table } from '../answer/table';
import { columnHeadingOf } from '../answer/column-titles';

const INITIAL_ROW_COUNT = 200;
const SORT_MARKS = { ascending: ' ▲', descending: ' ▼', none: '' } as const;

interface TableViewProps {
  table: Table;
  arrangement: TableArrangement;
  onChange: (arrangement: TableArrangement) => void;
}

function ColumnVisibilityControls({ table, arrangement, onChange }: TableViewProps) {
  const { hiddenColumnNames: hiddenColumns } = arrangement;

  const toggleColumnVisibility = (name: string) => {
    const hiddenColumnNames = new Set(hiddenColumns);

    if (!hiddenColumnNames.delete(name)) hiddenColumnNames.add(name);
    onChange({ ...arrangement, hiddenColumnNames });
  };

  return (
    <details className="columns">
      <summary>Columns {hiddenColumns.size > 0 && `(${hiddenColumns.size} hidden)`}</summary>
      {table.columns.map(({ name }) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={!hiddenColumns.has(name)}
            onChange={() => toggleColumnVisibility(name)}
          />{' '}
          {name}
        </label>
      ))}
    </details>
  );
}

export function TableView({ table, arrangement, onChange }: TableViewProps) {
  const [visibleRowCount, setVisibleRowCount] = useState(INITIAL_ROW_COUNT);
  const { columns, rows } = useMemo(() => arrangeTable(table, arrangement), [table, arrangement]);
  const { sort, filterText } = arrangement;

  const sortDirection = (name: string) => {
    if (sort?.columnName !== name) return 'none';

    return sort.descending ? 'descending' : 'ascending';
  };

  return (
    <>
      <div className="tools">
        <input
          type="search"
          aria-label="Filter rows"
          placeholder="Filter rows"
          value={filterText}
          onChange={({ target }) => onChange({ ...arrangement, filterText: target.value })}
        />
        <ColumnVisibilityControls table={table} arrangement={arrangement} onChange={onChange} />
        <p className="hint" role="status">
          {rows.length < table.rows.length && `${rows.length} of `}
          {table.rows.length === 1 ? '1 row' : `${table.rows.length} rows`}
        </p>
      </div>
      <div className="scroll" role="region" aria-label="Table" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => {
                const { name, kind } = column;

                return (
                  <th key={name} aria-sort={sortDirection(name)} className={kind} scope="col">
                    <button
                      onClick={() =>
                        onChange({ ...arrangement, sort: nextSortOrder(arrangement, name) })
                      }
                    >
                      {columnHeadingOf(column)}
                      <span aria-hidden="true">{SORT_MARKS[sortDirection(name)]}</span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, visibleRowCount).map((row, index) => (
              <tr key={index}>
                {row.map((cell, columnIndex) => (
                  <td key={columnIndex} className={columns[columnIndex]?.kind}>
                    {cell === null ? <span className="nothing">–</span> : plainCellText(cell)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length > visibleRowCount && (
          <button onClick={() => setVisibleRowCount(visibleRowCount + INITIAL_ROW_COUNT * 5)}>
            Show more of {rows.length} rows
          </button>
        )}
      </div>
    </>
  );
}
