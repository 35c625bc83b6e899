/** Explanations of HTTP errors: what the status code means and what to do. */
import type { HtmlView } from './view/view-model';
import { formatSeconds } from '../failure-page';
import { API_ROOT_PATH, listPath } from './view/page-routes';
import { loginUrlOf } from './forms';

const MESSAGES_BY_STATUS: Readonly<Record<number, readonly [string, string]>> = {
  400: ['Invalid request', 'Part of the request is invalid. See the response below for details.'],
  401: ['Wrong user name or password', 'Check both and try again.'],
  403: ['Not allowed', 'You don’t have permission to do this.'],
  404: ['Page not found', 'It doesn’t exist, or you don’t have access to it.'],
  405: ['Method not allowed', 'This URL doesn’t support that method.'],
  406: ['Format not available', 'This URL is available as JSON and HTML.'],
  409: ['Already exists', 'The request conflicts with existing data.'],
  412: [
    'Changed in the meantime',
    'It was changed after you opened this page. Nothing was written. Check the current values and try again.',
  ],
  413: ['Request too large', 'The request is larger than this server accepts.'],
  415: ['Unsupported content type', 'Send JSON or a form.'],
  429: ['Too many requests', 'Please wait a moment and try again.'],
};

/**
 * Heading of the page. A rejected form does not change it, because the form itself shows what is
 * wrong.
 */
export function headlineOf({
  status,
  name,
  isSignedIn,
  visitor,
  form,
  resource,
  kind,
}: HtmlView): string {
  if (resource && form?.isRejected) {
    return kind === 'list' ? `New ${resource.singularLabel.toLowerCase()}` : name;
  }

  if (status === 403 && !isSignedIn && visitor.username === undefined) return 'Please sign in';

  return status < 400 ? name : (MESSAGES_BY_STATUS[status]?.[0] ?? 'Something went wrong');
}

export function ErrorExplanation({ view }: { view: HtmlView }) {
  const { status, isSignedIn, visitor, resource, filters, errors, form, headers } = view;
  const retryAfter = headers['Retry-After'];

  // A rejected form or filter needs no explanation, because it shows its own error messages.
  if (status < 400 || form?.isRejected || filters.some(({ key }) => errors[key])) return null;

  if (status === 403 && !isSignedIn && visitor.username === undefined) {
    return (
      <div class="locked">
        <p>This is personal data. Sign in to see and edit your own.</p>
        <a class="button" href={loginUrlOf(view)}>
          Sign in
        </a>
      </div>
    );
  }

  let message = MESSAGES_BY_STATUS[status]?.[1] ?? 'See the response below for details.';

  if (status === 429 && retryAfter !== undefined) {
    message = `You have sent too many requests. Try again in ${formatSeconds(retryAfter)}.`;
  }

  return (
    <div class="alert">
      <p>{message}</p>
      {(status === 404 || status === 405) && (
        <p class="row">
          {resource && (
            <a href={listPath(resource.name)}>All {resource.pluralLabel.toLowerCase()}</a>
          )}
          <a href={API_ROOT_PATH}>All data</a>
        </p>
      )}
    </div>
  );
}

/**
 * Whether an action lacks a required parameter. In this case, the REST API responds with a string
 * instead of data.
 */
export const isArgumentMissing = ({ kind, status, body }: HtmlView): boolean =>
  kind === 'action' && status === 200 && typeof body === 'string';

export function MissingArgumentMessage({ view }: { view: HtmlView }) {
  if (!isArgumentMissing(view)) return null;

  return (
    <div class="alert" role="alert">
      <p>Nothing to show yet. Enter a value for each parameter:</p>
      <ul>
        {view.filters
          .filter(({ key, required }) => required && !view.query.get(key))
          .map(({ key, label, helpText }) => (
            <li key={key}>
              <a href={`#f-${key}`}>{label}</a>
              {helpText && `: ${helpText}`}
            </li>
          ))}
      </ul>
    </div>
  );
}
