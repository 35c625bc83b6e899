/** A drawing in the words of ECharts. */
import type { ComposeOption } from 'echarts/core';
import type { BarSeriesOption, HeatmapSeriesOption, LineSeriesOption, ScatterSeriesOption } from 'echarts/charts';
import type {
  AriaComponentOption,
  GridComponentOption,
  LegendComponentOption,
  TooltipComponentOption,
  VisualMapComponentOption,
} from 'echarts/components';
import type { Drawing, Series } from '../answer/chart';

export type Option = ComposeOption<
  | BarSeriesOption
  | HeatmapSeriesOption
  | LineSeriesOption
  | ScatterSeriesOption
  | AriaComponentOption
  | GridComponentOption
  | LegendComponentOption
  | TooltipComponentOption
  | VisualMapComponentOption
>;

/** Those of the page around it. */
export interface Colours {
  text: string;
  line: string;
  ground: string;
}

/** Told apart by most people who see colours differently. (https://jfly.uni-koeln.de/color/, Okabe and Ito) */
const MARKS = [
  '#0072b2',
  '#e69f00',
  '#009e73',
  '#d55e00',
  '#cc79a7',
  '#56b4e9',
  '#8c8c00',
  '#7f7f7f',
  '#5d3fd3',
  '#a0522d',
  '#20b2aa',
  '#b03060',
];
const HEAT = ['#cfe8f5', '#56b4e9', '#0072b2', '#08306b'];
/** So many points need no marks of their own. */
const MANY = 80;
const FEW = 8;
const SHORT = 10;

function seriesOf({ kind, series }: Drawing, many: boolean): NonNullable<Option['series']> {
  const data = ({ points }: Series) => points.map(([x, y, name]) => ({ value: [x, y], name }));
  return series.map((one) => {
    if (kind === 'line') return { type: 'line', name: one.name, data: data(one), showSymbol: !many, symbolSize: 6 };
    if (kind === 'scatter') return { type: 'scatter', name: one.name, data: data(one), symbolSize: 9 };
    if (kind === 'heatmap') return { type: 'heatmap', name: one.name, data: one.points.map(([x, y, value]) => [x, y, Number(value)]) };
    return { type: 'bar', name: one.name, data: data(one), ...(kind === 'stacked' && { stack: 'all' }), barMaxWidth: 48 };
  });
}

export function optionOf(drawing: Drawing, { text, line, ground }: Colours, animated: boolean): Option {
  const { kind, x, y, series } = drawing;
  const font = { color: text, fontFamily: 'system-ui, sans-serif' };
  const axis = { axisLabel: { ...font, hideOverlap: true }, axisLine: { lineStyle: { color: line } }, nameTextStyle: font };
  const isHeat = kind === 'heatmap';
  const values = isHeat ? series.flatMap(({ points }) => points.map(([, , value]) => Number(value))) : [];
  const hasCategories = x.kind === 'text';
  const isLong = x.categories.length > FEW || x.categories.some((name) => name.length > SHORT);
  const label = { ...font, hideOverlap: true };
  const categoryLabel = isLong
    ? { ...label, rotate: 40, width: 110, overflow: 'truncate' as const, ...(x.categories.length <= MANY && { interval: 0 }) }
    : label;
  return {
    animation: animated,
    backgroundColor: ground,
    textStyle: font,
    color: MARKS,
    aria: { enabled: true },
    grid: { left: 12, right: 24, top: 40, bottom: isHeat ? 76 : series.length > 1 ? 56 : 28, containLabel: true },
    tooltip: {
      trigger: kind === 'scatter' || isHeat ? 'item' : 'axis',
      backgroundColor: ground,
      borderColor: line,
      textStyle: font,
      confine: true,
      // Whatever the answer says is text, and nothing else.
      renderMode: 'richText',
    },
    ...(series.length > 1 && { legend: { type: 'scroll', bottom: 0, textStyle: font, pageTextStyle: font } }),
    ...(isHeat && {
      visualMap: {
        min: Math.min(0, ...values),
        max: Math.max(0, ...values),
        orient: 'horizontal',
        left: 'center',
        bottom: 0,
        itemHeight: 160,
        inRange: { color: HEAT },
        textStyle: font,
        calculable: true,
      },
    }),
    xAxis: {
      ...axis,
      // Long names run upwards, so that more of them are seen.
      ...(hasCategories
        ? { type: 'category', data: x.categories, axisLabel: categoryLabel }
        : { type: x.kind === 'time' ? 'time' : 'value', scale: true }),
      name: x.name,
      nameLocation: 'middle',
      nameGap: hasCategories && isLong ? 92 : 28,
      splitLine: { show: false },
    },
    yAxis: {
      ...axis,
      ...(isHeat ? { type: 'category', data: y.categories } : { type: 'value', scale: kind === 'line' || kind === 'scatter' }),
      name: y.name,
      nameTextStyle: { ...font, align: isHeat ? 'center' : 'left' },
      splitLine: { lineStyle: { color: line } },
    },
    series: seriesOf(
      drawing,
      series.some(({ points }) => points.length > MANY),
    ),
  };
}
