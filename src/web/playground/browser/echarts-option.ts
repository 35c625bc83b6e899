/** Converts chart data to options of ECharts (https://echarts.apache.org/en/option.html). */
import type { EChartsOption } from 'echarts';
import type { ChartData, Series } from '../answer/chart';
import type { ThemeColours } from './colours';

/**
 * Palette of Okabe and Ito for people with colour vision deficiency
 * (https://jfly.uni-koeln.de/color/).
 */
const LIGHT_THEME_COLOURS = ['#0072b2', '#e69f00', '#009e73', '#d55e00', '#cc79a7', '#56b4e9'];

/** Lighter versions of LIGHT_THEME_COLOURS for the dark background. */
const DARK_THEME_COLOURS = ['#56b4e9', '#f0b429', '#2fbf93', '#ff8a4c', '#e29bc0', '#9ad0f5'];

/** Further chart colours, for both themes. */
const COMMON_COLOURS = ['#8c8c00', '#7f7f7f', '#5d3fd3', '#a0522d', '#20b2aa', '#b03060'];
const HEATMAP_COLOURS = ['#cfe8f5', '#56b4e9', '#0072b2', '#08306b'];

/** Lines with more points have no symbols. Axes with more categories label only some of them. */
const MAX_SYMBOLS_OR_LABELS = 80;

/** Longer labels together do not fit side by side. */
const MAX_HORIZONTAL_LABEL_CHARACTERS = 64;
const MAX_SHORT_NAME_LENGTH = 10;

/**
 * Rotated axis labels: maximum width and approximate character width in pixels, angle in degrees.
 */
const ROTATED_LABEL = { width: 110, angle: 40, characterWidth: 7 };

/** Distance between an axis with horizontal labels and its title. */
const AXIS_TITLE_GAP_PX = 28;

/** Space below the axis, for a colour scale, a legend or neither. */
const BOTTOM_SPACE_PX = { colourScale: 88, legend: 56, none: 28 };

/** Whether the bars of a chart are horizontal, because their names are long. */
export const isHorizontalBarChart = ({ kind, x }: ChartData): boolean =>
  kind === 'bar' && x.categories.some((name) => name.length > MAX_SHORT_NAME_LENGTH);

/**
 * Distance in pixels between an axis and its title that leaves room for the longest rotated label.
 */
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
    if (kind === 'line') {
      return {
        type: 'line',
        name: item.name,
        data: dataOf(item),
        showSymbol: !hasManyPoints,
        symbolSize: 6,
      };
    }

    if (kind === 'scatter') {
      return { type: 'scatter', name: item.name, data: dataOf(item), symbolSize: 9 };
    }

    if (kind === 'heatmap') {
      return {
        type: 'heatmap',
        name: item.name,
        data: item.points.map(([x, y, value]) => [x, y, Number(value)]),
      };
    }

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
  !x.hasDates &&
  (x.categories.join('').length > MAX_HORIZONTAL_LABEL_CHARACTERS ||
    x.categories.some((name) => name.length > MAX_SHORT_NAME_LENGTH));

/** Formats of the labels of a time axis: `17 Mar`, and the year where it begins. */
const TIME_AXIS_FORMATS = {
  year: '{yyyy}',
  month: '{MMM}',
  day: '{d} {MMM}',
  hour: '{HH}:{mm}',
  minute: '{HH}:{mm}',
  second: '{HH}:{mm}:{ss}',
  millisecond: '{HH}:{mm}:{ss}',
};
const MONTH_FORMAT = new Intl.DateTimeFormat('en-US', { month: 'short', timeZone: 'UTC' });
const YEAR_LENGTH = 4;
const DATE_PATTERN = /^\d{4}-\d\d-\d\d$/;

/** Label of a date among the categories of an axis, with the year where it changes. */
function formatDateCategory(date: string, previousDate: string | undefined): string {
  if (!DATE_PATTERN.test(date)) return date;
  const year = date.slice(0, YEAR_LENGTH);
  const time = new Date(date);
  const dayAndMonth = `${time.getUTCDate()} ${MONTH_FORMAT.format(time)}`;

  return previousDate?.startsWith(year) ? dayAndMonth : `${dayAndMonth} ${year}`;
}

/** Options of category labels. Long names are rotated, so that more of them fit. */
function categoryLabelOptionsOf(chartData: ChartData, { font }: ChartStyle) {
  const isHorizontal = isHorizontalBarChart(chartData);
  const { categories, hasDates } = chartData.x;

  if (hasDates) {
    const formatter = (date: string, index: number) =>
      formatDateCategory(date, categories[index - 1]);

    return { ...font, hideOverlap: true, formatter };
  }

  if (!isHorizontal && !hasLongLabels(chartData)) return { ...font, hideOverlap: true };
  const allLabelsOption = chartData.x.categories.length <= MAX_SYMBOLS_OR_LABELS && { interval: 0 };
  const truncation = { overflow: 'truncate' as const, ...allLabelsOption };

  if (isHorizontal) return { ...font, width: 170, ...truncation };

  return {
    ...font,
    hideOverlap: true,
    rotate: ROTATED_LABEL.angle,
    width: ROTATED_LABEL.width,
    ...truncation,
  };
}

function xAxisOf(chartData: ChartData, style: ChartStyle) {
  const { x } = chartData;
  const commonOptions = {
    ...axisStyleOf(style),
    name: x.name,
    nameLocation: 'middle' as const,
    nameGap: AXIS_TITLE_GAP_PX,
    splitLine: { show: false },
  };

  if (x.kind === 'number') return { ...commonOptions, type: 'value' as const, scale: true };

  if (x.kind === 'time') {
    const axisLabel = { ...commonOptions.axisLabel, formatter: TIME_AXIS_FORMATS };

    return { ...commonOptions, type: 'time' as const, scale: true, axisLabel };
  }

  return {
    ...commonOptions,
    type: 'category' as const,
    data: x.categories,
    axisLabel: categoryLabelOptionsOf(chartData, style),
    ...(hasLongLabels(chartData) && { nameGap: axisTitleGapFor(x.categories) }),
  };
}

function yAxisOf(chartData: ChartData, style: ChartStyle) {
  const { kind, y } = chartData;
  const isHorizontal = isHorizontalBarChart(chartData);
  const categoryOptions = { type: 'category' as const, data: y.categories };
  const valueOptions = { type: 'value' as const, scale: kind === 'line' || kind === 'scatter' };

  return {
    ...axisStyleOf(style),
    ...(kind === 'heatmap' ? categoryOptions : valueOptions),
    // The legend names the columns if there are several.
    name: y.names.length === 1 ? y.names[0] : (y.unit ?? ''),
    ...(isHorizontal && { nameLocation: 'middle' as const, nameGap: AXIS_TITLE_GAP_PX }),
    nameTextStyle: { ...style.font, align: isHorizontal ? ('center' as const) : ('left' as const) },
    splitLine: { lineStyle: { color: style.lineColour } },
  };
}

function axesOf(chartData: ChartData, style: ChartStyle): Pick<EChartsOption, 'xAxis' | 'yAxis'> {
  const [xAxis, yAxis] = [xAxisOf(chartData, style), yAxisOf(chartData, style)];

  if (!isHorizontalBarChart(chartData)) return { xAxis, yAxis };

  return {
    xAxis: yAxis,
    yAxis: { ...xAxis, inverse: true, nameLocation: 'start', nameGap: 12 },
  };
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
    text: [series[0]!.name, ''],
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
  let bottomSpace = series.length > 1 ? BOTTOM_SPACE_PX.legend : BOTTOM_SPACE_PX.none;

  if (isHeatmap) bottomSpace = BOTTOM_SPACE_PX.colourScale;

  return {
    animation: isAnimated,
    backgroundColor: backgroundColour,
    textStyle: font,
    color: [...(isDark ? DARK_THEME_COLOURS : LIGHT_THEME_COLOURS), ...COMMON_COLOURS],
    aria: { enabled: true },
    grid: {
      left: 12,
      right: 24,
      top: 40,
      bottom: bottomSpace,
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
