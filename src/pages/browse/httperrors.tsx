/** Explanations of HTTP errors: what the status means and what to do. */
import type { HtmlView } from './view/viewmodel';
import { loginLink } from './forms';

const MESSAGES_BY_STATUS: Readonly<Record<number, readonly [string, string]>> = {
  400: ['Something is not right', 'A part of the request could not be used; the answer below says which.'],
  401: ['Wrong name or password', 'Check both and try again.'],
  403: ['Not allowed', 'You don’t have permission to do this.'],
  404: ['Page not found', 'It doesn’t exist, or it isn’t yours to see.'],
  405: ['Method not allowed', 'This address doesn’t support that method.'],
  406: ['Format not available', 'This address answers in JSON and HTML.'],
  409: ['Already exists', 'It conflicts with something that is already there.'],
  413: ['Too large', 'That is more than this server accepts.'],
  415: ['Unsupported content type', 'Send JSON or a form.'],
  429: ['Too many attempts', 'Please wait a little and try again.'],
};

/** Returns the heading of the page. A page with a rejected form keeps its usual heading, because the form shows what is wrong. */
export function headlineOf({ status, name, signedIn, visitor, forms, resource, kind }: HtmlView): string {
  if (resource && forms.some(({ failed }) => failed)) return kind === 'list' ? `New ${resource.singular.toLowerCase()}` : name;
  if (status === 403 && !signedIn && visitor.username === undefined) return 'Please sign in';
  return status < 400 ? name : (MESSAGES_BY_STATUS[status]?.[0] ?? 'Something went wrong');
}

export function ErrorExplanation({ view }: { view: HtmlView }) {
  const { status, signedIn, visitor, resource, base, filters, errors, forms } = view;
  // Rejected forms and filters show their own messages.
  if (status < 400 || forms.some(({ failed }) => failed) || filters.some(({ key }) => errors[key])) return null;
  if (status === 403 && !signedIn && visitor.username === undefined)
    return (
      <div class="locked">
        <p>This is personal data: you see and change your own once you are signed in.</p>
        <a class="button" href={loginLink(view)}>
          Sign in
        </a>
      </div>
    );
  return (
    <div class="alert">
      <p>{MESSAGES_BY_STATUS[status]?.[1] ?? 'The answer below says more.'}</p>
      {(status === 404 || status === 405) && (
        <p class="row">
          {resource && <a href={`${base}/${resource.name}/`}>All {resource.plural.toLowerCase()}</a>}
          <a href={`${base}/`}>All data</a>
        </p>
      )}
    </div>
  );
}
