/**
 * Registers only the used parts of ECharts, for a small bundle, and draws charts in the colours of
 * the theme.
 */
import { BarChart, HeatmapChart, LineChart, ScatterChart } from 'echarts/charts';
import {
  AriaComponent,
  GridComponent,
  LegendComponent,
  TooltipComponent,
  VisualMapComponent,
} from 'echarts/components';
import { init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { EChartsOption } from 'echarts';
import { useEffect, useState } from 'react';
import { themeColoursOf, onThemeChange, type ThemeColours } from './colours';

use([
  BarChart,
  HeatmapChart,
  LineChart,
  ScatterChart,
  AriaComponent,
  GridComponent,
  LegendComponent,
  TooltipComponent,
  VisualMapComponent,
  SVGRenderer,
]);

export type Chart = ReturnType<typeof init>;

/**
 * Draws a chart that fills an element, and redraws it when `chartOptionOf` or the theme changes.
 */
export function useChart(
  element: HTMLElement | null,
  chartOptionOf: ((colours: ThemeColours) => EChartsOption) | undefined,
): Chart | undefined {
  const [chart, setChart] = useState<Chart>();

  useEffect(() => {
    if (!element) return;
    const chartInstance = init(element, null, { renderer: 'svg' });
    const resizeObserver = new ResizeObserver(() => chartInstance.resize());

    resizeObserver.observe(element);
    setChart(chartInstance);

    return () => {
      resizeObserver.disconnect();
      chartInstance.dispose();
    };
  }, [element]);

  useEffect(() => {
    if (!chart || !element || !chartOptionOf) return;
    const draw = () => chart.setOption(chartOptionOf(themeColoursOf(element)), { notMerge: true });

    draw();
    return onThemeChange(draw);
  }, [chart, chartOptionOf]);

  return chart;
}
