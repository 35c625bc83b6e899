/** Map of the schema: one type of rows with its relations, or all types in a dialog. */
import { useGraphiQL } from '@graphiql/react';
import { GraphChart } from 'echarts/charts';
import { use } from 'echarts/core';
import type { EChartsOption } from 'echarts';
import { Fragment, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { mapAroundType, schemaMapOf, type Relation, type SchemaMap } from '../answer/schemamap';
import type { ThemeColours } from './colours';
import { useChart } from './echarts';
import { LabelledSelect } from './labelledselect';

use([GraphChart]);

const SELECTED_COLOURS = { light: '#d55e00', dark: '#ff8a4c' };
const NODE_COLOURS = { light: '#0072b2', dark: '#56b4e9' };
const INITIAL_TYPE = 'WorkoutLog';

function Graph({ map, selectedType, onChoose }: { map: SchemaMap; selectedType: string; onChoose: (name: string) => void }) {
  const [container, setContainer] = useState<HTMLDivElement | null>(null);
  const optionOf = useCallback(
    ({ text, line, background, isDark }: ThemeColours): EChartsOption => {
      const scheme = isDark ? 'dark' : 'light';
      return {
        backgroundColor: background,
        animation: false,
        series: {
          type: 'graph',
          layout: 'circular',
          circular: { rotateLabel: true },
          roam: true,
          left: 120,
          right: 120,
          top: 110,
          bottom: 110,
          data: map.types.map(({ name }) => ({
            name,
            symbolSize: name === selectedType ? 18 : 10,
            itemStyle: { color: (name === selectedType ? SELECTED_COLOURS : NODE_COLOURS)[scheme] },
          })),
          links: map.relations.map(({ from, to }) => ({
            source: from,
            target: to,
            lineStyle: { color: from === selectedType || to === selectedType ? SELECTED_COLOURS[scheme] : line, curveness: 0.2 },
          })),
          label: { show: true, position: 'right', color: text, fontFamily: 'system-ui, sans-serif' },
        },
      };
    },
    [map, selectedType],
  );
  const chart = useChart(container, optionOf);
  useEffect(() => {
    chart?.on('click', ({ dataType, name }) => {
      if (dataType === 'node') onChoose(name);
    });
  }, [chart]);
  return (
    <div className="graph" role="img" aria-label={`${map.types.length} types and ${map.relations.length} relations`} ref={setContainer} />
  );
}

/** Relations of the selected type, in both directions. A relation of the type to itself is listed once. */
function Relations({
  relations,
  selectedType,
  onChoose,
}: {
  relations: readonly Relation[];
  selectedType: string;
  onChoose: (name: string) => void;
}) {
  const references = relations
    .filter(({ from }) => from === selectedType)
    .map(({ field, to, isMany }) => ({ code: field, multiplicity: isMany ? 'many ' : 'one ', type: to }));
  const backReferences = relations
    .filter(({ from }) => from !== selectedType)
    .map(({ from, field }) => ({ code: `${from}.${field}`, multiplicity: '', type: from }));
  return Object.entries({ References: references, 'Referenced by': backReferences }).map(
    ([title, items]) =>
      items.length > 0 && (
        <Fragment key={title}>
          <h3>{title}</h3>
          <ul>
            {items.map(({ code, multiplicity, type }) => (
              <li key={code}>
                <code>{code}</code> {multiplicity}
                <button onClick={() => onChoose(type)}>{type}</button>
              </li>
            ))}
          </ul>
        </Fragment>
      ),
  );
}

export default function SchemaMapPanel() {
  const schema = useGraphiQL((state) => state.schema);
  const [selectedType, selectType] = useState(INITIAL_TYPE);
  const dialogRef = useRef<HTMLDialogElement>(null);
  const [isDialogOpen, setDialogOpen] = useState(false);
  const map = useMemo(() => (schema ? schemaMapOf(schema) : undefined), [schema]);
  const nearbyMap = useMemo(() => map && mapAroundType(map, selectedType), [map, selectedType]);
  useEffect(() => {
    if (isDialogOpen) dialogRef.current?.showModal();
  }, [isDialogOpen]);
  if (!map || !nearbyMap) return <p className="hint">Loading the schema …</p>;
  return (
    <section className="map" aria-labelledby="map">
      <h2 id="map">Schema map</h2>
      <div className="tools">
        <LabelledSelect label="Type" value={selectedType} options={map.types.map(({ name }) => [name, name])} onChoose={selectType} />
        <button onClick={() => setDialogOpen(true)}>All types</button>
      </div>
      <p>{map.types.find(({ name }) => name === selectedType)?.description}</p>
      <Graph map={nearbyMap} selectedType={selectedType} onChoose={selectType} />
      <Relations relations={nearbyMap.relations} selectedType={selectedType} onChoose={selectType} />
      {isDialogOpen && (
        <dialog ref={dialogRef} className="map" aria-label="All types" onClose={() => setDialogOpen(false)}>
          <button onClick={() => dialogRef.current?.close()}>Close</button>
          <Graph map={map} selectedType={selectedType} onChoose={selectType} />
        </dialog>
      )}
    </section>
  );
}
