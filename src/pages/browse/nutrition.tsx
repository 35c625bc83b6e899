/** Nutrition values as a table with bars, wherever an answer has them. */
import type { HtmlView } from './view/view';
import { envelopeOf } from './lists';

type Amounts = Record<string, unknown>;

/** In the order of a food label; an inner value is part of the one before it. */
const ROWS = [
  { key: 'energy', label: 'Energy', unit: 'kcal' },
  { key: 'energy_kilojoule', label: 'Energy', unit: 'kJ' },
  { key: 'fat', label: 'Fat', mass: true },
  { key: 'fat_saturated', label: 'of which saturated', mass: true, inner: true },
  { key: 'carbohydrates', label: 'Carbohydrates', mass: true },
  { key: 'carbohydrates_sugar', label: 'of which sugar', mass: true, inner: true },
  { key: 'fibres', label: 'Fibres', mass: true },
  { key: 'protein', label: 'Protein', mass: true },
  { key: 'sodium', label: 'Sodium', mass: true },
] as const;

const MACROS = ['protein', 'carbohydrates', 'fat'];

const isObject = (value: unknown): value is Amounts => value !== null && typeof value === 'object' && !Array.isArray(value);
const isAmounts = (value: unknown): value is Amounts & { energy: unknown } => isObject(value) && 'energy' in value && 'protein' in value;
const isMacros = (value: unknown): value is Amounts => isObject(value) && MACROS.every((key) => key in value) && !('energy' in value);

const amount = (value: unknown): number | undefined => (value === null || value === undefined || value === '' ? undefined : Number(value));

/** A bar says the same as the number beside it, so it is drawn for the eye only. */
function Bar({ share }: { share: number }) {
  const width = Math.max(0, Math.min(100, share * 100));
  return (
    <span class="track" aria-hidden="true">
      <span class="bar" style={`width:${width.toFixed(1)}%`} />
    </span>
  );
}

function Goal({ energy, goal }: { energy: number; goal: number }) {
  return (
    <>
      <Bar share={energy / goal} />
      <span class="help">{`${Math.round((100 * energy) / goal)} % of the goal, ${goal} kcal`}</span>
    </>
  );
}

interface Measured {
  caption: string;
  /** Of masses. */
  unit: string;
  /** Of the energy of a day, in kcal. */
  goal?: number;
}

function One({ values, caption, unit, goal }: Measured & { values: Amounts }) {
  const rows = ROWS.filter(({ key }) => amount(values[key]) !== undefined);
  const most = Math.max(...rows.map((row) => ('mass' in row ? amount(values[row.key])! : 0)), 0);
  return (
    <div class="scroll">
      <table class="nutrition">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Nutrient</th>
            <th scope="col" class="number">
              Amount
            </th>
            <td />
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key}>
              <th scope="row" class={'inner' in row ? 'inner' : ''}>
                {row.label}
              </th>
              <td class="number">{`${amount(values[row.key])} ${'unit' in row ? row.unit : unit}`}</td>
              <td>
                {'mass' in row && <Bar share={most ? amount(values[row.key])! / most : 0} />}
                {row.key === 'energy' && goal !== undefined && <Goal energy={amount(values.energy)!} goal={goal} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Several rows at once: one line each, a bar for the energy, towards the goal where there is one. */
function Many({ rows, caption, unit, goal, nameOf }: Measured & { rows: readonly Amounts[]; nameOf(row: Amounts): string }) {
  const most = goal ?? Math.max(...rows.map((row) => amount(row.energy) ?? 0), 0);
  const columns = ROWS.filter(({ key }) => rows.some((row) => amount(row[key]) !== undefined));
  return (
    <div class="scroll" tabIndex={0}>
      <table class="nutrition">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <td />
            {columns.map((column) => (
              <th key={column.key} scope="col" class="number">
                {`${column.label} (${'unit' in column ? column.unit : unit})`}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              <th scope="row">{nameOf(row)}</th>
              {columns.map(({ key }) => (
                <td key={key} class="number">
                  {amount(row[key]) ?? '–'}
                  {key === 'energy' && <Bar share={most ? (amount(row.energy) ?? 0) / most : 0} />}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Shares({ values, caption, unit }: { values: Amounts; caption: string; unit: string }) {
  const most = unit === '%' ? 100 : Math.max(...MACROS.map((key) => amount(values[key]) ?? 0));
  return (
    <table class="nutrition">
      <caption>{caption}</caption>
      <tbody>
        {MACROS.map((key) => (
          <tr key={key}>
            <th scope="row">{key[0]!.toUpperCase() + key.slice(1)}</th>
            <td class="number">
              {String(values[key])} {unit}
            </td>
            <td>
              <Bar share={most ? (amount(values[key]) ?? 0) / most : 0} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const goalCaption = (goal: number | undefined) =>
  goal === undefined ? 'Nutrition values' : `Nutrition values; the goal is ${goal} kcal a day`;

const nameOf = ({ name, date, id }: Amounts) => String(name ?? date ?? id ?? '');

export const isNutrition = ({ body }: HtmlView): boolean =>
  [body].flat().some((value) => isAmounts(value) || (isObject(value) && isAmounts(value.total)));

export const isNutrient = (key: string): boolean => ROWS.some((row) => row.key === key);

export function Nutrition({ view }: { view: HtmlView }) {
  const { body, status, kind, thing } = view;
  if (status >= 300 || kind === 'root') return null;
  const found = envelopeOf(view)?.results ?? (Array.isArray(body) ? body : undefined);
  const rows = found?.filter(isAmounts);
  const unit = thing?.massUnit ?? 'g';
  // Of days and whole plans; a part of them has no goal of its own.
  const measured = { unit, goal: thing?.goal };
  const note = kind === 'action' ? undefined : <p class="help">Per 100 g.</p>;
  if (rows?.length)
    return (
      <section aria-label="Nutrition values">
        <Many rows={rows} caption={goalCaption(thing?.goal)} {...measured} nameOf={nameOf} />
        {note}
      </section>
    );
  if (!isObject(body)) return null;
  const total = isAmounts(body) ? body : isAmounts(body.total) ? body.total : undefined;
  if (!total) return null;
  return (
    <section aria-label="Nutrition values">
      <One values={total} caption="Nutrition values" {...measured} />
      {isMacros(body.percent) && <Shares values={body.percent} caption="Share of the energy" unit="%" />}
      {isMacros(body.per_kg) && (
        <Shares values={body.per_kg} caption={`For each ${unit === 'g' ? 'kg' : 'lb'} of body weight`} unit={unit} />
      )}
      {note}
    </section>
  );
}
