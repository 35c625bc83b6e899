/** Controls of a chart: its kind, its axes and the column that distinguishes its series. */
import { CHART_KINDS, type ChartSettings } from '../answer/settings';
import type { Table } from '../answer/table';
import { LabelledSelect } from './labelledselect';

const KIND_LABELS = {
  line: 'Lines',
  bar: 'Bars',
  stacked: 'Stacked bars',
  scatter: 'Points',
  heatmap: 'Heat map',
} as const;

const selectOptionsOf = (names: readonly string[]) => names.map((name) => [name, name] as const);

interface ChartControlsProps {
  table: Table;
  settings: ChartSettings;
  onChange: (settings: ChartSettings) => void;
}

export function ChartControls({ table: { columns }, settings, onChange }: ChartControlsProps) {
  const { kind, x, y, by } = settings;
  const columnNames = columns.map(({ name }) => name);
  const numericColumnNames = columns
    .filter((column) => column.kind === 'number')
    .map(({ name }) => name);
  const isHeatmap = kind === 'heatmap';
  const toggleYColumn = (name: string) => {
    const chosenColumnNames = y.includes(name)
      ? y.filter((chosenColumnName) => chosenColumnName !== name)
      : [...y, name];
    if (chosenColumnNames.length) onChange({ ...settings, y: chosenColumnNames });
  };
  const changeChartKind = (newKind: ChartSettings['kind']) => {
    if ((newKind === 'heatmap') === isHeatmap) return onChange({ ...settings, kind: newKind });
    const [text = x] = columns
      .filter((column) => column.kind === 'text' && column.name !== x)
      .map(({ name }) => name);
    const [number = x] = numericColumnNames;
    onChange(
      newKind === 'heatmap'
        ? { kind: newKind, x, y: [by ?? text], by: y[0] ?? number }
        : { kind: newKind, x, y: [by ?? number], by: y[0] },
    );
  };
  return (
    <>
      <LabelledSelect
        label="Chart"
        name="Kind of chart"
        value={kind}
        options={CHART_KINDS.map((name) => [name, KIND_LABELS[name]])}
        onChoose={changeChartKind}
      />
      <LabelledSelect
        label="X axis"
        value={x}
        options={selectOptionsOf(columnNames)}
        onChoose={(name) => onChange({ ...settings, x: name })}
      />
      {isHeatmap ? (
        <LabelledSelect
          label="Y axis"
          value={y[0] ?? ''}
          options={selectOptionsOf(columnNames)}
          onChoose={(name) => onChange({ ...settings, y: [name] })}
        />
      ) : (
        <details className="columns">
          <summary>Values ({y.length})</summary>
          {numericColumnNames.map((name) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={y.includes(name)}
                onChange={() => toggleYColumn(name)}
              />{' '}
              {name}
            </label>
          ))}
        </details>
      )}
      <LabelledSelect
        label={isHeatmap ? 'Colour' : 'Series'}
        value={by ?? ''}
        options={[['', '–'], ...selectOptionsOf(isHeatmap ? numericColumnNames : columnNames)]}
        onChoose={(name) => onChange({ ...settings, by: name || undefined })}
      />
    </>
  );
}
