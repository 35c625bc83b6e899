/** Detail page of a row: its fields and its child rows. */
import type { ChildRows, HtmlView } from './view/viewmodel';
import { isNutrientKey, hasNutritionValues } from './nutrition';
import { RowTable, CellContent } from './rowtable';
import { BodyFigure } from './trainingplan';

const MUSCLES_KEY = 'muscles';
const SECONDARY_MUSCLES_KEY = 'muscles_secondary';
/** REST keys of the fields that the page shows last: metadata of a row, such as its license. */
const KEYS_SHOWN_LAST = new Set([
  'uuid',
  'status',
  'creation_date',
  'update_date',
  'license',
  'license_author',
  'code',
  'user',
]);

function MuscleFigure({ view }: { view: HtmlView }) {
  const linksOf = (key: string) =>
    view.detailRow?.fields.find((field) => field.key === key)?.cell.links ?? [];
  const [main, secondary] = [linksOf(MUSCLES_KEY), linksOf(SECONDARY_MUSCLES_KEY)];
  if (main.length + secondary.length === 0) return null;
  const joinNames = (links: typeof main) => links.map(({ label }) => label).join(', ');
  const alt = [joinNames(main), secondary.length ? `also ${joinNames(secondary)}` : '']
    .filter(Boolean)
    .join('; ');
  return (
    <BodyFigure
      mainMuscleIds={main.map(({ id }) => id)}
      secondaryMuscleIds={secondary.map(({ id }) => id)}
      alt={`Trained muscles: ${alt}`}
    />
  );
}

export function FieldList({ view }: { view: HtmlView }) {
  const { detailRow, baseUrl } = view;
  if (!detailRow) return null;
  const hasNutritionTable = hasNutritionValues(view);
  // The fields of a detail page omit empty ones, the name (shown in the heading), and nutrients if the nutrition table shows them.
  const fields = detailRow.fields.filter(
    ({ key, cell: { text, links } }) =>
      !(hasNutritionTable && isNutrientKey(key)) &&
      ((text && text !== detailRow.name) || links?.length),
  );
  const orderedFields = [
    ...fields.filter(({ key }) => !KEYS_SHOWN_LAST.has(key)),
    ...fields.filter(({ key }) => KEYS_SHOWN_LAST.has(key)),
  ];
  return (
    <div class="detail">
      <MuscleFigure view={view} />
      <dl class="facts">
        {orderedFields.map(({ label, key, cell }) => (
          <div key={key}>
            <dt>{label}</dt>
            <dd>
              <CellContent cell={cell} rowName={detailRow.name} baseUrl={baseUrl} />
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function ChildList({
  childRows: { label, totalCount, table, listUrl, addUrl },
  index,
  baseUrl,
}: {
  childRows: ChildRows;
  index: number;
  baseUrl: string;
}) {
  return (
    <section>
      <h2>
        {label} <span class="count">{totalCount}</span>
      </h2>
      {table.rows.length > 0 && (
        <RowTable table={table} baseUrl={baseUrl} tableCssClass={childTableCssClassOf(index)} />
      )}
      {(listUrl ?? addUrl) && (
        <p class="row further">
          {listUrl && totalCount > 0 && (
            <a href={listUrl}>
              {totalCount > table.rows.length ? `All ${totalCount}` : 'Show as list'}
            </a>
          )}
          {addUrl && <a href={addUrl}>Add</a>}
        </p>
      )}
    </section>
  );
}

export const childTableCssClassOf = (index: number) => `below${index}`;

/** Returns the lists of child rows, except for empty lists to which the visitor cannot add rows. */
export const childListsOf = ({ detailRow, kind }: HtmlView): readonly ChildRows[] =>
  kind === 'detail'
    ? (detailRow?.childLists ?? []).filter(
        ({ totalCount, addUrl }) => totalCount > 0 || addUrl !== undefined,
      )
    : [];

export function ChildLists({ view }: { view: HtmlView }) {
  return (
    <>
      {childListsOf(view).map((childRows, index) => (
        <ChildList
          key={childRows.label}
          childRows={childRows}
          index={index}
          baseUrl={view.baseUrl}
        />
      ))}
    </>
  );
}
