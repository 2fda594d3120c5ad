# The program, its web UI and its documents in one image: masters, workers and the command line.
#
#   docker build -t windlass .
#   docker run --rm -p 127.0.0.1:8000:8000 -e WINDLASS_ADMIN_TOKEN=... -v windlass:/var/lib/windlass windlass \
#       standalone --listen 0.0.0.0:8000
#
# deploy/compose.yaml has a cluster.

FROM node:22-trixie-slim AS ui
WORKDIR /src/ui
COPY ui/package.json ui/package-lock.json ./
RUN npm install --no-save --no-audit --no-fund --loglevel=error
COPY docs/reference/openapi.json /src/docs/reference/openapi.json
COPY ui ./
RUN npm run --silent build

FROM rust:1-slim-trixie AS build
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
COPY --from=ui /src/ui/dist ui/dist
RUN cargo build --release --locked -p windlass

FROM debian:trixie-slim
# What tasks commonly need, and certificates for those that call others.
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends bash ca-certificates python3 tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --home-dir /var/lib/windlass --create-home windlass
COPY --from=build /src/target/release/windlass /usr/local/bin/windlass
USER windlass
ENV WINDLASS_DATA=/var/lib/windlass
VOLUME /var/lib/windlass
EXPOSE 8000
# The first process of a container has to reap what others leave.
ENTRYPOINT ["tini", "--", "windlass"]
CMD ["standalone"]
