# syntax=docker/dockerfile:1
# Fitgraph with its embedded PostgreSQL; with DATABASE_URL (see compose.yaml) that stays asleep.

FROM node:24-bookworm-slim AS build
WORKDIR /fitgraph
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:24-bookworm-slim
WORKDIR /fitgraph
COPY --from=build /fitgraph/package.json ./
COPY --from=build /fitgraph/node_modules node_modules
COPY --from=build /fitgraph/dist dist
# Found as `fitgraph`, for `docker exec … fitgraph user create …`.
RUN ln -s /fitgraph/dist/src/cli/index.js /usr/local/bin/fitgraph \
  && chmod +x /fitgraph/dist/src/cli/index.js \
  && install -d -o node -g node -m 700 /data
ENV NODE_ENV=production DATA_DIR=/data PORT=8000
USER node
VOLUME /data
EXPOSE 8000
# Liveness: a fault of a shared database must not restart every container. The first start makes the database.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/health/live').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["fitgraph", "serve"]
