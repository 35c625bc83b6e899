/** The answer as a chart. A bundle of its own, loaded with the first one. */
import { useEffect, useMemo, useRef, useState } from 'react';
import { drawingOf, fits, suggested } from '../answer/chart';
import type { ChartSettings } from '../answer/settings';
import type { Table } from '../answer/table';
import { ChartControls } from './controls';
import { init } from './echarts';
import { coloursOf, whenRecoloured } from './colours';
import { lies, optionOf } from './option';
import { fileName, save } from './save';

/** Of bars that lie, in pixels: one of them, and what is above and below. */
const ROW = 20;
const ROWS_AROUND = 90;
/** Sharp on most screens, and in print. */
const PIXELS = 2;

type Chart = ReturnType<typeof init>;

function svgOf(chart: Chart): string {
  return decodeURIComponent(chart.getDataURL({ type: 'svg' }).replace(/^data:[^,]*,/, ''));
}

async function pngOf(chart: Chart): Promise<Blob | null> {
  const image = new Image();
  image.src = chart.getDataURL({ type: 'svg' });
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = chart.getWidth() * PIXELS;
  canvas.height = chart.getHeight() * PIXELS;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}

interface Props {
  table: Table;
  /** Those that a reader, a link or a worked question has chosen; they may be of another answer. */
  settings: ChartSettings | undefined;
  change: (settings: ChartSettings) => void;
}

export default function ChartView({ table, settings: chosen, change }: Props) {
  const settings = useMemo(() => (chosen && fits(table, chosen) ? chosen : suggested(table)), [table, chosen]);
  const drawing = useMemo(() => settings && drawingOf(table, settings), [table, settings]);
  const box = useRef<HTMLDivElement>(null);
  const [chart, setChart] = useState<Chart>();

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const made = init(element, null, { renderer: 'svg' });
    const sized = new ResizeObserver(() => made.resize());
    sized.observe(element);
    setChart(made);
    return () => {
      sized.disconnect();
      made.dispose();
    };
  }, [settings === undefined]);

  useEffect(() => {
    if (!chart || !drawing || !box.current) return;
    const element = box.current;
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const draw = () => chart.setOption(optionOf(drawing, coloursOf(element), !calm), { notMerge: true });
    draw();
    return whenRecoloured(draw);
  }, [chart, drawing]);

  if (!settings || !drawing) return <p className="hint">There is no number in this answer that could be drawn.</p>;
  return (
    <>
      <div className="tools">
        <ChartControls table={table} settings={settings} change={change} />
        <button onClick={() => chart && save(fileName('svg'), 'image/svg+xml', svgOf(chart))}>SVG</button>
        <button onClick={() => chart && void pngOf(chart).then((image) => image && save(fileName('png'), 'image/png', image))}>PNG</button>
      </div>
      {drawing.omitted > 0 && <p className="hint">The first rows are drawn; {drawing.omitted} more are not.</p>}
      <div
        className="chart"
        role="img"
        aria-label={`${drawing.y.names.join(', ')} by ${drawing.x.name}`}
        ref={box}
        style={lies(drawing) ? { minHeight: drawing.x.categories.length * ROW + ROWS_AROUND } : undefined}
      />
    </>
  );
}
