/** Shows the nutrition values of a response as tables with bars. */
import type { HtmlView } from './view/view-model';

type NutrientAmounts = Record<string, unknown>;

/**
 * Nutrients in the order of a food label. An `inner` nutrient is part of the nutrient before it.
 */
const NUTRIENTS = [
  { key: 'energy', label: 'Energy', unit: 'kcal' },
  { key: 'energy_kilojoule', label: 'Energy', unit: 'kJ' },
  { key: 'fat', label: 'Fat', mass: true },
  { key: 'fat_saturated', label: 'of which saturated', mass: true, inner: true },
  { key: 'carbohydrates', label: 'Carbohydrates', mass: true },
  { key: 'carbohydrates_sugar', label: 'of which sugar', mass: true, inner: true },
  { key: 'fibres', label: 'Fibre', mass: true },
  { key: 'protein', label: 'Protein', mass: true },
  { key: 'sodium', label: 'Sodium', mass: true },
] as const;

const MACRONUTRIENT_KEYS = ['protein', 'carbohydrates', 'fat'];

const isObject = (value: unknown): value is NutrientAmounts =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
const isNutrientAmounts = (value: unknown): value is NutrientAmounts & { energy: unknown } =>
  isObject(value) && 'energy' in value && 'protein' in value;
const isMacronutrientAmounts = (value: unknown): value is NutrientAmounts =>
  isObject(value) && MACRONUTRIENT_KEYS.every((key) => key in value) && !('energy' in value);

const amountOf = (value: unknown): number | undefined =>
  value === null || value === undefined || value === '' ? undefined : Number(value);

/** Horizontal bar that illustrates a number. Screen readers skip it. */
function Bar({ share }: { share: number }) {
  const width = Math.max(0, Math.min(100, share * 100));

  return (
    <span class="track" aria-hidden="true">
      <span class="bar" style={`width:${width.toFixed(1)}%`} />
    </span>
  );
}

function GoalComparison({ energy, goal }: { energy: number; goal: number }) {
  return (
    <>
      <Bar share={energy / goal} />
      <span class="help">{`${Math.round((100 * energy) / goal)} % of the goal of ${goal} kcal`}</span>
    </>
  );
}

interface TableProps {
  caption: string;
  massUnit: string;

  /** Daily energy goal in kcal. */
  energyGoal?: number;
}

function NutritionalValuesTable({
  values,
  caption,
  massUnit,
  energyGoal,
}: TableProps & { values: NutrientAmounts }) {
  const rows = NUTRIENTS.filter(({ key }) => amountOf(values[key]) !== undefined);
  const maxMass = Math.max(
    ...rows.map((row) => ('mass' in row ? amountOf(values[row.key])! : 0)),
    0,
  );

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
              <td class="number">{`${amountOf(values[row.key])} ${'unit' in row ? row.unit : massUnit}`}</td>
              <td>
                {'mass' in row && (
                  <Bar share={maxMass ? amountOf(values[row.key])! / maxMass : 0} />
                )}
                {row.key === 'energy' && energyGoal !== undefined && (
                  <GoalComparison energy={amountOf(values.energy)!} goal={energyGoal} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/**
 * Compares the nutrients of several rows. A bar shows the energy of each row relative to the goal,
 * or to the largest value if there is no goal.
 */
function ComparisonTable({
  rows,
  caption,
  massUnit,
  energyGoal,
}: TableProps & { rows: readonly NutrientAmounts[] }) {
  const maxEnergy = energyGoal ?? Math.max(...rows.map((row) => amountOf(row.energy) ?? 0), 0);
  const columns = NUTRIENTS.filter(({ key }) =>
    rows.some((row) => amountOf(row[key]) !== undefined),
  );

  return (
    <div class="scroll" tabIndex={0}>
      <table class="nutrition">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <td />
            {columns.map((column) => (
              <th key={column.key} scope="col" class="number">
                {`${column.label} (${'unit' in column ? column.unit : massUnit})`}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              <th scope="row">{String(row.name ?? row.date ?? row.id ?? '')}</th>
              {columns.map(({ key }) => (
                <td key={key} class="number">
                  {amountOf(row[key]) ?? '–'}
                  {key === 'energy' && (
                    <Bar share={maxEnergy ? (amountOf(row.energy) ?? 0) / maxEnergy : 0} />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function MacronutrientTable({
  values,
  caption,
  unit,
}: {
  values: NutrientAmounts;
  caption: string;
  unit: string;
}) {
  const maxValue =
    unit === '%' ? 100 : Math.max(...MACRONUTRIENT_KEYS.map((key) => amountOf(values[key]) ?? 0));

  return (
    <table class="nutrition">
      <caption>{caption}</caption>
      <tbody>
        {MACRONUTRIENT_KEYS.map((key) => (
          <tr key={key}>
            <th scope="row">{key[0]!.toUpperCase() + key.slice(1)}</th>
            <td class="number">
              {String(values[key])} {unit}
            </td>
            <td>
              <Bar share={maxValue ? (amountOf(values[key]) ?? 0) / maxValue : 0} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export const hasNutritionValues = ({ body }: HtmlView): boolean =>
  [body]
    .flat()
    .some(
      (value) => isNutrientAmounts(value) || (isObject(value) && isNutrientAmounts(value.total)),
    );

export const isNutrientKey = (key: string): boolean => NUTRIENTS.some((row) => row.key === key);

export function NutritionSection({ view }: { view: HtmlView }) {
  const { body, status, kind, detailRow } = view;

  if (status >= 300 || kind === 'root') return null;
  const rows = Array.isArray(body) ? body.filter(isNutrientAmounts) : [];
  const unit = detailRow?.massUnit ?? 'g';
  // Only days and whole nutrition plans are compared with the energy goal.
  const goal = detailRow?.energyGoal;

  if (rows.length) {
    const caption =
      goal === undefined ? 'Nutrition values' : `Nutrition values (goal: ${goal} kcal per day)`;

    return (
      <section aria-label="Nutrition values">
        <ComparisonTable rows={rows} caption={caption} massUnit={unit} energyGoal={goal} />
      </section>
    );
  }

  if (!isObject(body)) return null;
  const total = isNutrientAmounts(body) ? body : body.total;

  if (!isNutrientAmounts(total)) return null;

  return (
    <section aria-label="Nutrition values">
      <NutritionalValuesTable
        values={total}
        caption="Nutrition values"
        massUnit={unit}
        energyGoal={goal}
      />
      {isMacronutrientAmounts(body.percent) && (
        <MacronutrientTable values={body.percent} caption="Share of energy" unit="%" />
      )}
      {isMacronutrientAmounts(body.per_kg) && (
        <MacronutrientTable
          values={body.per_kg}
          caption={`Per ${unit === 'g' ? 'kg' : 'lb'} of body weight`}
          unit={unit}
        />
      )}
      {kind !== 'action' && <p class="help">Per 100 g.</p>}
    </section>
  );
}
