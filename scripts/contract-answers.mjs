// Loaded before the replay of the contract: keeps every JSON answer that it gets, and leaves them in the file $CONTRACT_ANSWERS.
import http from 'node:http';
import { writeFileSync } from 'node:fs';

const answers = [];
const { request } = http;

http.request = (options, answered) =>
  request(options, (response) => {
    const chunks = [];
    response.on('data', (chunk) => chunks.push(chunk));
    response.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      if (text && /json/.test(response.headers['content-type'] ?? ''))
        answers.push({ method: options.method, url: options.path, headers: options.headers, status: response.statusCode, text });
    });
    answered(response);
  });

process.on('exit', () => writeFileSync(process.env.CONTRACT_ANSWERS, JSON.stringify(answers)));
