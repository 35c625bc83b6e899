/** Converts the data of a chart to an option object of ECharts. (https://echarts.apache.org/en/option.html) */
import type { EChartsOption } from 'echarts';
import type { ChartData, Series } from '../answer/chart';
import type { ThemeColours } from './colours';

/** Palette of Okabe and Ito for people with colour vision deficiency (https://jfly.uni-koeln.de/color/), extended by BOTH_THEMES_COLOURS. */
const LIGHT_THEME_COLOURS = ['#0072b2', '#e69f00', '#009e73', '#d55e00', '#cc79a7', '#56b4e9'];
/** Chart colours for the dark theme: lighter versions of LIGHT_THEME_COLOURS, which would be too dark on a dark background. */
const DARK_THEME_COLOURS = ['#56b4e9', '#f0b429', '#2fbf93', '#ff8a4c', '#e29bc0', '#9ad0f5'];
const BOTH_THEMES_COLOURS = ['#8c8c00', '#7f7f7f', '#5d3fd3', '#a0522d', '#20b2aa', '#b03060'];
const HEATMAP_COLOURS = ['#cfe8f5', '#56b4e9', '#0072b2', '#08306b'];
/** If a line has more points than this, no line has symbols. If an axis has more categories than this, only some of them have a label. */
const MAX_SYMBOLS_OR_LABELS = 80;
const MAX_HORIZONTAL_LABELS = 8;
const MAX_SHORT_NAME_LENGTH = 10;
/** Rotated axis labels: maximum width in pixels, angle in degrees, and approximate width of a character in pixels. */
const ROTATED_LABEL = { width: 110, angle: 40, characterWidth: 7 };
/** Distance between an axis with horizontal labels and its title. */
const AXIS_TITLE_GAP_PX = 28;
const BOTTOM_SPACE_PX = { heat: 88, legend: 56, none: 28 };

/** Whether the bars are horizontal, which makes long names readable. */
export const isHorizontalBarChart = ({ kind, x }: ChartData): boolean =>
  kind === 'bar' && x.categories.some((name) => name.length > MAX_SHORT_NAME_LENGTH);

/** Returns the distance between an axis with rotated labels and its title: the height of the longest label. */
function axisTitleGapFor(categoryNames: readonly string[]): number {
  const maxNameLength = Math.max(0, ...categoryNames.map((name) => name.length));
  const width = Math.min(ROTATED_LABEL.width, maxNameLength * ROTATED_LABEL.characterWidth);
  return Math.round(width * Math.sin((ROTATED_LABEL.angle / 180) * Math.PI)) + AXIS_TITLE_GAP_PX;
}

function seriesOf(
  chartData: ChartData,
  hasManyPoints: boolean,
): NonNullable<EChartsOption['series']> {
  const { kind, series } = chartData;
  const isHorizontal = isHorizontalBarChart(chartData);
  const dataOf = ({ points }: Series) =>
    points.map(([x, y, name]) => ({ value: isHorizontal ? [y, x] : [x, y], name }));
  return series.map((item) => {
    if (kind === 'line')
      return {
        type: 'line',
        name: item.name,
        data: dataOf(item),
        showSymbol: !hasManyPoints,
        symbolSize: 6,
      };
    if (kind === 'scatter')
      return { type: 'scatter', name: item.name, data: dataOf(item), symbolSize: 9 };
    if (kind === 'heatmap')
      return {
        type: 'heatmap',
        name: item.name,
        data: item.points.map(([x, y, value]) => [x, y, Number(value)]),
      };
    return {
      type: 'bar',
      name: item.name,
      data: dataOf(item),
      ...(kind === 'stacked' && { stack: 'all' }),
      barMaxWidth: 48,
    };
  });
}

interface ChartStyle {
  font: { color: string; fontFamily: string };
  lineColour: string;
}

const axisStyleOf = ({ font, lineColour }: ChartStyle) => ({
  axisLabel: { ...font, hideOverlap: true },
  axisLine: { lineStyle: { color: lineColour } },
  nameTextStyle: font,
});

const hasLongLabels = ({ x }: ChartData): boolean =>
  x.categories.length > MAX_HORIZONTAL_LABELS ||
  x.categories.some((name) => name.length > MAX_SHORT_NAME_LENGTH);

/** Returns the options of category labels. Long names are rotated, so that more of them fit. */
function categoryLabelOptionsOf(chartData: ChartData, { font }: ChartStyle) {
  if (!isHorizontalBarChart(chartData) && !hasLongLabels(chartData))
    return { ...font, hideOverlap: true };
  const allLabelsOption = chartData.x.categories.length <= MAX_SYMBOLS_OR_LABELS && { interval: 0 };
  const truncation = { overflow: 'truncate' as const, ...allLabelsOption };
  return isHorizontalBarChart(chartData)
    ? { ...font, width: 170, ...truncation }
    : {
        ...font,
        hideOverlap: true,
        rotate: ROTATED_LABEL.angle,
        width: ROTATED_LABEL.width,
        ...truncation,
      };
}

function xAxisOf(chartData: ChartData, style: ChartStyle) {
  const { x } = chartData;
  const hasCategories = x.kind === 'text';
  return {
    ...axisStyleOf(style),
    ...(hasCategories
      ? {
          type: 'category' as const,
          data: x.categories,
          axisLabel: categoryLabelOptionsOf(chartData, style),
        }
      : { type: x.kind === 'time' ? ('time' as const) : ('value' as const), scale: true }),
    name: x.name,
    nameLocation: 'middle' as const,
    nameGap:
      hasCategories && hasLongLabels(chartData) ? axisTitleGapFor(x.categories) : AXIS_TITLE_GAP_PX,
    splitLine: { show: false },
  };
}

function yAxisOf(chartData: ChartData, style: ChartStyle) {
  const { kind, y } = chartData;
  const isHorizontal = isHorizontalBarChart(chartData);
  return {
    ...axisStyleOf(style),
    ...(kind === 'heatmap'
      ? { type: 'category' as const, data: y.categories }
      : { type: 'value' as const, scale: kind === 'line' || kind === 'scatter' }),
    // The axis has a title if it shows a single column. If there are several, the legend names them.
    name: y.names.length === 1 ? y.names[0] : '',
    ...(isHorizontal && { nameLocation: 'middle' as const, nameGap: AXIS_TITLE_GAP_PX }),
    nameTextStyle: { ...style.font, align: isHorizontal ? ('center' as const) : ('left' as const) },
    splitLine: { lineStyle: { color: style.lineColour } },
  };
}

function axesOf(chartData: ChartData, style: ChartStyle): Pick<EChartsOption, 'xAxis' | 'yAxis'> {
  const [xAxis, yAxis] = [xAxisOf(chartData, style), yAxisOf(chartData, style)];
  return isHorizontalBarChart(chartData)
    ? { xAxis: yAxis, yAxis: { ...xAxis, inverse: true, nameLocation: 'start', nameGap: 12 } }
    : { xAxis, yAxis };
}

function colourScaleOf({ series }: ChartData, { font }: ChartStyle): EChartsOption['visualMap'] {
  const values = series.flatMap(({ points }) => points.map(([, , value]) => Number(value)));
  return {
    min: Math.min(0, ...values),
    max: Math.max(0, ...values),
    orient: 'horizontal',
    left: 'center',
    bottom: 0,
    itemHeight: 160,
    inRange: { color: HEATMAP_COLOURS },
    textStyle: font,
    calculable: true,
  };
}

export function echartsOptionOf(
  chartData: ChartData,
  { textColour, lineColour, backgroundColour, isDark }: ThemeColours,
  isAnimated: boolean,
): EChartsOption {
  const { kind, series } = chartData;
  const font = { color: textColour, fontFamily: 'system-ui, sans-serif' };
  const style = { font, lineColour };
  const isHeatmap = kind === 'heatmap';
  return {
    animation: isAnimated,
    backgroundColor: backgroundColour,
    textStyle: font,
    color: [...(isDark ? DARK_THEME_COLOURS : LIGHT_THEME_COLOURS), ...BOTH_THEMES_COLOURS],
    aria: { enabled: true },
    grid: {
      left: 12,
      right: 24,
      top: 40,
      bottom: isHeatmap
        ? BOTTOM_SPACE_PX.heat
        : series.length > 1
          ? BOTTOM_SPACE_PX.legend
          : BOTTOM_SPACE_PX.none,
      containLabel: true,
    },
    tooltip: {
      trigger: kind === 'scatter' || isHeatmap ? 'item' : 'axis',
      backgroundColor: backgroundColour,
      borderColor: lineColour,
      textStyle: font,
      confine: true,
      // Renders data as text, never as HTML.
      renderMode: 'richText',
    },
    ...(series.length > 1 && {
      legend: { type: 'scroll', bottom: 0, textStyle: font, pageTextStyle: font },
    }),
    ...(isHeatmap && { visualMap: colourScaleOf(chartData, style) }),
    ...axesOf(chartData, style),
    series: seriesOf(
      chartData,
      series.some(({ points }) => points.length > MAX_SYMBOLS_OR_LABELS),
    ),
  };
}
