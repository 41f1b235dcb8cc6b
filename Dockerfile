# The `hone` command in a small image: docker build -t hone . && docker run --rm -v "$PWD:/data" hone info graph.tsv
#
# Files that it writes belong to root unless you add --user "$(id -u):$(id -g)".
FROM rust:1.95-slim-bookworm AS build
WORKDIR /source
COPY . .
RUN cargo build --release --locked --package hone-embed-cli && strip target/release/hone

# The C library and nothing else: no shell, no package manager.
FROM gcr.io/distroless/cc-debian12
LABEL org.opencontainers.image.title="hone" \
      org.opencontainers.image.description="Higher-order network embeddings: node vectors in which edges shape proximity and motifs shape structure" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
COPY --from=build /source/target/release/hone /usr/local/bin/hone
COPY LICENSE-MIT LICENSE-APACHE THIRD-PARTY.md THIRD-PARTY-TEXTS.txt /usr/share/doc/hone/
WORKDIR /data
ENTRYPOINT ["/usr/local/bin/hone"]
CMD ["--help"]
