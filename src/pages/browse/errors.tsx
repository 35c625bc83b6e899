/** Errors in words: what it means and what to do. */
import type { HtmlView } from './view/view';
import { loginLink } from './forms';

const WORDS: Readonly<Record<number, readonly [string, string]>> = {
  400: ['That did not fit', 'Something in the request is not as it should be; the answer below says what.'],
  401: ['Wrong name or password', 'Check both and try again.'],
  403: ['Not allowed', 'You may not do this here.'],
  404: ['Nothing here', 'There is no such row or page, or it is not yours to see.'],
  405: ['Not that way', 'This address does not know that method; the ones it knows stand above.'],
  406: ['No such format', 'This address speaks JSON and HTML.'],
  409: ['Already there', 'It clashes with something that exists.'],
  413: ['Too large', 'The body is larger than this server takes.'],
  415: ['Unknown content type', 'Send JSON or a form.'],
  429: ['Slow down', 'Too many attempts; wait a little.'],
};

export const headlineOf = ({ status, name, signedIn, visitor }: HtmlView): string =>
  status === 403 && !signedIn && visitor.username === undefined
    ? 'Sign in first'
    : status < 400
      ? name
      : (WORDS[status]?.[0] ?? 'Something went wrong');

export function Trouble({ view }: { view: HtmlView }) {
  const { status, signedIn, visitor, resource, base, filters, errors, forms } = view;
  // Forms and filters say in their own places what is wrong with them.
  if (status < 400 || forms.some(({ failed }) => failed) || filters.some(({ key }) => errors[key])) return null;
  if (status === 403 && !signedIn && visitor.username === undefined)
    return (
      <div class="locked">
        <p>These rows belong to somebody; only they can see and change them.</p>
        <a class="button" href={loginLink(view)}>
          Sign in
        </a>
      </div>
    );
  return (
    <div class="alert">
      <p>{WORDS[status]?.[1] ?? 'The answer below says more.'}</p>
      {(status === 404 || status === 405) && (
        <p class="row">
          {resource && <a href={`${base}/${resource.name}/`}>All of {resource.name}</a>}
          <a href={`${base}/`}>All resources</a>
        </p>
      )}
    </div>
  );
}
