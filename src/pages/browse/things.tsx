/** A row as a thing: what is known of it, and what hangs below it, with links both ways. */
import type { Below, HtmlView } from './view/view';
import { isNutrient, isNutrition } from './nutrition';
import { Table, Value } from './sheets';
import { Figure } from './training';

/** What HTML marks up, as plain text. */
const plain = (html: string): string =>
  html
    .replace(/<\/(p|li|div|h\d)>|<br\s*\/?>/gi, '\n')
    .replace(/<[a-z/!][^>]*>/gi, '')
    .replace(/&(amp|lt|gt|quot|nbsp|#39);/g, (entity) => ENTITIES[entity] ?? entity)
    .replace(/\n{2,}/g, '\n\n')
    .trim();
const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&nbsp;': ' ', '&#39;': "'" };

const MUSCLES = 'muscles';
const SECONDARY = 'muscles_secondary';
/** People look for what a row is first. */
const LAST = new Set(['uuid', 'status', 'creation_date', 'update_date', 'license', 'license_author', 'code', 'user']);

/** The muscles that it trains, on one figure. */
function Trained({ view }: { view: HtmlView }) {
  const linksOf = (key: string) => view.thing?.facts.find((fact) => fact.key === key)?.cell.links ?? [];
  const [main, secondary] = [linksOf(MUSCLES), linksOf(SECONDARY)];
  if (main.length + secondary.length === 0) return null;
  const names = (links: typeof main) => links.map(({ label }) => label).join(', ');
  const alt = [names(main), secondary.length ? `also ${names(secondary)}` : ''].filter(Boolean).join('; ');
  return <Figure main={main.map(({ id }) => id)} secondary={secondary.map(({ id }) => id)} alt={`Muscles that it trains: ${alt}`} />;
}

export function Facts({ view }: { view: HtmlView }) {
  const { thing, baseUrl } = view;
  if (!thing) return null;
  const eaten = isNutrition(view);
  // The heading says the name already, and what is not known is not worth a line.
  const facts = thing.facts.filter(
    ({ key, cell: { text, links } }) => !(eaten && isNutrient(key)) && ((text && text !== thing.name) || links?.length),
  );
  const inOrder = [...facts.filter(({ key }) => !LAST.has(key)), ...facts.filter(({ key }) => LAST.has(key))];
  return (
    <div class="thing">
      <Trained view={view} />
      <dl class="facts">
        {inOrder.map(({ label, key, cell }) => (
          <div key={key}>
            <dt>{label}</dt>
            <dd>
              <Value cell={cell.text === undefined ? cell : { text: plain(cell.text) }} name={thing.name} baseUrl={baseUrl} />
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function Branch({ branch: { label, total, sheet, all, add }, index, baseUrl }: { branch: Below; index: number; baseUrl: string }) {
  return (
    <section>
      <h2>
        {label} <span class="count">{total}</span>
      </h2>
      {sheet.rows.length > 0 && <Table sheet={sheet} baseUrl={baseUrl} mark={markOf(index)} />}
      {(all ?? add) && (
        <p class="row further">
          {all && total > 0 && <a href={all}>{total > sheet.rows.length ? `All ${total}` : 'As a list'}</a>}
          {add && <a href={add}>Add</a>}
        </p>
      )}
    </section>
  );
}

export const markOf = (index: number) => `below${index}`;

/** Of what there is none and can be none added, nothing is said. */
export const branchesOf = ({ thing, kind }: HtmlView): readonly Below[] =>
  kind === 'detail' ? (thing?.below ?? []).filter(({ total, add }) => total > 0 || add !== undefined) : [];

export function Branches({ view }: { view: HtmlView }) {
  return (
    <>
      {branchesOf(view).map((branch, index) => (
        <Branch key={branch.label} branch={branch} index={index} baseUrl={view.baseUrl} />
      ))}
    </>
  );
}
