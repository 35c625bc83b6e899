/** Routes of the account page and of the deletion of the account. Works without JavaScript. */
import type { RequestHandler, Response, Router } from 'express';
import { parse } from 'graphql';
import { InvalidInput, type InputIssue } from '../../engine/declare/errors';
import { labelFor } from '../../engine/declare/inflection';
import type { Executor } from '../../engine/execution/executor';
import type { ResultData } from '../../rest/endpoints';
import type { RequestContext } from '../../request/request-context';
import {
  renderAccountPage,
  renderDeleteAccountPage,
  type AccountPageProps,
  type ProfileValues,
} from './account-page';
import type { RequireSignIn } from './api-key-routes';
import { ACCOUNT_PAGE_PATH, DELETE_ACCOUNT_PATH } from './account-paths';
import { sendPage, textParameter, type FormValues } from '../html-response';
import { PAGE_HEADERS } from '../security-headers';

const PROFILE_QUERY = parse(`{
  viewer { firstName lastName email profile { unitSystem preferredLanguageId timeZone } }
  languages { id fullName }
}`);

const SAVE_MUTATION = parse(`mutation ($user: UserPatch!, $profile: UserProfilePatch!) @atomic {
  updateUser(input: $user) { errors { path message } }
  updateProfile(input: $profile) { errors { path message } }
}`);

type ActionResult = Pick<AccountPageProps, 'notice' | 'errors'> & { profile?: ProfileValues };

/** Reads form fields, without leading and trailing whitespace. */
const readTexts = <Name extends string>(values: FormValues, names: readonly Name[]) =>
  Object.fromEntries(
    names.map((name) => [name, textParameter(values, name)?.trim() ?? '']),
  ) as Record<Name, string>;

/** Messages of issues, with the labels of their fields. */
const issueMessages = (issues: readonly Pick<InputIssue, 'path' | 'message'>[]) =>
  issues.map(({ path, message }) => `${labelFor(path.at(-1) ?? 'form')}: ${message}`);

export function addAccountRoutes(
  router: Router,
  parseForm: RequestHandler,
  requireSignIn: RequireSignIn,
  executor: Executor,
): void {
  async function readProfile(
    context: RequestContext,
  ): Promise<Pick<AccountPageProps, 'profile' | 'languages'>> {
    const { data, errors } = await executor.execute(PROFILE_QUERY, undefined, context, {});

    if (errors) throw errors[0];
    const { viewer, languages } = data as ResultData;
    const { profile, ...names } = viewer;

    return {
      profile: {
        ...names,
        ...profile,
        preferredLanguageId: profile?.preferredLanguageId ?? '',
        timeZone: profile?.timeZone ?? '',
      },
      languages,
    };
  }

  /** Returns the errors and the values of a rejected form. */
  async function saveProfile(
    values: FormValues,
    context: RequestContext,
  ): Promise<ActionResult | undefined> {
    const user = readTexts(values, ['firstName', 'lastName', 'email']);
    const profile = readTexts(values, ['unitSystem', 'preferredLanguageId', 'timeZone']);
    const { data, errors } = await executor.execute(SAVE_MUTATION, undefined, context, {
      user,
      profile: {
        ...profile,
        preferredLanguageId: profile.preferredLanguageId || null,
        timeZone: profile.timeZone || null,
      },
    });
    const payloads = Object.values(data ?? {}) as ({ errors: InputIssue[] } | null)[];
    const messages = issueMessages(payloads.flatMap((payload) => payload?.errors ?? []));

    if (!messages.length && errors) messages.push(...errors.map(({ message }) => message));

    return messages.length ? { errors: messages, profile: { ...user, ...profile } } : undefined;
  }

  async function changePassword(
    values: FormValues,
    { account }: RequestContext,
  ): Promise<ActionResult> {
    const { oldPassword, newPassword } = readTexts(values, ['oldPassword', 'newPassword']);

    try {
      await account.changePassword(oldPassword, newPassword);
      return { notice: 'Your password was changed.' };
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;

      return { errors: issueMessages(error.issues) };
    }
  }

  async function sendAccountPage(
    context: RequestContext,
    response: Response,
    result: ActionResult = {},
  ): Promise<void> {
    const { account, authentication, services } = context;
    const html = renderAccountPage({
      visitor: authentication.pageVisitor(),
      ...(await readProfile(context)),
      ...(await account.loadSignIns()),
      timeZone: context.timeZone,
      serverTimeZone: services.timeZone,
      providerLabel: services.config.oidcLabel,
      ...result,
    });

    sendPage(response, result.errors ? 400 : 200, html);
  }

  router.get(ACCOUNT_PAGE_PATH, async (request, response) => {
    const context = await requireSignIn(request, response);

    const notice = 'saved' in request.query ? 'Saved.' : undefined;

    if (context) await sendAccountPage(context, response, { notice });
  });

  router.post(ACCOUNT_PAGE_PATH, parseForm, async (request, response) => {
    const context = await requireSignIn(request, response);

    if (!context) return;
    const values = request.body as FormValues;

    switch (textParameter(values, 'action')) {
      case 'save-profile': {
        const rejection = await saveProfile(values, context);

        if (rejection) return sendAccountPage(context, response, rejection);

        // A new request uses the new time zone and language.
        return response.set(PAGE_HEADERS).redirect(303, `${ACCOUNT_PAGE_PATH}?saved`);
      }
      case 'change-password':
        return sendAccountPage(context, response, await changePassword(values, context));
      case 'end-session':
        await context.account.endSessions(textParameter(values, 'id') ?? '');
        return sendAccountPage(context, response);
      case 'disconnect':
        await context.account.disconnectIdentities();
        return sendAccountPage(context, response);
      case 'end-sessions':
        await context.account.endSessions();
        return response
          .append('Set-Cookie', await context.authentication.endSession())
          .set(PAGE_HEADERS)
          .redirect(303, '/login');
      default:
        return sendAccountPage(context, response);
    }
  });

  router.get(DELETE_ACCOUNT_PATH, async (request, response) => {
    const context = await requireSignIn(request, response);

    if (!context) return;
    const { account, authentication } = context;
    const rowCounts = await account.countRows();

    sendPage(response, 200, renderDeleteAccountPage(authentication.pageVisitor(), rowCounts));
  });

  router.post(DELETE_ACCOUNT_PATH, parseForm, async (request, response) => {
    const context = await requireSignIn(request, response);

    if (!context) return;
    const { account, authentication } = context;
    const username = textParameter(request.body as FormValues, 'username');

    if (username?.trim() !== context.viewer?.username) {
      const html = renderDeleteAccountPage(
        authentication.pageVisitor(),
        await account.countRows(),
        'This is not your user name.',
      );

      return sendPage(response, 400, html);
    }

    await account.deleteAccount();
    response.append('Set-Cookie', await authentication.endSession());
    response.set(PAGE_HEADERS).redirect(303, '/');
  });
}
