FROM node:24-slim

WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --omit=dev --no-audit --no-fund \
 && npm sbom --sbom-format=cyclonedx > sbom.cdx.json
COPY bin bin
COPY scripts scripts
COPY src src
COPY activities activities
COPY workflows workflows
COPY playbooks playbooks
COPY docker docker

ENV NODE_ENV=production \
    NODE_OPTIONS=--disable-warning=ExperimentalWarning \
    PAYRUN_HOME=/data
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node

CMD ["node", "src/cli/main.ts", "--help"]
