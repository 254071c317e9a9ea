# The labelling app in a container; docs/integrations/containers.md shows how to run it.

ARG PYTHON_IMAGE=python:3.13-slim

# All packages in the versions and with the hashes of the lock, and poise itself as a wheel.
FROM ${PYTHON_IMAGE} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /source
COPY requirements-container.lock ./
RUN python -m venv --without-pip /venv && \
    python -m pip --python /venv/bin/python install \
      --require-hashes --only-binary :all: -r requirements-container.lock
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m pip --python /venv/bin/python wheel \
      --no-deps --no-index --no-build-isolation --wheel-dir dist . && \
    python -m pip --python /venv/bin/python install --no-deps --no-index dist/*.whl

FROM ${PYTHON_IMAGE}
RUN useradd --uid 1000 --create-home poise && \
    install -d -o poise -g poise /projects /var/cache/poise
COPY --from=build /venv /venv
ENV PATH=/venv/bin:$PATH \
    POISE_CACHE=/var/cache/poise \
    NUMBA_CACHE_DIR=/var/cache/poise/compiled \
    PYTHONUNBUFFERED=1
USER 1000:1000
# The network of the embedding photo and the compiled solver, so that no start has to make them.
# Whoever the container runs as can add to this folder (docker run --user).
RUN python -c "from poise.data.embeddings.efficientnet import network; network()" && \
    python -c "from poise.linalg.warm_up import warm_up; warm_up()" && \
    chmod -R a+rwX /var/cache/poise

WORKDIR /projects
VOLUME /projects
EXPOSE 8000
# Python handles this signal from the start; process 1 would ignore others until poise handles them.
STOPSIGNAL SIGINT
# http.client, because urllib would ask a proxy that the environment names.
HEALTHCHECK --interval=30s --timeout=5s --start-period=1m CMD ["python", "-c", "\
from http.client import HTTPConnection; \
app = HTTPConnection('127.0.0.1', 8000, timeout=4); \
app.request('GET', '/api/health'); \
raise SystemExit(app.getresponse().status != 200)"]
ENTRYPOINT ["poise", "label", "--host", "0.0.0.0", "--port", "8000", "--no-browser"]
CMD ["/data"]
