/** Forms that write: fields, raw JSON, deletion. They POST, because HTML knows no other method, and say in a field what they mean. */
import type { HtmlView, WriteForm } from './view/view';
import { Field, inputId } from './controls';
import { CHOOSE_AGAIN, messageOf } from './messages';

const VERBS: Record<string, string> = { POST: 'Save', PUT: 'Save', PATCH: 'Save' };

const verbOf = ({ kind }: HtmlView) => (kind === 'login' ? 'Get a token' : undefined);

const prefixOf = (form: WriteForm) => `w${form.methods[0]!.toLowerCase()}`;

const Csrf = ({ visitor }: HtmlView) => <input type="hidden" name="csrfToken" value={visitor.csrfToken ?? ''} />;

/** A POST needs no field that says so. */
const Button = ({ method, verb }: { method: string; verb?: string }) => (
  <button {...(method !== 'POST' && { name: '_method', value: method })}>{verb ?? VERBS[method]}</button>
);

/** For who writes the body as programs do, and means its method. */
const Methods = ({ methods, verb }: { methods: readonly string[]; verb?: string }) => (
  <div class="row">
    {methods.map((method, index) => (
      <button key={method} class={index ? 'plain' : ''} {...(method !== 'POST' && { name: '_method', value: method })}>
        {verb ?? 'Send'} <span class="method">{method}</span>
      </button>
    ))}
  </div>
);

function Fields({ view, form }: { view: HtmlView; form: WriteForm }) {
  const failed = form.failed === 'fields';
  const wrong = failed ? form.controls.find(({ key }) => view.errors[key])?.key : undefined;
  const files = form.controls.some(({ kind }) => kind === 'image');
  return (
    // The server checks and says what is wrong; the browser's own checks would say less. But a file that is wrong
    // has to be chosen again.
    <form class="fields" method="post" action={form.action} noValidate={!files} encType={files ? 'multipart/form-data' : undefined}>
      <Csrf {...view} />
      {form.controls.map((control) => (
        <Field
          key={control.key}
          control={control}
          prefix={prefixOf(form)}
          values={form.values[control.key] ?? []}
          errors={failed ? view.errors[control.key] : undefined}
          focused={control.key === wrong}
          checked={files}
          base={view.base}
        />
      ))}
      <div>
        <Button method={form.methods[0]!} verb={verbOf(view)} />
      </div>
    </form>
  );
}

function Raw({ view, form }: { view: HtmlView; form: WriteForm }) {
  const id = `${prefixOf(form)}-raw`;
  const failed = form.failed === 'raw';
  return (
    <details open={failed}>
      <summary>As JSON</summary>
      <form class="fields" method="post" action={form.action}>
        <Csrf {...view} />
        <input type="hidden" name="_content_type" value="application/json" />
        <div class={failed ? 'field wrong' : 'field'}>
          <label for={id}>Body</label>
          <textarea
            id={id}
            name="_content"
            rows={Math.min(20, form.raw.split('\n').length + 1)}
            spellcheck={false}
            {...(failed && { 'aria-invalid': 'true', 'aria-describedby': 'problems' })}
          >
            {`\n${form.raw}`}
          </textarea>
        </div>
        <Methods {...form} verb={verbOf(view)} />
      </form>
    </details>
  );
}

function Deletion({ view }: { view: HtmlView }) {
  return (
    <details class="deletion">
      <summary>Delete</summary>
      <form method="post" action={view.path}>
        <Csrf {...view} />
        <p>This can’t be undone. Everything that belongs to it is deleted too.</p>
        <button class="danger" name="_method" value="DELETE">
          Delete for good
        </button>
      </form>
    </details>
  );
}

/** The session ended while the form was filled in: it is here still, with a token of the new one if there is one. */
function Again({ view }: { view: HtmlView }) {
  if (view.visitor.username !== undefined) return <> The form had expired. Please send it again.</>;
  return (
    <>
      {' '}
      <a href={loginLink(view)} target="_blank" rel="noopener">
        Sign in
      </a>{' '}
      in another tab, then send the form again.
    </>
  );
}

/** What went wrong, before everything else, with links to the fields. */
export function Problems({ view }: { view: HtmlView }) {
  const form = view.forms.find(({ failed }) => failed);
  if (!form) return null;
  const entries = Object.entries(view.errors);
  const { detail } = (view.body ?? {}) as { detail?: unknown };
  const losesFile = form.controls.some(({ key, kind }) => kind === 'image' && form.values[key] && !view.errors[key]);
  return (
    <div class="alert" role="alert" id="problems">
      <strong>Couldn’t save.</strong>
      {entries.length === 0 && <> {typeof detail === 'string' ? detail : 'The server refused it.'}</>}
      {!view.signedIn && view.kind !== 'login' && <Again view={view} />}
      {entries.length > 0 && (
        <ul>
          {entries.map(([key, messages]) => {
            const control = form.controls.find((candidate) => candidate.key === key);
            const label = control?.label ?? (key === 'non_field_errors' ? undefined : key);
            const said = control && form.failed === 'fields' ? messageOf(control, form.values[key] ?? [], messages) : messages.join(' ');
            const text = `${label ? `${label}: ` : ''}${said}`;
            return (
              <li key={key}>{control && form.failed === 'fields' ? <a href={`#${inputId(prefixOf(form), key)}`}>{text}</a> : text}</li>
            );
          })}
        </ul>
      )}
      {losesFile && <> {CHOOSE_AGAIN}</>}
    </div>
  );
}

export const loginLink = ({ method, url, path }: HtmlView) => `/login?next=${encodeURIComponent(method === 'GET' ? url : path)}`;

export const newOf = ({ resource }: HtmlView) => `New ${resource!.singular.toLowerCase()}`;

export function Forms({ view }: { view: HtmlView }) {
  const { forms, removable, locked, kind, status } = view;
  // Where nothing at all can be seen, the error says so already.
  if (locked.length > 0 && status !== 403)
    return (
      <p class="locked">
        <a href={loginLink(view)}>Sign in</a> to {locked.includes('POST') ? 'add to this list' : 'change this'}.
      </p>
    );
  const [form] = forms;
  if (!form) return removable ? <Deletion view={view} /> : null;
  const title = kind === 'login' ? 'Get a token' : kind === 'list' ? newOf(view) : 'Edit';
  const fields = (
    <>
      <Fields view={view} form={form} />
      {!form.controls.some(({ kind: field }) => field === 'image') && <Raw view={view} form={form} />}
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
      <details class="write" open={form.failed !== undefined}>
        <summary>{title}</summary>
        {/* What a link leads into is opened. */}
        <div id="write">{fields}</div>
      </details>
      {removable && <Deletion view={view} />}
    </>
  );
}
