/** Pages for signed-in users: what their handlers answer, and how it is sent. */
import type { Request, RequestHandler, Response } from 'express';
import { parse, type ExecutionResult } from 'graphql';
import type { ComponentChildren } from 'preact';
import type { Executor } from '../../engine/execution/executor';
import type { RequestContext } from '../../request/request-context';
import { redirect, sendPage, type FormValues } from '../html-response';
import { loginUrl, renderPage, type Crumb, type Visitor } from '../layout';
import { LocalTimesScript, TimeZoneNote } from '../local-times';
import { inlineStyleSource, securityHeaders } from '../security-headers';
import { DEFAULT_STYLE } from '../style';

export interface UserRequest {
  context: RequestContext;
  visitor: Visitor;
  query: FormValues;
  body: FormValues;
  params: Readonly<Record<string, string>>;
  response: Response;

  /** Executes a GraphQL operation as the user. */
  execute(text: string, variables?: Record<string, unknown>): Promise<ExecutionResult>;
}

export interface UserPage {
  title: string;

  /** Heading, if it differs from the title. */
  heading?: string;

  /** Pages between the start page of the section and this one. */
  crumbs?: readonly Crumb[];
  notice?: string;
  content: ComponentChildren;
  hasTimes?: boolean;

  /** Whether the page shows why a form was rejected. */
  isRejection?: boolean;
}

/** A page, or the path to which the browser is redirected. */
export type Answer = UserPage | string;

export type UserHandler<R = UserRequest> = (request: R) => Promise<Answer> | Answer;

/** Handles requests of signed-in users. Others are redirected to the login page. */
export type ForUsers = (handle: UserHandler) => RequestHandler;

function renderUserPage(
  { context, visitor }: UserRequest,
  { title, heading = title, crumbs = [], notice, content, hasTimes, isRejection }: UserPage,
  start: Crumb,
  style: string,
): string {
  return renderPage({
    title: isRejection ? `Error: ${title}` : title,
    visitor,
    style,
    crumbs: [...(title === start.label ? [] : [start]), ...crumbs, { label: title }],
    children: (
      <>
        <h1>{heading}</h1>
        {notice && (
          <p class="notice" role="status">
            {notice}
          </p>
        )}
        {content}
        {hasTimes && (
          <>
            <TimeZoneNote timeZone={context.timeZone} />
            <LocalTimesScript />
          </>
        )}
      </>
    ),
  });
}

/** Creates the handlers of a section of pages by its start page. */
export const userPages =
  (
    authenticate: (request: Request) => Promise<boolean>,
    contextOf: (request: Request) => RequestContext,
    executor: Executor,
  ) =>
  (start: Crumb, style = DEFAULT_STYLE): ForUsers => {
    const headers = securityHeaders(inlineStyleSource(style));

    return (handle) => async (message, response) => {
      const isSignedIn = await authenticate(message);
      const context = contextOf(message);
      const visitor = context.authentication.pageVisitor();

      if (!isSignedIn) return redirect(response, loginUrl(visitor.returnUrl));
      const request: UserRequest = {
        context,
        visitor,
        query: message.query,
        body: message.body as FormValues,
        params: message.params as Record<string, string>,
        response,
        execute: (text, variables = {}) =>
          executor.execute(parse(text), undefined, context, variables),
      };
      const answer = await handle(request);

      if (typeof answer === 'string') return redirect(response, answer);
      const html = renderUserPage(request, answer, start, style);

      sendPage(response, answer.isRejection ? 400 : 200, html, headers);
    };
  };
