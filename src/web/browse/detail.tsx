/** Detail page of a row: its fields and its child rows. */
import type { ChildRows, DetailRow, HtmlView } from './view/view-model';
import { isNutrientKey, hasNutritionValues } from './nutrition';
import { localImagePath, thumbnailSrcOf } from './images';
import { RowTable, CellContent } from './row-table';
import { BodyFigure } from './training-plan';

const MUSCLES_KEY = 'muscles';
const SECONDARY_MUSCLES_KEY = 'muscles_secondary';

/** REST keys of metadata such as the license, which the page shows last. */
const METADATA_KEYS = new Set([
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

/** Image of the row itself. Images of child rows are in the tables of the child rows. */
function RowImage({ detailRow, baseUrl }: { detailRow: DetailRow; baseUrl: string }) {
  const path = localImagePath(
    detailRow.fields.find(({ cell }) => cell.pictureUrl)?.cell.pictureUrl ?? '',
    baseUrl,
  );

  if (path === undefined) return null;

  return (
    <a href={path}>
      <img
        class="figure"
        src={thumbnailSrcOf(path, 'small')}
        alt={`Image of ${detailRow.name}`}
        width={200}
        height={200}
      />
    </a>
  );
}

export function FieldList({ view }: { view: HtmlView }) {
  const { detailRow, baseUrl } = view;

  if (!detailRow) return null;
  const hasNutritionTable = hasNutritionValues(view);
  // Omits the name and the nutrients, which the heading and the nutrition table show.
  const fields = detailRow.fields.filter(
    ({ key, cell: { text, links } }) =>
      !(hasNutritionTable && isNutrientKey(key)) &&
      ((text && text !== detailRow.name) || links?.length),
  );
  const orderedFields = [
    ...fields.filter(({ key }) => !METADATA_KEYS.has(key)),
    ...fields.filter(({ key }) => METADATA_KEYS.has(key)),
  ];

  return (
    <div class="detail">
      <MuscleFigure view={view} />
      <RowImage detailRow={detailRow} baseUrl={baseUrl} />
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
  const listLinkText = totalCount > table.rows.length ? `All ${totalCount}` : 'Show as list';

  return (
    <section>
      <h2>
        {label} <span class="count">{totalCount}</span>
      </h2>
      {table.rows.length > 0 && (
        <RowTable table={table} baseUrl={baseUrl} tableCssClass={childTableClass(index)} />
      )}
      {(listUrl ?? addUrl) && (
        <p class="row further">
          {listUrl && totalCount > 0 && <a href={listUrl}>{listLinkText}</a>}
          {addUrl && <a href={addUrl}>Add</a>}
        </p>
      )}
    </section>
  );
}

export const childTableClass = (index: number) => `below${index}`;

/** The lists of child rows, except for empty ones to which the visitor cannot add rows. */
export function childListsOf({ detailRow, kind }: HtmlView): readonly ChildRows[] {
  if (kind !== 'detail' || !detailRow) return [];

  return detailRow.childLists.filter(
    ({ totalCount, addUrl }) => totalCount > 0 || addUrl !== undefined,
  );
}

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
