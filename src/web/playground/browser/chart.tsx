/** Chart view of a result, in a bundle of its own that is loaded on first use. */
import { useMemo, useState } from 'react';
import { chartDataOf, isChartCompatible, suggestChart } from '../answer/chart';
import type { ChartSettings } from '../answer/settings';
import type { Table } from '../answer/table';
import { ChartControls } from './chart-controls';
import { useChart, type Chart } from './echarts';
import type { ThemeColours } from './colours';
import { isHorizontalBarChart, echartsOptionOf } from './echarts-option';
import { fileNameForDownload, downloadFile } from './download-file';

const BAR_HEIGHT_PX = 20;
const BAR_CHART_EXTRA_HEIGHT_PX = 90;

/** Image pixels per CSS pixel. 2 is sharp on most screens and in print. */
const PNG_SCALE = 2;

async function renderPng(chart: Chart): Promise<Blob | null> {
  const image = new Image();

  image.src = chart.getDataURL({ type: 'svg' });
  await image.decode();
  const canvas = document.createElement('canvas');

  canvas.width = chart.getWidth() * PNG_SCALE;
  canvas.height = chart.getHeight() * PNG_SCALE;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}

interface ChartViewProps {
  table: Table;

  /** Settings from the user, a share link or an example question. They may not fit this table. */
  settings: ChartSettings | undefined;
  onChange: (settings: ChartSettings) => void;
}

export default function ChartView({
  table,
  settings: requestedSettings,
  onChange,
}: ChartViewProps) {
  const settings = useMemo(() => {
    const isCompatible = requestedSettings && isChartCompatible(table, requestedSettings);

    return isCompatible ? requestedSettings : suggestChart(table);
  }, [table, requestedSettings]);
  const chartData = useMemo(() => settings && chartDataOf(table, settings), [table, settings]);
  const chartOptionOf = useMemo(() => {
    const prefersReducedMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;

    return (
      chartData &&
      ((colours: ThemeColours) => echartsOptionOf(chartData, colours, !prefersReducedMotion))
    );
  }, [chartData]);
  const [container, setContainer] = useState<HTMLDivElement | null>(null);
  const chart = useChart(container, chartOptionOf);

  if (!settings || !chartData) return <p className="hint">This result has no numbers to chart.</p>;

  const barsHeight = chartData.x.categories.length * BAR_HEIGHT_PX + BAR_CHART_EXTRA_HEIGHT_PX;
  const minHeight = isHorizontalBarChart(chartData) ? barsHeight : undefined;

  return (
    <>
      <div className="tools">
        <ChartControls table={table} settings={settings} onChange={onChange} />
        <button
          onClick={() =>
            chart &&
            downloadFile(fileNameForDownload('svg'), 'image/svg+xml', chart.renderToSVGString())
          }
        >
          SVG
        </button>
        <button
          onClick={() =>
            chart &&
            void renderPng(chart).then(
              (image) => image && downloadFile(fileNameForDownload('png'), 'image/png', image),
            )
          }
        >
          PNG
        </button>
      </div>
      {chartData.omittedRowCount > 0 && (
        <p className="hint">
          Only the first rows are shown; {chartData.omittedRowCount} more are omitted.
        </p>
      )}
      <div
        className="chart"
        role="img"
        aria-label={`${chartData.y.names.join(', ')} by ${chartData.x.name}`}
        ref={setContainer}
        style={{ minHeight }}
      />
    </>
  );
}
