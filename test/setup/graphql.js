/**
 * Loads graphql-js in production mode. Otherwise it checks, for every value that is not an instance
 * of the expected class, whether a second copy of graphql-js is loaded. That takes a fifth of the
 * test time, because access to globals is slow in Jest.
 */
const { NODE_ENV } = process.env;

process.env.NODE_ENV = 'production';
require('graphql');
process.env.NODE_ENV = NODE_ENV;

// The default of Node.js. Jest records ten times as many lines for each of the thousands of errors
// that tests provoke.
Error.stackTraceLimit = 10;
