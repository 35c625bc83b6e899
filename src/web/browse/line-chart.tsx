/**
 * A line chart over time as SVG. Its colours are CSS variables, so that they follow light and dark
 * mode.
 */
import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import type { ChartModel, LineModel } from './time-charts';

const WIDTH = 880;
const HEIGHT = 300;
const LEFT = 24;
const BOTTOM = HEIGHT - 28;
const FONT_SIZE = 12;
const CHARACTER_WIDTH = 7;

/** Distance between an axis and its labels. */
const LABEL_GAP = 8;
const VALUE_TICKS = 5;
const TEXT_COLOUR = 'var(--muted)';
const GRID_COLOUR = 'var(--line)';
const MAX_POINTS_WITH_SYMBOLS = 60;

type Scale = (value: number) => number;

/** Range of the values. A single value is placed in the middle. */
function rangeOf(values: readonly number[]): [number, number] {
  const [min, max] = [Math.min(...values), Math.max(...values)];

  return min === max ? [min - 1, max + 1] : [min, max];
}

function Line({ lineModel: { points, colourVariable, isDashed }, x, y, hasSymbols }: LineProps) {
  const colour = `var(--${colourVariable})`;
  const coordinates = points.map(([time, value]): [number, number] => [x(time), y(value)]);

  return (
    <g fill={colour}>
      <path
        d={line()(coordinates) ?? ''}
        fill="none"
        stroke={colour}
        stroke-width="2"
        {...(isDashed && { 'stroke-dasharray': '6 4' })}
      />
      {(hasSymbols || points.length === 1) &&
        coordinates.map(([cx, cy], index) => (
          <circle key={index} cx={cx.toFixed(1)} cy={cy.toFixed(1)} r="2.5" />
        ))}
    </g>
  );
}

interface LineProps {
  lineModel: LineModel;
  x: Scale;
  y: Scale;
  hasSymbols: boolean;
}

/**
 * The vertical axis is on the right, next to the newest days, because narrow screens show that end
 * first.
 */
export function LineChart({ chart: { lines, ticks, unit } }: { chart: ChartModel }) {
  const points = lines.flatMap((lineModel) => lineModel.points);
  const top = unit ? 34 : 16;
  const y = scaleLinear(rangeOf(points.map(([, value]) => value)), [BOTTOM, top]).nice(VALUE_TICKS);
  const formatValue = y.tickFormat(VALUE_TICKS);
  const valueTicks = y
    .ticks(VALUE_TICKS)
    .map((value) => ({ label: formatValue(value), labelY: Math.round(y(value)) }));
  const labelWidth = CHARACTER_WIDTH * Math.max(...valueTicks.map(({ label }) => label.length));
  const right = WIDTH - labelWidth - 2 * LABEL_GAP;
  const x = scaleLinear(rangeOf(points.map(([time]) => time)), [LEFT, right]);

  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true" focusable="false">
      <g
        fill={TEXT_COLOUR}
        stroke={GRID_COLOUR}
        font-size={FONT_SIZE}
        font-family="system-ui, sans-serif"
      >
        {valueTicks.map(({ label, labelY }) => (
          <g key={label}>
            <path d={`M${LEFT},${labelY}H${right}`} />
            <text x={right + LABEL_GAP} y={labelY} dy=".32em" stroke="none">
              {label}
            </text>
          </g>
        ))}
        <path d={`M${LEFT},${BOTTOM}H${right}V${top}`} fill="none" />
        {ticks.map(({ time, label }) => (
          <g key={time} transform={`translate(${Math.round(x(time))})`}>
            <path d={`M0,${BOTTOM}v5`} />
            <text y={BOTTOM + FONT_SIZE + LABEL_GAP} text-anchor="middle" stroke="none">
              {label}
            </text>
          </g>
        ))}
        {unit && (
          <text x={WIDTH} y={FONT_SIZE + LABEL_GAP} text-anchor="end" stroke="none">
            {unit}
          </text>
        )}
      </g>
      {lines.map((lineModel, index) => (
        <Line
          key={index}
          lineModel={lineModel}
          x={x}
          y={y}
          hasSymbols={points.length <= MAX_POINTS_WITH_SYMBOLS}
        />
      ))}
    </svg>
  );
}
