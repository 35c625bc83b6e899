/** Logger (pino): readable lines on a terminal, otherwise JSON lines. */
import pino, { type DestinationStream, type Logger } from 'pino';
import { prettyFactory } from 'pino-pretty';

export const REQUEST_LOG_MESSAGE = 'request';
export const REJECTED_REQUEST_LOG_MESSAGE = 'rejected';

export function createLogger(level: string, stream?: DestinationStream): Logger {
  const options = {
    level,
    base: undefined,
    redact: ['*.password', '*.token', '*.authorization', 'req.headers'],
    serializers: { err: serializeError },
  };
  const createTerminalStream = () => prettyDestination((text) => void process.stdout.write(text));

  return pino(
    options,
    stream ?? (process.stdout.isTTY ? createTerminalStream() : stdoutDestination()),
  );
}

/** Buffer for log lines while stdout is blocked. When it is full, further lines are dropped. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/**
 * Ignores write errors of stdout (closed pipe, full disk), because the server must not stop for
 * lost log lines.
 */
const stdoutDestination = () =>
  pino.destination({ fd: 1, maxLength: MAX_BUFFERED_BYTES }).on('error', () => undefined);

const formatLogLine = prettyFactory({ colorize: true, singleLine: true });

/** Formats a line of the access log. Its message contains all important fields. */
const formatRequestLine = prettyFactory({
  colorize: true,
  hideObject: true,
  messageFormat: (line) => {
    const { method, path, status, operation, ms, statements, user, address } = line as Record<
      string,
      string | number | null
    >;
    const subject = [method, path, operation].filter(Boolean).join(' ');

    const sender = user === null ? 'nobody' : `user ${user}`;

    return `${status} ${subject}  ${ms} ms, ${statements} statements, ${sender} at ${address}`;
  },
});

export const prettyDestination = (write: (text: string) => void): DestinationStream => ({
  write: (line) => {
    const isRequest = line.includes(`"msg":"${REQUEST_LOG_MESSAGE}"`);

    write(isRequest ? formatRequestLine(line) : formatLogLine(line));
  },
});

/**
 * Error codes of SQLSTATE class 22 (data exception), in whose messages PostgreSQL quotes the
 * invalid value.
 */
const DATA_EXCEPTION_CODE_PATTERN = /^22/;

/**
 * Serializes only allowlisted properties of an error. Errors of PostgreSQL and Sequelize also
 * contain statement parameters and the failing row, which are personal data.
 */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  // Errors of Sequelize have the error of PostgreSQL as their `parent`.
  const databaseError = (error as { parent?: object }).parent ?? error;
  const { code, constraint, table }: Record<string, unknown> = { ...databaseError };
  let { message } = error;

  if (DATA_EXCEPTION_CODE_PATTERN.test(String(code))) message = message.replace(/"[^"]*"/g, '"…"');
  const stackLines = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));

  return {
    type: error.name,
    message,
    code,
    constraint,
    table,
    stack: stackLines.join('\n'),
    ...(error.cause ? { cause: serializeError(error.cause) } : {}),
  };
}
