/** Controls of a chart: its kind, its axes and the column that distinguishes its series. */
import { CHART_KINDS, type ChartSettings } from '../answer/settings';
import type { Table } from '../answer/table';

const KIND_LABELS = { line: 'Lines', bar: 'Bars', stacked: 'Stacked bars', scatter: 'Points', heatmap: 'Heat map' } as const;

interface Props {
  table: Table;
  settings: ChartSettings;
  onChange: (settings: ChartSettings) => void;
}

function ColumnSelect({
  label,
  value,
  names,
  onChoose,
}: {
  label: string;
  value: string;
  names: readonly string[];
  onChoose: (name: string) => void;
}) {
  return (
    <label>
      {label}{' '}
      <select aria-label={label} value={value} onChange={({ target }) => onChoose(target.value)}>
        {names.map((name) => (
          <option key={name} value={name}>
            {name || '–'}
          </option>
        ))}
      </select>
    </label>
  );
}

export function ChartControls({ table: { columns }, settings, onChange }: Props) {
  const { kind, x, y, by } = settings;
  const columnNames = columns.map(({ name }) => name);
  const numericNames = columns.filter((column) => column.kind === 'number').map(({ name }) => name);
  const isHeatmap = kind === 'heatmap';
  const toggle = (name: string) => {
    const chosenNames = y.includes(name) ? y.filter((chosenName) => chosenName !== name) : [...y, name];
    if (chosenNames.length) onChange({ ...settings, y: chosenNames });
  };
  const changeKind = (next: ChartSettings['kind']) => {
    if ((next === 'heatmap') === isHeatmap) return onChange({ ...settings, kind: next });
    const [text = x] = columns.filter((column) => column.kind === 'text' && column.name !== x).map(({ name }) => name);
    const [number = x] = numericNames;
    onChange(next === 'heatmap' ? { kind: next, x, y: [by ?? text], by: y[0] ?? number } : { kind: next, x, y: [by ?? number], by: y[0] });
  };
  return (
    <>
      <label>
        Chart{' '}
        <select aria-label="Kind of chart" value={kind} onChange={({ target }) => changeKind(target.value as ChartSettings['kind'])}>
          {CHART_KINDS.map((name) => (
            <option key={name} value={name}>
              {KIND_LABELS[name]}
            </option>
          ))}
        </select>
      </label>
      <ColumnSelect label="X axis" value={x} names={columnNames} onChoose={(name) => onChange({ ...settings, x: name })} />
      {isHeatmap ? (
        <ColumnSelect label="Y axis" value={y[0] ?? ''} names={columnNames} onChoose={(name) => onChange({ ...settings, y: [name] })} />
      ) : (
        <details className="columns">
          <summary>Values ({y.length})</summary>
          {numericNames.map((name) => (
            <label key={name}>
              <input type="checkbox" checked={y.includes(name)} onChange={() => toggle(name)} /> {name}
            </label>
          ))}
        </details>
      )}
      <ColumnSelect
        label={isHeatmap ? 'Colour' : 'Series'}
        value={by ?? ''}
        names={['', ...(isHeatmap ? numericNames : columnNames)]}
        onChoose={(name) => onChange({ ...settings, by: name || undefined })}
      />
    </>
  );
}
