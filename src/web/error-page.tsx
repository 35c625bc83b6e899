/** Error page: a message, and a link to another page. */
import { renderPage, type Visitor } from './layout';

export interface ErrorPageProps {
  title: string;
  message: string;
  link: { href: string; label: string };
}

export function renderErrorPage(
  { title, message, link }: ErrorPageProps,
  visitor: Visitor,
): string {
  return renderPage({
    title,
    visitor,
    children: (
      <>
        <h1>{title}</h1>
        <p class="alert" role="alert">
          {message}
        </p>
        <p>
          <a href={link.href}>{link.label}</a>
        </p>
      </>
    ),
  });
}
