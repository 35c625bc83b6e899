/**
 * graphql-js looks at every value that is not of the class it asks about, to warn of a second copy of itself, unless it is loaded in production.
 * That takes a fifth of the time of the tests: what is global is slow to reach in them.
 */
const { NODE_ENV } = process.env;
process.env.NODE_ENV = 'production';
require('graphql');
process.env.NODE_ENV = NODE_ENV;

// Jest has ten times as many lines of a stack as Node looked at, for each of the mistakes that tests provoke by the thousand.
Error.stackTraceLimit = 10;
