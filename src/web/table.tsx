/** A table that scrolls on narrow screens, or `None.` if there are no rows. */
import type { ComponentChildren } from 'preact';

export const Table = (props: {
  label: string;
  columns: readonly string[];
  rows: readonly ComponentChildren[][];

  /** Whether the first cell of a row is its heading. */
  hasRowHeaders?: boolean;
}) =>
  props.rows.length ? (
    <div class="scroll" tabindex={0} role="region" aria-label={props.label}>
      <table>
        <thead>
          <tr>
            {props.columns.map((title) => (
              <th scope="col">{title}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((cells) => (
            <tr>
              {cells.map((cell, index) =>
                props.hasRowHeaders && index === 0 ? <th scope="row">{cell}</th> : <td>{cell}</td>,
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  ) : (
    <p>None.</p>
  );
