/**
 * Forms that create, change or delete a row, either with an input for each field or with a single input for JSON. HTML forms support only GET and
 * POST; the form field `_method` selects another method.
 */
import { randomUUID } from 'node:crypto';
import {
  IDEMPOTENCY_KEY_FORM_FIELD,
  ROW_VERSION_FORM_FIELD,
} from '../../rest/dialect/methodoverride';
import type { HtmlView, WriteForm } from './view/viewmodel';
import { FormField, inputId } from './formfield';
import { CHOOSE_FILE_AGAIN_MESSAGE, validationMessage } from './validationmessages';

const buttonLabelOf = ({ kind }: HtmlView) => (kind === 'login' ? 'Get a token' : undefined);

const idPrefixOf = (form: WriteForm) => `w${form.methods[0]!.toLowerCase()}`;

/** Hidden fields: CSRF token, single-use key, and version of the row to change. Without `autocomplete="off"`, some browsers restore old values. */
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

const rowVersionForForm = ({ methods }: WriteForm, { rowVersion }: HtmlView) =>
  methods.includes('POST') ? undefined : rowVersion;

const methodButtonAttributes = (method: string) =>
  method !== 'POST' && { name: '_method', value: method };

const MethodButtons = ({ methods, label }: { methods: readonly string[]; label?: string }) => (
  <div class="row">
    {methods.map((method, index) => (
      <button key={method} class={index ? 'plain' : ''} {...methodButtonAttributes(method)}>
        {label ?? 'Send'} <span class="method">{method}</span>
      </button>
    ))}
  </div>
);

function FieldsForm({ view, form }: { view: HtmlView; form: WriteForm }) {
  const isRejected = form.rejectedPart === 'fields';
  const firstInvalidKey = isRejected
    ? form.controls.find(({ key }) => view.errors[key])?.key
    : undefined;
  const hasImageInputs = form.controls.some(({ kind }) => kind === 'image');
  return (
    // The server validates forms, because its messages say more than those of browsers. Browsers validate only forms with files, which users would
    // have to choose again after a rejection.
    <form
      class="fields"
      method="post"
      action={form.action}
      noValidate={!hasImageInputs}
      encType={hasImageInputs ? 'multipart/form-data' : undefined}
    >
      <HiddenFields view={view} rowVersion={rowVersionForForm(form, view)} />
      {form.controls.map((control) => (
        <FormField
          key={control.key}
          control={control}
          idPrefix={idPrefixOf(form)}
          values={form.values[control.key] ?? []}
          storedValue={form.storedValues?.[control.key]}
          errors={isRejected ? view.errors[control.key] : undefined}
          hasFocus={control.key === firstInvalidKey}
          isValidatedByBrowser={hasImageInputs}
        />
      ))}
      <div class="row">
        <button {...methodButtonAttributes(form.methods[0]!)}>
          {buttonLabelOf(view) ?? 'Save'}
        </button>
        {form.conflict === 'changed' && <a href={view.path}>Keep everything as stored</a>}
      </div>
    </form>
  );
}

function JsonForm({ view, form }: { view: HtmlView; form: WriteForm }) {
  const id = `${idPrefixOf(form)}-raw`;
  const isRejected = form.rejectedPart === 'json';
  return (
    <details open={isRejected}>
      <summary>As JSON</summary>
      <form class="fields" method="post" action={form.action}>
        <HiddenFields view={view} rowVersion={rowVersionForForm(form, view)} />
        <input type="hidden" name="_content_type" value="application/json" />
        <div class={isRejected ? 'field wrong' : 'field'}>
          <label for={id}>Body</label>
          <textarea
            id={id}
            name="_content"
            rows={Math.min(20, form.jsonText.split('\n').length + 1)}
            spellcheck={false}
            {...(isRejected && { 'aria-invalid': 'true', 'aria-describedby': 'problems' })}
          >
            {`\n${form.jsonText}`}
          </textarea>
        </div>
        <MethodButtons {...form} label={buttonLabelOf(view)} />
      </form>
    </details>
  );
}

function DeleteForm({ view }: { view: HtmlView }) {
  return (
    <details class="deletion">
      <summary>Delete</summary>
      <form method="post" action={view.path}>
        <HiddenFields view={view} rowVersion={view.rowVersion} />
        <p>This can’t be undone. All data that belongs to it is deleted as well.</p>
        <button class="danger" name="_method" value="DELETE">
          Delete permanently
        </button>
      </form>
    </details>
  );
}

/** Message that the session ended while a form was being filled in. The form keeps its values and has the CSRF token of the current session. */
function SessionExpiredMessage({ view }: { view: HtmlView }) {
  if (view.visitor.username !== undefined)
    return <> The form has expired. Please submit it again.</>;
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

function ConflictSummary({ view, form }: { view: HtmlView; form: WriteForm }) {
  const noun = view.resource!.singularLabel.toLowerCase();
  const isJsonRejected = form.rejectedPart === 'json';
  const choice = isJsonRejected
    ? 'The fields show what is stored now, the JSON shows your input.'
    : Object.keys(form.storedValues ?? {}).length > 0
      ? 'Choose a value for each field that differs, then save again.'
      : 'The fields of this form are stored as you entered them.';
  return (
    <div class="alert" role="alert" id="problems">
      <strong>Not saved yet.</strong>{' '}
      {form.conflict === 'changed'
        ? `This ${noun} was changed after you opened the form. ${choice}`
        : `This ${noun} was deleted after you opened the form. Your input is kept: save it as a new ${noun}, or leave this page.`}
    </div>
  );
}

export function ErrorSummary({ view }: { view: HtmlView }) {
  const form = view.forms.find(({ rejectedPart }) => rejectedPart);
  if (!form) return null;
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
          {errorEntries.map(([key, messages]) => {
            const control = form.controls.find((candidate) => candidate.key === key);
            const label = control?.label ?? (key === 'non_field_errors' ? undefined : key);
            const message =
              control && form.rejectedPart === 'fields'
                ? validationMessage(control, form.values[key] ?? [], messages)
                : messages.join(' ');
            const text = `${label ? `${label}: ` : ''}${message}`;
            return (
              <li key={key}>
                {control && form.rejectedPart === 'fields' ? (
                  <a href={`#${inputId(idPrefixOf(form), key)}`}>{text}</a>
                ) : (
                  text
                )}
              </li>
            );
          })}
        </ul>
      )}
      {isFileSelectionLost && <> {CHOOSE_FILE_AGAIN_MESSAGE}</>}
    </div>
  );
}

export const loginUrlOf = ({ method, url, path }: HtmlView) =>
  `/login?next=${encodeURIComponent(method === 'GET' ? url : path)}`;

export const newRowLabel = ({ resource }: HtmlView) =>
  `New ${resource!.singularLabel.toLowerCase()}`;

export function WriteForms({ view }: { view: HtmlView }) {
  const { forms, canDelete, methodsRequiringSignIn, kind, status } = view;
  // Asks the visitor to sign in, except on pages with status 403, whose error message does so already.
  if (methodsRequiringSignIn.length > 0 && status !== 403)
    return (
      <p class="locked">
        <a href={loginUrlOf(view)}>Sign in</a> to{' '}
        {methodsRequiringSignIn.includes('POST') ? 'add to this list' : 'change this'}.
      </p>
    );
  const [form] = forms;
  if (!form) return canDelete ? <DeleteForm view={view} /> : null;
  const title =
    kind === 'login' ? 'Get a token' : form.methods.includes('POST') ? newRowLabel(view) : 'Edit';
  const fields = (
    <>
      <FieldsForm view={view} form={form} />
      {!form.controls.some(({ kind: field }) => field === 'image') && (
        <JsonForm view={view} form={form} />
      )}
    </>
  );
  if (kind === 'login')
    return (
      <section aria-labelledby="write">
        <h2 id="write">{title}</h2>
        {fields}
      </section>
    );
  return (
    <>
      <details class="write" open={form.rejectedPart !== undefined}>
        <summary>{title}</summary>
        {/* Browsers open a `<details>` if a link targets an element inside it. */}
        <div id="write">{fields}</div>
      </details>
      {canDelete && <DeleteForm view={view} />}
    </>
  );
}
