/**
 * Forms that create, change or delete a row. HTML forms support only GET and POST, so the field
 * `_method` selects another method.
 */
import { randomUUID } from 'node:crypto';
import { IDEMPOTENCY_KEY_FORM_FIELD, ROW_VERSION_FORM_FIELD } from '../../rest/drf/method-override';
import { toSnakeCase } from '../../shared/casing';
import { loginUrl } from '../layout';
import type { HtmlView, WriteForm } from './view/view-model';
import { FormField, inputId } from './form-field';
import { CHOOSE_FILE_AGAIN_MESSAGE, validationMessage } from './validation-messages';

const idPrefixOf = ({ method }: WriteForm) => `w${method.toLowerCase()}`;

/**
 * Hidden fields: CSRF token, idempotency key and row version. Without `autocomplete="off"`, some
 * browsers restore old values.
 */
const HiddenFields = ({ view, rowVersion }: { view: HtmlView; rowVersion?: string }) => (
  <>
    <input type="hidden" name="csrfToken" value={view.visitor.csrfToken ?? ''} autocomplete="off" />
    {view.kind !== 'login' && (
      <input
        type="hidden"
        name={IDEMPOTENCY_KEY_FORM_FIELD}
        value={randomUUID()}
        autocomplete="off"
      />
    )}
    {rowVersion !== undefined && (
      <input type="hidden" name={ROW_VERSION_FORM_FIELD} value={rowVersion} autocomplete="off" />
    )}
  </>
);

function FieldsForm({ view, form }: { view: HtmlView; form: WriteForm }) {
  const isCreation = form.method === 'POST';
  const errors = form.isRejected ? view.errors : {};
  const firstInvalidKey = form.controls.find(({ key }) => errors[key])?.key;
  const hasImageInputs = form.controls.some(({ kind }) => kind === 'image');

  return (
    // The server validates forms, because its messages say more than the messages of browsers.
    // Browsers validate only forms with files, which users would have to choose again after a
    // rejection.
    <form
      class="fields"
      method="post"
      action={form.action}
      noValidate={!hasImageInputs}
      encType={hasImageInputs ? 'multipart/form-data' : undefined}
    >
      <HiddenFields view={view} rowVersion={isCreation ? undefined : view.rowVersion} />
      {form.controls.map((control) => (
        <FormField
          key={control.key}
          control={control}
          idPrefix={idPrefixOf(form)}
          values={form.values[control.key] ?? []}
          storedValue={form.storedValues?.[control.key]}
          errors={errors[control.key]}
          hasFocus={control.key === firstInvalidKey}
          isValidatedByBrowser={hasImageInputs}
        />
      ))}
      <div class="row">
        <button {...(!isCreation && { name: '_method', value: form.method })}>
          {view.kind === 'login' ? 'Get a token' : 'Save'}
        </button>
        {form.conflict === 'changed' && <a href={view.path}>Keep everything as stored</a>}
      </div>
    </form>
  );
}

/** Says what a deletion removes with the row: `logs: 450, sessions: 30`. */
function HistoryWarning({ counts }: { counts: NonNullable<HtmlView['historyCounts']> }) {
  const parts = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${toSnakeCase(name).replaceAll('_', ' ')}: ${count}`);

  if (parts.length === 0) return null;

  return (
    <p>
      <strong>Your history is deleted with it: {parts.join(', ')}.</strong>
    </p>
  );
}

function DeleteForm({ view }: { view: HtmlView }) {
  return (
    <details class="deletion">
      <summary>Delete</summary>
      <form method="post" action={view.path}>
        <HiddenFields view={view} rowVersion={view.rowVersion} />
        {view.historyCounts && <HistoryWarning counts={view.historyCounts} />}
        <p>This can’t be undone. All data that belongs to it is deleted as well.</p>
        <button class="danger" name="_method" value="DELETE">
          Delete permanently
        </button>
      </form>
    </details>
  );
}

/** Explains that the session or the form expired while the form was being filled in. */
function SessionExpiredMessage({ view }: { view: HtmlView }) {
  if (view.visitor.username !== undefined) {
    return <> The form has expired. Please submit it again.</>;
  }

  return (
    <>
      {' '}
      <a href={loginUrlOf(view)} target="_blank" rel="noopener">
        Sign in
      </a>{' '}
      in another tab, then submit the form again.
    </>
  );
}

function conflictMessage({ conflict, storedValues = {} }: WriteForm, noun: string): string {
  if (conflict === 'deleted') {
    return `This ${noun} was deleted after you opened the form. Your input is kept: save it as a new ${noun}, or leave this page.`;
  }

  const message = `This ${noun} was changed after you opened the form.`;

  if (Object.keys(storedValues).length === 0) {
    return `${message} The fields of this form are stored as you entered them.`;
  }

  return `${message} Choose a value for each field that differs, then save again.`;
}

function ConflictSummary({ view, form }: { view: HtmlView; form: WriteForm }) {
  const noun = view.resource!.singularLabel.toLowerCase();

  return (
    <div class="alert" role="alert" id="problems">
      <strong>Not saved yet.</strong> {conflictMessage(form, noun)}
    </div>
  );
}

function ErrorItem(props: { form: WriteForm; name: string; messages: readonly string[] }) {
  const { form, name, messages } = props;
  const control = form.controls.find(({ key }) => key === name);

  if (!control) {
    return (
      <li>
        {name === 'non_field_errors' ? '' : `${name}: `}
        {messages.join(' ')}
      </li>
    );
  }

  const message = validationMessage(control, form.values[name] ?? [], messages);

  return (
    <li>
      <a href={`#${inputId(idPrefixOf(form), name)}`}>
        {control.label ? `${control.label}: ` : ''}
        {message}
      </a>
    </li>
  );
}

export function ErrorSummary({ view }: { view: HtmlView }) {
  const { form } = view;

  if (!form?.isRejected) return null;
  if (form.conflict) return <ConflictSummary view={view} form={form} />;
  const errorEntries = Object.entries(view.errors);
  const { detail } = (view.body ?? {}) as { detail?: unknown };
  const isFileSelectionLost = form.controls.some(
    ({ key, kind }) => kind === 'image' && form.values[key] && !view.errors[key],
  );

  return (
    <div class="alert" role="alert" id="problems">
      <strong>Couldn’t save.</strong>
      {errorEntries.length === 0 && (
        <> {typeof detail === 'string' ? detail : 'The server rejected the request.'}</>
      )}
      {!view.isSignedIn && view.kind !== 'login' && <SessionExpiredMessage view={view} />}
      {errorEntries.length > 0 && (
        <ul>
          {errorEntries.map(([key, messages]) => (
            <ErrorItem key={key} form={form} name={key} messages={messages} />
          ))}
        </ul>
      )}
      {isFileSelectionLost && <> {CHOOSE_FILE_AGAIN_MESSAGE}</>}
    </div>
  );
}

export const loginUrlOf = ({ visitor }: HtmlView) => loginUrl(visitor.returnUrl);

const newRowLabel = ({ resource }: HtmlView) => `New ${resource!.singularLabel.toLowerCase()}`;

export function WriteForms({ view }: { view: HtmlView }) {
  const { form, canDelete, methodsRequiringSignIn, kind, status } = view;

  // On pages with status 403, the error message already asks the visitor to sign in.
  if (methodsRequiringSignIn.length > 0 && status !== 403) {
    return (
      <p class="locked">
        <a href={loginUrlOf(view)}>Sign in</a> to{' '}
        {methodsRequiringSignIn.includes('POST') ? 'add to this list' : 'change this'}.
      </p>
    );
  }

  if (!form) return canDelete ? <DeleteForm view={view} /> : null;

  if (kind === 'login') {
    return (
      <section aria-labelledby="write">
        <h2 id="write">Get a token</h2>
        <FieldsForm view={view} form={form} />
      </section>
    );
  }

  return (
    <>
      <details class="write" open={form.isRejected}>
        <summary>{form.method === 'POST' ? newRowLabel(view) : 'Edit'}</summary>
        {/* Browsers expand a `<details>` if a link targets an element inside it. */}
        <div id="write">
          <FieldsForm view={view} form={form} />
        </div>
      </details>
      {canDelete && <DeleteForm view={view} />}
    </>
  );
}
