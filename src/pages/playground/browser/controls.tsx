import { CHARTS, type ChartSettings } from '../answer/settings';
import type { Table } from '../answer/table';

const KINDS = { line: 'Lines', bar: 'Bars', stacked: 'Stacked bars', scatter: 'Points', heatmap: 'Heat map' } as const;

interface Props {
  table: Table;
  settings: ChartSettings;
  change: (settings: ChartSettings) => void;
}

function Choice({
  label,
  value,
  names,
  choose,
}: {
  label: string;
  value: string;
  names: readonly string[];
  choose: (name: string) => void;
}) {
  return (
    <label>
      {label}{' '}
      <select aria-label={label} value={value} onChange={({ target }) => choose(target.value)}>
        {names.map((name) => (
          <option key={name} value={name}>
            {name || '–'}
          </option>
        ))}
      </select>
    </label>
  );
}

/** What a chart shows: its kind, its axes and what tells its series apart. */
export function ChartControls({ table: { columns }, settings, change }: Props) {
  const { kind, x, y, by } = settings;
  const all = columns.map(({ name }) => name);
  const numbers = columns.filter((column) => column.kind === 'number').map(({ name }) => name);
  const isHeat = kind === 'heatmap';
  const toggle = (name: string) => {
    const chosen = y.includes(name) ? y.filter((one) => one !== name) : [...y, name];
    if (chosen.length) change({ ...settings, y: chosen });
  };
  const become = (next: ChartSettings['kind']) => {
    if ((next === 'heatmap') === isHeat) return change({ ...settings, kind: next });
    const [text = x] = columns.filter((column) => column.kind === 'text' && column.name !== x).map(({ name }) => name);
    const [number = x] = numbers;
    change(next === 'heatmap' ? { kind: next, x, y: [by ?? text], by: y[0] ?? number } : { kind: next, x, y: [by ?? number], by: y[0] });
  };
  return (
    <>
      <label>
        Chart{' '}
        <select aria-label="Kind of chart" value={kind} onChange={({ target }) => become(target.value as ChartSettings['kind'])}>
          {CHARTS.map((name) => (
            <option key={name} value={name}>
              {KINDS[name]}
            </option>
          ))}
        </select>
      </label>
      <Choice label="Across" value={x} names={all} choose={(name) => change({ ...settings, x: name })} />
      {isHeat ? (
        <Choice label="Upwards" value={y[0] ?? ''} names={all} choose={(name) => change({ ...settings, y: [name] })} />
      ) : (
        <details className="columns">
          <summary>Values ({y.length})</summary>
          {numbers.map((name) => (
            <label key={name}>
              <input type="checkbox" checked={y.includes(name)} onChange={() => toggle(name)} /> {name}
            </label>
          ))}
        </details>
      )}
      <Choice
        label={isHeat ? 'Colour' : 'Series'}
        value={by ?? ''}
        names={['', ...(isHeat ? numbers : all)]}
        choose={(name) => change({ ...settings, by: name || undefined })}
      />
    </>
  );
}
