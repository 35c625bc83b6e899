/**
 * Gives system tests a long timeout: they start many processes, for which a busy machine takes a
 * multiple of the usual time. Their waits have a limit of their own.
 */
import { LONG_TIMEOUT_MS } from './waits';

if (expect.getState().testPath!.includes('/test/system/')) jest.setTimeout(LONG_TIMEOUT_MS);
