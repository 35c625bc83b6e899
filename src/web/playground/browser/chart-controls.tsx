/** Controls of a chart: its kind, its axes and the column that distinguishes its series. */
import { CHART_KINDS, type ChartSettings } from '../answer/settings';
import type { Table } from '../answer/table';
import { LabelledSelect } from './labelled-select';

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
    const otherNames = y.filter((chosenName) => chosenName !== name);
    const chosenNames = y.includes(name) ? otherNames : [...y, name];

    if (chosenNames.length) onChange({ ...settings, y: chosenNames });
  };

  const changeChartKind = (newKind: ChartSettings['kind']) => {
    if ((newKind === 'heatmap') === isHeatmap) return onChange({ ...settings, kind: newKind });

    // Between a heat map and the other kinds, the columns of `y` and `by` change places.
    const [textColumnName = x] = columns
      .filter((column) => column.kind === 'text' && column.name !== x)
      .map(({ name }) => name);
    const [numericColumnName = x] = numericColumnNames;

    if (newKind === 'heatmap') {
      onChange({ kind: newKind, x, y: [by ?? textColumnName], by: y[0] ?? numericColumnName });
    } else {
      onChange({ kind: newKind, x, y: [by ?? numericColumnName], by: y[0] });
    }
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
      {isHeatmap && (
        <LabelledSelect
          label="Y axis"
          value={y[0] ?? ''}
          options={selectOptionsOf(columnNames)}
          onChoose={(name) => onChange({ ...settings, y: [name] })}
        />
      )}
      {!isHeatmap && (
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
