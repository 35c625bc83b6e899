/** `/static/images/muscles/<main|secondary>/muscle-<id>.svg`: the drawings that muscles name. */
import express, { type Router } from 'express';
import { renderToString } from 'preact-render-to-string';
import { BODY, HEAD, SHAPES } from './shapes';

interface Muscle {
  name: string;
  isFront: boolean;
}

/** Seen on bright and on dark pages. */
const COLOURS: Readonly<Record<string, string>> = { main: '#d1242f', secondary: '#e08600' };
const SKIN = '#c3c9d1';
const DAY_SECONDS = 24 * 60 * 60;

function Drawing({ muscle, colour }: { muscle: Muscle; colour: string }) {
  const shape = SHAPES[muscle.name];
  const half = (
    <g>
      <path d={BODY} fill={SKIN} />
      {shape && <path d={shape} fill={colour} />}
    </g>
  );
  return (
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 400" width="200" height="400" role="img">
      <title>{`${muscle.name}, ${muscle.isFront ? 'front' : 'back'} of the body`}</title>
      <ellipse {...HEAD} fill={SKIN} />
      {half}
      <g transform="matrix(-1 0 0 1 200 0)">{half}</g>
    </svg>
  );
}

/** A muscle that nobody drew, one of the operator's own perhaps, is the figure alone. */
export function muscleDrawings(muscleOf: (id: number) => Muscle | null): Router {
  const router = express.Router();
  router.get('/static/images/muscles/:kind/:file', (request, response, next) => {
    const { kind, file } = request.params;
    const colour = Object.hasOwn(COLOURS, kind) ? COLOURS[kind] : undefined;
    const id = /^muscle-(\d{1,9})\.svg$/.exec(file)?.[1];
    const muscle = id === undefined ? null : muscleOf(Number(id));
    if (!colour || !muscle) return next();
    response
      .type('svg')
      .set({ 'Cache-Control': `public, max-age=${DAY_SECONDS}`, 'Content-Security-Policy': "default-src 'none'; sandbox" })
      .send(renderToString(<Drawing muscle={muscle} colour={colour} />));
  });
  return router;
}
