/** Explanations of HTTP errors: what the status code means and what to do. */
import type { HtmlView } from './view/viewmodel';
import { formatWaitingTime } from '../failurepage';
import { API_ROOT_PATH, listPath } from './view/pageroutes';
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

/** Returns the heading of the page. A page with a rejected form keeps its usual heading, because the form shows what is wrong. */
export function headlineOf({
  status,
  name,
  isSignedIn,
  visitor,
  forms,
  resource,
  kind,
}: HtmlView): string {
  if (resource && forms.some(({ rejectedPart }) => rejectedPart))
    return kind === 'list' ? `New ${resource.singularLabel.toLowerCase()}` : name;
  if (status === 403 && !isSignedIn && visitor.username === undefined) return 'Please sign in';
  return status < 400 ? name : (MESSAGES_BY_STATUS[status]?.[0] ?? 'Something went wrong');
}

export function ErrorExplanation({ view }: { view: HtmlView }) {
  const { status, isSignedIn, visitor, resource, filters, errors, forms, headers } = view;
  const retryAfter = headers['Retry-After'];
  // If a form or filter was rejected, the HTTP error is not explained, because the form or filter shows its own error messages.
  if (
    status < 400 ||
    forms.some(({ rejectedPart }) => rejectedPart) ||
    filters.some(({ key }) => errors[key])
  )
    return null;
  if (status === 403 && !isSignedIn && visitor.username === undefined)
    return (
      <div class="locked">
        <p>This is personal data. Sign in to see and edit your own.</p>
        <a class="button" href={loginUrlOf(view)}>
          Sign in
        </a>
      </div>
    );
  return (
    <div class="alert">
      <p>
        {status === 429 && retryAfter !== undefined
          ? `You have sent too many requests. Try again in ${formatWaitingTime(retryAfter)}.`
          : (MESSAGES_BY_STATUS[status]?.[1] ?? 'See the response below for details.')}
      </p>
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

/** Whether an action has responded with a string instead of data, because a required parameter is missing. */
export const lacksArgument = ({ kind, status, body }: HtmlView): boolean =>
  kind === 'action' && status === 200 && typeof body === 'string';

export function MissingArgumentMessage({ view }: { view: HtmlView }) {
  if (!lacksArgument(view)) return null;
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
