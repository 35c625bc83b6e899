/** HTTP methods of the GraphQL endpoints. Other methods are rejected with 405. */
import type { RequestHandler } from 'express';
import { sendGraphQLError } from './http-errors';
import { STREAM_PATH } from './live/event-streams';

const METHODS = ['GET', 'HEAD', 'POST'];

/** An event stream has no end, so a response to HEAD could not describe it. */
const STREAM_METHODS = ['GET', 'POST'];

/** Names the methods in the `Allow` header of responses to OPTIONS and to other methods. */
export const restrictMethods: RequestHandler = (request, response, next) => {
  const methods = request.path === STREAM_PATH ? STREAM_METHODS : METHODS;

  if (methods.includes(request.method)) return next();
  response.set('Allow', [...methods, 'OPTIONS'].join(', '));
  if (request.method === 'OPTIONS') return void response.status(204).end();
  const message = `Method "${request.method}" not allowed.`;

  sendGraphQLError(request, response, 405, 'METHOD_NOT_ALLOWED', message);
};

/**
 * Handles HEAD like GET, because Apollo supports only GET and POST. Node.js sends no body
 * (https://www.rfc-editor.org/rfc/rfc9110#name-head).
 */
export const handleHeadLikeGet: RequestHandler = (request, _response, next) => {
  if (request.method === 'HEAD') request.method = 'GET';
  next();
};
