/** The answer as a table: sorted by a click on a heading, filtered, columns hidden. */
import { useMemo, useState } from 'react';
import { textOf } from '../../../platform/csv';
import { arranged, sortedNext, type Arrangement } from '../answer/sheet';
import type { Table } from '../answer/table';
import { headingOf } from '../answer/titles';

/** More rows than these are drawn when they are asked for. */
const ROWS = 200;
const MARKS = { ascending: ' ▲', descending: ' ▼', none: '' } as const;

interface Props {
  table: Table;
  arrangement: Arrangement;
  change: (arrangement: Arrangement) => void;
}

function Columns({ table, arrangement, change }: Props) {
  const { hidden } = arrangement;
  const toggle = (name: string) => {
    const others = new Set(hidden);
    if (!others.delete(name)) others.add(name);
    change({ ...arrangement, hidden: others });
  };
  return (
    <details className="columns">
      <summary>Columns {hidden.size > 0 && `(${hidden.size} hidden)`}</summary>
      {table.columns.map(({ name }) => (
        <label key={name}>
          <input type="checkbox" checked={!hidden.has(name)} onChange={() => toggle(name)} /> {name}
        </label>
      ))}
    </details>
  );
}

export function TableView({ table, arrangement, change }: Props) {
  const [most, setMost] = useState(ROWS);
  const { columns, rows } = useMemo(() => arranged(table, arrangement), [table, arrangement]);
  const { sort, filter } = arrangement;
  const sorted = (name: string) => (sort?.column !== name ? 'none' : sort.descending ? 'descending' : 'ascending');
  return (
    <>
      <div className="tools">
        <input
          type="search"
          aria-label="Filter rows"
          placeholder="Filter rows"
          value={filter}
          onChange={({ target }) => change({ ...arrangement, filter: target.value })}
        />
        <Columns table={table} arrangement={arrangement} change={change} />
        <p className="hint" role="status">
          {rows.length === table.rows.length ? `${rows.length} rows` : `${rows.length} of ${table.rows.length} rows`}
        </p>
      </div>
      <div className="scroll" role="region" aria-label="Table" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {columns.map((column) => {
                const { name, kind } = column;
                return (
                  <th key={name} aria-sort={sorted(name)} className={kind} scope="col">
                    <button onClick={() => change({ ...arrangement, sort: sortedNext(arrangement, name) })}>
                      {headingOf(column)}
                      <span aria-hidden="true">{MARKS[sorted(name)]}</span>
                    </button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map((row, index) => (
              <tr key={index}>
                {row.map((cell, place) => (
                  <td key={place} className={columns[place]?.kind}>
                    {cell === null ? <span className="nothing">–</span> : textOf(cell)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {rows.length > most && <button onClick={() => setMost(most + ROWS * 5)}>Show more of {rows.length} rows</button>}
      </div>
    </>
  );
}
