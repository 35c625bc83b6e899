/** Map of the schema: one type of rows with its relations, or all types in a dialog. */
import { useGraphiQL } from '@graphiql/react';
import { GraphChart } from 'echarts/charts';
import { use } from 'echarts/core';
import type { EChartsOption } from 'echarts';
import { Fragment, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { schemaMapAroundType, schemaMapOf, type TypeRelation, type SchemaMap } from '../answer/schemamap';
import type { ThemeColours } from './colours';
import { useChart } from './echarts';
import { LabelledSelect } from './labelledselect';

use([GraphChart]);

const SELECTION_COLOURS = { light: '#d55e00', dark: '#ff8a4c' };
const NODE_COLOURS = { light: '#0072b2', dark: '#56b4e9' };
const INITIAL_TYPE_NAME = 'WorkoutLog';

function Graph({ map, selectedTypeName, onChoose }: { map: SchemaMap; selectedTypeName: string; onChoose: (name: string) => void }) {
  const [container, setContainer] = useState<HTMLDivElement | null>(null);
  const chartOptionOf = useCallback(
    ({ textColour, lineColour, backgroundColour, isDark }: ThemeColours): EChartsOption => {
      const colourScheme = isDark ? 'dark' : 'light';
      return {
        backgroundColor: backgroundColour,
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
            symbolSize: name === selectedTypeName ? 18 : 10,
            itemStyle: { color: (name === selectedTypeName ? SELECTION_COLOURS : NODE_COLOURS)[colourScheme] },
          })),
          links: map.relations.map(({ sourceTypeName, targetTypeName }) => ({
            source: sourceTypeName,
            target: targetTypeName,
            lineStyle: {
              color:
                sourceTypeName === selectedTypeName || targetTypeName === selectedTypeName ? SELECTION_COLOURS[colourScheme] : lineColour,
              curveness: 0.2,
            },
          })),
          label: { show: true, position: 'right', color: textColour, fontFamily: 'system-ui, sans-serif' },
        },
      };
    },
    [map, selectedTypeName],
  );
  const chart = useChart(container, chartOptionOf);
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
function RelationLists({
  relations,
  selectedTypeName,
  onChoose,
}: {
  relations: readonly TypeRelation[];
  selectedTypeName: string;
  onChoose: (name: string) => void;
}) {
  const references = relations
    .filter(({ sourceTypeName }) => sourceTypeName === selectedTypeName)
    .map(({ fieldName, targetTypeName, isToMany }) => ({
      code: fieldName,
      multiplicity: isToMany ? 'many ' : 'one ',
      type: targetTypeName,
    }));
  const backReferences = relations
    .filter(({ sourceTypeName }) => sourceTypeName !== selectedTypeName)
    .map(({ sourceTypeName, fieldName }) => ({ code: `${sourceTypeName}.${fieldName}`, multiplicity: '', type: sourceTypeName }));
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
  const [selectedTypeName, selectTypeName] = useState(INITIAL_TYPE_NAME);
  const dialogRef = useRef<HTMLDialogElement>(null);
  const [isDialogOpen, setDialogOpen] = useState(false);
  const map = useMemo(() => (schema ? schemaMapOf(schema) : undefined), [schema]);
  const nearbyMap = useMemo(() => map && schemaMapAroundType(map, selectedTypeName), [map, selectedTypeName]);
  useEffect(() => {
    if (isDialogOpen) dialogRef.current?.showModal();
  }, [isDialogOpen]);
  if (!map || !nearbyMap) return <p className="hint">Loading the schema …</p>;
  return (
    <section className="map" aria-labelledby="map">
      <h2 id="map">Schema map</h2>
      <div className="tools">
        <LabelledSelect
          label="Type"
          value={selectedTypeName}
          options={map.types.map(({ name }) => [name, name])}
          onChoose={selectTypeName}
        />
        <button onClick={() => setDialogOpen(true)}>All types</button>
      </div>
      <p>{map.types.find(({ name }) => name === selectedTypeName)?.description}</p>
      <Graph map={nearbyMap} selectedTypeName={selectedTypeName} onChoose={selectTypeName} />
      <RelationLists relations={nearbyMap.relations} selectedTypeName={selectedTypeName} onChoose={selectTypeName} />
      {isDialogOpen && (
        <dialog ref={dialogRef} className="map" aria-label="All types" onClose={() => setDialogOpen(false)}>
          <button onClick={() => dialogRef.current?.close()}>Close</button>
          <Graph map={map} selectedTypeName={selectedTypeName} onChoose={selectTypeName} />
        </dialog>
      )}
    </section>
  );
}
