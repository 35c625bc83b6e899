/** Logger (pino): readable lines on a terminal, JSON lines otherwise. */
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
  const terminal = () => terminalDestination((text) => void process.stdout.write(text));
  return pino(options, stream ?? (process.stdout.isTTY ? terminal() : standardOutput()));
}

/** Size of the buffer for log lines while stdout is blocked. When it is full, further lines are dropped. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/** Ignores write errors of stdout (closed pipe, full disk): log lines are lost, but the server must not stop. */
const standardOutput = () =>
  pino.destination({ fd: 1, maxLength: MAX_BUFFERED_BYTES }).on('error', () => undefined);

const formatLogLine = prettyFactory({ colorize: true, singleLine: true });
/** Formats a line of the access log. Only the message is printed, because it contains all important fields. */
const formatRequestLine = prettyFactory({
  colorize: true,
  hideObject: true,
  messageFormat: (line) => {
    const { method, path, status, operation, ms, statements, user, address } = line as Record<
      string,
      string | number | null
    >;
    const subject = [method, path, operation].filter(Boolean).join(' ');
    return `${status} ${subject}  ${ms} ms, ${statements} statements, ${user === null ? 'nobody' : `user ${user}`} at ${address}`;
  },
});

export const terminalDestination = (write: (text: string) => void): DestinationStream => ({
  write: (line) =>
    write(
      (line.includes(`"msg":"${REQUEST_LOG_MESSAGE}"`) ? formatRequestLine : formatLogLine)(line),
    ),
});

/** Error codes of SQLSTATE class 22 (data exception). PostgreSQL quotes the invalid value in their messages. */
const DATA_EXCEPTION_CODE_PATTERN = /^22/;

/**
 * Serializes only allowlisted properties of an error: errors of PostgreSQL and Sequelize also contain statement parameters and the failing row, which are
 * personal data.
 */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, constraint, table } = {
    ...((error as { parent?: object }).parent ?? error),
  } as Record<string, unknown>;
  const message = DATA_EXCEPTION_CODE_PATTERN.test(String(code))
    ? error.message.replace(/"[^"]*"/g, '"…"')
    : error.message;
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
